/* decay: how many unused pages may stay, so that they go back to the OS on a smooth curve (jemalloc's decay).
 *
 * Each page cache c has two decays, DECAY_DIRTY + c for its dirty and DECAY_MUZZY + c for its muzzy pages. The interval
 * of a decay is cut into SMOOTHSTEP_NSTEPS
 * epochs. The backlog holds how many pages became unused in each of the last NSTEPS epochs, oldest first. A page that
 * is i epochs from the end of its interval counts with smoothstep[i]: in full at first, less and less later, and not at
 * all once the interval is over. The limit is the sum, rounded down, so that it is never above the number of pages that
 * were there. That is the invariant DecayOk (spec/pages/decay.acsl).
 *
 * The caller holds the lock of the pages, and does the purging. Nothing here reads a clock. One that goes backwards
 * only makes the epoch under way longer.
 */
#ifndef QED_PAGES_DECAY_H
#define QED_PAGES_DECAY_H

#include <stdint.h>

#include "math/smoothstep.h"
#include "platform/config.h"
#include "platform/locks.acsl"

#define DECAY_DIRTY 0U
#define DECAY_MUZZY PAGE_CACHES
#define DECAY_COUNT (2U * PAGE_CACHES)
#define DECAY_NPAGES_MAX (1UL << 36)
#define DECAY_TIME_MS_MAX (UINT64_MAX / SMOOTHSTEP_NSTEPS)

_Static_assert(PAGE_COUNT_MAX <= DECAY_NPAGES_MAX, "every page of the address space can be unused");

struct decay_backlog {
    uint64_t npages[SMOOTHSTEP_NSTEPS];     /* that became unused in each epoch, oldest first */
};

extern int64_t  decay_ms[DECAY_COUNT];      /* the interval; negative stands for never, 0 for at once */
extern uint64_t decay_epoch[DECAY_COUNT];   /* start of the epoch under way, in milliseconds * NSTEPS */
extern uint64_t decay_limit[DECAY_COUNT];   /* pages that could stay when it began */
extern struct decay_backlog decay_backlog[DECAY_COUNT];

#include "pages/decay.acsl"

/* Called once, when the program starts and static memory is zero. All page caches get these intervals. */
/*@ requires zero:  DecayZero;
    assigns         smoothstep[0 .. SMOOTHSTEP_NSTEPS], decay_ms[0 .. DECAY_COUNT - 1];
    ensures  ok:    DecayOk;
    ensures  times: \forall integer c; 0 <= c < PAGE_CACHES ==>
                        decay_ms[DECAY_DIRTY + c] == dirty_ms && decay_ms[DECAY_MUZZY + c] == muzzy_ms;
*/
void decay_boot(int64_t dirty_ms, int64_t muzzy_ms);

/* Sets the interval in milliseconds, and forgets the past. A negative interval stands for never, 0 for at once. */
/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires which:  which < DECAY_COUNT;
    requires ok:     DecayOk;
    assigns          decay_ms[which], decay_epoch[which], decay_limit[which],
                     decay_backlog[which].npages[0 .. SMOOTHSTEP_NSTEPS - 1];
    ensures  ok:     DecayOk;
    ensures  ms:     decay_ms[which] == ms;
    ensures  empty:  DecayEmpty(which) && decay_limit[which] == 0;
*/
void decay_set(uint32_t which, int64_t ms);

/* Returns how many of the npages_now unused pages may stay at the time now_ms. Until an epoch is over, all may stay.
 * The caller purges the others before it calls again. Pages that it could not purge count as newly unused then. */
/*@ requires lock:    LockHeld(LOCK_PAGES);
    requires which:   which < DECAY_COUNT;
    requires ok:      DecayOk;
    requires npages:  npages_now <= DECAY_NPAGES_MAX;
    assigns           decay_epoch[which], decay_limit[which], decay_backlog[which].npages[0 .. SMOOTHSTEP_NSTEPS - 1];
    ensures  ok:      DecayOk;
    ensures  most:    \result <= npages_now;
    ensures  never:   decay_ms[which] < 0 ==> \result == npages_now;
    ensures  at_once: decay_ms[which] == 0 ==> \result == 0;
    ensures  epoch:   decay_ms[which] > 0 ==> decay_epoch[which] == \old(DecayStart(which, now_ms));
    ensures  time:    decay_ms[which] > 0 ==>
                        decay_epoch[which] <= DecayTime(now_ms) < decay_epoch[which] + decay_ms[which];
    ensures  between: decay_ms[which] > 0 && \old(DecayPassed(which, now_ms)) == 0 ==> \result == npages_now;
    ensures  same:    !\old(DecayPasses(which, now_ms)) ==>
                        DecayKept{Pre,Post}(which) && decay_limit[which] == \old(decay_limit[which]);
    ensures  allowed: \old(DecayPasses(which, now_ms)) ==> \result == \min(npages_now, decay_limit[which]);
    ensures  moved:   \old(DecayPasses(which, now_ms)) ==>
                        DecayMoved{Pre,Post}(which, \min(SMOOTHSTEP_NSTEPS, \old(DecayPassed(which, now_ms))),
                                             \old(DecayNew(which, npages_now)));
    ensures  sum:     \old(DecayPasses(which, now_ms)) ==> decay_limit[which] <= DecaySum(which, SMOOTHSTEP_NSTEPS);
    ensures  fresh:   \old(DecayPasses(which, now_ms)) ==> decay_limit[which] >= npages_now - \old(decay_limit[which]);
    ensures  peak:    decay_limit[which] <= \max(\old(decay_limit[which]), npages_now);
    ensures  curve:   npages_now <= \old(decay_limit[which]) ==> decay_limit[which] <= \old(decay_limit[which]);
    ensures  over:    decay_ms[which] > 0 && npages_now <= \old(decay_limit[which]) &&
                        \old(DecayPassed(which, now_ms)) >= SMOOTHSTEP_NSTEPS ==> decay_limit[which] == 0;
    ensures  empty:   DecayEmpty(which) ==> decay_limit[which] == 0;
*/
uint64_t decay_advance(uint32_t which, uint64_t now_ms, uint64_t npages_now);

#endif
