/* page_cache: hands out runs of pages and keeps the free ones.
 *
 * Every page that came from the OS belongs to one extent. Free extents are DIRTY (used before), MUZZY (purged lazily) or
 * RETAINED (known to be zero); each is in the pairing heap of its state and page size class, lowest address first, and no
 * two neighbours are free in the same state. ACTIVE extents are a caller's, BUSY ones are being purged.
 *
 * The cache does no locking: its caller holds the lock of the pages (pages.h), which also guards the extent table.
 */
#ifndef QED_PAGES_PAGE_CACHE_H
#define QED_PAGES_PAGE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "ds/bitmap_word.h"
#include "ds/pairing_heap.h"
#include "math/align.h"
#include "math/size_class.h"
#include "pages/extent.h"
#include "platform/os.h"

#define PAGE_CACHE_STATES 3U                                    /* DIRTY, MUZZY, RETAINED */
#define PAGE_CACHE_HEAPS (1U + PAGE_CACHE_STATES * SC_NPSIZES)  /* heap ids from here on are for others */
#define PAGE_CACHE_WORDS ((PAGE_CACHE_HEAPS + 63U) / 64U)

_Static_assert(PAGE_CACHE_HEAPS <= PAIRING_HEAP_COUNT_MAX, "one heap per state and page size class");
_Static_assert(EXTENT_MUZZY == EXTENT_DIRTY + 1 && EXTENT_RETAINED == EXTENT_DIRTY + 2, "heaps are numbered by state");

extern uint64_t page_cache_mapped_npages;                       /* that the OS has given so far */
extern uint64_t page_cache_bits[PAGE_CACHE_WORDS];              /* bit h: heap h is not empty; nobody else's business */

#include "page_cache.acsl"

/* Static memory is zero: no page is mapped, no heap has a member. Once, at start. */
/*@ requires zero_npages: \forall integer e; 0 < e < TABLE_MAX ==> ext_npages[e] == 0;
    requires zero_state:  \forall integer e; 0 < e < TABLE_MAX ==> ext_state[e] == 0;
    requires zero_totals: \forall integer s; 0 <= s < EXTENT_STATES ==> extent_npages_total[s] == 0;
    requires zero_owner:  \forall integer p; 0 <= p < PAGE_COUNT_MAX ==> ext_owner[p] == 0 && ext_page_state[p] == 0;
    requires zero_radix:  \forall integer p; 0 <= p < PAGE_COUNT_MAX ==> radix_extent_of[p] == 0;
    requires radix:       RadixOk;
    requires zero_root:   \forall integer h; PhHeap(h) ==> ph_root[h] == 0;
    requires zero_own:    \forall integer x; PhNode(x) ==> ph_own[x] == 0 && ph_par[x] == 0;
    requires zero_bits:   \forall integer i; 0 <= i < PAGE_CACHE_WORDS ==> page_cache_bits[i] == 0;
    requires zero_mapped: page_cache_mapped_npages == 0;
    terminates            \true;
    exits                 \false;
    assigns               extent_count, extent_unused;
    ensures  ok:          PageCacheOk;
    ensures  none:        \forall integer e; !ExtUsed(e);
*/
void page_cache_boot(void);

/* ACTIVE extent of exactly npages whose first page number is a multiple of align_npages; 0: out of memory, then every
 * page is as before or newly retained. Dirty pages are reused first, then muzzy, then retained ones, then the OS's. */
/*@ requires ok:         PageCacheOk;
    requires some:       0 < npages;
    requires power:      IsPowerOfTwo(align_npages);
    terminates           \true;
    exits                \false;
    assigns              CACHE_ASSIGNS, CACHE_ASSIGNS_GROWTH, ext_zeroed[0 .. TABLE_MAX - 1];
    ensures  ok:         PageCacheOk;
    ensures  active:     \result != 0 ==> CacheHas(\result, EXTENT_ACTIVE) && ext_npages[\result] == npages;
    ensures  aligned:    \result != 0 ==> ext_page[\result] % align_npages == 0;
    ensures  was_free:   \result != 0 ==> \forall integer p; ext_page[\result] <= p < ext_page[\result] + npages ==>
                             \old(ext_page_state[p]) == 0 || CacheState(\old(ext_page_state[p]));
    ensures  leaves:     RadixKept{Pre,Post};
    ensures  others:     CacheHeldKept{Pre,Post}(0, 0);
    ensures  foreign:    CacheForeignKept{Pre,Post};
    ensures  no_foreign: CacheForeignNoneNew{Pre,Post};
    ensures  roots:      CacheForeignRoots{Pre,Post};
    ensures  pages:      \result != 0 ==>
                             CachePagesKeptOrNew{Pre,Post}(ext_page[\result], ext_page[\result] + npages);
    ensures  fail:       \result == 0 ==> CachePagesKeptOrNew{Pre,Post}(0, 0);
*/
uint32_t page_cache_alloc(uint64_t npages, uint64_t align_npages);

