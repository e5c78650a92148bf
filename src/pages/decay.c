/* decay: how the backlog moves from epoch to epoch, and what it weighs. */
#include "pages/decay.h"

#include "platform/atomic.h"
#include "platform/hints.h"

#include "pages/decay_lemmas.acsl"

#define NSTEPS SMOOTHSTEP_NSTEPS

int64_t  decay_ms[DECAY_COUNT];
uint64_t decay_epoch[DECAY_COUNT];
uint64_t decay_limit[DECAY_COUNT];
LONG_TABLE struct decay_backlog decay_backlog[DECAY_COUNT];

/* Moves the backlog n epochs on. In the last of them, newest pages became unused. */
/*@ requires lock:    LockHeld(LOCK_PAGES);
    requires which:   which < DECAY_COUNT;
    requires range:   1 <= n <= NSTEPS;
    requires rising:  SmoothstepRising;
    assigns           decay_backlog[which].npages[0 .. NSTEPS - 1];
    ensures  moved:   DecayMoved{Pre,Post}(which, n, newest);
    ensures  lighter: DecayWeight{Post}(which, NSTEPS) <= DecayWeight{Pre}(which, NSTEPS) + newest * SMOOTHSTEP_ONE;
    ensures  newest:  DecayWeight{Post}(which, NSTEPS) >= newest * SMOOTHSTEP_ONE;
    ensures  cleared: n == NSTEPS ==> DecayWeight{Post}(which, NSTEPS) == newest * SMOOTHSTEP_ONE;
    ensures  other:   DecayOthersWeigh{Pre,Post}(which);
*/
static void decay_shift(uint32_t which, uint32_t n, uint64_t newest)
{
    /*@ ghost decay_lemma_part(which, n); */
    /*@ loop invariant range: 0 <= i <= NSTEPS - n;
        loop invariant done:  \forall integer j; 0 <= j < i ==>
                                decay_backlog[which].npages[j] == \at(decay_backlog[which].npages[j + n], Pre);
        loop invariant todo:  \forall integer j; i <= j < NSTEPS ==>
                                decay_backlog[which].npages[j] == \at(decay_backlog[which].npages[j], Pre);
        loop assigns i, decay_backlog[which].npages[0 .. NSTEPS - 1];
        loop variant NSTEPS - n - i;
    */
    for (uint32_t i = 0; i < NSTEPS - n; i++) {
        decay_backlog[which].npages[i] = decay_backlog[which].npages[i + n];
    }
    /*@ loop invariant range: NSTEPS - n <= i <= NSTEPS - 1;
        loop invariant done:  \forall integer j; 0 <= j < NSTEPS - n ==>
                                decay_backlog[which].npages[j] == \at(decay_backlog[which].npages[j + n], Pre);
        loop invariant zero:  \forall integer j; NSTEPS - n <= j < i ==> decay_backlog[which].npages[j] == 0;
        loop assigns i, decay_backlog[which].npages[0 .. NSTEPS - 1];
        loop variant NSTEPS - 1 - i;
    */
    for (uint32_t i = NSTEPS - n; i < NSTEPS - 1; i++) {
        decay_backlog[which].npages[i] = 0;
    }
    decay_backlog[which].npages[NSTEPS - 1] = newest;
    /*@ ghost
        /@ loop invariant range: 0 <= w <= DECAY_COUNT;
           loop invariant other: \forall integer v; 0 <= v < w && v != which ==>
                                   DecayWeight(v, NSTEPS) == DecayWeight{Pre}(v, NSTEPS);
           loop assigns w;
           loop variant DECAY_COUNT - w;
        @/
        for (uint32_t w = 0; w < DECAY_COUNT; w++) {
            /@ loop invariant range: 0 <= k <= NSTEPS;
               loop invariant other: w != which ==> DecayWeight(w, k) == DecayWeight{Pre}(w, k);
               loop assigns k;
               loop variant NSTEPS - k;
            @/
            for (uint32_t k = 0; k < NSTEPS; k++) {
                /@ assert same: \forall integer v, j; v == w && j == k && v != which ==>
                             decay_backlog[v].npages[j] == \at(decay_backlog[v].npages[j],Pre); @/
            }
        }
    */
    /*@ ghost
        /@ loop invariant range:   0 <= k <= NSTEPS - 1;
           loop invariant lighter: k <= NSTEPS - n ==>
                                     DecayWeight(which, k) <= DecayWeight{Pre}(which, k + n);
           loop invariant rest:    k >= NSTEPS - n ==>
                                     DecayWeight(which, k) <= DecayWeight{Pre}(which, NSTEPS);
           loop invariant cleared: n == NSTEPS ==> DecayWeight(which, k) == 0;
           loop invariant some:    DecayWeight(which, k) >= 0;
           loop assigns k;
           loop variant NSTEPS - k;
        @/
        for (uint32_t k = 0; k < NSTEPS - 1; k++) {
            if (k < NSTEPS - n) {
                decay_lemma_product(decay_backlog[which].npages[k], smoothstep[k + 1], smoothstep[k + n + 1]);
            }
            /@ assert positive: decay_backlog[which].npages[k] * smoothstep[k + 1] >= 0; @/
            /@ assert next: DecayWeight(which, k + 1) == DecayWeight(which, k) + decay_backlog[which].npages[k] * smoothstep[k + 1]; @/
        }
        decay_lemma_last(which);
    */
}

