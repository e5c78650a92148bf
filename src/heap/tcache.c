/* tcache: misses, full stacks, checks that fail, collection. */
#include "heap/tcache.h"

#include "heap/tcache_steps.h"
#include "pages/pages.h"
#include "platform/trap.h"

#include "size_class_align_lemmas.acsl"
#include "large_lemmas.acsl"

#define TCACHE_TICKS 32                /* slow events between two collections */

/* The stack of that bin; those before it are empty. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires ok:      TcacheOk(t);
    requires bin:     0 < bin < TCACHE_BINS;
    requires before:  TcacheEmptyTo(t, bin);
    terminates        \true;
    exits             \false;
    assigns           HEAP_ASSIGNS, large_freed, TCACHE_ASSIGNS_STACKS(t);
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  ok:      TcacheOk(t);
    ensures  empty:   TcacheEmptyTo(t, bin + 1);
    ensures  less:    TcacheLess{Pre,Post}(t);
    ensures  kept:    LiveSame{Pre,Post}(0);
    ensures  none:    LiveNoneNew{Pre,Post}(0);
*/
static inline void tcache_flush_bin(struct tcache *t, uint32_t bin)
{
    tcache_flush_oldest(t, bin, (uint32_t)t->top[bin] - t->floor[bin]);
    /*@ assert this: t->top[bin] == t->floor[bin]; */
    /*@ assert before: \forall integer b; 0 <= b < bin ==>
            t->floor[b] <= t->top[b] <= \at(t->top[b],Pre) && t->floor[b] == \at(t->floor[b],Pre); */
}

void tcache_flush(struct tcache *t)
{
    /*@ assert class: TCACHE_IN(t, 0, t->top[0]) ==> block_szind[t->slot[t->top[0]]] == -1; */
    /*@ loop invariant range: 1 <= b <= TCACHE_BINS;
        loop invariant lock:  LocksFree(LOCK_BIN(0));
        loop invariant heap:  HeapOk;
        loop invariant ok:    TcacheOk(t);
        loop invariant empty: TcacheEmptyTo(t, b);
        loop invariant less:  TcacheLess{Pre,Here}(t);
        loop invariant kept:  LiveSame{Pre,Here}(0);
        loop invariant new:   LiveNoneNew{Pre,Here}(0);
        loop assigns   b, HEAP_ASSIGNS, large_freed, TCACHE_ASSIGNS_STACKS(t);
        loop variant   TCACHE_BINS - b;
    */
    for (uint32_t b = 1; b < TCACHE_BINS; b++) {
        tcache_flush_bin(t, b);
    }
}

/* ---- turns ------------------------------------------------------------------------------------------------------- */

/* The stack may grow to that slot. */
/*@ requires heap:    HeapOk;
    requires valid:   \valid(t);
    requires outside: TcacheOutside(t);
    requires bin:     bin < TCACHE_BINS;
    requires range:   t->least[bin] <= limit <= t->room[bin];
    requires height:  t->top[bin] <= limit;
    requires limits:  TcacheLimits(t);
    requires tops:    TcacheTops(t);
    terminates        \true;
    exits             \false;
    assigns           t->limit[bin];
    ensures  heap:    HeapOk;
    ensures  limit:   t->limit[bin] == limit;
    ensures  limits:  TcacheLimits(t);
    ensures  tops:    TcacheTops(t);
*/
static void tcache_set_limit(struct tcache *t, uint32_t bin, uint32_t limit)
{
    t->limit[bin] = (uint16_t)limit;
    /*@ assert radix: RadixOk; */
    /*@ assert cache: PageCacheOk; */
    /*@ ghost large_lemma_ok(); */
}

/* Twice as deep, as far as there is room. */
/*@ requires heap:    HeapOk;
    requires ok:      TcacheOk(t);
    requires bin:     0 < bin < TCACHE_BINS;
    terminates        \true;
    exits             \false;
    assigns           t->limit[bin];
    ensures  heap:    HeapOk;
    ensures  ok:      TcacheOk(t);
*/
static void tcache_deepen(struct tcache *t, uint32_t bin)
{
    /*@ assert limits: t->floor[bin] <= t->least[bin] <= t->limit[bin] <= t->room[bin]; */
    uint32_t depth = t->limit[bin] - t->floor[bin];
    uint32_t more = t->room[bin] - t->limit[bin];
    tcache_set_limit(t, bin, t->limit[bin] + (depth < more ? depth : more));
    /*@ ghost tcache_lemma_ok(t); */
}

