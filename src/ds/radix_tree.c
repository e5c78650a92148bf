#include "ds/radix_tree.h"

#include "platform/hints.h"
#include "platform/live.h"

_Static_assert(LIVE_LG_WINDOW == RADIX_LG_WINDOW && LIVE_WINDOWS == RADIX_ROOTS, "a leaf and a table of bits have the same window");

LONG_TABLE struct radix_leaf *radix_root[RADIX_ROOTS];

/* Shows all threads the leaf of a window, or none if there is no memory. The store releases, so that a thread that reads the pointer
 * (radix_tree_leaf) reads the zeros behind it. */
/*@ requires range:   h < RADIX_ROOTS;
    requires once:    radix_root[h] == \null;
    requires leaf:    leaf != \null ==> RadixLeafOf(leaf, h);
    requires zero:    RadixLeafZero(h);
    assigns           radix_root[h];
    ensures  told:    radix_root[h] == leaf;
*/
static inline void radix_publish(uint64_t h, struct radix_leaf *leaf)
{
    ATOMIC_STORE_RELEASE(radix_root[h], leaf);
}

/* Makes the leaf of a window, and before it the table of bits that a mode may ask for. */
/*@ requires ok:      RadixOk;
    requires range:   h < RADIX_ROOTS;
    assigns           radix_root[h], os_refused;
    ensures  ok:      RadixOk;
    ensures  refused: !\result ==> os_refused == 1;
    ensures  made:    \result <==> radix_root[h] != \null;
    ensures  leaves:  RadixKept{Pre,Post};
*/
static bool radix_reserve_window(uint64_t h)
{
    if (radix_root[h] == NULL && live_open(h)) {
        radix_publish(h, POOL_NEW_SPARSE(struct radix_leaf, radix_pool, h));
    }
    return radix_root[h] != NULL;
}

/* Lets the entries of the pages in [page, end) be written, which all lie in window h. The parts that have them are opened whole, one of
 * them for the second time where it is open. */
/*@ requires range:   h < RADIX_ROOTS && radix_root[h] != \null;
    requires window:  h * RADIX_WINDOW_PAGES <= page < end <= (h + 1) * RADIX_WINDOW_PAGES;
    requires ok:      RadixOk;
    assigns           os_refused;
    ensures  refused: !\result ==> os_refused == 1;
    ensures  open:    \result ==> \forall integer p; page <= p < end ==> RadixReserved(p);
*/
static bool radix_open(uint64_t h, uint64_t page, uint64_t end)
{
    uint64_t window = h * RADIX_WINDOW_PAGES;
    uint64_t at = (page - window) / RADIX_PART * RADIX_PART;
    uint64_t count = (end - window + RADIX_PART - 1) / RADIX_PART * RADIX_PART - at;
    return POOL_OPEN(radix_root[h], radix_pool, h, entry, at, count) && POOL_OPEN(radix_root[h], radix_pool, h, extent, at, count);
}

/* Makes the leaf of window h, and opens the entries of those pages of [page, end) that lie in the window. */
/*@ requires ok:      RadixOk;
    requires range:   page < end <= PAGE_COUNT_MAX;
    requires window:  page / RADIX_WINDOW_PAGES <= h <= (end - 1) / RADIX_WINDOW_PAGES;
    assigns           radix_root[h], os_refused;
    ensures  ok:      RadixOk;
    ensures  refused: !\result ==> os_refused == 1;
    ensures  open:    \result ==> \forall integer p; page <= p < end && p / RADIX_WINDOW_PAGES == h ==> RadixReserved(p);
    ensures  leaves:  RadixKept{Pre,Post};
*/
static bool radix_reserve_part(uint64_t h, uint64_t page, uint64_t end)
{
    uint64_t first = h * RADIX_WINDOW_PAGES, last = first + RADIX_WINDOW_PAGES;
    return radix_reserve_window(h) && radix_open(h, page > first ? page : first, end < last ? end : last);
}

bool radix_tree_reserve(uint64_t page, uint64_t npages)
{
    uint64_t last = (page + npages - 1) / RADIX_WINDOW_PAGES;
    /*@ loop invariant range:  page / RADIX_WINDOW_PAGES <= h <= last + 1;
        loop invariant ok:     RadixOk;
        loop invariant open:   \forall integer p; page <= p < page + npages && p / RADIX_WINDOW_PAGES < h ==> RadixReserved(p);
        loop invariant leaves: RadixKept{Pre,Here};
        loop assigns   h, radix_root[0 .. RADIX_ROOTS - 1], os_refused;
        loop variant   last + 1 - h;
    */
    for (uint64_t h = page / RADIX_WINDOW_PAGES; h <= last; h++) {
        if (!radix_reserve_part(h, page, page + npages)) {
            return false;
        }
    }
    return true;
}

void radix_tree_set_tags(uint64_t page, uint64_t npages, uint64_t w)
{
    /*@ loop invariant range: page <= p <= page + npages;
        loop invariant ok:    RadixOk;
        loop invariant set:   \forall integer q; page <= q < p ==> radix_tag_of[q] == w;
        loop invariant rest:  \forall integer q; p <= q < PAGE_COUNT_MAX ==> radix_tag_of[q] == \at(radix_tag_of[q], Pre);
        loop assigns   p, radix_tag_of[page .. page + npages - 1], RADIX_LEAVES;
        loop variant   page + npages - p;
    */
    for (uint64_t p = page; p < page + npages; p++) {
        radix_tree_set_tag(p, w);
    }
}
