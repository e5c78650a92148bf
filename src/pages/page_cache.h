/* page_cache: hands out runs of pages and keeps the free ones.
 *
 * Every page that came from the OS belongs to one extent. Free extents are DIRTY (used before), MUZZY (purged lazily)
 * or RETAINED (their pages read as zero). Each is in the pairing heap of its state and page size class, whose first is the
 * extent with the lowest address. No two neighbours are free in the same state. ACTIVE extents belong to a caller, BUSY
 * ones are being purged.
 *
 * There are PAGE_CACHES of them, each with states of its own (extent.h). What the OS gave for one stays in it: it takes no
 * free page of another, it joins no neighbour of another, and what its callers free comes back to it.
 *
 * The page cache takes no lock. Its caller holds the lock of the pages (pages.h), which also guards the extent table.
 */
#ifndef QED_PAGES_PAGE_CACHE_H
#define QED_PAGES_PAGE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "ds/bitmap_tree.h"
#include "ds/pairing_heap.h"
#include "math/align.h"
#include "math/size_class.h"
#include "pages/extent.h"
#include "platform/os.h"

#define PAGE_CACHE_STATES (EXTENT_STATES - (uint32_t)EXTENT_DIRTY)  /* DIRTY, MUZZY and RETAINED of each */
#define PAGE_CACHE_HEAPS (1U + PAGE_CACHE_STATES * SC_NPSIZES)  /* heap ids from here on belong to others */
#define PAGE_CACHE_LEAVES BITMAP_WORDS(PAGE_CACHE_HEAPS)
#define PAGE_CACHE_WORDS BITMAP_TREE_WORDS(PAGE_CACHE_LEAVES)

_Static_assert(PAGE_CACHE_HEAPS <= PAIRING_HEAP_COUNT_MAX, "one heap per state and page size class");
_Static_assert(PAGE_CACHE_LEAVES <= BITMAP_TREE_LEAVES_MAX, "a tree has a bit for each heap");

/* The free extents of each heap. Counters, which nothing but statistics reads. */
struct page_cache_counts {
    uint64_t extents[PAGE_CACHE_HEAPS];
    uint64_t npages[PAGE_CACHE_HEAPS];
};

extern uint64_t page_cache_mapped_npages[PAGE_CACHES];          /* pages that the OS has given so far for each */
extern uint64_t page_cache_grow_max[PAGE_CACHES];               /* pages that a growth adds at most, unless more are asked for; 0 for no limit */
extern uint64_t page_cache_bits[PAGE_CACHE_WORDS];              /* bitmap_tree of the heaps that are not empty */

extern struct page_cache_counts page_cache_counts;

#include "pages/page_cache.acsl"

/* Called once, when the program starts and static memory is zero. */
/*@ REQUIRES_PAGE_CACHE_ZERO;
    assigns          extent_count;
    ensures  ok:     PageCacheOk;
    ensures  zeroes: CacheZero;
    ensures  whose:  CacheGiven;
    ensures  none:   \forall integer e; !ExtUsed(e);
*/
void page_cache_boot(void);

/* Returns an ACTIVE extent of exactly npages whose first page number is a multiple of align_npages, or 0 if there is
 * no memory. Says in *zeroed whether its pages read as zero. Dirty pages of the page cache are reused first, then muzzy
 * ones, then retained ones. Only then the OS is asked for new ones. */
/*@ requires lock:       LockHeld(LOCK_PAGES);
    requires ok:         PageCacheOk;
    requires cache:      cache < PAGE_CACHES;
    requires some:       0 < npages;
    requires power:      IsPowerOfTwo(align_npages);
    requires zeroed:     \valid(zeroed);
    requires zeroes:     CacheZero;
    requires whose:      CacheGiven;
    assigns              CACHE_ASSIGNS, CACHE_ASSIGNS_GROWTH, *zeroed;
    ensures  ok:         PageCacheOk;
    ensures  zeroes:     CacheZero;
    ensures  whose:      CacheGiven;
    ensures  active:     \result != 0 ==> CacheHas(\result, EXTENT_ACTIVE + cache) && ext_npages[\result] == npages;
    ensures  aligned:    \result != 0 ==> ext_page[\result] % align_npages == 0;
    ensures  zero:       \result != 0 && *zeroed ==> OsZeroPages(ext_page[\result], ext_page[\result] + npages);
    ensures  was_free:   \result != 0 ==> \forall integer p; ext_page[\result] <= p < ext_page[\result] + npages ==>
                             \old(ext_page_state[p]) == 0 || CacheOwn(\old(ext_page_state[p]), cache);
    ensures  leaves:     RadixKept{Pre,Post};
    ensures  others:     CacheHeldKept{Pre,Post}(0, 0);
    ensures  foreign:    CacheForeignKept{Pre,Post};
    ensures  no_foreign: CacheForeignNoneNew{Pre,Post};
    ensures  roots:      CacheForeignRoots{Pre,Post};
    ensures  pages:      \result != 0 ==>
                             CachePagesKeptOrNew{Pre,Post}(ext_page[\result], ext_page[\result] + npages, cache);
    ensures  fail:       \result == 0 ==> CachePagesKeptOrNew{Pre,Post}(0, 0, cache);
    ensures  out:        \result == 0 ==> CacheOut(npages, align_npages);
    ensures  most:       CacheGrownBy{Pre,Post}(cache, npages + align_npages - 1);
    ensures  rest:       CacheTotalsKept{Pre,Post}(cache);
*/
uint32_t page_cache_alloc(uint32_t cache, uint64_t npages, uint64_t align_npages, bool *zeroed);

