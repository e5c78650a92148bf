/* tcache: the blocks that a thread has ready, one stack of addresses per cached size class.
 *
 * malloc pops and free pushes. Only a miss goes to the bins and takes a lock. Everything that the fast paths read is in this
 * structure, so they need one load of the thread's pointer. The stacks share one array. Stack b has the slots floor[b] .. room[b]
 * and uses those up to limit[b], which is least[b] at first and rises to most[b] where the thread needs it. top[b] is the slot of its last
 * block. slot[floor[b]] is always 0, so that a pop sees an empty stack without a second comparison. Stack 0 has no room and a reciprocal of 0,
 * so every push to it is refused, and a page that belongs to nobody needs no test of its own.
 *
 * Two caches that never hold a block stand in where a thread has none: tcache_unborn before its first slow path, and
 * tcache_dead after its end, because destructors of other keys may still allocate.
 */
#ifndef QED_TCACHE_TCACHE_H
#define QED_TCACHE_TCACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "ds/radix_tree.h"
#include "blocks/bin.h"
#include "blocks/blocks.h"
#include "blocks/large.h"
#include "blocks/tag.h"
#include "math/divide.h"
#include "math/size_class.h"
#include "platform/config.h"
#include "platform/hints.h"
#include "platform/table.h"

#define TCACHE_STACKS (1U + SC_NBINS + LARGE_CACHED)         /* the stack of a class is its index + 1 */
/* Blocks that stack b holds at most: 1024 of up to 512 bytes, 512 of other small classes, 256 large ones. The stacks up to TCACHE_DEEP are those
 * of up to 512 bytes. */
#define TCACHE_DEEP (SC_NTINY + SC_NGROUP * (10U - LG_QUANTUM - SC_LG_NGROUP))
#define TCACHE_DEPTH_MAX(b) ((b) <= TCACHE_DEEP ? 1024U : (b) <= SC_NBINS ? 512U : 256U)
#define TCACHE_MAX (SC_LARGE_MINCLASS << (LARGE_CACHED - 1) / SC_NGROUP)     /* bytes of the largest class that has a stack */
#define TCACHE_LOOKUP_END ((int64_t)SC_LOOKUP_MAX + 1)           /* a request of fewer bytes finds its stack in a table */
#define TCACHE_FILL_FIRST 8U                                    /* blocks that a stack asks for when it misses at first. Each miss doubles it. */
#define TCACHE_FILL_BYTES 1024U                                 /* of a thread's first fill, at most, where one block is no more */
/* Slots of the first n stacks at most. Each has one more than it holds blocks. */
#define TCACHE_SLOTS_TO(n)                                                                                             \
    ((n) <= TCACHE_DEEP + 1U ? (n) * 1025U : (n) <= SC_NBINS + 1U ? 1025U * (TCACHE_DEEP + 1U) + 513U * ((n) - TCACHE_DEEP - 1U) :  \
     1025U * (TCACHE_DEEP + 1U) + 513U * (SC_NBINS - TCACHE_DEEP) + 257U * ((n) - SC_NBINS - 1U))
#define TCACHE_SLOTS TCACHE_SLOTS_TO(TCACHE_STACKS)

/* Fields of 16 bits that slow paths write are signed. The fields of a radix_entry are not, so the proofs see at once that such a
 * write leaves the radix tree as it is. */
