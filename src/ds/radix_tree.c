#include "ds/radix_tree.h"

#include "platform/live.h"

_Static_assert(LIVE_LG_WINDOW == RADIX_LG_WINDOW && LIVE_WINDOWS == RADIX_ROOTS, "a leaf and a table of bits have the same window");

struct radix_leaf *radix_root[RADIX_ROOTS];

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
        radix_publish(h, POOL_NEW(struct radix_leaf, radix_pool, h));
    }
    return radix_root[h] != NULL;
}

bool radix_tree_reserve(uint64_t page, uint64_t npages)
{
    uint64_t last = (page + npages - 1) / RADIX_WINDOW_PAGES;
    /*@ loop invariant range:  page / RADIX_WINDOW_PAGES <= h <= last + 1;
        loop invariant ok:     RadixOk;
        loop invariant made:   \forall integer k; page / RADIX_WINDOW_PAGES <= k < h ==> radix_root[k] != \null;
        loop invariant leaves: RadixKept{Pre,Here};
        loop assigns   h, radix_root[0 .. RADIX_ROOTS - 1], os_refused;
        loop variant   last + 1 - h;
    */
    for (uint64_t h = page / RADIX_WINDOW_PAGES; h <= last; h++) {
        if (!radix_reserve_window(h)) {
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