/* ACTIVE e becomes DIRTY and joins its dirty neighbours. */
/*@ requires ok:         PageCacheOk;
    requires active:     CacheHas(e, EXTENT_ACTIVE);
    terminates           \true;
    exits                \false;
    assigns              CACHE_ASSIGNS;
    ensures  ok:         PageCacheOk;
    ensures  dirty:      CachePagesAre(\old(ext_page[e]), \old(ext_page[e] + ext_npages[e]), EXTENT_DIRTY);
    ensures  others:     CacheHeldKept{Pre,Post}(e, e);
    ensures  foreign:    CacheForeignSame{Pre,Post};
    ensures  pages:      CachePagesKept{Pre,Post}(\old(ext_page[e]), \old(ext_page[e] + ext_npages[e]));
*/
void page_cache_free(uint32_t e);

/* ACTIVE e gets npages in place, with pages of the free extent behind it; false: nothing changed but ids. */
/*@ requires ok:         PageCacheOk;
    requires active:     ExtUsed(e) && ext_state[e] == EXTENT_ACTIVE;
    requires more:       npages > ext_npages[e];
    terminates           \true;
    exits                \false;
    assigns              CACHE_ASSIGNS, extent_count, ext_zeroed[0 .. TABLE_MAX - 1];
    ensures  ok:         PageCacheOk;
    ensures  start:      ExtUsed(e) && ext_page[e] == \old(ext_page[e]);
    ensures  active:     ext_state[e] == EXTENT_ACTIVE && ph_own[e] == \old(ph_own[e]);
    ensures  grown:      ext_npages[e] == (\result ? npages : \old(ext_npages[e]));
    ensures  was_free:   \result ==> \forall integer p; \old(ext_page[e] + ext_npages[e]) <= p < ext_page[e] + npages ==>
                             CacheState(\old(ext_page_state[p]));
    ensures  others:     CacheHeldKept{Pre,Post}(e, e);
    ensures  foreign:    CacheForeignSame{Pre,Post};
    ensures  pages:      CachePagesKept{Pre,Post}(\old(ext_page[e] + ext_npages[e]), ext_page[e] + ext_npages[e]);
*/
bool page_cache_expand(uint32_t e, uint64_t npages);

/* ACTIVE e keeps its first npages and the others become DIRTY; false (no memory for an extent): nothing changed. */
/*@ requires ok:         PageCacheOk;
    requires active:     ExtUsed(e) && ext_state[e] == EXTENT_ACTIVE;
    requires less:       0 < npages < ext_npages[e];
    terminates           \true;
    exits                \false;
    assigns              CACHE_ASSIGNS, extent_count;
    ensures  ok:         PageCacheOk;
    ensures  start:      ExtUsed(e) && ext_page[e] == \old(ext_page[e]);
    ensures  active:     ext_state[e] == EXTENT_ACTIVE && ph_own[e] == \old(ph_own[e]);
    ensures  shrunk:     ext_npages[e] == (\result ? npages : \old(ext_npages[e]));
    ensures  dirty:      CachePagesAre(ext_page[e] + ext_npages[e], \old(ext_page[e] + ext_npages[e]), EXTENT_DIRTY);
    ensures  others:     CacheHeldKept{Pre,Post}(e, e);
    ensures  foreign:    CacheForeignSame{Pre,Post};
    ensures  pages:      CachePagesKept{Pre,Post}(ext_page[e] + ext_npages[e], \old(ext_page[e] + ext_npages[e]));
*/
bool page_cache_shrink(uint32_t e, uint64_t npages);

/* Takes out a free extent of that state, at most npages_max long where memory allows: BUSY, 0 if there is none. */
/*@ requires ok:         PageCacheOk;
    requires state:      CacheState(state);
    requires some:       0 < npages_max;
    terminates           \true;
    exits                \false;
    assigns              CACHE_ASSIGNS, extent_count;
    ensures  ok:         PageCacheOk;
    ensures  busy:       \result != 0 ==> CacheHas(\result, EXTENT_BUSY);
    ensures  were:       \result != 0 ==>
                             \forall integer p; ext_page[\result] <= p < ext_page[\result] + ext_npages[\result] ==>
                                 \old(ext_page_state[p]) == state;
    ensures  none:       \result == 0 ==> \forall integer e; ExtUsed(e) ==> ext_state[e] != state;
    ensures  others:     CacheHeldKept{Pre,Post}(0, 0);
    ensures  foreign:    CacheForeignSame{Pre,Post};
    ensures  pages:      \result != 0 ==>
                             CachePagesKept{Pre,Post}(ext_page[\result], ext_page[\result] + ext_npages[\result]);
    ensures  fail:       \result == 0 ==> CachePagesKept{Pre,Post}(0, 0);
*/
uint32_t page_cache_take(uint8_t state, uint64_t npages_max);

/* BUSY e becomes free in that state and joins its neighbours of that state. */
/*@ requires ok:         PageCacheOk;
    requires busy:       CacheHas(e, EXTENT_BUSY);
    requires state:      CacheState(state);
    terminates           \true;
    exits                \false;
    assigns              CACHE_ASSIGNS;
    ensures  ok:         PageCacheOk;
    ensures  free:       CachePagesAre(\old(ext_page[e]), \old(ext_page[e] + ext_npages[e]), state);
    ensures  others:     CacheHeldKept{Pre,Post}(e, e);
    ensures  foreign:    CacheForeignSame{Pre,Post};
    ensures  pages:      CachePagesKept{Pre,Post}(\old(ext_page[e]), \old(ext_page[e] + ext_npages[e]));
*/
void page_cache_give(uint32_t e, uint8_t state);

#endif