/* The ACTIVE extent e becomes DIRTY in its page cache and joins its dirty neighbours there. */
/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires ok:     PageCacheOk;
    requires active: CacheActive(e);
    requires zeroes: CacheZero;
    requires whose:  CacheGiven;
    assigns          CACHE_ASSIGNS;
    ensures  ok:     PageCacheOk;
    ensures  dirty:  CachePagesAre(\old(ext_page[e]), \old(ext_page[e] + ext_npages[e]),
                                   \old(ext_state[e]) - EXTENT_ACTIVE + EXTENT_DIRTY);
    ENSURES_CACHE_KEPT(e, \old(ext_page[e]), \old(ext_page[e] + ext_npages[e]));
*/
void page_cache_free(uint32_t e);

/* Lengthens the ACTIVE extent e to npages in place, with pages of the free extent behind it, if its page cache has that. Returns false if that
 * is not possible. No page has changed then. */
/*@ requires lock:     LockHeld(LOCK_PAGES);
    requires ok:       PageCacheOk;
    requires active:   ExtUsed(e) && CacheActiveState(ext_state[e]);
    requires more:     npages > ext_npages[e];
    requires zeroes:   CacheZero;
    requires whose:    CacheGiven;
    assigns            CACHE_ASSIGNS, extent_count, os_refused;
    ensures  ok:       PageCacheOk;
    ensures  start:    ExtUsed(e) && ext_page[e] == \old(ext_page[e]);
    ensures  active:   ext_state[e] == \old(ext_state[e]) && ph_own[e] == \old(ph_own[e]);
    ensures  grown:    ext_npages[e] == (\result ? npages : \old(ext_npages[e]));
    ensures  was_free: \result ==> \forall integer p; \old(ext_page[e] + ext_npages[e]) <= p < ext_page[e] + npages ==>
                           CacheOwn(\old(ext_page_state[p]), ext_state[e] - EXTENT_ACTIVE);
    ENSURES_CACHE_KEPT(e, \old(ext_page[e] + ext_npages[e]), ext_page[e] + ext_npages[e]);
*/
bool page_cache_expand(uint32_t e, uint64_t npages);

/* The ACTIVE extent e keeps its first npages, and the others become DIRTY. Returns false if there is no memory for a
 * new extent. No page has changed then. */
/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires ok:     PageCacheOk;
    requires active: ExtUsed(e) && CacheActiveState(ext_state[e]);
    requires less:   0 < npages < ext_npages[e];
    requires zeroes: CacheZero;
    requires whose:  CacheGiven;
    assigns          CACHE_ASSIGNS, extent_count, os_refused;
    ensures  ok:     PageCacheOk;
    ensures  start:  ExtUsed(e) && ext_page[e] == \old(ext_page[e]);
    ensures  active: ext_state[e] == \old(ext_state[e]) && ph_own[e] == \old(ph_own[e]);
    ensures  shrunk: ext_npages[e] == (\result ? npages : \old(ext_npages[e]));
    ensures  dirty:  CachePagesAre(ext_page[e] + ext_npages[e], \old(ext_page[e] + ext_npages[e]),
                                   ext_state[e] - EXTENT_ACTIVE + EXTENT_DIRTY);
    ensures  out:    !\result ==> MemoryOut(1);
    ENSURES_CACHE_KEPT(e, ext_page[e] + ext_npages[e], \old(ext_page[e] + ext_npages[e]));
*/
bool page_cache_shrink(uint32_t e, uint64_t npages);

