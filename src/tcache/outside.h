/* outside: how blocks come and go past the stacks, one at a time or a run of them.
 *
 * A block of a small class comes from a bin and goes back to it. A large block is an extent of the page cache.
 */
#ifndef QED_TCACHE_OUTSIDE_H
#define QED_TCACHE_OUTSIDE_H

#include "blocks/bin.h"
#include "blocks/large.h"
#include "platform/trap.h"
#include "tcache/tcache.h"

/* Tells whether the cache is one of the two that hold no block. */
/*@ requires valid:   \valid_read(t);
    assigns           \nothing;
    ensures  empty:   \result <==> t->limit[1] == t->floor[1];
*/
static inline bool tcache_is_standin(const struct tcache *t)
{
    return t->limit[1] == t->floor[1];
}

/*@ assigns           \nothing;
    ensures  small:   \result <==> stack <= SC_NBINS;
*/
static inline bool stack_is_small(uint32_t stack)
{
    return stack <= SC_NBINS;
}

/* ---- blocks go back ---------------------------------------------------------------------------------------------- */

/*@ PAGES_FREE(requires);
    requires block:   block < ADDRESS_MAX && block_state[block] == BLOCK_CACHED && block_szind[block] >= SC_NBINS;
    assigns           LARGE_ASSIGNS, large_freed;
    PAGES_FREE(ensures);
    ensures  gone:    block_state[block] == BLOCK_NONE;
    ensures  kept:    \forall integer a; \old(BlockOut(a)) && a != block ==> BlockSame{Pre,Post}(a);
    ensures  none:    BlocksNoneNew{Pre,Post};
*/
static inline void outside_give_large(uint64_t block)
{
    /*@ ghost blocks_lemma_large(block); */
    if (!large_free(block)) {
        trap_misuse("free", "double free", block);
    }
}

/*@ BINS_FREE(requires);
    requires stack:   SC_NBINS < stack < TCACHE_STACKS;
    requires place:   first + n <= UINT32_MAX;
    requires valid:   \valid_read(blocks + (0 .. n - 1));
    requires cached:  BlocksCached(blocks, 0, n, stack - 1);
    requires places:  BlocksAt(blocks, 0, n, first);
    assigns           BLOCKS_ASSIGNS, large_freed;
    BINS_FREE(ensures);
    ensures  gone:    \forall integer i; 0 <= i < n ==> block_state[blocks[i]] == BLOCK_NONE;
    ensures  kept:    BlocksKeptBut{Pre,Post}(stack - 1, first, first + n);
    ensures  none:    BlocksNoneNew{Pre,Post};
*/
static inline void outside_give_larges(const uint64_t *blocks, uint32_t n) /*@ ghost (uint32_t stack, uint32_t first) */
{
    /*@ loop invariant range:  0 <= i <= n;
        BINS_FREE(loop invariant);
        loop invariant cached: BlocksCached(blocks, i, n, stack - 1);
        loop invariant places: BlocksAt(blocks, i, n, first);
        loop invariant gone:   \forall integer k; 0 <= k < i ==> block_state[blocks[k]] == BLOCK_NONE;
        loop invariant kept:   BlocksKeptBut{Pre,Here}(stack - 1, first, first + i);
        loop invariant none:   BlocksNoneNew{Pre,Here};
        loop assigns   i, BLOCKS_ASSIGNS, large_freed;
        loop variant   n - i;
    */
    for (uint32_t i = 0; i < n; i++) {
        /*@ assert others: \forall integer k; i < k < n ==> blocks[k] != blocks[i] && BlockOut(blocks[k]); */
        outside_give_large(blocks[i]);
        /*@ assert same: \forall integer k; i < k < n ==> BlockSame{LoopCurrent,Here}(blocks[k]); */
    }
}

/* Gives a run of blocks of one stack back to the bins or to the page cache. */
/*@ BINS_FREE(requires);
    requires stack:   0 < stack < TCACHE_STACKS;
    requires place:   first + n <= UINT32_MAX;
    requires valid:   \valid(blocks + (0 .. n - 1));
    requires cached:  BlocksCached(blocks, 0, n, stack - 1);
    requires places:  BlocksAt(blocks, 0, n, first);
    assigns           BLOCKS_ASSIGNS, large_freed, blocks[0 .. n - 1];
    BINS_FREE(ensures);
    ensures  gone:    \forall integer i; 0 <= i < n ==> block_state[\old(blocks[i])] == BLOCK_NONE;
    ensures  kept:    BlocksKeptBut{Pre,Post}(stack - 1, first, first + n);
    ensures  none:    BlocksNoneNew{Pre,Post};
*/
static inline void outside_give_run(uint32_t stack, uint64_t *blocks, uint32_t n) /*@ ghost (uint32_t first) */
{
    if (stack_is_small(stack)) {
        bin_flush(stack - 1, blocks, n) /*@ ghost (first) */;
    } else {
        outside_give_larges(blocks, n) /*@ ghost (stack, first) */;
    }
}

/* Gives a live block of a cached class back without a stay in a stack. */
/*@ BINS_FREE(requires);
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    requires class:   block_szind[block] == stack - 1 && 0 < stack < TCACHE_STACKS;
    assigns           BLOCKS_ASSIGNS, large_freed;
    BINS_FREE(ensures);
    ensures  gone:    block_state[block] == BLOCK_NONE;
    ensures  kept:    \forall integer a; \old(BlockOut(a)) && a != block && \old(block_pos[a]) != TCACHE_SLOTS ==>
                      BlockSame{Pre,Post}(a);
    ensures  live:    LiveSame{Pre,Post}(block);
    ensures  none:    BlocksNoneNew{Pre,Post};
*/
static inline void outside_give_cached(uint32_t stack, uint64_t block)
{
    uint64_t one[1] = {block};
    /*@ ghost block_set_cached(block, TCACHE_SLOTS); */
    outside_give_run(stack, one, 1) /*@ ghost (TCACHE_SLOTS) */;
}

