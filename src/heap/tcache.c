/* tcache: misses, full stacks, checks that fail, collection. */
#include "heap/tcache.h"

#include "heap/bin.h"
#include "pages/pages.h"
#include "platform/trap.h"

#include "size_class_align_lemmas.acsl"
#include "large_lemmas.acsl"

#define TCACHE_TICKS 32U                /* slow events between two collections */

/* A stand-in has no room. */
/*@ requires valid:   \valid_read(t);
    terminates        \true;
    exits             \false;
    assigns           \nothing;
*/
static bool tcache_is_standin(const struct tcache *t)
{
    return t->limit[1] == t->floor[1];
}

/*@ terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  small:   \result <==> bin <= SC_NBINS;
*/
static bool tcache_is_small(uint32_t bin)
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
    ensures  kept:    \forall integer a; \old(BlockOut(a)) && a != block ==> BlockSame{Pre,Post}(a);
    ensures  none:    BlocksNoneNew{Pre,Post};
*/
static void tcache_give_large(uint64_t block)
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
    ensures  kept:    BlocksKeptBut{Pre,Post}(bin - 1, first, first + n);
    ensures  none:    BlocksNoneNew{Pre,Post};
*/
static void tcache_give_larges(const uint64_t *blocks, uint32_t n) /*@ ghost (uint32_t bin, uint32_t first) */
{
    /*@ loop invariant range:  0 <= i <= n;
        loop invariant lock:   LocksFree(LOCK_BIN(0));
        loop invariant heap:   HeapOk;
        loop invariant cached: BlocksCached(blocks, i, n, bin - 1);
        loop invariant places: BlocksAt(blocks, i, n, first);
        loop invariant kept:   BlocksKeptBut{Pre,Here}(bin - 1, first, first + i);
        loop invariant none:   BlocksNoneNew{Pre,Here};
        loop assigns   i, HEAP_ASSIGNS, large_freed;
        loop variant   n - i;
    */
    for (uint32_t i = 0; i < n; i++) {
        tcache_give_large(blocks[i]);
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
    ensures  kept:    BlocksKeptBut{Pre,Post}(bin - 1, first, first + n);
    ensures  none:    BlocksNoneNew{Pre,Post};
*/
static void tcache_give_back(uint32_t bin, uint64_t *blocks, uint32_t n) /*@ ghost (uint32_t first) */
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
static void tcache_give_one(uint32_t bin, uint64_t block)
{
    uint64_t one[1] = {block};
    /*@ ghost block_set_cached(block, TCACHE_SLOTS); */
    tcache_give_back(bin, one, 1) /*@ ghost (TCACHE_SLOTS) */;
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
static void tcache_set_height(struct tcache *t, uint32_t bin, uint32_t n)
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
    ensures  kept:    LiveSame{Pre,Post}(0);
    ensures  none:    LiveNoneNew{Pre,Post}(0);
*/
static void tcache_give_oldest(struct tcache *t, uint32_t bin, uint32_t n)
{
    uint32_t first = t->floor[bin] + 1;
    /*@ assert run: TcacheRun(t, bin, first, t->top[bin] + 1); */
    /*@ assert others: TcacheOthers(t, bin); */
    /*@ assert away: \forall integer b, i; TCACHE_IN(t, b, i) && b != bin ==> !(first <= i < first + n); */
    /*@ assert floor: \forall integer b; TCACHE_BIN(b) ==> !(first <= t->floor[b] < first + n); */
    tcache_give_back(bin, &t->slot[first], n) /*@ ghost (first) */;
    /*@ assert same: TcacheShapeSame{Pre,Here}(t); */
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
static void tcache_move(struct tcache *t, uint32_t from, uint32_t to) /*@ ghost (uint32_t bin) */
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
static void tcache_close_gap(struct tcache *t, uint32_t bin, uint32_t n)
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
    ensures  top:     t->top[bin] == \old(t->top[bin]) - n;
    ensures  less:    TcacheLess{Pre,Post}(t);
    ensures  kept:    LiveSame{Pre,Post}(0);
    ensures  none:    LiveNoneNew{Pre,Post}(0);
*/
static void tcache_flush_oldest(struct tcache *t, uint32_t bin, uint32_t n)
{
    if (n > 0) {
        uint32_t left = (uint32_t)t->top[bin] - t->floor[bin] - n;
        tcache_give_oldest(t, bin, n);
        tcache_close_gap(t, bin, n);
        tcache_set_height(t, bin, left);
    }
}

void tcache_flush(struct tcache *t)
{
    /*@ loop invariant range: 1 <= b <= TCACHE_BINS;
        loop invariant lock:  LocksFree(LOCK_BIN(0));
        loop invariant heap:  HeapOk;
        loop invariant ok:    TcacheOk(t);
        loop invariant less:  TcacheLess{Pre,Here}(t);
        loop invariant kept:  LiveSame{Pre,Here}(0);
        loop invariant none:  LiveNoneNew{Pre,Here}(0);
        loop assigns   b, HEAP_ASSIGNS, large_freed, TCACHE_ASSIGNS_STACKS(t);
        loop variant   TCACHE_BINS - b;
    */
    for (uint32_t b = 1; b < TCACHE_BINS; b++) {
        tcache_flush_oldest(t, b, (uint32_t)t->top[b] - t->floor[b]);
    }
}

/* ---- turns ------------------------------------------------------------------------------------------------------- */

/* A stack without a miss since its last turn is longer than the thread needs. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires ok:      TcacheOk(t);
    requires bin:     0 < bin < TCACHE_BINS;
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS(t);
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  ok:      TcacheOk(t);
    ensures  less:    TcacheLess{Pre,Post}(t);
    ensures  kept:    LiveSame{Pre,Post}(0);
    ensures  none:    LiveNoneNew{Pre,Post}(0);
*/
static void tcache_collect(struct tcache *t, uint32_t bin)
{
    uint32_t n = (uint32_t)t->top[bin] - t->floor[bin];
    if (t->missed[bin] == 0 && n > 0) {
        tcache_flush_oldest(t, bin, n - n * 3 / 4);
        t->fill[bin] = t->fill[bin] > TCACHE_FILL_FIRST ? (uint16_t)(t->fill[bin] / 2) : (uint16_t)TCACHE_FILL_FIRST;
    }
    t->missed[bin] = 0;
}

/* Other threads purge too: what this one has stays. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    terminates        \true;
    exits             \false;
    assigns           PAGES_ASSIGNS;
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
*/
static void tcache_decay(void)
{
    /*@ ghost large_lemma_pages(); */
    pages_decay();
    /*@ assert owners: LargeOwners{Pre,Here}(0); */
    /*@ ghost large_lemma_ok(); */
}

void tcache_tick(struct tcache *t)
{
    if (tcache_is_standin(t)) {
        return;
    }
    if (t->ticks > 1) {
        t->ticks = (uint16_t)(t->ticks - 1);
        return;
    }
    t->ticks = TCACHE_TICKS;
    t->collect = (uint16_t)(t->collect + 1U < TCACHE_BINS ? t->collect + 1U : 1U);
    tcache_collect(t, t->collect);
    tcache_decay();
}

/* ---- misses ------------------------------------------------------------------------------------------------------ */

/* Blocks for an empty stack, into its slots: how many. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires valid:   \valid(t);
    requires outside: TcacheOutside(t);
    requires shape:   TcacheShape(t);
    requires stacks:  TcacheStacks(t);
    requires turn:    TcacheTurn(t);
    requires bin:     0 < bin <= SC_NBINS;
    requires empty:   t->top[bin] == t->floor[bin];
    requires n:       t->floor[bin] + n <= t->limit[bin];
    terminates        \true;
    exits             \false;
    assigns           HEAP_ASSIGNS, t->slot[t->floor[bin] + 1 .. t->floor[bin] + n];
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  most:    \result <= n;
    ensures  floors:  TcacheFloors(t);
    ensures  run:     TcacheRun(t, bin, t->floor[bin] + 1, t->floor[bin] + 1 + \result);
    ensures  others:  TcacheOthers(t, bin);
    ensures  kept:    LiveSame{Pre,Post}(0);
    ensures  none:    LiveNoneNew{Pre,Post}(0);
*/
static uint32_t tcache_take(struct tcache *t, uint32_t bin, uint32_t n)
{
    uint32_t first = t->floor[bin] + 1;
    /*@ assert others: TcacheOthers(t, bin); */
    return bin_fill(t->arena, bin - 1, &t->slot[first], n) /*@ ghost (first) */;
}

/* An empty stack is filled; at each miss with twice as many. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires ok:      TcacheOk(t);
    requires bin:     0 < bin <= SC_NBINS;
    requires empty:   t->top[bin] == t->floor[bin];
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS(t);
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  ok:      TcacheOk(t);
    ensures  kept:    LiveSame{Pre,Post}(0);
    ensures  none:    LiveNoneNew{Pre,Post}(0);
*/
static void tcache_fill(struct tcache *t, uint32_t bin)
{
    uint32_t depth = t->limit[bin] - t->floor[bin];
    uint32_t want = t->fill[bin] < depth ? t->fill[bin] : depth;
    t->fill[bin] = (uint16_t)(want * 2 <= depth ? want * 2 : want);
    t->missed[bin] = 1;
    uint32_t n = tcache_take(t, bin, want);
    tcache_set_height(t, bin, n);
}

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
static uint64_t tcache_take_one(uint32_t bin)
{
    uint64_t one[1];
    if (bin_fill(0, bin - 1, one, 1) /*@ ghost (0) */ == 0) {
        return 0;
    }
    /*@ ghost heap_lemma_out(one[0]); */
    /*@ ghost block_set_state(one[0], BLOCK_LIVE); */
    return one[0];
}

uint64_t tcache_refill(struct tcache *t, uint32_t bin)
{
    tcache_tick(t);
    if (!tcache_is_small(bin)) {
        bool zeroed;
        return large_alloc(bin - 1, 1, true, &zeroed);
    }
    if (tcache_is_standin(t)) {
        return tcache_take_one(bin);
    }
    tcache_fill(t, bin);
    return tcache_pop(t, bin);
}

/* ---- free, slowly ------------------------------------------------------------------------------------------------ */

/* Bin of the block of a cached class that begins there; 0: none does, but perhaps an uncached large one. */
/*@ requires heap:    HeapOk;
    requires out:     BlockOut(block);
    terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  bin:     block_szind[block] < TCACHE_BINS - 1 ==> \result == block_szind[block] + 1;
    ensures  none:    block_szind[block] >= TCACHE_BINS - 1 ==> \result == 0;
*/
static uint32_t tcache_bin_checked(uint64_t block, const char *call)
{
    if (block / PAGE >= PAGE_COUNT_MAX) {
        return 0;
    }
    /*@ ghost tcache_lemma_word(block); */
    uint64_t word = radix_tree_word(block / PAGE);
    uint32_t bin = word_bin(word);
    if (bin == 0) {
        return 0;
    }
    /*@ ghost tcache_lemma_begins(block); */
    uint32_t offset = word_offset(word, block);
    if (!(tcache_is_small(bin) ? divide_is_multiple(offset, slab_magic[bin - 1]) : offset == 0)) {
        trap_misuse(call, "interior pointer", block);
    }
    return bin;
}

uint64_t tcache_usable(uint64_t block, const char *call)
{
    uint32_t bin = tcache_bin_checked(block, call);
    if (bin != 0) {
        return size_class_bytes(bin - 1);
    }
    /*@ ghost heap_lemma_large(block); */
    uint64_t bytes = large_bytes(block);
    if (bytes == 0) {
        trap_misuse(call, "not a block", block);
    }
    return bytes;
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
static void tcache_free_large(uint64_t block, const char *call)
{
    /*@ ghost heap_lemma_large(block); */
    if (!large_free(block)) {
        trap_misuse(call, "not a block", block);
    }
}

/* The window that the address lies in is the one that tcache_push knows. */
/*@ requires radix:   RadixOk;
    requires valid:   \valid(t);
    requires address: block < ADDRESS_MAX;
    terminates        \true;
    exits             \false;
    assigns           t->window_pages, t->window, t->leaf;
    ensures  window:  \old(TcacheWindow(t)) ==> TcacheWindow(t);
*/
static void tcache_look(struct tcache *t, uint64_t block)
{
    uint64_t           window = block / (1UL << RADIX_LG_WINDOW);
    struct radix_leaf *leaf = radix_tree_leaf(window);
    if (leaf != NULL) {
        t->leaf = leaf;
        t->window = window * (1UL << RADIX_LG_WINDOW);
        t->window_pages = RADIX_WINDOW_PAGES;
        /*@ assert begins: t->window / RADIX_HALF == window && t->window % RADIX_HALF == 0; */
    }
}

/* A full stack loses its older half. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires ok:      TcacheOk(t);
    requires bin:     0 < bin < TCACHE_BINS;
    requires full:    t->floor[bin] < t->top[bin] && t->top[bin] == t->limit[bin];
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS(t);
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  ok:      TcacheOk(t);
    ensures  room:    t->top[bin] < t->limit[bin];
    ensures  kept:    LiveSame{Pre,Post}(0);
    ensures  none:    LiveNoneNew{Pre,Post}(0);
*/
static void tcache_make_room(struct tcache *t, uint32_t bin)
{
    uint32_t n = t->limit[bin] - t->floor[bin];
    tcache_flush_oldest(t, bin, n - n / 2);
    t->missed[bin] = 1;
    tcache_tick(t);
}

/* A live block comes on top. */
/*@ requires heap:    HeapOk;
    requires ok:      TcacheOk(t);
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    requires class:   0 < bin < TCACHE_BINS && block_szind[block] == bin - 1;
    requires room:    t->top[bin] < t->limit[bin];
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block];
    ensures  heap:    HeapOk;
    ensures  ok:      TcacheOk(t);
    ensures  gone:    block_state[block] == BLOCK_CACHED;
*/
static void tcache_add(struct tcache *t, uint32_t bin, uint64_t block)
{
    uint64_t top = t->top[bin];
    tcache_put(t, top, block) /*@ ghost (bin) */;
    /*@ assert absent: TcacheAbsent(t, block); */
    /*@ ghost block_set_cached(block, (uint32_t)top + 1); */
    tcache_raise(t, bin);
}

void tcache_free_slow(struct tcache *t, uint64_t block, const char *call)
{
    uint32_t bin = tcache_bin_checked(block, call);
    if (bin == 0) {
        tcache_free_large(block, call);
        tcache_tick(t);
        return;
    }
    if (t->limit[bin] == t->floor[bin]) {       /* a stand-in */
        tcache_give_one(bin, block);
        return;
    }
    /*@ ghost heap_lemma_out(block); */
    tcache_look(t, block);
    if (tcache_top(t, bin) == block) {
        trap_misuse(call, "double free", block);
    }
    if (t->top[bin] >= t->limit[bin]) {
        tcache_make_room(t, bin);
    }
    tcache_add(t, bin, block);
}
