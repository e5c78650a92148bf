/* radix_tree: leads from a page number to a packed tag, which tells free what it needs to know, and to an extent id.
 *
 * The tree has two levels. The root holds one pointer per window of 4 GiB, to a leaf with an entry per page of that
 * window. A leaf is zero when it is new and stays for good, so that reads need no lock and a thread may keep a leaf's
 * address. Entries of pages without a leaf read as 0. A leaf is address space that can only be read, but for the parts of
 * it that radix_tree_reserve has opened, so that ulimit -d counts no more of it than is in use.
 *
 * Invariant: RadixOk (spec/ds/radix_tree.acsl). Writers hold the lock that the pages belong to. Only one thread at a
 * time calls radix_tree_reserve. This module does not know what the tags mean.
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
#define RADIX_PART PAGE                             /* pages whose entries are opened together */
#define RADIX_HALF 4294967296UL                     /* a tag is high * RADIX_HALF + low */

/* A tag in two halves, which free reads one by one. Their types differ from each other and from that of extent[], so
 * that the proofs see at once that a write to one of them does not change the others. */
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
_Static_assert(RADIX_WINDOW_PAGES % RADIX_PART == 0, "a leaf is whole parts");

/* A page has a cell for its tag, whose number is the page's, and one for its extent (pool.h). */
#define POOL_CELL_entry 0UL
#define POOL_CELL_extent PAGE_COUNT_MAX
_Static_assert(2 * PAGE_COUNT_MAX <= POOL_CELLS, "these are all");

extern struct radix_leaf *radix_root[RADIX_ROOTS];  /* NULL if nothing was ever set in that window */
POOL(struct radix_leaf, radix_pool, RADIX_ROOTS);   /* the leaf of window h is element h */

#include "ds/radix_tree.acsl"

/* Does nothing: static memory is zero, and that is the empty tree. */
/*@ requires zero: RadixZero;
    assigns        \nothing;
    ensures  ok:   RadixOk;
*/
static inline void radix_tree_boot(void)
{
}

/* Makes sure that there are leaves for the pages in [page, page + npages), and that their entries may be written. Returns false if
 * there is no memory. No entry has changed then. */
/*@ requires ok:       RadixOk;
    requires range:    0 < npages && page + npages <= PAGE_COUNT_MAX;
    assigns            radix_root[0 .. RADIX_ROOTS - 1], os_refused;
    ensures  ok:       RadixOk;
    ensures  refused:  !\result ==> os_refused == 1;
    ensures  reserved: \result ==> \forall integer p; page <= p < page + npages ==> RadixReserved(p);
    ensures  kept:     RadixReservedKept{Pre,Post};
    ensures  leaves:   RadixKept{Pre,Post};
*/
bool radix_tree_reserve(uint64_t page, uint64_t npages);

/* Returns the leaf of that window, NULL if it has none yet. A thread may keep the address, which stays valid for
 * ever. */
/*@ requires ok:    RadixOk;
    requires range: window < RADIX_ROOTS;
    assigns         \nothing;
    ensures  leaf:  \result != \null ==> RadixLeafOf(\result, window);
    ensures  none:  \result == \null ==> radix_root[window] == \null;
*/
static inline struct radix_leaf *radix_tree_leaf(uint64_t window)
{
    return ATOMIC_LOAD_ACQUIRE(radix_root[window]);
}

/*@ requires ok:    RadixOk;
    requires range: page < PAGE_COUNT_MAX;
    assigns         \nothing;
    ensures  tag:   \result == radix_tag_of[page];
*/
static inline uint64_t radix_tree_tag(uint64_t page)
{
    struct radix_leaf *leaf = radix_tree_leaf(page / RADIX_WINDOW_PAGES);
    if (leaf == NULL) {
        return 0;
    }
    uint64_t i = page % RADIX_WINDOW_PAGES;
    return ATOMIC_LOAD(leaf->entry[i].high) * RADIX_HALF + ATOMIC_LOAD(leaf->entry[i].low);
}

/*@ requires ok:     RadixOk;
    requires range:  page < PAGE_COUNT_MAX;
    assigns          \nothing;
    ensures  extent: \result == radix_extent_of[page];
*/
static inline uint32_t radix_tree_extent(uint64_t page)
{
    struct radix_leaf *leaf = radix_tree_leaf(page / RADIX_WINDOW_PAGES);
    return leaf == NULL ? 0 : (uint32_t)ATOMIC_LOAD(leaf->extent[page % RADIX_WINDOW_PAGES]);
}