/* As deep as at first; a quarter of the blocks leaves, and all above. */
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
static void tcache_shallow(struct tcache *t, uint32_t bin)
{
    uint32_t n = (uint32_t)t->top[bin] - t->floor[bin];
    uint32_t depth = t->least[bin] - t->floor[bin];
    uint32_t keep = n * 3 / 4 < depth ? n * 3 / 4 : depth;
    tcache_flush_oldest(t, bin, n - keep);
    tcache_set_limit(t, bin, t->least[bin]);
    t->fill[bin] = TCACHE_FILL_FIRST;
    /*@ ghost tcache_lemma_ok(t); */
}

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
    if (t->missed[bin] == 0) {
        tcache_shallow(t, bin);
    }
    /*@ assert ok: TcacheOk(t); */
    t->missed[bin] = 0;
    t->full[bin] = 0;
    /*@ ghost tcache_lemma_ok(t); */
}

/* Pages that were free for long go back to the OS; other threads purge too. */
/*@ requires lock:    LocksFree(LOCK_PAGES);
    requires heap:    HeapOk;
    terminates        \true;
    exits             \false;
    assigns           PAGES_ASSIGNS;
    ensures  lock:    LocksFree(LOCK_PAGES);
    ensures  heap:    HeapOk;
*/
static void tcache_purge(void)
{
    /*@ ghost large_lemma_pages(); */
    pages_decay();
    /*@ assert owners: LargeOwners{Pre,Here}(0); */
    /*@ assert pages: LargePages{Pre,Here}; */
    /*@ ghost large_lemma_ok(); */
}

/* What this thread has stays. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires ok:      TcacheOk(t);
    terminates        \true;
    exits             \false;
    assigns           PAGES_ASSIGNS;
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  ok:      TcacheOk(t);
*/
static void tcache_decay(void) /*@ ghost (struct tcache *t) */
{
    tcache_purge();
    /*@ assert same: TcacheShapeSame{Pre,Here}(t); */
    /*@ ghost tcache_lemma_shape(t); */
    /*@ ghost tcache_lemma_ok(t); */
}

void tcache_tick(struct tcache *t)
{
    if (tcache_is_standin(t)) {
        return;
    }
    if (t->ticks > 1) {
        t->ticks = (int16_t)(t->ticks - 1);
        /*@ ghost tcache_lemma_ok(t); */
        return;
    }
    t->ticks = TCACHE_TICKS;
    t->collect = (int16_t)(t->collect + 1 < (int)TCACHE_BINS ? t->collect + 1 : 1);
    /*@ ghost tcache_lemma_ok(t); */
    tcache_collect(t, (uint32_t)t->collect);
    tcache_decay() /*@ ghost (t) */;
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
    ensures  same:    TcacheShapeSame{Pre,Post}(t);
    ensures  shape:   TcacheShape(t);
    ensures  tops:    TcacheTops(t);
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
    /*@ assert away: \forall integer b, i; TCACHE_IN(t, b, i) && b != bin ==> !(first <= i < first + n); */
    /*@ assert floor: \forall integer b; TCACHE_BIN(b) ==> !(first <= t->floor[b] < first + n); */
    uint32_t filled = bin_fill(t->arena, bin - 1, &t->slot[first], n) /*@ ghost (first) */;
    /*@ assert same: TcacheShapeSame{Pre,Here}(t); */
    /*@ ghost tcache_lemma_shape(t); */
    /*@ assert slots: \forall integer b, i; TCACHE_IN(t, b, i) && b != bin ==> t->slot[i] == \at(t->slot[i],Pre); */
    /*@ ghost tcache_lemma_filled(t, bin, first, filled); */
    return filled;
}

/* A stack that overflowed and now misses is too shallow for what the thread does with it. */
/*@ requires heap:    HeapOk;
    requires ok:      TcacheOk(t);
    requires bin:     0 < bin < TCACHE_BINS;
    terminates        \true;
    exits             \false;
    assigns           t->limit[bin], t->missed[bin], t->full[bin];
    ensures  heap:    HeapOk;
    ensures  ok:      TcacheOk(t);
*/
static void tcache_miss(struct tcache *t, uint32_t bin)
{
    if (t->full[bin] != 0) {
        tcache_deepen(t, bin);
    }
    /*@ assert ok: TcacheOk(t); */
    t->missed[bin] = 1;
    t->full[bin] = 0;
    /*@ ghost tcache_lemma_ok(t); */
}