struct tcache {
    uint64_t            top[TCACHE_STACKS];
    uint16_t            limit[TCACHE_STACKS];
    divide_magic_t      magic[TCACHE_STACKS];                     /* reciprocal of the class's bytes */
    divide_magic_t      negated[TCACHE_STACKS];                   /* that reciprocal, as tag_negate makes it */
    uint64_t            window_pages;                           /* known_pages, or 0 while the thread's frees are counted (counting.h) */
    uint64_t            counted_pages;                          /* known_pages while only their bytes are counted, and 0 otherwise */
    uint64_t            checked_pages;                          /* known_pages while they are only checked, and 0 otherwise */
    uint64_t            known_pages;                            /* RADIX_WINDOW_PAGES, or 0 while there is no leaf */
    uint64_t            window;                                 /* address at which the leaf's window begins, never 0 */
    struct radix_leaf  *leaf;
    int64_t             lookup_end;                             /* TCACHE_LOOKUP_END, or 0 while the thread's calls are counted (counting.h) */
    int64_t             paced_end;                              /* TCACHE_LOOKUP_END while they are only counted down, and 0 otherwise */
    int64_t             counted_end;                            /* TCACHE_LOOKUP_END while only their bytes are counted, and 0 otherwise */
    int64_t             checked_end;                            /* TCACHE_LOOKUP_END while frees are only checked, and 0 otherwise */
    uint8_t             stack_of[SC_LOOKUP_MAX + 1];              /* the stack for so many bytes. An entry a byte saves two instructions. */
    uint32_t            floor[TCACHE_STACKS];
    int16_t             fill[TCACHE_STACKS];                      /* blocks to ask for at the next miss */
    uint32_t            least[TCACHE_STACKS];                     /* smallest limit */
    uint32_t            most[TCACHE_STACKS];                      /* largest limit (see depth.h) */
    uint32_t            room[TCACHE_STACKS];                      /* last slot */
    int16_t             missed[TCACHE_STACKS];                    /* 1 if it has missed since the last collection */
    int32_t             height[TCACHE_STACKS];                    /* blocks at the last collection */
    int16_t             full[TCACHE_STACKS];                      /* 1 if it has overflowed since the last collection and miss */
    uint16_t            arena;
    int16_t             ticks;                                  /* slow events left until the next turn */
    int16_t             turned;                                 /* when the last turn was, in units of TURN_MS */
    int16_t             collect;                                /* the stack whose turn it was last */
    struct tcache      *next;                                   /* the next one in the list of all caches */
    struct tcache      *next_idle;                              /* the next one in the list of caches without a thread */
    uint64_t            slot[TCACHE_SLOTS];
};

_Static_assert(TCACHE_STACKS <= 256, "stack_of holds the number of a stack in a byte");
_Static_assert(TCACHE_SLOTS <= UINT16_MAX, "limit holds a slot in two bytes");

extern struct tcache tcache_unborn;
extern struct tcache tcache_dead;

#include "blocks/blocks_lemmas.acsl"
#include "tcache/tcache.acsl"
#include "tcache/tcache_lemmas.acsl"

/* Returns the block on top, or 0 if the stack is empty. */
/*@ requires stack:   stack < TCACHE_STACKS;
    requires limits:  TcacheLimits(t);
    requires tops:    TcacheTops(t);
    requires floors:  TcacheFloors(t);
    requires valid:   \valid_read(t);
    assigns           \nothing;
    ensures  top:     \result == t->slot[t->top[stack]];
    ensures  in:      \result != 0 ==> TCACHE_IN(t, stack, t->top[stack]);
*/
static inline uint64_t tcache_top(const struct tcache *t, uint64_t stack)
{
    return t->slot[ATOMIC_LOAD(t->top[stack])];
}

/* Removes the block on top. */
/*@ requires stack:   TCACHE_IN(t, stack, t->top[stack]);
    requires limits:  TcacheLimits(t);
    STACKS_WHOLE(requires, t);
    requires valid:   \valid(t);
    assigns           t->top[stack];
    ensures  down:    t->top[stack] == \old(t->top[stack]) - 1;
    STACKS_WHOLE(ensures, t);
    ensures  absent:  TcacheAbsent(t, t->slot[\old(t->top[stack])]);
*/
static inline void tcache_drop(struct tcache *t, uint64_t stack)
{
    t->top[stack] -= 1;
}

