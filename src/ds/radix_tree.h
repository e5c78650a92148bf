/* radix_tree: page number -> packed word (what free needs to know), and page number -> extent id. Two levels: the root
 * holds one pointer per window of 4 GiB, to a leaf with an entry per page of that window. Leaves are zero when new and
 * stay for good, so reads need no lock and a leaf's address may be kept. Entries of pages without a leaf read as 0.
 *
 * Invariant: RadixOk (spec/radix_tree.acsl). Writers hold the lock that the pages belong to; radix_tree_reserve has its
 * own rule: one caller at a time. What the words mean is not this module's business.
 */
#ifndef QED_DS_RADIX_TREE_H
#define QED_DS_RADIX_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/atomic.h"
#include "platform/config.h"
#include "platform/pool.h"

#define RADIX_LG_WINDOW 32                          /* bytes of addresses that a leaf covers */
#define RADIX_WINDOW_PAGES (1UL << (RADIX_LG_WINDOW - LG_PAGE))
#define RADIX_ROOTS (1UL << (LG_VADDR - RADIX_LG_WINDOW))
#define RADIX_HALF 4294967296UL                     /* a word is high * RADIX_HALF + low */

/* A word in two halves, which free reads apart. The types differ from each other and from that of extent[]: the proofs
 * then see at once that writing one leaves the others alone. */
struct radix_entry {
    uint32_t low;
    uint16_t high;
};

struct radix_leaf {
    struct radix_entry entry[RADIX_WINDOW_PAGES];
    int32_t            extent[RADIX_WINDOW_PAGES];
};

_Static_assert(RADIX_ROOTS * RADIX_WINDOW_PAGES == PAGE_COUNT_MAX, "the windows tile the address space");
_Static_assert(sizeof(struct radix_leaf) % PAGE == 0, "a leaf is whole pages, as the OS gives them");

extern struct radix_leaf *radix_root[RADIX_ROOTS];  /* NULL: nothing was ever set in that window */
POOL(struct radix_leaf, radix_pool, RADIX_ROOTS);   /* the leaf of window h is element h */

#include "radix_tree.acsl"

/* Static memory is zero: that is the empty tree. */
/*@ requires zero: RadixZero;
    terminates     \true;
    exits          \false;
    assigns        \nothing;
    ensures  ok:   RadixOk;
*/
static inline void radix_tree_boot(void)
{
}

/* Makes sure that leaves for [page, page + npages) exist. False: out of memory; the map is as it was. One at a time. */
/*@ requires ok:       RadixOk;
    requires range:    0 < npages && page + npages <= PAGE_COUNT_MAX;
    terminates         \true;
    exits              \false;
    assigns            radix_root[0 .. RADIX_ROOTS - 1];
    ensures  ok:       RadixOk;
    ensures  reserved: \result ==> \forall integer p; page <= p < page + npages ==> RadixReserved(p);
    ensures  kept:     RadixReservedKept{Pre,Post};
    ensures  leaves:   RadixKept{Pre,Post};
*/
bool radix_tree_reserve(uint64_t page, uint64_t npages);

/*@ requires ok:    RadixOk;
    requires range: page < PAGE_COUNT_MAX;
    terminates      \true;
    exits           \false;
    assigns         \nothing;
    ensures  word:  \result == radix_word_of[page];
*/
static inline uint64_t radix_tree_word(uint64_t page)
{
    struct radix_leaf *leaf = ATOMIC_LOAD_ACQUIRE(radix_root[page / RADIX_WINDOW_PAGES]);
    if (leaf == NULL) {
        return 0;
    }
    uint64_t i = page % RADIX_WINDOW_PAGES;
    return ATOMIC_LOAD(leaf->entry[i].high) * RADIX_HALF + ATOMIC_LOAD(leaf->entry[i].low);
}

/*@ requires ok:     RadixOk;
    requires range:  page < PAGE_COUNT_MAX;
    terminates       \true;
    exits            \false;
    assigns          \nothing;
    ensures  extent: \result == radix_extent_of[page];
*/
static inline uint32_t radix_tree_extent(uint64_t page)
{
    struct radix_leaf *leaf = ATOMIC_LOAD_ACQUIRE(radix_root[page / RADIX_WINDOW_PAGES]);
    return leaf == NULL ? 0 : (uint32_t)ATOMIC_LOAD(leaf->extent[page % RADIX_WINDOW_PAGES]);
}