/* Gives a live large block back. */
/*@ BINS_FREE(requires);
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    requires class:   block_szind[block] >= SC_NBINS;
    assigns           BLOCKS_ASSIGNS, large_freed;
    BINS_FREE(ensures);
    ensures  gone:    block_state[block] == BLOCK_NONE;
    ensures  kept:    \forall integer a; \old(BlockOut(a)) && a != block ==> BlockSame{Pre,Post}(a);
    ensures  none:    BlocksNoneNew{Pre,Post};
*/
static inline void outside_free_large(uint64_t block, const char *call)
{
    /*@ ghost blocks_lemma_large(block); */
    if (!large_free(block)) {
        trap_misuse(call, "not a block", block);
    }
}

/* Gives a live block back without a stay in a stack. Stack 0 means that its class is not cached. */
/*@ BINS_FREE(requires);
    REQUIRES_LIVE_OF(block, stack);
    assigns           BLOCKS_ASSIGNS, large_freed;
    BINS_FREE(ensures);
    ensures  gone:    block_state[block] == BLOCK_NONE;
    ensures  kept:    \forall integer a; \old(BlockOut(a)) && a != block && \old(block_pos[a]) != TCACHE_SLOTS ==>
                      BlockSame{Pre,Post}(a);
    ensures  live:    LiveSame{Pre,Post}(block);
    ensures  none:    BlocksNoneNew{Pre,Post};
*/
static inline void outside_give(uint32_t stack, uint64_t block, const char *call)
{
    if (stack != 0) {
        outside_give_cached(stack, block);
    } else {
        outside_free_large(block, call);
    }
}

/* ---- blocks come, past the stacks ------------------------------------------------------------------------------- */

/* Returns a block from the arena's bin of a small class, or 0 without memory. */
/*@ BINS_FREE(requires);
    requires arena:   arena < ARENAS_MAX;
    requires stack:   0 < stack <= SC_NBINS;
    assigns           BLOCKS_ASSIGNS;
    BINS_FREE(ensures);
    ENSURES_LIVE_RESULT(stack);
    ensures  was:     \result != 0 ==> \old(block_state[\result]) == BLOCK_NONE;
    ensures  kept:    BlocksKept{Pre,Post};
    ensures  none:    LiveNoneNew{Pre,Post}(\result);
    ensures  only:    \forall integer a; BlockOut(a) && a != \result ==> \old(BlockOut(a));
    ensures  from:    \result != 0 ==> BlockFrom(\result, arena);
    ensures  out:     \result == 0 ==> MemoryOut(PAGE_COUNT_MAX);
*/
static inline uint64_t outside_take_small(uint32_t arena, uint32_t stack)
{
    uint64_t one[1];
    if (bin_fill(arena, stack - 1, one, 1) /*@ ghost (0) */ == 0) {
        return 0;
    }
    /*@ ghost blocks_lemma_out(one[0]); */
    /*@ ghost block_set_state(one[0], BLOCK_LIVE); */
    return one[0];
}

/* Returns a block of a cached large class from the arena's page cache, or 0 without memory. */
/*@ PAGES_FREE(requires);
    requires stack:   SC_NBINS < stack < TCACHE_STACKS;
    assigns           LARGE_ASSIGNS, large_allocated;
    PAGES_FREE(ensures);
    ENSURES_LIVE_RESULT(stack);
    ensures  was:     \result != 0 ==> \old(block_state[\result]) == BLOCK_NONE;
    ensures  kept:    BlocksKept{Pre,Post};
    ensures  none:    LiveNoneNew{Pre,Post}(\result);
    ensures  only:    \forall integer a; BlockOut(a) && a != \result ==> \old(BlockOut(a));
    ensures  from:    \result != 0 ==> BlockFrom(\result, arena);
    ensures  out:     \result == 0 ==> NoBlock(stack - 1, 1);
*/
static inline uint64_t outside_take_large(uint32_t arena, uint32_t stack)
{
    bool zeroed;
    return large_alloc(arena_pages(arena), stack - 1, 1, true, &zeroed);
}

/* Returns a block of a cached class that has not been in a stack, or 0 without memory. A large one is of the arena. A small one is of
 * arena 0, since the thread's arena has none then. */
/*@ BINS_FREE(requires);
    requires stack:   0 < stack < TCACHE_STACKS;
    assigns           BLOCKS_ASSIGNS, large_allocated;
    BINS_FREE(ensures);
    ENSURES_LIVE_RESULT(stack);
    ensures  was:     \result != 0 ==> \old(block_state[\result]) == BLOCK_NONE;
    ensures  kept:    BlocksKept{Pre,Post};
    ensures  none:    LiveNoneNew{Pre,Post}(\result);
    ensures  only:    \forall integer a; BlockOut(a) && a != \result ==> \old(BlockOut(a));
    ensures  from:    \result != 0 ==> BlockFrom(\result, stack <= SC_NBINS ? 0 : arena);
    ensures  out:     \result == 0 ==> NoBlock(stack - 1, 1);
*/
static inline uint64_t outside_take(uint32_t arena, uint32_t stack)
{
    return stack_is_small(stack) ? outside_take_small(0, stack) : outside_take_large(arena, stack);
}

#endif