/* Takes the block on top of the stack for the program and returns it, or returns 0 if the stack is empty. */
/*@ REQUIRES_WHOLE_OR_HOLLOW(t);
    requires stack:   stack < TCACHE_STACKS;
    assigns           TCACHE_ASSIGNS_STACKS(t), block_state[0 .. ADDRESS_MAX - 1];
    ENSURES_STILL_WHOLE(t);
    ensures  cached:  \result != 0 ==> \result < ADDRESS_MAX && \at(block_state[\result],Pre) == BLOCK_CACHED;
    ensures  live:    \result != 0 ==> block_state[\result] == BLOCK_LIVE;
    ensures  class:   \result != 0 ==> stack != 0 && block_szind[\result] == stack - 1;
    ensures  top:     \result != 0 ==> \result == \old(t->slot[t->top[stack]]);
    ensures  empty:   \result == 0 ==> t->top[stack] == t->floor[stack];
    ensures  others:  TcacheBlocksSame{Pre,Post}(\result);
    ensures  hollow:  TcacheHollow{Pre}(t) ==> \result == 0;
    ensures  same:    \result == 0 ==> TcacheSame{Pre,Post}(t) && block_state[0] == \old(block_state[0]);
    TCACHE_NONE_LOST(ensures, t);
*/
static inline uint64_t tcache_pop(struct tcache *t, uint64_t stack)
{
    /*@ ghost if (block_state[0] != BLOCK_NONE && t->room[stack] != 0) { blocks_lemma_out(0); } */
    /*@ assert zero: block_state[0] == BLOCK_NONE || t->room[stack] == 0; */
    uint64_t block = tcache_top(t, stack);
    AS_RESULT(block);
    /*@ assert empty: block == 0 ==> t->top[stack] == t->floor[stack]; */
    if (block != 0) {
        /*@ assert below: TcacheAll(t) ==> \forall integer a; 0 <= a < ADDRESS_MAX && block_state[a] == BLOCK_CACHED && a != block &&
                block_szind[a] + 1 == stack ==> block_pos[a] < t->top[stack]; */
        tcache_drop(t, stack);
        /*@ assert here: TcacheAll{Pre}(t) ==> \forall integer a; 0 <= a < ADDRESS_MAX && block_state[a] == BLOCK_CACHED && a != block &&
                block_szind[a] + 1 == stack ==> TCACHE_IN(t, stack, block_pos[a]) && t->slot[block_pos[a]] == a; */
        /*@ assert there: TcacheAll{Pre}(t) ==> TcacheAllBut(t, stack); */
        /*@ ghost block_set_state(block, BLOCK_LIVE); */
        /*@ assert states: TcacheCached(t); */
        /*@ assert all: TcacheAll{Pre}(t) ==> TcacheAll(t); */
    }
    return block;
}

/* Returns the stack for a request of at most SC_LOOKUP_MAX bytes. A stand-in has 0 there, the stack that is always empty. */
/*@ requires ok:      TcacheOk(t);
    requires bytes:   bytes <= SC_LOOKUP_MAX;
    assigns           \nothing;
    ensures  range:   \result <= SC_NBINS;
    ensures  fits:    \result != 0 ==> ClassFits(bytes, \result - 1);
    ensures  least:   \result != 0 ==> ClassLeast(bytes, \result - 1);
*/
static inline uint64_t tcache_stack_of(const struct tcache *t, uint64_t bytes)
{
    return t->stack_of[bytes];
}

/* Returns a block for so many bytes from the stack of their class, or 0 where the slow path has to look: the stack is empty, the class is not
 * cached, or the thread's calls are counted. */
