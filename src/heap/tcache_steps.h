/* tcache_steps: how a stack gives blocks back, and how blocks come and go past the stacks, in the small steps that the proof
 * needs. */
#ifndef QED_HEAP_TCACHE_STEPS_H
#define QED_HEAP_TCACHE_STEPS_H

#include "heap/bin.h"
#include "heap/large.h"
#include "heap/tcache.h"
#include "platform/trap.h"

#include "tcache_steps_lemmas.acsl"

/* A stand-in has no room. */
/*@ requires valid:   \valid_read(t);
    terminates        \true;
    exits             \false;
    assigns           \nothing;
*/
static inline bool tcache_is_standin(const struct tcache *t)
{
    return t->limit[1] == t->floor[1];
}

/*@ terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  small:   \result <==> bin <= SC_NBINS;
*/
static inline bool tcache_is_small(uint32_t bin)
{
    return bin <= SC_NBINS;
}

/* ---- blocks go back ---------------------------------------------------------------------------------------------- */

/*@ requires lock:    LocksFree(LOCK_PAGES);
    requires heap:    HeapOk;
    requires block:   block < ADDRESS_MAX && block_state[block] == BLOCK_CACHED && block_szind[block] >= SC_NBINS;
    terminates        \true;
    exits             \false;
    assigns           LARGE_ASSIGNS, large_freed;
    ensures  lock:    LocksFree(LOCK_PAGES);
    ensures  heap:    HeapOk;
    ensures  gone:    block_state[block] == BLOCK_NONE;
    ensures  kept:    \forall integer a; \old(BlockOut(a)) && a != block ==> BlockSame{Pre,Post}(a);
    ensures  none:    BlocksNoneNew{Pre,Post};
*/
static inline void tcache_give_large(uint64_t block)
{
    /*@ ghost heap_lemma_large(block); */
    if (!large_free(block)) {
        trap_misuse("free", "double free", block);
    }
}

/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires bin:     SC_NBINS < bin < TCACHE_BINS;
    requires place:   first + n <= UINT32_MAX;
    requires valid:   \valid_read(blocks + (0 .. n - 1));
    requires cached:  BlocksCached(blocks, 0, n, bin - 1);
    requires places:  BlocksAt(blocks, 0, n, first);
    terminates        \true;
    exits             \false;
    assigns           HEAP_ASSIGNS, large_freed;
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  gone:    \forall integer i; 0 <= i < n ==> block_state[blocks[i]] == BLOCK_NONE;
    ensures  kept:    BlocksKeptBut{Pre,Post}(bin - 1, first, first + n);
    ensures  none:    BlocksNoneNew{Pre,Post};
*/
static inline void tcache_give_larges(const uint64_t *blocks, uint32_t n) /*@ ghost (uint32_t bin, uint32_t first) */
{
    /*@ loop invariant range:  0 <= i <= n;
        loop invariant lock:   LocksFree(LOCK_BIN(0));
        loop invariant heap:   HeapOk;
        loop invariant cached: BlocksCached(blocks, i, n, bin - 1);
        loop invariant places: BlocksAt(blocks, i, n, first);
        loop invariant gone:   \forall integer k; 0 <= k < i ==> block_state[blocks[k]] == BLOCK_NONE;
        loop invariant kept:   BlocksKeptBut{Pre,Here}(bin - 1, first, first + i);
        loop invariant none:   BlocksNoneNew{Pre,Here};
        loop assigns   i, HEAP_ASSIGNS, large_freed;
        loop variant   n - i;
    */
    for (uint32_t i = 0; i < n; i++) {
        /*@ assert others: \forall integer k; i < k < n ==> blocks[k] != blocks[i] && BlockOut(blocks[k]); */
        tcache_give_large(blocks[i]);
        /*@ assert same: \forall integer k; i < k < n ==> BlockSame{LoopCurrent,Here}(blocks[k]); */
    }
}

/* Blocks of a bin go back to where they came from. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires bin:     0 < bin < TCACHE_BINS;
    requires place:   first + n <= UINT32_MAX;
    requires valid:   \valid(blocks + (0 .. n - 1));
    requires cached:  BlocksCached(blocks, 0, n, bin - 1);
    requires places:  BlocksAt(blocks, 0, n, first);
    terminates        \true;
    exits             \false;
    assigns           HEAP_ASSIGNS, large_freed, blocks[0 .. n - 1];
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  gone:    \forall integer i; 0 <= i < n ==> block_state[\old(blocks[i])] == BLOCK_NONE;
    ensures  kept:    BlocksKeptBut{Pre,Post}(bin - 1, first, first + n);
    ensures  none:    BlocksNoneNew{Pre,Post};
*/
static inline void tcache_give_back(uint32_t bin, uint64_t *blocks, uint32_t n) /*@ ghost (uint32_t first) */
{
    if (tcache_is_small(bin)) {
        bin_flush(bin - 1, blocks, n) /*@ ghost (first) */;
    } else {
        tcache_give_larges(blocks, n) /*@ ghost (bin, first) */;
    }
}

