/* refill: see refill.h. */
#include "tcache/refill.h"

#include "blocks/holes.h"
#include "tcache/counting.h"
#include "tcache/stack.h"
#include "pages/pages.h"
#include "platform/trap.h"

#include "math/size_class_align_lemmas.acsl"
#include "blocks/large_lemmas.acsl"

#define TURN_TICKS 32                  /* one stack has its turn after so many slow events; */
#define TURN_STACKS 8U                 /* so many have it with the first slow event */
#define TURN_MS 64U                    /* after so many milliseconds */

/* Gives all blocks of one stack back. The stacks before it are empty already. */
/*@ TCACHE_CALM(requires, t);
    requires stack:   0 < stack < TCACHE_STACKS;
    requires before:  TcacheEmptyTo(t, stack);
    assigns           BLOCKS_ASSIGNS, large_freed, TCACHE_ASSIGNS_STACKS(t);
    TCACHE_CALM(ensures, t);
    ensures  empty:   TcacheEmptyTo(t, stack + 1);
    ensures  less:    TcacheLess{Pre,Post}(t);
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, 0, 0);
*/
static inline void flush_stack(struct tcache *t, uint32_t stack)
{
    stack_flush_oldest(t, stack, (uint32_t)t->top[stack] - t->floor[stack]);
    /*@ assert this: t->top[stack] == t->floor[stack]; */
    /*@ assert before: \forall integer b; 0 <= b < stack ==>
            t->floor[b] <= t->top[b] <= \at(t->top[b],Pre) && t->floor[b] == \at(t->floor[b],Pre); */
}

void refill_flush(struct tcache *t)
{
    /*@ assert class: TCACHE_IN(t, 0, t->top[0]) ==> block_szind[t->slot[t->top[0]]] == -1; */
    /*@ loop invariant range: 1 <= b <= TCACHE_STACKS;
        TCACHE_CALM(loop invariant, t);
        loop invariant empty: TcacheEmptyTo(t, b);
        loop invariant less:  TcacheLess{Pre,Here}(t);
        TCACHE_NONE_LOST(loop invariant, t);
        LIVE_KEPT(loop invariant, 0, 0);
        loop assigns   b, BLOCKS_ASSIGNS, large_freed, TCACHE_ASSIGNS_STACKS(t);
        loop variant   TCACHE_STACKS - b;
    */
    for (uint32_t b = 1; b < TCACHE_STACKS; b++) {
        flush_stack(t, b);
    }
}

/* ---- turns ------------------------------------------------------------------------------------------------------- */

/* Sets the last slot that the stack may use. */
/*@ requires blocks:  BlocksOk;
    requires valid:   \valid(t);
    requires outside: TcacheOutside(t);
    requires stack:   stack < TCACHE_STACKS;
    requires range:   t->least[stack] <= limit <= t->most[stack];
    requires height:  t->top[stack] <= limit;
    requires limits:  TcacheLimits(t);
    requires tops:    TcacheTops(t);
    assigns           t->limit[stack];
    ensures  blocks:  BlocksOk;
    ensures  limit:   t->limit[stack] == limit;
    ensures  limits:  TcacheLimits(t);
    ensures  tops:    TcacheTops(t);
*/
static void turn_set_limit(struct tcache *t, uint32_t stack, uint32_t limit)
{
    t->limit[stack] = (uint16_t)limit;
    /*@ assert radix: RadixOk; */
    /*@ assert cache: PageCacheOk; */
    /*@ ghost large_lemma_ok(); */
}

/* Makes a stack twice as deep, as far as it may be. */
/*@ TCACHE_WHOLE(requires, t);
    requires stack:   0 < stack < TCACHE_STACKS;
    assigns           t->limit[stack];
    TCACHE_WHOLE(ensures, t);
*/
static void turn_deepen(struct tcache *t, uint32_t stack)
{
    /*@ assert limits: t->floor[stack] <= t->least[stack] <= t->limit[stack] <= t->most[stack]; */
    uint32_t depth = t->limit[stack] - t->floor[stack];
    uint32_t more = t->most[stack] - t->limit[stack];
    turn_set_limit(t, stack, t->limit[stack] + (depth < more ? depth : more));
    /*@ ghost tcache_lemma_ok(t); */
}