/* An empty stack is filled, at each miss with twice as many, but only by half, so that frees find room. */
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
    uint32_t half = (t->limit[bin] - t->floor[bin] + 1) / 2;
    uint32_t want = (uint32_t)t->fill[bin] < half ? (uint32_t)t->fill[bin] : half;
    t->fill[bin] = (int16_t)(want * 2 <= half ? want * 2 : want);
    uint32_t n = tcache_take(t, bin, want);
    tcache_set_height(t, bin, n);
    /*@ ghost tcache_lemma_ok(t); */
}

/* One block past the stacks. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires ok:      TcacheOk(t);
    requires bin:     0 < bin < TCACHE_BINS;
    terminates        \true;
    exits             \false;
    assigns           HEAP_ASSIGNS, large_allocated;
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  ok:      TcacheOk(t);
    ensures  live:    \result != 0 ==> \result < ADDRESS_MAX && block_state[\result] == BLOCK_LIVE;
    ensures  class:   \result != 0 ==> block_szind[\result] == bin - 1;
    ensures  was:     \result != 0 ==> \old(block_state[\result]) == BLOCK_NONE;
    ensures  kept:    LiveSame{Pre,Post}(0);
    ensures  none:    LiveNoneNew{Pre,Post}(\result);
*/
static uint64_t tcache_take_past(uint32_t bin) /*@ ghost (struct tcache *t) */
{
    /*@ assert were: TcacheOthers(t, TCACHE_BINS); */
    /*@ assert range: \forall integer b, i; TCACHE_IN(t, b, i) ==> i < TCACHE_SLOTS; */
    uint64_t block = tcache_take_live(bin);
    /*@ assert same: TcacheShapeSame{Pre,Here}(t); */
    /*@ ghost tcache_lemma_shape(t); */
    /*@ assert slots: \forall integer b, i; TCACHE_IN(t, b, i) ==> t->slot[i] == \at(t->slot[i],Pre); */
    /*@ assert out: \forall integer b, i; TCACHE_IN(t, b, i) ==> BlockOut{Pre}(t->slot[i]); */
    /*@ assert blocks: \forall integer b, i; TCACHE_IN(t, b, i) ==> BlockSame{Pre,Here}(t->slot[i]); */
    /*@ assert are: TcacheOthers(t, TCACHE_BINS); */
    /*@ ghost tcache_lemma_stacks(t); */
    /*@ ghost tcache_lemma_ok(t); */
    return block;
}

/* A block of a small class from its stack, which is empty, filled. */
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
    ensures  live:    \result != 0 ==> \result < ADDRESS_MAX && block_state[\result] == BLOCK_LIVE;
    ensures  class:   \result != 0 ==> block_szind[\result] == bin - 1;
    ensures  was:     \result != 0 ==> \old(block_state[\result]) != BLOCK_LIVE;
    ensures  kept:    LiveSame{Pre,Post}(0);
    ensures  none:    LiveNoneNew{Pre,Post}(\result);
*/
static uint64_t tcache_fill_pop(struct tcache *t, uint32_t bin)
{
    tcache_fill(t, bin);
    /*@ ghost tcache_lemma_null(); */
    return tcache_pop(t, bin);
}

