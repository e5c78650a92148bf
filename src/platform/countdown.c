/* countdown: see countdown.h. */
#include "platform/countdown.h"

#if QED_PROF
__thread uint32_t countdown_left;
uint32_t          countdown_max = COUNTDOWN_MAX;
#else
uint32_t countdown_max;
#endif

void countdown_stop(bool stopped)
{
    ATOMIC_STORE(countdown_max, stopped ? 0 : COUNTDOWN_MAX);
    countdown_restart();
}
