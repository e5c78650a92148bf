/* stack: how a stack of a thread's cache gives its oldest blocks back. */
#ifndef QED_TCACHE_STACK_H
#define QED_TCACHE_STACK_H

#include "tcache/outside.h"

#include "tcache/stack_lemmas.acsl"

/* Sets the height of a stack to n blocks, which are in its slots already. */
/*@ requires valid:   \valid(t);
    requires stack:   stack < TCACHE_STACKS;
    requires height:  t->floor[stack] + n <= t->limit[stack];
    requires limits:  TcacheLimits(t);
    requires tops:    TcacheTops(t);
    requires run:     TcacheRun(t, stack, t->floor[stack] + 1, t->floor[stack] + 1 + n);
    STACKS_WHOLE_BUT(requires, t, stack);
    assigns           t->top[stack];
    ensures  top:     t->top[stack] == t->floor[stack] + n;
    STACKS_WHOLE(ensures, t);
*/
static inline void stack_set_height(struct tcache *t, uint32_t stack, uint32_t n)
{
    /*@ ghost tcache_lemma_types(t); */
    t->top[stack] = t->floor[stack] + n;
}

/* Gives the n oldest blocks of a stack back. Their slots stay behind as a gap. */
/*@ BINS_FREE(requires);
    REQUIRES_SHAPE_AND_STACKS(t);
    requires stack:   0 < stack < TCACHE_STACKS;
    requires n:       t->floor[stack] + n <= t->top[stack];
    assigns           BLOCKS_ASSIGNS, large_freed, t->slot[t->floor[stack] + 1 .. t->floor[stack] + n];
    BINS_FREE(ensures);
    ENSURES_SHAPE_KEPT(t);
    ensures  height:  t->top[stack] == \old(t->top[stack]);
    ensures  floors:  TcacheFloors(t);
    ensures  run:     TcacheRun(t, stack, t->floor[stack] + 1 + n, t->top[stack] + 1);
    ensures  others:  TcacheOthers(t, stack);
    ensures  gone:    \forall integer i; 0 <= i < n ==> block_state[\old(t->slot[t->floor[stack] + 1 + i])] == BLOCK_NONE;
    ensures  rest:    TcacheAll{Pre}(t) ==> TcacheAllBut(t, stack);
    ensures  above:   TcacheAll{Pre}(t) ==> TcacheAllOf(t, stack, t->floor[stack] + 1 + n, t->top[stack] + 1);
    LIVE_KEPT(ensures, 0, 0);
*/
static inline void stack_give_oldest(struct tcache *t, uint32_t stack, uint32_t n)
{
    uint32_t first = t->floor[stack] + 1;
    /*@ ghost tcache_lemma_types(t); */
    /*@ assert run: TcacheRun(t, stack, first, t->top[stack] + 1); */
    /*@ assert others: TcacheOthers(t, stack); */
    /*@ assert alone: TcacheAlone(t, stack, first, first + n); */
    /*@ ghost stack_lemma_run(t, stack, first, n); */
    outside_give_run(stack, &t->slot[first], n) /*@ ghost (first) */;
    /*@ assert gone: \forall integer i; 0 <= i < n ==> block_state[\at(t->slot[t->floor[stack] + 1 + i],Pre)] == BLOCK_NONE; */
    /*@ ghost
        /@ loop invariant range: 0 <= i <= n;
           loop invariant gone:  \forall integer k; first <= k < first + i ==> block_state[\at(t->slot[k],Pre)] == BLOCK_NONE;
           loop assigns   i;
           loop variant   n - i;
        @/
        for (uint32_t i = 0; i < n; i++) {
            /@ assert one: block_state[\at(t->slot[\at(first + i,Here)],Pre)] == BLOCK_NONE; @/
        }
    */
    /*@ assert taken: TcacheAll{Pre}(t) ==> \forall integer a; 0 <= a < ADDRESS_MAX && \at(block_state[a],Pre) == BLOCK_CACHED &&
            \at(block_szind[a],Pre) == stack - 1 && first <= \at(block_pos[a],Pre) < first + n ==> block_state[a] == BLOCK_NONE; */
    /*@ assert rest: TcacheAll{Pre}(t) ==> \forall integer a; 0 <= a < ADDRESS_MAX && block_state[a] == BLOCK_CACHED ==>
            BlockSame{Pre,Here}(a); */
    /*@ assert slots: \forall integer i; 0 <= i < TCACHE_SLOTS && !(first <= i < first + n) ==> t->slot[i] == \at(t->slot[i],Pre); */
    /*@ assert same: TcacheShapeSame{Pre,Here}(t); */
    /*@ ghost tcache_lemma_shape(t); */
}

