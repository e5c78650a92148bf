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
#define DECAY_TIME_MS_MAX (UINT64_MAX / SMOOTHSTEP_NSTEPS)

_Static_assert(PAGE_COUNT_MAX < DECAY_NPAGES_MAX, "every page of the address space can be unused");

extern int64_t  decay_ms[DECAY_COUNT];      /* the interval: negative never, 0 at once */
extern uint64_t decay_epoch[DECAY_COUNT];   /* start of the epoch under way, in milliseconds * NSTEPS */
extern uint64_t decay_limit[DECAY_COUNT];   /* pages that might stay at that time */
extern uint64_t decay_backlog[DECAY_COUNT][SMOOTHSTEP_NSTEPS];

#include "decay.acsl"

/* Both decays: never. */
/*@ terminates      \true;
    exits           \false;
    assigns         smoothstep[0 .. SMOOTHSTEP_NSTEPS], decay_ms[0 .. 1], decay_epoch[0 .. 1], decay_limit[0 .. 1],
                    decay_backlog[0][0 .. SMOOTHSTEP_NSTEPS - 1], decay_backlog[1][0 .. SMOOTHSTEP_NSTEPS - 1];
    ensures  ok:    DecayOk;
    ensures  never: decay_ms[0] == -1 && decay_ms[1] == -1;
*/
void decay_boot(void);

/* Sets the interval in milliseconds (negative: never, 0: at once), and forgets the past. */
/*@ requires which:  which < DECAY_COUNT;
    requires ok:     DecayOk;
    terminates       \true;
    exits            \false;
    assigns          decay_ms[which], decay_epoch[which], decay_limit[which],
                     decay_backlog[which][0 .. SMOOTHSTEP_NSTEPS - 1];
    ensures  ok:     DecayOk;
    ensures  ms:     decay_ms[which] == ms;
    ensures  empty:  DecayEmpty(which) && decay_limit[which] == 0;
*/
void decay_set(uint32_t which, int64_t ms);

/* How many of the npages_now unused pages may stay at the time now_ms. The caller purges the others before it calls
 * again; those that it could not purge count as newly unused then. Until an epoch is over, all may stay. */
/*@ requires which:   which < DECAY_COUNT;
    requires ok:      DecayOk;
    requires npages:  npages_now <= DECAY_NPAGES_MAX;
    terminates        \true;
    exits             \false;
    assigns           decay_epoch[which], decay_limit[which], decay_backlog[which][0 .. SMOOTHSTEP_NSTEPS - 1];
    ensures  ok:      DecayOk;
    ensures  most:    \result <= npages_now;
    ensures  never:   decay_ms[which] < 0 ==> \result == npages_now;
    ensures  at_once: decay_ms[which] == 0 ==> \result == 0;
    ensures  epoch:   decay_ms[which] > 0 ==> decay_epoch[which] == \old(DecayStart(which, now_ms));
    ensures  time:    decay_ms[which] > 0 ==>
                        decay_epoch[which] <= DecayTime(now_ms) < decay_epoch[which] + decay_ms[which];
    ensures  between: decay_ms[which] > 0 && \old(DecayPassed(which, now_ms)) == 0 ==> \result == npages_now;
    ensures  same:    decay_ms[which] <= 0 || \old(DecayPassed(which, now_ms)) == 0 ==>
                        DecayKept{Pre,Post}(which) && decay_limit[which] == \old(decay_limit[which]);
    ensures  allowed: decay_ms[which] > 0 && \old(DecayPassed(which, now_ms)) > 0 ==>
                        \result == \min(npages_now, decay_limit[which]);
    ensures  moved:   decay_ms[which] > 0 && \old(DecayPassed(which, now_ms)) > 0 ==>
                        DecayMoved{Pre,Post}(which, \min(SMOOTHSTEP_NSTEPS, \old(DecayPassed(which, now_ms))),
                                             \old(DecayNew(which, npages_now)));
    ensures  sum:     decay_ms[which] > 0 && \old(DecayPassed(which, now_ms)) > 0 ==>
                        decay_limit[which] <= DecaySum(which, SMOOTHSTEP_NSTEPS);
    ensures  fresh:   decay_ms[which] > 0 && \old(DecayPassed(which, now_ms)) > 0 ==>
                        decay_limit[which] >= npages_now - \old(decay_limit[which]);
    ensures  peak:    decay_limit[which] <= \max(\old(decay_limit[which]), npages_now);
    ensures  curve:   npages_now <= \old(decay_limit[which]) ==> decay_limit[which] <= \old(decay_limit[which]);
    ensures  over:    decay_ms[which] > 0 && npages_now <= \old(decay_limit[which]) &&
                        \old(DecayPassed(which, now_ms)) >= SMOOTHSTEP_NSTEPS ==> decay_limit[which] == 0;
    ensures  empty:   DecayEmpty(which) ==> decay_limit[which] == 0;
*/
uint64_t decay_advance(uint32_t which, uint64_t now_ms, uint64_t npages_now);

#endif