/* Returns whether page_cache_alloc would take such a run from the dirty pages of the page cache. */
/*@ requires lock:  LockHeld(LOCK_PAGES);
    requires ok:    PageCacheOk;
    requires cache: cache < PAGE_CACHES;
    requires some:  0 < npages;
    requires power: IsPowerOfTwo(align_npages);
    assigns         \nothing;
    ensures  fits:  \result ==> npages + align_npages <= PAGE_COUNT_MAX && CacheDirtyFits(cache, npages, align_npages);
    ensures  none:  !\result && npages + align_npages < PAGE_COUNT_MAX ==> CacheNone(EXTENT_DIRTY + cache, npages + align_npages - 1);
*/
bool page_cache_fits(uint32_t cache, uint64_t npages, uint64_t align_npages);

/* Takes out a free extent of that state of the page cache, which becomes BUSY, and returns it, or 0 if there is none. It is at most
 * npages_max long if there is memory for an extent to hold the rest. */
/*@ requires lock:    LockHeld(LOCK_PAGES);
    requires ok:      PageCacheOk;
    requires cache:   cache < PAGE_CACHES;
    requires state:   CacheOwn(state, cache);
    requires some:    0 < npages_max;
    requires zeroes:  CacheZero;
    requires whose:   CacheGiven;
    assigns           CACHE_ASSIGNS, extent_count, os_refused;
    ensures  ok:      PageCacheOk;
    ensures  zeroes:  CacheZero;
    ensures  whose:   CacheGiven;
    ensures  busy:    \result != 0 ==> CacheHas(\result, EXTENT_BUSY + cache);
    ensures  were:    \result != 0 ==>
                          \forall integer p; ext_page[\result] <= p < ext_page[\result] + ext_npages[\result] ==>
                              \old(ext_page_state[p]) == state;
    ensures  none:    \result == 0 ==> \forall integer e; ExtUsed(e) ==> ext_state[e] != state;
    ensures  others:  CacheHeldKept{Pre,Post}(0, 0);
    ensures  foreign: CacheForeignSame{Pre,Post};
    ensures  pages:   \result != 0 ==>
                          CachePagesKept{Pre,Post}(ext_page[\result], ext_page[\result] + ext_npages[\result]);
    ensures  fail:    \result == 0 ==> CachePagesKept{Pre,Post}(0, 0);
*/
uint32_t page_cache_take(uint32_t cache, uint8_t state, uint64_t npages_max);

/* Gives the pages of the BUSY extent e back to the OS, and forgets the extent. Where hooks refuse them, as they may unless the pages must go,
 * the pages, which are zero then, are retained, and the result is false. */
/*@ requires lock:  LockHeld(LOCK_PAGES);
    requires ok:    PageCacheOk;
    requires busy:  CacheBusy(e);
    requires zeroes: CacheZero;
    requires whose:  CacheGiven;
    requires zero:  must || OsZeroPages(ext_page[e], ext_page[e] + ext_npages[e]);
    assigns         CACHE_ASSIGNS, CACHE_ASSIGNS_GROWTH;
    ensures  ok:    PageCacheOk;
    ensures  zeroes: CacheZero;
    ensures  whose:  CacheGiven;
    ensures  must:  must ==> \result;
    ensures  leaves: RadixKept{Pre,Post};
    ensures  gone:  \result ==> CachePagesAre(\old(ext_page[e]), \old(ext_page[e] + ext_npages[e]), 0);
    ensures  others: CacheHeldKept{Pre,Post}(e, e);
    ensures  foreign: CacheForeignSame{Pre,Post};
    ensures  pages: CachePagesKept{Pre,Post}(\old(ext_page[e]), \old(ext_page[e] + ext_npages[e]));
    ensures  total: \result ==> page_cache_mapped_npages[\old(ext_state[e]) - EXTENT_BUSY] ==
                        \old(page_cache_mapped_npages[ext_state[e] - EXTENT_BUSY] - ext_npages[e]);
    ensures  same:  !\result ==> page_cache_mapped_npages[\old(ext_state[e]) - EXTENT_BUSY] ==
                        \old(page_cache_mapped_npages[ext_state[e] - EXTENT_BUSY]);
    ensures  rest:  CacheTotalsKept{Pre,Post}(\old(ext_state[e]) - EXTENT_BUSY);
*/
bool page_cache_unmap(uint32_t e, bool must);

/* The BUSY extent e becomes free in that state and joins its neighbours of that state. */
/*@ REQUIRES_CACHE_BUSY(e, state);
    assigns        CACHE_ASSIGNS;
    ensures  ok:   PageCacheOk;
    ensures  free: CachePagesAre(\old(ext_page[e]), \old(ext_page[e] + ext_npages[e]), state);
    ENSURES_CACHE_KEPT(e, \old(ext_page[e]), \old(ext_page[e] + ext_npages[e]));
*/
void page_cache_give(uint32_t e, uint8_t state);

#endif
