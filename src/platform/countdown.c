/* countdown: see countdown.h. */
#include "platform/countdown.h"

#if QED_PROF
__thread uint32_t countdown_left;
#endif