/* Makes a stack as deep as at first. Of its blocks at most so many stay, and the oldest are given back. */
/*@ TCACHE_CALM(requires, t);
    requires stack:   0 < stack < TCACHE_STACKS;
    requires most:    most <= t->top[stack] - t->floor[stack];
    assigns           TCACHE_ASSIGNS(t);
    TCACHE_CALM(ensures, t);
    ensures  less:    TcacheLess{Pre,Post}(t);
    ensures  left:    t->top[stack] - t->floor[stack] <= most;
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, 0, 0);
*/
static void turn_shallow(struct tcache *t, uint32_t stack, uint32_t most)
{
    uint32_t n = (uint32_t)t->top[stack] - t->floor[stack];
    uint32_t depth = t->least[stack] - t->floor[stack];
    uint32_t keep = most < depth ? most : depth;
    stack_flush_oldest(t, stack, n - keep);
    turn_set_limit(t, stack, t->least[stack]);
    t->fill[stack] = TCACHE_FILL_FIRST;
    /*@ ghost tcache_lemma_ok(t); */
}

/* Gives a stack its turn. One without a miss since its last turn is deeper than the thread needs, and a quarter of its blocks leaves. If it
 * is as high as it was then, the thread has probably not used it at all, and it becomes empty. */
/*@ TCACHE_CALM(requires, t);
    requires stack:   0 < stack < TCACHE_STACKS;
    assigns           TCACHE_ASSIGNS(t);
    TCACHE_CALM(ensures, t);
    ensures  less:    TcacheLess{Pre,Post}(t);
    ensures  unused:  \old(t->missed[stack]) == 0 && \old(t->height[stack]) == \old(t->top[stack]) - \old(t->floor[stack]) ==>
                      t->top[stack] == t->floor[stack];
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, 0, 0);
*/
static void turn_collect(struct tcache *t, uint32_t stack)
{
    uint32_t n = (uint32_t)t->top[stack] - t->floor[stack];
    if (t->missed[stack] == 0) {
        turn_shallow(t, stack, (int32_t)n == t->height[stack] ? 0 : n * 3 / 4);
    }
    /*@ assert ok: TcacheOk(t); */
    t->height[stack] = (int32_t)((uint32_t)t->top[stack] - t->floor[stack]);
    t->missed[stack] = 0;
    t->full[stack] = 0;
    /*@ assert radix: RadixOk; */
    /*@ assert cache: PageCacheOk; */
    /*@ ghost large_lemma_ok(); */
    /*@ ghost tcache_lemma_ok(t); */
}

/* Gives pages that have been free for long back to the OS. Other threads may do so meanwhile. Returns whether many still wait. */
/*@ PAGES_FREE(requires);
    assigns           PAGES_ASSIGNS;
    PAGES_FREE(ensures);
*/
static bool turn_purge(void)
{
    /*@ ghost large_lemma_pages(); */
    bool waits = pages_decay();
    /*@ assert owners: LargeOwners{Pre,Here}(0); */
    /*@ assert pages: LargePages{Pre,Here}; */
    /*@ ghost large_lemma_ok(); */
    return waits;
}

/* Purges, which leaves the cache t as it was. Returns whether many pages still wait. */
/*@ TCACHE_CALM(requires, t);
    assigns           PAGES_ASSIGNS;
    TCACHE_CALM(ensures, t);
*/
static bool turn_decay(void) /*@ ghost (struct tcache *t) */
{
    bool waits = turn_purge();
    /*@ assert same: TcacheShapeSame{Pre,Here}(t); */
    /*@ ghost tcache_lemma_shape(t); */
    /*@ ghost tcache_lemma_ok(t); */
    return waits;
}

/* Gives holes that have waited for long back to the OS, which leaves the cache t as it was. */
/*@ TCACHE_CALM(requires, t);
    assigns           BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS;
    TCACHE_CALM(ensures, t);
*/
static void turn_holes(void) /*@ ghost (struct tcache *t) */
{
    (void)holes_decay();
    /*@ assert same: TcacheShapeSame{Pre,Here}(t); */
    /*@ ghost tcache_lemma_shape(t); */
    /*@ ghost tcache_lemma_ok(t); */
}