/*@ REQUIRES_WHOLE_OR_HOLLOW(t);
    assigns           TCACHE_ASSIGNS_STACKS(t), block_state[0 .. ADDRESS_MAX - 1];
    ENSURES_STILL_WHOLE(t);
    ensures  cached:  \result != 0 ==> \result < ADDRESS_MAX && \at(block_state[\result],Pre) == BLOCK_CACHED;
    ensures  live:    \result != 0 ==> block_state[\result] == BLOCK_LIVE;
    ensures  fits:    \result != 0 ==> ClassFits(bytes, block_szind[\result]);
    ensures  least:   \result != 0 ==> ClassLeast(bytes, block_szind[\result]);
    ensures  others:  TcacheBlocksSame{Pre,Post}(\result);
    ensures  hollow:  TcacheHollow{Pre}(t) ==> \result == 0;
    ensures  same:    \result == 0 ==> TcacheSame{Pre,Post}(t) && block_state[0] == \old(block_state[0]);
    TCACHE_NONE_LOST(ensures, t);
*/
static inline uint64_t tcache_take(struct tcache *t, uint64_t bytes)
{
    return LIKELY(bytes < (uint64_t)t->lookup_end) ? tcache_pop(t, tcache_stack_of(t, bytes)) : 0;
}

/* Returns the page of the address, counted from the beginning of the window, or t->known_pages or more if it is not in the window. */
/*@ requires window:  TcacheWindow(t);
    requires valid:   \valid_read(t);
    assigns           \nothing;
    ensures  address: \result < t->known_pages ==> block < ADDRESS_MAX;
    ensures  page:    \result < t->known_pages ==>
                      block / PAGE == t->window / RADIX_HALF * RADIX_WINDOW_PAGES + \result;
    ensures  null:    block == 0 ==> t->known_pages <= \result;
*/
static inline uint64_t tcache_window_page(const struct tcache *t, uint64_t block)
{
    return tag_distance(t->window, block) / PAGE;
}

/* Writes an address into the slot above the top. The stack does not have it yet. */
/*@ requires stack:   stack < TCACHE_STACKS;
    requires top:     top == t->top[stack];
    requires room:    top < t->limit[stack];
    requires limits:  TcacheLimits(t);
    requires apart:   TcacheApart(t);
    STACKS_WHOLE(requires, t);
    requires valid:   \valid(t);
    assigns           t->slot[top + 1];
    ensures  slot:    t->slot[top + 1] == block;
    STACKS_WHOLE(ensures, t);
*/
static inline void tcache_put(struct tcache *t, uint64_t top, uint64_t block) /*@ ghost (uint64_t stack) */
{
    t->slot[top + 1] = block;
}

/* Makes the slot above the top part of the stack. */
/*@ requires stack:   stack < TCACHE_STACKS;
    requires room:    t->top[stack] < t->limit[stack];
    requires limits:  TcacheLimits(t);
    STACKS_WHOLE(requires, t);
    requires valid:   \valid(t);
    requires above:   TcacheAbove(t, stack, t->top[stack] + 1);
    assigns           t->top[stack];
    ensures  up:      t->top[stack] == \old(t->top[stack]) + 1;
    STACKS_WHOLE(ensures, t);
*/
static inline void tcache_raise(struct tcache *t, uint64_t stack)
{
    /*@ ghost tcache_lemma_types(t); */
    t->top[stack] += 1;
}

/* Puts a live block on top of its stack, which has room above slot top, its last one. */
/*@ TCACHE_WHOLE(requires, t);
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    requires class:   0 < stack < TCACHE_STACKS && block_szind[block] == stack - 1;
    requires room:    top == t->top[stack] && top < t->limit[stack];
    assigns           TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block];
    TCACHE_WHOLE(ensures, t);
    ensures  cached:  block_state[block] == BLOCK_CACHED;
    ensures  up:      t->top[stack] == \old(t->top[stack]) + 1;
    ensures  stands:  t->slot[t->top[stack]] == block;
    TCACHE_NONE_LOST(ensures, t);
*/
static inline void tcache_add(struct tcache *t, uint64_t stack, uint64_t top, uint64_t block)
{
    tcache_put(t, top, block) /*@ ghost (stack) */;
    /*@ assert absent: TcacheAbsent(t, block); */
    /*@ ghost block_set_cached(block, (uint32_t)top + 1); */
    /*@ assert above: top == t->top[stack] && TcacheAbove(t, stack, top + 1); */
    tcache_raise(t, stack);
}

