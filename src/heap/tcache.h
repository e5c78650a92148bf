/* tcache: the blocks that a thread has ready, one stack of addresses per cached size class.
 *
 * malloc pops and free pushes; only a miss goes to the bins and takes a lock. Everything the fast paths read sits in
 * this structure, so they need one load of the thread's pointer. Stacks share one array: stack b has the slots
 * floor[b] .. room[b] and uses those to limit[b], top[b] is the slot of its last block, and slot[floor[b]] is always 0, which
 * is how a pop sees that the stack is empty without a second comparison. Bin 0 has no room and a bound of 0: every push to it is refused,
 * so a page that belongs to nobody needs no test of its own.
 *
 * Two caches that never hold a block stand in when a thread has none: tcache_unborn before its first slow path,
 * tcache_dead after its last (destructors of other keys may still allocate).
 */
#ifndef QED_HEAP_TCACHE_H
#define QED_HEAP_TCACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "ds/radix_tree.h"
#include "heap/heap.h"
#include "heap/large.h"
#include "heap/word.h"
#include "math/divide.h"
#include "math/size_class.h"
#include "platform/config.h"
#include "platform/table.h"

#define TCACHE_BINS (1U + SC_NBINS + HEAP_LARGE_CACHED)         /* bin = size class index + 1 */
#define TCACHE_DEPTH_MAX 512U
#define TCACHE_FILL_FIRST 8U                                    /* blocks of a thread's first fill; doubles at each miss */
#define TCACHE_SLOTS (TCACHE_BINS * (TCACHE_DEPTH_MAX + 1U))

/* What slow paths write is signed where it has 16 bits: the types of a radix_entry are not, so the proofs see at once that
 * the radix tree stays as it is. */
struct tcache {
    uint64_t            top[TCACHE_BINS];
    uint16_t            limit[TCACHE_BINS];
    divide_magic_t      magic[TCACHE_BINS];                     /* reciprocal of the class */
    divide_magic_t      negated[TCACHE_BINS];                   /* the same, as word_negate makes it */
    uint64_t            window_pages;                           /* RADIX_WINDOW_PAGES, or 0: no leaf yet */
    uint64_t            window;                                 /* where the window of the leaf begins, never 0 */
    struct radix_leaf  *leaf;
    uint8_t             bin_of[SC_LOOKUP_MAX + 1];              /* bytes -> bin: a byte each saves two instructions */
    uint32_t            floor[TCACHE_BINS];
    int16_t             fill[TCACHE_BINS];                      /* blocks to ask for at the next miss */
    uint32_t            least[TCACHE_BINS];                     /* smallest limit */
    uint32_t            room[TCACHE_BINS];                      /* largest limit */
    int16_t             missed[TCACHE_BINS];                    /* 1: since the last collection */
    int16_t             full[TCACHE_BINS];                      /* 1: overflowed since the last collection and miss */
    uint16_t            arena;
    int16_t             ticks;                                  /* slow events until the next collection */
    int16_t             collect;                                /* bin whose turn it is */
    struct tcache      *next;                                   /* in the list of all caches */
    struct tcache      *next_idle;                              /* in the list of those without a thread */
    uint64_t            slot[TCACHE_SLOTS];
};

_Static_assert(TCACHE_BINS <= 256, "bin_of holds a bin in a byte");
_Static_assert(TCACHE_SLOTS <= UINT16_MAX, "limit holds a slot in two bytes");

extern struct tcache tcache_unborn;
extern struct tcache tcache_dead;

#include "heap_lemmas.acsl"
#include "tcache.acsl"
#include "tcache_lemmas.acsl"

/* The block on top, 0 if there is none. */
/*@ requires bin:     bin < TCACHE_BINS;
    requires limits:  TcacheLimits(t);
    requires tops:    TcacheTops(t);
    requires floors:  TcacheFloors(t);
    requires valid:   \valid_read(t);
    terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  top:     \result == t->slot[t->top[bin]];
    ensures  in:      \result != 0 ==> TCACHE_IN(t, bin, t->top[bin]);
*/
static inline uint64_t tcache_top(const struct tcache *t, uint64_t bin)
{
    return t->slot[ATOMIC_LOAD(t->top[bin])];
}

/* Takes the block on top away. */
/*@ requires bin:     TCACHE_IN(t, bin, t->top[bin]);
    requires limits:  TcacheLimits(t);
    requires tops:    TcacheTops(t);
    requires floors:  TcacheFloors(t);
    requires states:  TcacheCached(t);
    requires classes: TcacheClasses(t);
    requires places:  TcachePlaces(t);
    requires valid:   \valid(t);
    terminates        \true;
    exits             \false;
    assigns           t->top[bin];
    ensures  tops:    TcacheTops(t);
    ensures  floors:  TcacheFloors(t);
    ensures  states:  TcacheCached(t);
    ensures  classes: TcacheClasses(t);
    ensures  places:  TcachePlaces(t);
    ensures  absent:  TcacheAbsent(t, t->slot[\old(t->top[bin])]);
*/
static inline void tcache_drop(struct tcache *t, uint64_t bin)
{
    t->top[bin] -= 1;
}