/* NULL if that window has none yet. The address stays good for ever: a thread may keep the window it used last. */
/*@ requires ok:    RadixOk;
    requires range: window < RADIX_ROOTS;
    terminates      \true;
    exits           \false;
    assigns         \nothing;
    ensures  leaf:  \result != \null ==> RadixLeafOf(\result, window);
    ensures  none:  \result == \null ==> !RadixReserved(window * RADIX_WINDOW_PAGES);
*/
static inline struct radix_leaf *radix_tree_leaf(uint64_t window)
{
    return ATOMIC_LOAD_ACQUIRE(radix_root[window]);
}

/* The halves of a word, for a caller that has the leaf: i counts the pages from the beginning of its window. Plain reads,
 * which are operands: nobody writes the word of a page while the caller owns a block there. */
/*@ requires ok:    RadixOk;
    requires range: i < RADIX_WINDOW_PAGES && window < RADIX_ROOTS;
    requires leaf:  RadixLeafOf(leaf, window);
    terminates      \true;
    exits           \false;
    assigns         \nothing;
    ensures  half:  \result == radix_word_of[window * RADIX_WINDOW_PAGES + i] / RADIX_HALF;
*/
static inline uint32_t radix_leaf_high(const struct radix_leaf *leaf, uint64_t i) /*@ ghost (uint64_t window) */
{
    /*@ assert page: (window * RADIX_WINDOW_PAGES + i) / RADIX_WINDOW_PAGES == window; */
    return leaf->entry[i].high;
}

/*@ requires ok:    RadixOk;
    requires range: i < RADIX_WINDOW_PAGES && window < RADIX_ROOTS;
    requires leaf:  RadixLeafOf(leaf, window);
    terminates      \true;
    exits           \false;
    assigns         \nothing;
    ensures  half:  \result == radix_word_of[window * RADIX_WINDOW_PAGES + i] % RADIX_HALF;
*/
static inline uint32_t radix_leaf_low(const struct radix_leaf *leaf, uint64_t i) /*@ ghost (uint64_t window) */
{
    /*@ assert page: (window * RADIX_WINDOW_PAGES + i) / RADIX_WINDOW_PAGES == window; */
    return ATOMIC_LOAD(leaf->entry[i].low);
}

/*@ requires ok:       RadixOk;
    requires range:    page < PAGE_COUNT_MAX;
    requires reserved: RadixReserved(page);
    requires word:     w / RADIX_HALF <= UINT16_MAX;
    terminates         \true;
    exits              \false;
    assigns            radix_word_of[page], RADIX_LEAVES;
    ensures  ok:       RadixOk;
    ensures  set:      radix_word_of[page] == w;
*/
static inline void radix_tree_set_word(uint64_t page, uint64_t w)
{
    struct radix_leaf *leaf = ATOMIC_LOAD(radix_root[page / RADIX_WINDOW_PAGES]);
    /*@ ghost radix_word_of[page] = w; */
    ATOMIC_STORE(leaf->entry[page % RADIX_WINDOW_PAGES].low, (uint32_t)(w % RADIX_HALF));
    ATOMIC_STORE(leaf->entry[page % RADIX_WINDOW_PAGES].high, (uint16_t)(w / RADIX_HALF));
    /*@ assert roots:   RadixRoots; */
    /*@ assert highs:   RadixHighs; */
    /*@ assert lows:    RadixLows; */
    /*@ assert extents: RadixExtents; */
    /*@ assert holes:   RadixHoles; */
}

/*@ requires ok:       RadixOk;
    requires range:    page < PAGE_COUNT_MAX;
    requires reserved: RadixReserved(page);
    requires id:       e <= INT32_MAX;
    terminates         \true;
    exits              \false;
    assigns            radix_extent_of[page], RADIX_LEAVES;
    ensures  ok:       RadixOk;
    ensures  set:      radix_extent_of[page] == e;
*/
static inline void radix_tree_set_extent(uint64_t page, uint32_t e)
{
    struct radix_leaf *leaf = ATOMIC_LOAD(radix_root[page / RADIX_WINDOW_PAGES]);
    /*@ ghost radix_extent_of[page] = e; */
    ATOMIC_STORE(leaf->extent[page % RADIX_WINDOW_PAGES], (int32_t)e);
}

/* The same word for each page of [page, page + npages). */
/*@ requires ok:       RadixOk;
    requires range:    0 < npages && page + npages <= PAGE_COUNT_MAX;
    requires reserved: \forall integer p; page <= p < page + npages ==> RadixReserved(p);
    requires word:     w / RADIX_HALF <= UINT16_MAX;
    terminates         \true;
    exits              \false;
    assigns            radix_word_of[page .. page + npages - 1], RADIX_LEAVES;
    ensures  ok:       RadixOk;
    ensures  set:      \forall integer p; page <= p < page + npages ==> radix_word_of[p] == w;
*/
void radix_tree_set_words(uint64_t page, uint64_t npages, uint64_t w);

#endif
