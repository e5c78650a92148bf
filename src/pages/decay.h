/* decay: how many unused pages may stay, so that they go back to the OS on a smooth curve (jemalloc's decay).
 *
 * There are two decays, 0 for dirty and 1 for muzzy pages. Time is cut into epochs of ms / SMOOTHSTEP_NSTEPS; the backlog
 * holds how many pages became unused in each of the last NSTEPS epochs, oldest first, and a page that is i epochs from
 * the end of its interval counts with smoothstep[i]. The limit is the sum: a page counts in full at first, less and less
 * later, and not at all once the interval is over. Invariant DecayOk (spec/decay.acsl): the limit is that sum, rounded
 * down, so it is never above the pages that were there.
 *
 * The caller holds the lock of the page cache, and does the purging. Nothing here reads a clock; one that goes backwards
 * only makes the epoch under way longer.
 */
#ifndef QED_PAGES_DECAY_H
#define QED_PAGES_DECAY_H

#include <stdint.h>

#include "math/smoothstep.h"
#include "platform/config.h"

#define DECAY_DIRTY 0U
#define DECAY_MUZZY 1U
#define DECAY_COUNT 2U
#define DECAY_NPAGES_MAX (1UL << 36)

_Static_assert(PAGE_COUNT_MAX < DECAY_NPAGES_MAX, "every page of the address space can be unused");

extern int64_t  decay_ms[DECAY_COUNT];      /* the interval: negative never, 0 at once */
extern uint64_t decay_epoch[DECAY_COUNT];   /* start of the epoch under way, in milliseconds * NSTEPS */
extern uint64_t decay_limit[DECAY_COUNT];   /* pages that might stay at that time */
extern uint64_t decay_backlog[DECAY_COUNT][SMOOTHSTEP_NSTEPS];

void decay_boot(void);                              /* both: never */
void decay_set(uint32_t which, int64_t ms);         /* and forgets the past */
uint64_t decay_advance(uint32_t which, uint64_t now_ms, uint64_t npages_now);

#endif