/* Counts a slow event and returns how many stacks have their turn now. Each slow event looks at the clock, since what threads have freed
 * decays with time, and a thread may have few of them. */
/*@ requires blocks:  BlocksOk;
    requires ok:      TcacheOk(t);
    assigns           t->ticks, t->turned;
    ensures  blocks:  BlocksOk;
    ensures  ok:      TcacheOk(t);
    ensures  most:    \result <= TURN_STACKS;
*/
static uint32_t turns_due(struct tcache *t)
{
    int16_t  now = (int16_t)(os_clock_ms() / TURN_MS % INT16_MAX);
    uint32_t due = t->turned != now ? TURN_STACKS : t->ticks <= 1 ? 1 : 0;
    t->ticks = (int16_t)(due > 0 ? TURN_TICKS : t->ticks - 1);
    t->turned = now;
    /*@ ghost tcache_lemma_ok(t); */
    return due;
}

/* Gives the stack after the one whose turn it was last its turn. */
/*@ TCACHE_CALM(requires, t);
    assigns           TCACHE_ASSIGNS(t);
    TCACHE_CALM(ensures, t);
    ensures  less:    TcacheLess{Pre,Post}(t);
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, 0, 0);
*/
static void turn_next(struct tcache *t)
{
    t->collect = (int16_t)(t->collect + 1 < (int)TCACHE_STACKS ? t->collect + 1 : 1);
    /*@ ghost tcache_lemma_ok(t); */
    turn_collect(t, (uint32_t)t->collect);
}

void refill_tick(struct tcache *t)
{
    uint32_t due = tcache_is_standin(t) ? 0 : turns_due(t);
    if (due == 0) {
        return;
    }
    /*@ loop invariant range: 0 <= n <= due;
        TCACHE_CALM(loop invariant, t);
        loop invariant less:  TcacheLess{Pre,Here}(t);
        TCACHE_NONE_LOST(loop invariant, t);
        LIVE_KEPT(loop invariant, 0, 0);
        loop assigns   n, TCACHE_ASSIGNS(t);
        loop variant   due - n;
    */
    for (uint32_t n = 0; n < due; n++) {
        turn_next(t);
    }
    bool waits = turn_decay() /*@ ghost (t) */;
    turn_holes() /*@ ghost (t) */;
    if (waits || due == TURN_STACKS) {          /* the table of sizes is not filled again more often than each TURN_MS */
        counting_wait(t, waits);
        /*@ assert radix: RadixOk; */
        /*@ assert cache: PageCacheOk; */
        /*@ ghost large_lemma_ok(); */
    }
}

/* ---- misses ------------------------------------------------------------------------------------------------------ */

/* Takes at most n blocks from the thread's arena into the slots of an empty stack. Returns how many it got. */
/*@ BINS_FREE(requires);
    REQUIRES_SHAPE_AND_STACKS(t);
    requires turn:    TcacheTurn(t);
    requires stack:   0 < stack <= SC_NBINS;
    requires empty:   t->top[stack] == t->floor[stack];
    requires n:       t->floor[stack] + n <= t->limit[stack];
    assigns           BLOCKS_ASSIGNS, t->slot[t->floor[stack] + 1 .. t->floor[stack] + n];
    BINS_FREE(ensures);
    ensures  most:    \result <= n;
    ENSURES_SHAPE_KEPT(t);
    ensures  floors:  TcacheFloors(t);
    ensures  run:     TcacheRun(t, stack, t->floor[stack] + 1, t->floor[stack] + 1 + \result);
    ensures  others:  TcacheOthers(t, stack);
    ensures  from:    \forall integer i; t->floor[stack] < i <= t->floor[stack] + \result ==> BlockFrom(t->slot[i], t->arena);
    ensures  kept:    BlocksKept{Pre,Post};
    ensures  slots:   \forall integer b, i; TCACHE_IN(t, b, i) && b != stack ==> t->slot[i] == \old(t->slot[i]);
    ensures  stand:   \forall integer a; BlockOut(a) && !\old(BlockOut(a)) ==>
                      t->floor[stack] < block_pos[a] <= t->floor[stack] + \result && t->slot[block_pos[a]] == a;
    LIVE_KEPT(ensures, 0, 0);
*/
static uint32_t refill_take(struct tcache *t, uint32_t stack, uint32_t n)
{
    uint32_t first = t->floor[stack] + 1;
    /*@ assert others: TcacheOthers(t, stack); */
    /*@ assert alone: TcacheAlone(t, stack, first, first + n); */
    uint32_t filled = bin_fill(t->arena, stack - 1, &t->slot[first], n) /*@ ghost (first) */;
    /*@ assert same: TcacheShapeSame{Pre,Here}(t); */
    /*@ ghost tcache_lemma_shape(t); */
    /*@ ghost tcache_lemma_types(t); */
    /*@ assert slots: \forall integer b, i; TCACHE_IN(t, b, i) && b != stack ==> t->slot[i] == \at(t->slot[i],Pre); */
    /*@ ghost stack_lemma_filled(t, stack, first, filled, t->arena * SC_NBINS + stack - 1); */
    return filled;
}