/* A live block goes back without a stay in a cache. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    requires class:   block_szind[block] == bin - 1 && 0 < bin < TCACHE_BINS;
    terminates        \true;
    exits             \false;
    assigns           HEAP_ASSIGNS, large_freed;
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  gone:    block_state[block] != BLOCK_LIVE;
    ensures  kept:    \forall integer a; \old(BlockOut(a)) && a != block && \old(block_pos[a]) != TCACHE_SLOTS ==>
                      BlockSame{Pre,Post}(a);
    ensures  live:    LiveSame{Pre,Post}(block);
    ensures  none:    LiveNoneNew{Pre,Post}(0);
*/
static inline void tcache_give_one(uint32_t bin, uint64_t block)
{
    uint64_t one[1] = {block};
    /*@ ghost block_set_cached(block, TCACHE_SLOTS); */
    tcache_give_back(bin, one, 1) /*@ ghost (TCACHE_SLOTS) */;
}

/* A block of an uncached class. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    requires class:   block_szind[block] >= SC_NBINS;
    terminates        \true;
    exits             \false;
    assigns           HEAP_ASSIGNS, large_freed;
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  gone:    block_state[block] != BLOCK_LIVE;
    ensures  kept:    \forall integer a; \old(BlockOut(a)) && a != block ==> BlockSame{Pre,Post}(a);
    ensures  none:    BlocksNoneNew{Pre,Post};
*/
static inline void tcache_free_large(uint64_t block, const char *call)
{
    /*@ ghost heap_lemma_large(block); */
    if (!large_free(block)) {
        trap_misuse(call, "not a block", block);
    }
}

/* A live block goes back without a stay in a cache; bin 0: of an uncached class. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    requires class:   bin < TCACHE_BINS;
    requires cached:  bin != 0 ==> block_szind[block] == bin - 1;
    requires large:   bin == 0 ==> block_szind[block] >= TCACHE_BINS - 1;
    terminates        \true;
    exits             \false;
    assigns           HEAP_ASSIGNS, large_freed;
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  gone:    block_state[block] != BLOCK_LIVE;
    ensures  kept:    \forall integer a; \old(BlockOut(a)) && a != block && \old(block_pos[a]) != TCACHE_SLOTS ==>
                      BlockSame{Pre,Post}(a);
    ensures  live:    LiveSame{Pre,Post}(block);
    ensures  none:    LiveNoneNew{Pre,Post}(0);
*/
static inline void tcache_give_live(uint32_t bin, uint64_t block, const char *call)
{
    if (bin != 0) {
        tcache_give_one(bin, block);
    } else {
        tcache_free_large(block, call);
    }
}

/* ---- blocks come, past the stacks ------------------------------------------------------------------------------- */

/* One block of a small class, past the stacks. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires bin:     0 < bin <= SC_NBINS;
    terminates        \true;
    exits             \false;
    assigns           HEAP_ASSIGNS;
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  live:    \result != 0 ==> \result < ADDRESS_MAX && block_state[\result] == BLOCK_LIVE;
    ensures  class:   \result != 0 ==> block_szind[\result] == bin - 1;
    ensures  was:     \result != 0 ==> \old(block_state[\result]) == BLOCK_NONE;
    ensures  kept:    BlocksKept{Pre,Post};
    ensures  none:    LiveNoneNew{Pre,Post}(\result);
*/
static inline uint64_t tcache_take_one(uint32_t bin)
{
    uint64_t one[1];
    if (bin_fill(0, bin - 1, one, 1) /*@ ghost (0) */ == 0) {
        return 0;
    }
    /*@ ghost heap_lemma_out(one[0]); */
    /*@ ghost block_set_state(one[0], BLOCK_LIVE); */
    return one[0];
}

/* One block of a cached large class, past the stacks. */
/*@ requires lock:    LocksFree(LOCK_PAGES);
    requires heap:    HeapOk;
    requires bin:     SC_NBINS < bin < TCACHE_BINS;
    terminates        \true;
    exits             \false;
    assigns           LARGE_ASSIGNS, large_allocated;
    ensures  lock:    LocksFree(LOCK_PAGES);
    ensures  heap:    HeapOk;
    ensures  live:    \result != 0 ==> \result < ADDRESS_MAX && block_state[\result] == BLOCK_LIVE;
    ensures  class:   \result != 0 ==> block_szind[\result] == bin - 1;
    ensures  was:     \result != 0 ==> \old(block_state[\result]) == BLOCK_NONE;
    ensures  kept:    BlocksKept{Pre,Post};
    ensures  none:    LiveNoneNew{Pre,Post}(\result);
*/
static inline uint64_t tcache_take_large(uint32_t bin)
{
    bool zeroed;
    return large_alloc(bin - 1, 1, true, &zeroed);
}