void decay_set(uint32_t which, int64_t ms)
{
    ATOMIC_STORE(decay_ms[which], ms);                  /* holes.c reads it without the lock */
    decay_epoch[which] = 0;
    decay_limit[which] = 0;
    decay_shift(which, NSTEPS, 0);
}

void decay_boot(int64_t dirty_ms, int64_t muzzy_ms)
{
    smoothstep_boot();
    /*@ ghost
        /@ loop invariant range: 0 <= w <= DECAY_COUNT;
           loop invariant none:  \forall integer v; 0 <= v < w ==> DecayWeight(v, NSTEPS) == 0;
           loop assigns w;
           loop variant DECAY_COUNT - w;
        @/
        for (uint32_t w = 0; w < DECAY_COUNT; w++) {
            /@ loop invariant range: 0 <= k <= NSTEPS;
               loop invariant none:  DecayWeight(w, k) == 0;
               loop assigns k;
               loop variant NSTEPS - k;
            @/
            for (uint32_t k = 0; k < NSTEPS; k++) {}
        }
    */
    /*@ assert ok: DecayOk; */
    /*@ loop invariant range: 0 <= c <= PAGE_CACHES;
        loop invariant times: \forall integer d; 0 <= d < c ==>
                                  decay_ms[DECAY_DIRTY + d] == dirty_ms && decay_ms[DECAY_MUZZY + d] == muzzy_ms;
        loop assigns   c, decay_ms[0 .. DECAY_COUNT - 1];
        loop variant   PAGE_CACHES - c;
    */
    for (uint32_t c = 0; c < PAGE_CACHES; c++) {
        ATOMIC_STORE(decay_ms[DECAY_DIRTY + c], dirty_ms);
        ATOMIC_STORE(decay_ms[DECAY_MUZZY + c], muzzy_ms);
    }
}

/* Begins the epoch that now_ms is in. Returns how many epochs have passed since the last call, at most NSTEPS. */
/*@ requires lock:    LockHeld(LOCK_PAGES);
    requires which:   which < DECAY_COUNT;
    requires some:    decay_ms[which] > 0;
    assigns           decay_epoch[which];
    ensures  epoch:   decay_epoch[which] == \old(DecayStart(which, now_ms));
    ensures  time:    decay_epoch[which] <= DecayTime(now_ms) < decay_epoch[which] + decay_ms[which];
    ensures  passed:  \result == \min(NSTEPS, \old(DecayPassed(which, now_ms)));
*/
static uint32_t decay_pass_epochs(uint32_t which, uint64_t now_ms)
{
    uint64_t interval = (uint64_t)decay_ms[which];
    uint64_t now = (now_ms < DECAY_TIME_MS_MAX ? now_ms : DECAY_TIME_MS_MAX) * NSTEPS;
    if (now < decay_epoch[which]) {
        decay_epoch[which] = now;
        return 0;
    }
    uint64_t since = now - decay_epoch[which];
    decay_epoch[which] = now - since % interval;
    return since / interval < NSTEPS ? (uint32_t)(since / interval) : NSTEPS;
}

