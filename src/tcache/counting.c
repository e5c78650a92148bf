/* counting: see counting.h. */
#include "tcache/counting.h"

#include "tcache/outside.h"
#include "tcache/shape.h"

#define COUNTING_DOWN ((uint64_t)(COUNTER_SAMPLES | COUNTER_WAITS))     /* reasons for which it is enough to count blocks down */

/* Returns the checked_end of a thread that counts for these reasons. */
/*@ assigns           \nothing;
    ensures  end:     \result == 0 || \result == TCACHE_LOOKUP_END;
*/
static inline int64_t counting_checked_end(uint64_t reasons)
{
    return (reasons & ~(uint64_t)COUNTER_WAITS) == COUNTER_CHECKS ? TCACHE_LOOKUP_END : 0;
}

/* Tells the counter the bytes of every stack's blocks. */
/*@ requires valid:   \valid(t);
    assigns           \nothing;
*/
static inline void counting_prices(struct tcache *t)
{
    /*@ loop invariant range: 1 <= b <= TCACHE_STACKS;
        loop assigns   b;
        loop variant   TCACHE_STACKS - b;
    */
    for (uint32_t b = 1; b < TCACHE_STACKS; b++) {
        counting_price(t, b, size_class_bytes(b - 1));
    }
}

void counting_begin(struct tcache *t, uint64_t reason)
{
    counter_begin(COUNTING_PLACE(t), reason);
    uint64_t reasons = counter_reasons(COUNTING_PLACE(t));
    bool     down = reason == COUNTER_SAMPLES || reason == COUNTER_WAITS;
    t->lookup_end = 0;
    t->paced_end = down && (reasons & ~COUNTING_DOWN) == 0 ? TCACHE_LOOKUP_END : 0;
    t->counted_end = reason == COUNTER_ALLOCATES && reasons == reason ? TCACHE_LOOKUP_END : 0;
    t->checked_end = reason == COUNTER_CHECKS || reason == COUNTER_WAITS ? counting_checked_end(reasons) : 0;
    t->counted_pages = 0;
    t->checked_pages = 0;                       /* the thread's next free looks at its window again */
    if (reason == COUNTER_ALLOCATES) {
        counting_prices(t);
        t->window_pages = 0;
    }
    /*@ assert window: TcacheWindow(t); */
    /*@ ghost tcache_lemma_ok(t); */
}

void counting_end(struct tcache *t, uint64_t reason)
{
    if (counting_for(t, reason)) {
        bool     last = counter_end(COUNTING_PLACE(t), reason);
        uint64_t reasons = counter_reasons(COUNTING_PLACE(t));
        t->lookup_end = last ? TCACHE_LOOKUP_END : 0;
        t->paced_end = !last && (reasons & ~COUNTING_DOWN) == 0 ? TCACHE_LOOKUP_END : 0;
        t->counted_end = reasons == COUNTER_ALLOCATES ? TCACHE_LOOKUP_END : 0;
        t->checked_end = counting_checked_end(reasons);
        /*@ assert window: TcacheWindow(t); */
        /*@ ghost tcache_lemma_ok(t); */
    }
}

void counting_wait(struct tcache *t, bool waits)
{
    if (!waits) {
        counting_end(t, COUNTER_WAITS);
    } else if (COUNTDOWN_RUNS && !counting_for(t, COUNTER_WAITS)) {
        counting_begin(t, COUNTER_WAITS);
    }
}

void counting_modes(struct tcache *t)
{
    if (tcache_is_standin(t)) {
        return;
    }
    if (modes_new_byte() == MODES_NO_BYTE) {
        counting_end(t, COUNTER_FILLS);
    } else if (!counting_for(t, COUNTER_FILLS)) {
        counting_begin(t, COUNTER_FILLS);
    }
    if (live_asked() && !counting_for(t, COUNTER_CHECKS)) {
        counting_begin(t, COUNTER_CHECKS);
    }
    if (counting_frees()) {
        t->window_pages = 0;
        t->counted_pages = 0;
        t->checked_pages = 0;
        /*@ assert window: TcacheWindow(t); */
        /*@ ghost tcache_lemma_ok(t); */
    }
}