/* The block on top of the stack of that bin, 0 if it is empty. */
/*@ requires heap:    HeapOk;
    requires ok:      TcacheOk(t);
    requires bin:     bin < TCACHE_BINS;
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS_STACKS(t), block_state[0 .. ADDRESS_MAX - 1];
    ensures  heap:    HeapOk;
    ensures  ok:      TcacheOk(t);
    ensures  cached:  \result != 0 ==> \result < ADDRESS_MAX && \at(block_state[\result],Pre) == BLOCK_CACHED;
    ensures  live:    \result != 0 ==> block_state[\result] == BLOCK_LIVE;
    ensures  class:   \result != 0 ==> bin != 0 && block_szind[\result] == bin - 1;
    ensures  empty:   \result == 0 ==> t->top[bin] == t->floor[bin];
    ensures  others:  TcacheBlocksSame{Pre,Post}(\result);
*/
static inline uint64_t tcache_pop(struct tcache *t, uint64_t bin)
{
    /*@ ghost if (block_state[0] != BLOCK_NONE) { heap_lemma_out(0); } */
    /*@ assert zero: block_state[0] == BLOCK_NONE; */
    uint64_t block = tcache_top(t, bin);
    /*@ assert empty: block == 0 ==> t->top[bin] == t->floor[bin]; */
    if (block != 0) {
        tcache_drop(t, bin);
        /*@ ghost block_set_state(block, BLOCK_LIVE); */
        /*@ assert states: TcacheCached(t); */
    }
    return block;
}

/* The bin of a request of at most SC_LOOKUP_MAX bytes; 0, whose stack is always empty, in the cache that is not born. */
/*@ requires ok:      TcacheOk(t);
    requires bytes:   bytes <= SC_LOOKUP_MAX;
    terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  range:   \result <= SC_NBINS;
    ensures  fits:    \result != 0 ==> ClassFits(bytes, \result - 1);
    ensures  least:   \result != 0 ==> ClassLeast(bytes, \result - 1);
*/
static inline uint64_t tcache_bin_of(const struct tcache *t, uint64_t bytes)
{
    return t->bin_of[bytes];
}

/* The page in the window, counted from its beginning; t->window_pages or more if the address is not in it. */
/*@ requires window:  TcacheWindow(t);
    requires valid:   \valid_read(t);
    terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  address: \result < t->window_pages ==> block < ADDRESS_MAX;
    ensures  page:    \result < t->window_pages ==>
                      block / PAGE == t->window / RADIX_HALF * RADIX_WINDOW_PAGES + \result;
    ensures  null:    block == 0 ==> t->window_pages <= \result;
*/
static inline uint64_t tcache_window_page(const struct tcache *t, uint64_t block)
{
    return word_distance(t->window, block) / PAGE;
}

/* Puts an address above the top. */
/*@ requires bin:     bin < TCACHE_BINS;
    requires top:     top == t->top[bin];
    requires room:    top < t->limit[bin];
    requires limits:  TcacheLimits(t);
    requires apart:   TcacheApart(t);
    requires tops:    TcacheTops(t);
    requires floors:  TcacheFloors(t);
    requires states:  TcacheCached(t);
    requires classes: TcacheClasses(t);
    requires places:  TcachePlaces(t);
    requires valid:   \valid(t);
    terminates        \true;
    exits             \false;
    assigns           t->slot[top + 1];
    ensures  slot:    t->slot[top + 1] == block;
    ensures  tops:    TcacheTops(t);
    ensures  floors:  TcacheFloors(t);
    ensures  states:  TcacheCached(t);
    ensures  classes: TcacheClasses(t);
    ensures  places:  TcachePlaces(t);
*/
static inline void tcache_put(struct tcache *t, uint64_t top, uint64_t block) /*@ ghost (uint64_t bin) */
{
    t->slot[top + 1] = block;
}

/* Counts it in: a cached block of the class that stands there. */
/*@ requires bin:     bin < TCACHE_BINS;
    requires room:    t->top[bin] < t->limit[bin];
    requires limits:  TcacheLimits(t);
    requires tops:    TcacheTops(t);
    requires floors:  TcacheFloors(t);
    requires states:  TcacheCached(t);
    requires classes: TcacheClasses(t);
    requires places:  TcachePlaces(t);
    requires valid:   \valid(t);
    requires above:   TcacheAbove(t, bin, t->top[bin] + 1);
    terminates        \true;
    exits             \false;
    assigns           t->top[bin];
    ensures  up:      t->top[bin] == \old(t->top[bin]) + 1;
    ensures  tops:    TcacheTops(t);
    ensures  floors:  TcacheFloors(t);
    ensures  states:  TcacheCached(t);
    ensures  classes: TcacheClasses(t);
    ensures  places:  TcachePlaces(t);
*/
static inline void tcache_raise(struct tcache *t, uint64_t bin)
{
    t->top[bin] += 1;
}

