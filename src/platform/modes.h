/* modes: what settings ask of malloc, free and realloc besides their work: to fill blocks, to check that what is freed is live
 * (platform/live.h), and what size 0 and the want of memory mean. The proofs know nothing of the bytes that fill blocks, so what they prove
 * holds whatever is asked for, and however that changes while threads run.
 *
 * A mode reaches the fast paths through tables and limits of the thread's cache that send each call to a slow path (api/fill.h), and through
 * the countdown that is always over. Where no mode is on, only slow paths ask.
 */
#ifndef QED_PLATFORM_MODES_H
#define QED_PLATFORM_MODES_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/atomic.h"

#define MODES_NO_BYTE (-1)

/* What new and what freed blocks are filled with, a byte each or MODES_NO_BYTE. */
extern int32_t modes_new;
extern int32_t modes_freed;

/* Returns the byte with which each block is filled that the program gets, or MODES_NO_BYTE. */
/*@ assigns            \nothing;
    ensures  range:    MODES_NO_BYTE <= \result <= UINT8_MAX;
*/
static inline int32_t modes_new_byte(void)
#ifdef __FRAMAC__
;
#else
{
    return ATOMIC_LOAD(modes_new);
}
#endif

/* Returns the byte with which each block is filled that the program frees, or MODES_NO_BYTE. */
/*@ assigns            \nothing;
    ensures  range:    MODES_NO_BYTE <= \result <= UINT8_MAX;
*/
static inline int32_t modes_freed_byte(void)
#ifdef __FRAMAC__
;
#else
{
    return ATOMIC_LOAD(modes_freed);
}
#endif

/* What a realloc of a block to no bytes does: it frees the block, as glibc's does, makes it one of the smallest class, or ends the program. */
enum modes_realloc { MODES_REALLOC_FREES, MODES_REALLOC_KEEPS, MODES_REALLOC_ENDS };

extern uint32_t modes_realloc_zero;     /* an enum modes_realloc; set at boot, and read after it alone */

extern uint32_t modes_xmalloc;          /* 1 if a call that gets no memory ends the program, 0 otherwise; set at boot, and read after it alone */

/* Thread caches keep no blocks in stacks from this one on; set at boot, before the first cache is made. */
extern uint32_t modes_stacks;

/* Returns whether thread caches keep blocks in that stack. */
/*@ assigns            \nothing; */
static inline bool modes_keeps(uint32_t stack)
#ifdef __FRAMAC__
;
#else
{
    return stack < modes_stacks;
}
#endif

/* Sets both bytes. New blocks are filled by threads whose first call comes later, and by the calling one. */
void modes_set_bytes(int32_t new_byte, int32_t freed_byte);

#endif
