/* refill: what a thread's cache does when a stack is empty, and what it does now and then.
 *
 * A miss fills the stack from the thread's arena. Each slow event counts as a tick. After some ticks one stack has its turn, after some
 * time several: a stack becomes shallower if it has not missed since its last turn, and empty if it was not used. Then pages that have
 * been free for long go back to the OS.
 */
#ifndef QED_TCACHE_REFILL_H
#define QED_TCACHE_REFILL_H

#include "tcache/tcache.h"

/* Fills an empty stack and returns one of its blocks, or 0 without memory. t may be a stand-in, which has no stacks to fill. */
/*@ TCACHE_CALM(requires, t);
    requires stack:   0 < stack < TCACHE_STACKS;
    requires empty:   t->top[stack] == t->floor[stack];
    assigns           TCACHE_ASSIGNS(t);
    TCACHE_CALM(ensures, t);
    ENSURES_LIVE_RESULT(stack);
    ensures  was:     \result != 0 ==> \old(block_state[\result]) != BLOCK_LIVE;
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, 0, \result);
    ensures  from:    \result != 0 ==> BlockFrom(\result, t->arena) || (stack <= SC_NBINS && BlockFrom(\result, 0));
    ensures  less:    \result == 0 ==> TcacheLess{Pre,Post}(t);
    ensures  out:     \result == 0 ==> NoBlock(stack - 1, 1);
*/
uint64_t refill(struct tcache *t, uint32_t stack);

/* Counts one slow event. Now and then, and whenever some time has passed, gives stacks their turn and old pages back to the OS. While many pages
 * wait for their time, the thread's hits come here by and by, too (counting.h). */
/*@ TCACHE_CALM(requires, t);
    assigns           TCACHE_ASSIGNS(t);
    TCACHE_CALM(ensures, t);
    ensures  less:    TcacheLess{Pre,Post}(t);
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, 0, 0);
*/
void refill_tick(struct tcache *t);

/* Gives the blocks of every stack back. */
/*@ TCACHE_CALM(requires, t);
    assigns           TCACHE_ASSIGNS(t);
    TCACHE_CALM(ensures, t);
    ensures  less:    TcacheLess{Pre,Post}(t);
    ensures  empty:   \forall integer b; TCACHE_STACK(b) ==> t->top[b] == t->floor[b];
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, 0, 0);
*/
void refill_flush(struct tcache *t);

#endif