/* Notes that a stack has missed. One that has also overflowed is too shallow for its thread, and becomes deeper. */
/*@ TCACHE_WHOLE(requires, t);
    requires stack:   0 < stack < TCACHE_STACKS;
    assigns           t->limit[stack], t->missed[stack], t->full[stack];
    TCACHE_WHOLE(ensures, t);
*/
static void refill_miss(struct tcache *t, uint32_t stack)
{
    if (t->full[stack] != 0) {
        turn_deepen(t, stack);
    }
    /*@ assert ok: TcacheOk(t); */
    t->missed[stack] = 1;
    t->full[stack] = 0;
    /*@ ghost tcache_lemma_ok(t); */
}

/* Fills an empty stack. Each miss brings twice as many blocks, up to half of the depth, so that frees find room. */
/*@ TCACHE_CALM(requires, t);
    requires stack:   0 < stack <= SC_NBINS;
    requires empty:   t->top[stack] == t->floor[stack];
    assigns           TCACHE_ASSIGNS(t);
    TCACHE_CALM(ensures, t);
    ensures  stand:   \forall integer a; BlockOut(a) && !\old(BlockOut(a)) ==>
                      TCACHE_IN(t, stack, block_pos[a]) && t->slot[block_pos[a]] == a;
    ensures  from:    \forall integer i; t->floor[stack] < i <= t->top[stack] ==> BlockFrom(t->slot[i], t->arena);
    ensures  rest:    \forall integer b; TCACHE_STACK(b) && b != stack ==> t->top[b] == \old(t->top[b]);
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, 0, 0);
*/
static void refill_fill(struct tcache *t, uint32_t stack)
{
    /*@ assert begin: TcacheAll(t) ==> \forall integer a, b; 0 <= a < ADDRESS_MAX && block_state[a] == BLOCK_CACHED &&
            b == block_szind[a] + 1 ==> TCACHE_IN(t, b, block_pos[a]); */
    uint32_t half = (t->limit[stack] - t->floor[stack] + 1) / 2;
    uint32_t want = (uint32_t)t->fill[stack] < half ? (uint32_t)t->fill[stack] : half;
    t->fill[stack] = (int16_t)(want * 2 <= half ? want * 2 : want);
    uint32_t n = refill_take(t, stack, want);
    /*@ assert window: TcacheWindow(t); */
    /*@ assert tops: \forall integer b; TCACHE_STACK(b) ==> t->top[b] == \at(t->top[b],Pre) && t->floor[b] == \at(t->floor[b],Pre); */
    /*@ assert slots: \forall integer b, i; TCACHE_IN(t, b, i) && b != stack ==> t->slot[i] == \at(t->slot[i],Pre); */
    /*@ assert old: BlocksKept{Pre,Here}; */
    /*@ assert new: \forall integer a; BlockOut(a) && !BlockOut{Pre}(a) ==> block_szind[a] == stack - 1; */
    /*@ assert same: \forall integer a; 0 <= a < ADDRESS_MAX && block_state[a] == BLOCK_CACHED && block_szind[a] + 1 != stack ==>
            \at(block_state[a],Pre) == BLOCK_CACHED && \at(block_szind[a],Pre) == block_szind[a] && \at(block_pos[a],Pre) == block_pos[a]; */
    /*@ assert stood: TcacheAll{Pre}(t) ==> \forall integer a, b; 0 <= a < ADDRESS_MAX && \at(block_state[a],Pre) == BLOCK_CACHED &&
            b == \at(block_szind[a],Pre) + 1 ==>
            TCACHE_STACK(b) && \at(t->floor[b],Pre) < \at(block_pos[a],Pre) <= \at(t->top[b],Pre); */
    /*@ assert stand: TcacheAll{Pre}(t) ==> \forall integer a, b; 0 <= a < ADDRESS_MAX && block_state[a] == BLOCK_CACHED && b != stack &&
            b == block_szind[a] + 1 ==> TCACHE_IN(t, b, block_pos[a]); */
    /*@ assert were: TcacheAll{Pre}(t) ==> \forall integer a; 0 <= a < ADDRESS_MAX && block_state[a] == BLOCK_CACHED &&
            block_szind[a] + 1 != stack ==> t->slot[block_pos[a]] == a; */
    /*@ assert there: TcacheAll{Pre}(t) ==> TcacheAllBut(t, stack); */
    /*@ assert empty: TcacheAll{Pre}(t) ==> \forall integer a; 0 <= a < ADDRESS_MAX && \at(block_state[a],Pre) == BLOCK_CACHED ==>
            \at(block_szind[a],Pre) + 1 != stack; */
    /*@ assert fresh: TcacheAll{Pre}(t) ==> \forall integer a; 0 <= a < ADDRESS_MAX && block_state[a] == BLOCK_CACHED &&
            block_szind[a] + 1 == stack ==> !BlockOut{Pre}(a); */
    /*@ assert here: TcacheAll{Pre}(t) ==> TcacheAllOf(t, stack, t->floor[stack] + 1, t->floor[stack] + 1 + n); */
    stack_set_height(t, stack, n);
    /*@ assert window: TcacheWindow(t); */
    /*@ ghost tcache_lemma_ok(t); */
}