/*@ requires lock:    LockHeld(LOCK_PAGES);
    requires which:   which < DECAY_COUNT;
    requires rising:  SmoothstepRising;
    requires backlog: DecayBacklogOk(which);
    requires fits:    DecayWeight(which, NSTEPS) < (DECAY_NPAGES_MAX + 1) * SMOOTHSTEP_ONE;
    assigns           \nothing;
    ensures  weight:  \result * SMOOTHSTEP_ONE <= DecayWeight(which, NSTEPS) < (\result + 1) * SMOOTHSTEP_ONE;
    ensures  sum:     \result <= DecaySum(which, NSTEPS);
*/
static uint64_t decay_weigh(uint32_t which)
{
    uint64_t weight = 0;
    /*@ loop invariant range:  0 <= i <= NSTEPS;
        loop invariant weight: weight == DecayWeight(which, i);
        loop invariant sum:    weight <= DecaySum(which, i) * SMOOTHSTEP_ONE;
        loop assigns i, weight;
        loop variant NSTEPS - i;
    */
    for (uint32_t i = 0; i < NSTEPS; i++) {
        /*@ ghost decay_lemma_part(which, i + 1);
                  decay_lemma_product(decay_backlog[which].npages[i], smoothstep[i + 1], SMOOTHSTEP_ONE); */
        weight += decay_backlog[which].npages[i] * smoothstep[i + 1];
    }
    return weight / SMOOTHSTEP_ONE;
}

/* Lets n epochs pass at once. */
/*@ requires lock:    LockHeld(LOCK_PAGES);
    requires which:   which < DECAY_COUNT;
    requires range:   1 <= n <= NSTEPS;
    requires ok:      DecayOk;
    requires npages:  npages_now <= DECAY_NPAGES_MAX;
    assigns           decay_limit[which], decay_backlog[which].npages[0 .. NSTEPS - 1];
    ensures  ok:      DecayOk;
    ensures  moved:   DecayMoved{Pre,Post}(which, n, \old(DecayNew(which, npages_now)));
    ensures  sum:     decay_limit[which] <= DecaySum(which, NSTEPS);
    ensures  fresh:   decay_limit[which] >= npages_now - \old(decay_limit[which]);
    ensures  peak:    decay_limit[which] <= \max(\old(decay_limit[which]), npages_now);
    ensures  over:    n == NSTEPS && npages_now <= \old(decay_limit[which]) ==> decay_limit[which] == 0;
    ensures  empty:   DecayEmpty(which) ==> decay_limit[which] == 0;
*/
static void decay_step(uint32_t which, uint32_t n, uint64_t npages_now)
{
    uint64_t newest = npages_now > decay_limit[which] ? npages_now - decay_limit[which] : 0;
    decay_shift(which, n, newest);
    decay_limit[which] = decay_weigh(which);
    /*@ ghost decay_lemma_empty(which); */
}

uint64_t decay_advance(uint32_t which, uint64_t now_ms, uint64_t npages_now)
{
    /*@ ghost decay_lemma_empty(which); */
    if (decay_ms[which] <= 0) {
        return decay_ms[which] < 0 ? npages_now : 0;
    }
    uint32_t n = decay_pass_epochs(which, now_ms);
    if (n == 0) {
        return npages_now;
    }
    decay_step(which, n, npages_now);
    return npages_now < decay_limit[which] ? npages_now : decay_limit[which];
}