/* One block, live at once. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires bin:     0 < bin < TCACHE_BINS;
    terminates        \true;
    exits             \false;
    assigns           HEAP_ASSIGNS, large_allocated;
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  live:    \result != 0 ==> \result < ADDRESS_MAX && block_state[\result] == BLOCK_LIVE;
    ensures  class:   \result != 0 ==> block_szind[\result] == bin - 1;
    ensures  was:     \result != 0 ==> \old(block_state[\result]) == BLOCK_NONE;
    ensures  kept:    BlocksKept{Pre,Post};
    ensures  none:    LiveNoneNew{Pre,Post}(\result);
*/
static inline uint64_t tcache_take_live(uint32_t bin)
{
    return tcache_is_small(bin) ? tcache_take_one(bin) : tcache_take_large(bin);
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

/* The stack of that bin is n blocks high. */
/*@ requires valid:   \valid(t);
    requires bin:     bin < TCACHE_BINS;
    requires height:  t->floor[bin] + n <= t->limit[bin];
    requires limits:  TcacheLimits(t);
    requires tops:    TcacheTops(t);
    requires run:     TcacheRun(t, bin, t->floor[bin] + 1, t->floor[bin] + 1 + n);
    requires others:  TcacheOthers(t, bin);
    requires floors:  TcacheFloors(t);
    terminates        \true;
    exits             \false;
    assigns           t->top[bin];
    ensures  top:     t->top[bin] == t->floor[bin] + n;
    ensures  tops:    TcacheTops(t);
    ensures  floors:  TcacheFloors(t);
    ensures  states:  TcacheCached(t);
    ensures  classes: TcacheClasses(t);
    ensures  places:  TcachePlaces(t);
*/
static inline void tcache_set_height(struct tcache *t, uint32_t bin, uint32_t n)
{
    t->top[bin] = t->floor[bin] + n;
}

/* The n blocks longest in the stack leave; their slots are a gap. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires valid:   \valid(t);
    requires outside: TcacheOutside(t);
    requires shape:   TcacheShape(t);
    requires stacks:  TcacheStacks(t);
    requires bin:     0 < bin < TCACHE_BINS;
    requires n:       t->floor[bin] + n <= t->top[bin];
    terminates        \true;
    exits             \false;
    assigns           HEAP_ASSIGNS, large_freed, t->slot[t->floor[bin] + 1 .. t->floor[bin] + n];
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  same:    TcacheShapeSame{Pre,Post}(t);
    ensures  shape:   TcacheShape(t);
    ensures  tops:    TcacheTops(t);
    ensures  height:  t->top[bin] == \old(t->top[bin]);
    ensures  floors:  TcacheFloors(t);
    ensures  run:     TcacheRun(t, bin, t->floor[bin] + 1 + n, t->top[bin] + 1);
    ensures  others:  TcacheOthers(t, bin);
    ensures  gone:    \forall integer i; 0 <= i < n ==> block_state[\old(t->slot[t->floor[bin] + 1 + i])] == BLOCK_NONE;
    ensures  kept:    LiveSame{Pre,Post}(0);
    ensures  none:    LiveNoneNew{Pre,Post}(0);
*/
static inline void tcache_give_oldest(struct tcache *t, uint32_t bin, uint32_t n)
{
    uint32_t first = t->floor[bin] + 1;
    /*@ assert run: TcacheRun(t, bin, first, t->top[bin] + 1); */
    /*@ assert others: TcacheOthers(t, bin); */
    /*@ assert away: \forall integer b, i; TCACHE_IN(t, b, i) && b != bin ==> !(first <= i < first + n); */
    /*@ assert floor: \forall integer b; TCACHE_BIN(b) ==> !(first <= t->floor[b] < first + n); */
    /*@ ghost tcache_lemma_run(t, bin, first, n); */
    tcache_give_back(bin, &t->slot[first], n) /*@ ghost (first) */;
    /*@ assert gone: \forall integer i; 0 <= i < n ==> block_state[\at(t->slot[t->floor[bin] + 1 + i],Pre)] == BLOCK_NONE; */
    /*@ assert same: TcacheShapeSame{Pre,Here}(t); */
    /*@ ghost tcache_lemma_shape(t); */
}

/* The block in slot from moves down to slot to, which is in the same stack's room and holds nothing. */
/*@ requires valid:   \valid(t);
    requires limits:  TcacheLimits(t);
    requires apart:   TcacheApart(t);
    requires tops:    TcacheTops(t);
    requires bin:     bin < TCACHE_BINS;
    requires slots:   t->floor[bin] < to < from <= t->limit[bin];
    requires block:   TcacheRun(t, bin, from, from + 1);
    requires others:  TcacheOthers(t, bin);
    requires floors:  TcacheFloors(t);
    terminates        \true;
    exits             \false;
    assigns           t->slot[to], block_pos[t->slot[from]];
    ensures  slot:    t->slot[to] == \old(t->slot[from]);
    ensures  moved:   TcacheRun(t, bin, to, to + 1);
    ensures  others:  TcacheOthers(t, bin);
    ensures  floors:  TcacheFloors(t);
*/
static inline void tcache_move(struct tcache *t, uint32_t from, uint32_t to) /*@ ghost (uint32_t bin) */
{
    /*@ assert away:  \forall integer b, i; TCACHE_IN(t, b, i) && b != bin ==> i != to; */
    /*@ assert floor: \forall integer b; TCACHE_BIN(b) ==> t->floor[b] != to; */
    t->slot[to] = t->slot[from];
    /*@ ghost block_pos[t->slot[to]] = to; */
}

/* The blocks above a gap of n slots move down. */
/*@ requires valid:   \valid(t);
    requires limits:  TcacheLimits(t);
    requires apart:   TcacheApart(t);
    requires tops:    TcacheTops(t);
    requires bin:     bin < TCACHE_BINS;
    requires n:       0 < n && t->floor[bin] + n <= t->top[bin];
    requires run:     TcacheRun(t, bin, t->floor[bin] + 1 + n, t->top[bin] + 1);
    requires others:  TcacheOthers(t, bin);
    requires floors:  TcacheFloors(t);
    terminates        \true;
    exits             \false;
    assigns           t->slot[t->floor[bin] + 1 .. t->top[bin]], block_pos[0 .. ADDRESS_MAX - 1];
    ensures  run:     TcacheRun(t, bin, t->floor[bin] + 1, t->top[bin] + 1 - n);
    ensures  others:  TcacheOthers(t, bin);
    ensures  floors:  TcacheFloors(t);
*/
static inline void tcache_close_gap(struct tcache *t, uint32_t bin, uint32_t n)
{
    uint32_t first = t->floor[bin] + 1;
    uint32_t left = (uint32_t)t->top[bin] + 1 - first - n;
    /*@ loop invariant range:  0 <= i <= left;
        loop invariant moved:  TcacheRun(t, bin, first, first + i);
        loop invariant rest:   TcacheRun(t, bin, first + n + i, first + n + left);
        loop invariant others: TcacheOthers(t, bin);
        loop invariant floors: TcacheFloors(t);
        loop assigns   i, t->slot[first .. first + left - 1], block_pos[0 .. ADDRESS_MAX - 1];
        loop variant   left - i;
    */
    for (uint32_t i = 0; i < left; i++) {
        tcache_move(t, first + n + i, first + i) /*@ ghost (bin) */;
    }
}

/* The n blocks longest in the stack leave. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires ok:      TcacheOk(t);
    requires bin:     0 < bin < TCACHE_BINS;
    requires n:       t->floor[bin] + n <= t->top[bin];
    terminates        \true;
    exits             \false;
    assigns           HEAP_ASSIGNS, large_freed, TCACHE_ASSIGNS_STACKS(t);
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  ok:      TcacheOk(t);
    ensures  same:    TcacheShapeSame{Pre,Post}(t);
    ensures  top:     t->top[bin] == \old(t->top[bin]) - n;
    ensures  less:    TcacheLess{Pre,Post}(t);
    ensures  gone:    \forall integer i; 0 <= i < n ==> block_state[\old(t->slot[t->floor[bin] + 1 + i])] == BLOCK_NONE;
    ensures  kept:    LiveSame{Pre,Post}(0);
    ensures  none:    LiveNoneNew{Pre,Post}(0);
*/
static inline void tcache_flush_oldest(struct tcache *t, uint32_t bin, uint32_t n)
{
    if (n > 0) {
        uint32_t left = (uint32_t)t->top[bin] - t->floor[bin] - n;
        tcache_give_oldest(t, bin, n);
        /*@ assert window: TcacheWindow(t); */
        tcache_close_gap(t, bin, n);
        tcache_set_height(t, bin, left);
        /*@ assert window: TcacheWindow(t); */
        /*@ ghost tcache_lemma_ok(t); */
    }
}

#endif
