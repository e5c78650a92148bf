/* modes: see modes.h. */
#include "platform/modes.h"

#include "platform/countdown.h"
#include "platform/live.h"

int32_t modes_new = MODES_NO_BYTE;
int32_t modes_freed = MODES_NO_BYTE;
uint32_t modes_realloc_zero = MODES_REALLOC_FREES;
uint32_t modes_xmalloc;
uint32_t modes_stacks = UINT32_MAX;

void modes_set_bytes(int32_t new_byte, int32_t freed_byte)
{
    ATOMIC_STORE(modes_new, new_byte);
    ATOMIC_STORE(modes_freed, freed_byte);
    countdown_stop(live_booted() || new_byte != MODES_NO_BYTE);
}