/* Returns whether a block of the stack's class begins at the address. Its page in the window is that one, and the page's tag names the stack. */
/*@ TCACHE_WHOLE(requires, t);
    requires live:    0 < block < ADDRESS_MAX ==> block_state[block] == BLOCK_LIVE;
    requires known:   page < t->known_pages && 0 < block < ADDRESS_MAX;
    requires page:    block / PAGE == t->window / RADIX_HALF * RADIX_WINDOW_PAGES + page;
    requires stack:   stack == radix_tag_of[block / PAGE] / TAG_HALF;
    assigns           \nothing;
    ensures  class:   \result ==> 0 < stack < TCACHE_STACKS && block_szind[block] == stack - 1;
    ensures  begins:  \result ==> TagBegins(radix_tag_of[block / PAGE], block, ScBytes(stack - 1));
*/
static inline bool tcache_begins(const struct tcache *t, uint64_t block, uint64_t page, uint64_t stack)
{
    /*@ assert out: BlockOut(block); */
    /*@ ghost tcache_lemma_tag(block); */
    uint32_t base = radix_leaf_low(t->leaf, page) /*@ ghost (t->window / RADIX_HALF) */;
    if (tag_fraction(base, block, t->negated[stack]) /*@ ghost (t->magic[stack]) */ >= t->magic[stack]) {
        return false;
    }
    /*@ assert class: 0 < stack && block_szind[block] == stack - 1; */
    /*@ ghost uint32_t offset = (uint32_t)((block % TAG_HALF + TAG_HALF - base) % TAG_HALF); */
    /*@ assert offset: offset == TagOffset(base, block); */
    /*@ assert bytes: TcacheMagic(t) && TcacheBytes(t); */
    /*@ ghost tag_lemma_begins(offset, tcache_bytes[stack], t->magic[stack]); */
    return true;
}

/* Returns the stack of the class of the block that begins at the address, or 0 where the slow path has to look: no block of a cached class
 * begins there, or the address is outside the window, or it is 0. */
/*@ REQUIRES_WHOLE_OR_HOLLOW(t);
    requires live:    0 < block < ADDRESS_MAX ==> block_state[block] == BLOCK_LIVE;
    assigns           \nothing;
    ensures  class:   \result != 0 ==> 0 < block < ADDRESS_MAX && \result < TCACHE_STACKS && block_szind[block] == \result - 1;
*/
static inline uint64_t tcache_stack_at(const struct tcache *t, uint64_t block)
{
    uint64_t page = tcache_window_page(t, block);
    if (page >= t->window_pages) {
        return 0;
    }
    uint64_t stack = radix_leaf_high(t->leaf, page) /*@ ghost (t->window / RADIX_HALF) */;
    return tcache_begins(t, block, page, stack) ? stack : 0;
}

/* Puts a block that the program frees on top of that stack and returns true. Its page in the window is that one, and the page's tag names
 * the stack. Returns false where no block of the stack's class begins there, the stack is full, or the block is the one that was freed last. */
/*@ TCACHE_WHOLE(requires, t);
    requires live:    0 < block < ADDRESS_MAX ==> block_state[block] == BLOCK_LIVE;
    requires known:   page < t->known_pages && 0 < block < ADDRESS_MAX;
    requires page:    block / PAGE == t->window / RADIX_HALF * RADIX_WINDOW_PAGES + page;
    requires stack:   stack == radix_tag_of[block / PAGE] / TAG_HALF;
    assigns           TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block];
    TCACHE_WHOLE(ensures, t);
    ENSURES_PUSHED(t, block);
    TCACHE_NONE_LOST(ensures, t);
    ensures  class:   \result ==> stack != 0 && block_szind[block] == stack - 1;
*/
static inline bool tcache_push_at(struct tcache *t, uint64_t block, uint64_t page, uint64_t stack)
{
    if (!tcache_begins(t, block, page, stack)) {
        return false;
    }
    /*@ assert begins: radix_tag_of[block / PAGE] / TAG_HALF == stack &&
                       TagBegins(radix_tag_of[block / PAGE], block, ScBytes(stack - 1)); */
    uint64_t top = ATOMIC_LOAD(t->top[stack]);
    if ((uint16_t)top >= t->limit[stack] || t->slot[top] == block) {
        return false;
    }
    tcache_add(t, stack, top, block);
    return true;
}