/* Returns one block that has not been in a stack of the cache t, or 0 without memory. The cache stays as it was. */
/*@ TCACHE_CALM(requires, t);
    requires stack:   0 < stack < TCACHE_STACKS;
    assigns           BLOCKS_ASSIGNS, large_allocated;
    TCACHE_CALM(ensures, t);
    ENSURES_LIVE_RESULT(stack);
    ensures  was:     \result != 0 ==> \old(block_state[\result]) == BLOCK_NONE;
    ensures  from:    \result != 0 ==> BlockFrom(\result, stack <= SC_NBINS ? 0 : t->arena);
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, 0, \result);
    ensures  out:     \result == 0 ==> NoBlock(stack - 1, 1);
*/
static uint64_t refill_past(const struct tcache *t, uint32_t stack)
{
    /*@ assert were: TcacheOthers(t, TCACHE_STACKS); */
    /*@ ghost tcache_lemma_types(t); */
    /*@ assert range: \forall integer b, i; TCACHE_IN(t, b, i) ==> i < TCACHE_SLOTS; */
    uint64_t block = outside_take(t->arena, stack);
    /*@ assert floor: \forall integer b; TCACHE_STACK(b) ==> t->floor[b] == \at(t->floor[b],Pre); */
    /*@ assert limit: \forall integer b; TCACHE_STACK(b) ==> t->limit[b] == \at(t->limit[b],Pre); */
    /*@ assert least: \forall integer b; TCACHE_STACK(b) ==> t->least[b] == \at(t->least[b],Pre); */
    /*@ assert most: \forall integer b; TCACHE_STACK(b) ==> t->most[b] == \at(t->most[b],Pre); */
    /*@ assert room: \forall integer b; TCACHE_STACK(b) ==> t->room[b] == \at(t->room[b],Pre); */
    /*@ assert magic: \forall integer b; TCACHE_STACK(b) ==> t->magic[b] == \at(t->magic[b],Pre); */
    /*@ assert negated: \forall integer b; TCACHE_STACK(b) ==> t->negated[b] == \at(t->negated[b],Pre); */
    /*@ assert same: TcacheShapeSame{Pre,Here}(t); */
    /*@ ghost tcache_lemma_shape(t); */
    /*@ assert stacks: TcacheSame{Pre,Here}(t); */
    /*@ assert out: \forall integer b, i; TCACHE_IN(t, b, i) ==> BlockOut{Pre}(t->slot[i]); */
    /*@ assert are: TcacheOthers(t, TCACHE_STACKS); */
    /*@ ghost stack_lemma_null(); */
    /*@ assert kept: \forall integer a; 0 <= a < ADDRESS_MAX && block_state[a] == BLOCK_CACHED ==> BlockSame{Pre,Here}(a); */
    /*@ assert all: TcacheAll{Pre}(t) ==> TcacheAll(t); */
    /*@ ghost stack_lemma_kept(t); */
    return block;
}