uint64_t tcache_refill(struct tcache *t, uint32_t bin)
{
    tcache_tick(t);
    /*@ assert empty: t->top[bin] == t->floor[bin]; */
    /*@ ghost tcache_lemma_null(); */
    if (!tcache_is_standin(t)) {
        tcache_miss(t, bin);
        if (tcache_is_small(bin)) {
            return tcache_fill_pop(t, bin);
        }
    }
    return tcache_take_past(bin) /*@ ghost (t) */;
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
static inline uint32_t tcache_bin_checked(uint64_t block, const char *call)
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
    /*@ assert class: block_szind[block] == bin - 1; */
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

/* The window that the address lies in is the one that tcache_push knows. Never the first: there it need not tell NULL. */
/*@ requires radix:   RadixOk;
    requires ok:      TcacheOk(t);
    requires address: block < ADDRESS_MAX;
    terminates        \true;
    exits             \false;
    assigns           t->window_pages, t->window, t->leaf;
    ensures  ok:      TcacheOk(t);
*/
static void tcache_look(struct tcache *t, uint64_t block)
{
    uint64_t           window = block / (1UL << RADIX_LG_WINDOW);
    struct radix_leaf *leaf = radix_tree_leaf(window);
    if (window != 0 && leaf != NULL) {
        t->leaf = leaf;
        t->window = window * (1UL << RADIX_LG_WINDOW);
        t->window_pages = RADIX_WINDOW_PAGES;
        /*@ assert begins: t->window / RADIX_HALF == window && t->window % RADIX_HALF == 0; */
        /*@ ghost tcache_lemma_ok(t); */
    }
}

/* A full stack loses its older seven eighths; the next fills begin small, lest they make it overflow again. */
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
    tcache_tick(t);
    /*@ assert some: t->floor[bin] < t->least[bin]; */
    uint32_t n = (uint32_t)t->top[bin] - t->floor[bin];
    tcache_flush_oldest(t, bin, n - n / 8);
    t->full[bin] = 1;
    t->fill[bin] = TCACHE_FILL_FIRST;
    /*@ ghost tcache_lemma_ok(t); */
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
    /*@ assert above: top == t->top[bin] && TcacheAbove(t, bin, top + 1); */
    tcache_raise(t, bin);
}

/* A block past the stacks: of an uncached class (bin 0), or where there are none. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires ok:      TcacheOk(t);
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    requires class:   bin < TCACHE_BINS;
    requires cached:  bin != 0 ==> block_szind[block] == bin - 1;
    requires large:   bin == 0 ==> block_szind[block] >= TCACHE_BINS - 1;
    terminates        \true;
    exits             \false;
    assigns           HEAP_ASSIGNS, large_freed;
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  ok:      TcacheOk(t);
    ensures  gone:    block_state[block] != BLOCK_LIVE;
    ensures  kept:    LiveSame{Pre,Post}(block);
    ensures  none:    LiveNoneNew{Pre,Post}(0);
*/
static void tcache_free_past(uint32_t bin, uint64_t block, const char *call) /*@ ghost (struct tcache *t) */
{
    /*@ assert were: TcacheOthers(t, TCACHE_BINS); */
    /*@ assert absent: \forall integer b, i; TCACHE_IN(t, b, i) ==> t->slot[i] != block && i < TCACHE_SLOTS; */
    tcache_give_live(bin, block, call);
    /*@ assert same: TcacheShapeSame{Pre,Here}(t); */
    /*@ ghost tcache_lemma_shape(t); */
    /*@ assert stacks: TcacheSame{Pre,Here}(t); */
    /*@ assert are: TcacheOthers(t, TCACHE_BINS); */
    /*@ ghost tcache_lemma_stacks(t); */
    /*@ ghost tcache_lemma_ok(t); */
}

/* A block comes into its stack. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires ok:      TcacheOk(t);
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    requires class:   0 < bin < TCACHE_BINS && block_szind[block] == bin - 1;
    requires some:    t->floor[bin] < t->limit[bin];
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS(t);
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  ok:      TcacheOk(t);
    ensures  gone:    block_state[block] != BLOCK_LIVE;
    ensures  kept:    LiveSame{Pre,Post}(block);
    ensures  none:    LiveNoneNew{Pre,Post}(0);
*/
static void tcache_free_cached(struct tcache *t, uint32_t bin, uint64_t block, const char *call)
{
    /*@ ghost heap_lemma_out(block); */
    /*@ ghost tcache_lemma_null(); */
    tcache_look(t, block);
    if (tcache_top(t, bin) == block) {
        trap_misuse(call, "double free", block);
    }
    if (t->top[bin] >= t->limit[bin]) {
        tcache_make_room(t, bin);
    }
    tcache_add(t, bin, block);
}

void tcache_free_slow(struct tcache *t, uint64_t block, const char *call)
{
    /*@ ghost tcache_lemma_null(); */
    uint32_t bin = tcache_bin_checked(block, call);
    if (bin == 0) {
        tcache_free_past(bin, block, call) /*@ ghost (t) */;
        tcache_tick(t);
    } else if (t->limit[bin] == t->floor[bin]) {        /* a stand-in */
        tcache_free_past(bin, block, call) /*@ ghost (t) */;
    } else {
        tcache_free_cached(t, bin, block, call);
    }
}