/* Returns the leaf of the window of a page that is reserved. */
/*@ requires ok:       RadixOk;
    requires range:    page < PAGE_COUNT_MAX;
    requires reserved: RadixReserved(page);
    assigns            \nothing;
    ensures  leaf:     RadixLeafOf(\result, page / RADIX_WINDOW_PAGES);
*/
static inline const struct radix_leaf *radix_tree_leaf_of(uint64_t page)
{
    return ATOMIC_LOAD_ACQUIRE(radix_root[page / RADIX_WINDOW_PAGES]);
}

/* Returns the high half of the tag of page i of the window, to a caller that has the leaf. The read is a plain one,
 * so that the compiler makes it an operand: nobody writes the tag of a page while the caller owns a block there. */
/*@ requires ok:    RadixOk;
    requires range: i < RADIX_WINDOW_PAGES && window < RADIX_ROOTS;
    requires leaf:  RadixLeafOf(leaf, window);
    assigns         \nothing;
    ensures  half:  \result == radix_tag_of[window * RADIX_WINDOW_PAGES + i] / RADIX_HALF;
*/
static inline uint32_t radix_leaf_high(const struct radix_leaf *leaf, uint64_t i) /*@ ghost (uint64_t window) */
{
    /*@ assert page: (window * RADIX_WINDOW_PAGES + i) / RADIX_WINDOW_PAGES == window; */
    return leaf->entry[i].high;
}

/* Returns the low half. */
/*@ requires ok:    RadixOk;
    requires range: i < RADIX_WINDOW_PAGES && window < RADIX_ROOTS;
    requires leaf:  RadixLeafOf(leaf, window);
    assigns         \nothing;
    ensures  half:  \result == radix_tag_of[window * RADIX_WINDOW_PAGES + i] % RADIX_HALF;
*/
static inline uint32_t radix_leaf_low(const struct radix_leaf *leaf, uint64_t i) /*@ ghost (uint64_t window) */
{
    /*@ assert page: (window * RADIX_WINDOW_PAGES + i) / RADIX_WINDOW_PAGES == window; */
    return ATOMIC_LOAD(leaf->entry[i].low);
}

/* Returns the extent of page i of the window, to a caller that has the leaf. */
/*@ requires ok:     RadixOk;
    requires range:  i < RADIX_WINDOW_PAGES && window < RADIX_ROOTS;
    requires leaf:   RadixLeafOf(leaf, window);
    assigns          \nothing;
    ensures  extent: \result == radix_extent_of[window * RADIX_WINDOW_PAGES + i];
*/
static inline uint32_t radix_leaf_extent(const struct radix_leaf *leaf, uint64_t i) /*@ ghost (uint64_t window) */
{
    /*@ assert page: (window * RADIX_WINDOW_PAGES + i) / RADIX_WINDOW_PAGES == window; */
    return (uint32_t)ATOMIC_LOAD(leaf->extent[i]);
}

/*@ requires ok:       RadixOk;
    requires range:    page < PAGE_COUNT_MAX;
    requires reserved: RadixReserved(page);
    requires tag:      w / RADIX_HALF <= UINT16_MAX;
    assigns            radix_tag_of[page], RADIX_LEAVES;
    ensures  ok:       RadixOk;
    ensures  set:      radix_tag_of[page] == w;
*/
static inline void radix_tree_set_tag(uint64_t page, uint64_t w)
{
    struct radix_leaf *leaf = ATOMIC_LOAD(radix_root[page / RADIX_WINDOW_PAGES]);
    /*@ ghost radix_tag_of[page] = w; */
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

/* Gives each page of [page, page + npages) the tag w. */
/*@ requires ok:       RadixOk;
    requires range:    0 < npages && page + npages <= PAGE_COUNT_MAX;
    requires reserved: \forall integer p; page <= p < page + npages ==> RadixReserved(p);
    requires tag:      w / RADIX_HALF <= UINT16_MAX;
    assigns            radix_tag_of[page .. page + npages - 1], RADIX_LEAVES;
    ensures  ok:       RadixOk;
    ensures  set:      \forall integer p; page <= p < page + npages ==> radix_tag_of[p] == w;
*/
void radix_tree_set_tags(uint64_t page, uint64_t npages, uint64_t w);

#endif