/* Fills the empty stack of a small class and returns a block from it, or 0 without memory. */
/*@ TCACHE_CALM(requires, t);
    requires stack:   0 < stack <= SC_NBINS;
    requires empty:   t->top[stack] == t->floor[stack];
    assigns           TCACHE_ASSIGNS(t);
    TCACHE_CALM(ensures, t);
    ENSURES_LIVE_RESULT(stack);
    ensures  was:     \result != 0 ==> \old(block_state[\result]) != BLOCK_LIVE;
    ensures  from:    \result != 0 ==> BlockFrom(\result, t->arena);
    ensures  less:    \result == 0 ==> TcacheLess{Pre,Post}(t);
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, 0, \result);
*/
static uint64_t refill_pop(struct tcache *t, uint32_t stack)
{
    refill_fill(t, stack);
    /*@ assert from: t->floor[stack] < t->top[stack] ==> BlockFrom(t->slot[t->top[stack]], t->arena); */
    /*@ assert rest: \forall integer b; TCACHE_STACK(b) && b != stack ==> t->top[b] == \at(t->top[b],Pre); */
    /*@ ghost stack_lemma_null(); */
    uint64_t block = tcache_pop(t, stack);
    /*@ assert from: block != 0 ==> BlockFrom(block, t->arena); */
    /*@ assert less: block == 0 ==> TcacheLess{Pre,Here}(t); */
    return block;
}

/* Notes a miss and returns a block from the stack, which it fills first, or 0 without memory. A stand-in, and a large class, get 0. */
/*@ TCACHE_CALM(requires, t);
    requires stack:   0 < stack < TCACHE_STACKS;
    requires empty:   t->top[stack] == t->floor[stack];
    assigns           TCACHE_ASSIGNS(t);
    TCACHE_CALM(ensures, t);
    ENSURES_LIVE_RESULT(stack);
    ensures  was:     \result != 0 ==> \old(block_state[\result]) != BLOCK_LIVE;
    ensures  from:    \result != 0 ==> BlockFrom(\result, t->arena);
    ensures  less:    \result == 0 ==> TcacheLess{Pre,Post}(t);
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, 0, \result);
*/
static uint64_t refill_missed(struct tcache *t, uint32_t stack)
{
    if (tcache_is_standin(t)) {
        return 0;
    }
    refill_miss(t, stack);
    return stack_is_small(stack) ? refill_pop(t, stack) : 0;
}

uint64_t refill(struct tcache *t, uint32_t stack)
{
    refill_tick(t);
    /*@ assert empty: t->top[stack] == t->floor[stack]; */
    /*@ ghost stack_lemma_null(); */
    uint64_t block = refill_missed(t, stack);
    /*@ ghost stack_lemma_null(); */
    /*@ assert missed: LiveNoneNew{Pre,Here}(block); */
    /* Where the thread's arena has no memory for a slab, arena 0 may have one with free regions. */
    return block != 0 ? block : refill_past(t, stack);
}