/* Moves the block in slot `from` down to slot `to`, a slot of the same stack that holds no block. */
/*@ REQUIRES_ROOMS(t);
    requires stack:   stack < TCACHE_STACKS;
    requires slots:   t->floor[stack] < to < from <= t->limit[stack];
    requires block:   TcacheRun(t, stack, from, from + 1);
    STACKS_WHOLE_BUT(requires, t, stack);
    assigns           t->slot[to], block_pos[t->slot[from]];
    ensures  slot:    t->slot[to] == \old(t->slot[from]);
    ensures  moved:   TcacheRun(t, stack, to, to + 1);
    ensures  place:   block_pos[t->slot[to]] == to;
    STACKS_WHOLE_BUT(ensures, t, stack);
*/
static inline void stack_move(struct tcache *t, uint32_t from, uint32_t to) /*@ ghost (uint32_t stack) */
{
    /*@ assert alone: TcacheAlone(t, stack, to, to + 1); */
    t->slot[to] = t->slot[from];
    /*@ ghost block_pos[t->slot[to]] = to; */
}

/* Moves the blocks above a gap of n slots down. */
/*@ REQUIRES_ROOMS(t);
    requires stack:   stack < TCACHE_STACKS;
    requires n:       0 < n && t->floor[stack] + n <= t->top[stack];
    requires run:     TcacheRun(t, stack, t->floor[stack] + 1 + n, t->top[stack] + 1);
    STACKS_WHOLE_BUT(requires, t, stack);
    assigns           t->slot[t->floor[stack] + 1 .. t->top[stack]], block_pos[0 .. ADDRESS_MAX - 1];
    ensures  run:     TcacheRun(t, stack, t->floor[stack] + 1, t->top[stack] + 1 - n);
    ensures  rest:    TcacheAllBut{Pre}(t, stack) ==> TcacheAllBut(t, stack);
    ensures  above:   TcacheAllOf{Pre}(t, stack, t->floor[stack] + 1 + n, t->top[stack] + 1) ==>
                      TcacheAllOf(t, stack, t->floor[stack] + 1, t->top[stack] + 1 - n);
    STACKS_WHOLE_BUT(ensures, t, stack);
*/
static inline void stack_close_gap(struct tcache *t, uint32_t stack, uint32_t n)
{
    uint32_t first = t->floor[stack] + 1;
    uint32_t left = (uint32_t)t->top[stack] + 1 - first - n;
    /*@ loop invariant range:  0 <= i <= left;
        loop invariant moved:  TcacheRun(t, stack, first, first + i);
        loop invariant rest:   TcacheRun(t, stack, first + n + i, first + n + left);
        loop invariant others: TcacheAllBut{Pre}(t, stack) ==> TcacheAllBut(t, stack);
        loop invariant here:   TcacheAllOf{Pre}(t, stack, first + n, first + n + left) ==> \forall integer a;
                               0 <= a < ADDRESS_MAX && block_state[a] == BLOCK_CACHED && block_szind[a] + 1 == stack ==>
                               t->slot[block_pos[a]] == a &&
                               (first <= block_pos[a] < first + i || first + n + i <= block_pos[a] < first + n + left);
        STACKS_WHOLE_BUT(loop invariant, t, stack);
        loop assigns   i, t->slot[first .. first + left - 1], block_pos[0 .. ADDRESS_MAX - 1];
        loop variant   left - i;
    */
    for (uint32_t i = 0; i < left; i++) {
        stack_move(t, first + n + i, first + i) /*@ ghost (stack) */;
    }
}

/* Gives the n oldest blocks of a stack back, and moves the others down. */
/*@ TCACHE_CALM(requires, t);
    requires stack:   0 < stack < TCACHE_STACKS;
    requires n:       t->floor[stack] + n <= t->top[stack];
    assigns           BLOCKS_ASSIGNS, large_freed, TCACHE_ASSIGNS_STACKS(t);
    TCACHE_CALM(ensures, t);
    ensures  same:    TcacheShapeSame{Pre,Post}(t);
    ensures  top:     t->top[stack] == \old(t->top[stack]) - n;
    ensures  less:    TcacheLess{Pre,Post}(t);
    ensures  gone:    \forall integer i; 0 <= i < n ==> block_state[\old(t->slot[t->floor[stack] + 1 + i])] == BLOCK_NONE;
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, 0, 0);
*/
static inline void stack_flush_oldest(struct tcache *t, uint32_t stack, uint32_t n)
{
    if (n > 0) {
        uint32_t left = (uint32_t)t->top[stack] - t->floor[stack] - n;
        stack_give_oldest(t, stack, n);
        /*@ assert window: TcacheWindow(t); */
        stack_close_gap(t, stack, n);
        /*@ assert window: TcacheWindow(t); */
        /*@ assert rest: TcacheAll{Pre}(t) ==> TcacheAllBut(t, stack); */
        /*@ assert left: TcacheAll{Pre}(t) ==> TcacheAllOf(t, stack, t->floor[stack] + 1, t->floor[stack] + 1 + left); */
        stack_set_height(t, stack, left);
        /*@ assert window: TcacheWindow(t); */
        /*@ assert all: TcacheAll{Pre}(t) ==> TcacheAll(t); */
        /*@ assert less: TcacheLess{Pre,Here}(t); */
        /*@ ghost tcache_lemma_ok(t); */
    }
}

#endif
