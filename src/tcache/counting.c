/* counting: see counting.h. */
#include "tcache/counting.h"

#include "tcache/outside.h"
#include "tcache/shape.h"

/* Empties the table that leads from bytes to stacks. */
/*@ requires valid:   \valid(t);
    assigns           t->stack_of[0 .. SC_LOOKUP_MAX];
    ensures  empty:   \forall integer n; 0 <= n <= SC_LOOKUP_MAX ==> t->stack_of[n] == 0;
*/
static inline void counting_empty(struct tcache *t)
{
    /*@ loop invariant range: 0 <= bytes <= SC_LOOKUP_MAX + 1;
        loop invariant empty: \forall integer n; 0 <= n < bytes ==> t->stack_of[n] == 0;
        loop assigns   bytes, t->stack_of[0 .. SC_LOOKUP_MAX];
        loop variant   SC_LOOKUP_MAX + 1 - bytes;
    */
    for (uint64_t bytes = 0; bytes <= SC_LOOKUP_MAX; bytes++) {
        t->stack_of[bytes] = 0;
    }
}

void counting_begin(struct tcache *t, uint64_t reason)
{
    counter_begin(COUNTING_PLACE(t), reason);
    counting_empty(t);
    if (reason == COUNTER_ALLOCATES) {
        t->window_pages = 0;
    }
    /*@ assert window: TcacheWindow(t); */
    /*@ ghost tcache_lemma_ok(t); */
}

void counting_end(struct tcache *t, uint64_t reason)
{
    if (counting_for(t, reason) && counter_end(COUNTING_PLACE(t), reason)) {
        shape_lookup(t);
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
        /*@ assert window: TcacheWindow(t); */
        /*@ ghost tcache_lemma_ok(t); */
    }
}