/* Puts a block that the program frees on top of its class's stack and returns true. Returns false, and changes nothing, where the slow path
 * has to look: no block of a cached class begins there, the stack is full, the block is the one that was freed last, the address is
 * outside the window, or it is 0. */
/*@ TCACHE_WHOLE(requires, t);
    requires live:    0 < block < ADDRESS_MAX ==> block_state[block] == BLOCK_LIVE;
    assigns           TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block];
    TCACHE_WHOLE(ensures, t);
    ENSURES_PUSHED(t, block);
    TCACHE_NONE_LOST(ensures, t);
*/
static inline bool tcache_push(struct tcache *t, uint64_t block)
{
    uint64_t page = tcache_window_page(t, block);
    if (page >= t->window_pages) {
        return false;
    }
    uint64_t stack = radix_leaf_high(t->leaf, page) /*@ ghost (t->window / RADIX_HALF) */;
    return tcache_push_at(t, block, page, stack);
}

/* tcache_push for a block that the program says has the class of that stack. It is refused too where a block of another class begins there. */
/*@ REQUIRES_WHOLE_OR_HOLLOW(t);
    requires live:    0 < block < ADDRESS_MAX ==> block_state[block] == BLOCK_LIVE;
    assigns           TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block];
    ENSURES_STILL_WHOLE(t);
    ENSURES_PUSHED(t, block);
    TCACHE_NONE_LOST(ensures, t);
    ensures  class:   \result ==> stack != 0 && block_szind[block] == stack - 1;
*/
static inline bool tcache_push_class(struct tcache *t, uint64_t block, uint64_t stack)
{
    uint64_t page = tcache_window_page(t, block);
    if (page >= t->window_pages) {
        return false;
    }
    /*@ assert out: BlockOut(block); */
    /*@ ghost tcache_lemma_tag(block); */
    if (radix_leaf_high(t->leaf, page) /*@ ghost (t->window / RADIX_HALF) */ != stack) {
        return false;
    }
    return tcache_push_at(t, block, page, stack);
}

/* tcache_push for a block whose size the program tells. It is refused too where a block of another class begins there. */
/*@ REQUIRES_WHOLE_OR_HOLLOW(t);
    requires live:    0 < block < ADDRESS_MAX ==> block_state[block] == BLOCK_LIVE;
    requires bytes:   bytes <= SC_LOOKUP_MAX;
    assigns           TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block];
    ENSURES_STILL_WHOLE(t);
    ENSURES_PUSHED(t, block);
    TCACHE_NONE_LOST(ensures, t);
    ensures  fits:    \result ==> ClassFits(bytes, block_szind[block]);
    ensures  least:   \result ==> ClassLeast(bytes, block_szind[block]);
*/
static inline bool tcache_push_sized(struct tcache *t, uint64_t block, uint64_t bytes)
{
    uint64_t page = tcache_window_page(t, block);
    if (page >= t->window_pages) {
        return false;
    }
    /*@ assert out: BlockOut(block); */
    /*@ ghost tcache_lemma_tag(block); */
    uint64_t stack = radix_leaf_high(t->leaf, page) /*@ ghost (t->window / RADIX_HALF) */;
    if ((uint8_t)stack != t->stack_of[bytes]) {
        return false;
    }
    return tcache_push_at(t, block, page, stack);
}

#endif