/* False when the slow path has to look: no block of a cached class begins there, the stack is full, the block is the
 * one freed last, the address lies in another window than the one before, or it is 0. Then nothing has changed. */
/*@ requires heap:    HeapOk;
    requires ok:      TcacheOk(t);
    requires live:    0 < block < ADDRESS_MAX ==> block_state[block] == BLOCK_LIVE;
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block];
    ensures  heap:    HeapOk;
    ensures  ok:      TcacheOk(t);
    ensures  cached:  \result ==> block < ADDRESS_MAX && block_state[block] == BLOCK_CACHED;
    ensures  none:    !\result && 0 < block < ADDRESS_MAX ==> block_state[block] == BLOCK_LIVE;
    ensures  null:    block == 0 ==> !\result;
    ensures  same:    !\result ==> TcacheSame{Pre,Post}(t);
    ensures  up:      \result ==> t->top[block_szind[block] + 1] == \old(t->top[block_szind[block] + 1]) + 1;
    ensures  stands:  \result ==> t->slot[t->top[block_szind[block] + 1]] == block;
    ensures  begins:  \result ==> radix_word_of[block / PAGE] / WORD_HALF != 0 &&
                      WordBegins(radix_word_of[block / PAGE], block, ScBytes(radix_word_of[block / PAGE] / WORD_HALF - 1));
*/
static inline bool tcache_push(struct tcache *t, uint64_t block)
{
    uint64_t page = tcache_window_page(t, block);
    if (page >= t->window_pages) {
        return false;
    }
    /*@ assert out: BlockOut(block); */
    /*@ ghost tcache_lemma_word(block); */
    uint64_t bin = radix_leaf_high(t->leaf, page) /*@ ghost (t->window / RADIX_HALF) */;
    uint32_t base = radix_leaf_low(t->leaf, page) /*@ ghost (t->window / RADIX_HALF) */;
    if (word_fraction(base, block, t->negated[bin]) /*@ ghost (t->magic[bin]) */ >= t->magic[bin]) {
        return false;
    }
    /*@ assert class: 0 < bin && block_szind[block] == bin - 1; */
    /*@ ghost uint32_t offset = (uint32_t)((block % WORD_HALF + WORD_HALF - base) % WORD_HALF); */
    /*@ assert offset: offset == WordOffset(base, block); */
    /*@ assert bytes: TcacheMagic(t) && TcacheBytes(t); */
    /*@ ghost word_lemma_begins(offset, tcache_bytes[bin], t->magic[bin]); */
    /*@ assert begins: radix_word_of[block / PAGE] / WORD_HALF == bin &&
                       WordBegins(radix_word_of[block / PAGE], block, ScBytes(bin - 1)); */
    uint64_t top = ATOMIC_LOAD(t->top[bin]);
    if ((uint16_t)top >= t->limit[bin] || t->slot[top] == block) {
        return false;
    }
    tcache_put(t, top, block) /*@ ghost (bin) */;
    /*@ assert absent: TcacheAbsent(t, block); */
    /*@ ghost block_set_cached(block, (uint32_t)top + 1); */
    /*@ assert above: top == t->top[bin] && TcacheAbove(t, bin, top + 1); */
    tcache_raise(t, bin);
    /*@ ghost tcache_lemma_ok(t); */
    return true;
}

/* A block of a bin whose stack is empty, 0 if out of memory. t may be a stand-in. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires ok:      TcacheOk(t);
    requires bin:     0 < bin < TCACHE_BINS;
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
uint64_t tcache_refill(struct tcache *t, uint32_t bin);

/* The way of free that tcache_push refuses. t may be a stand-in. Where no block begins the caller is told. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires ok:      TcacheOk(t);
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
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
void tcache_free_slow(struct tcache *t, uint64_t block, const char *call);

/* Bytes of the block. Where none begins the caller is told. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    terminates        \true;
    exits             \false;
    assigns           HEAP_ASSIGNS;
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  bytes:   \result == ScBytes(block_szind[block]);
    ensures  kept:    BlocksKept{Pre,Post};
    ensures  none:    BlocksNoneNew{Pre,Post};
*/
uint64_t tcache_usable(uint64_t block, const char *call);

/* One slow event: now and then collects and decays. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires ok:      TcacheOk(t);
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
void tcache_tick(struct tcache *t);

/* All stacks. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires ok:      TcacheOk(t);
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS(t);
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  heap:    HeapOk;
    ensures  ok:      TcacheOk(t);
    ensures  less:    TcacheLess{Pre,Post}(t);
    ensures  empty:   \forall integer b; TCACHE_BIN(b) ==> t->top[b] == t->floor[b];
    ensures  kept:    LiveSame{Pre,Post}(0);
    ensures  none:    LiveNoneNew{Pre,Post}(0);
*/
void tcache_flush(struct tcache *t);

#endif
