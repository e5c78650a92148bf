/* page_cache: the operations. Each is a sequence of steps from page_runs.h, which find or grow, carve, hold and give
 * extents. */
#include "pages/page_runs.h"
#include "platform/hints.h"

#define GROW_NPAGES_MIN (1UL << (21 - LG_PAGE))         /* 2 MiB */
#define GROW_NPAGES_MAX (1UL << (26 - LG_PAGE))         /* 64 MiB */
#define GROW_SHARE 4U                                   /* a growth adds a quarter to what is mapped */

uint64_t page_cache_mapped_npages[PAGE_CACHES];
uint64_t page_cache_grow_max[PAGE_CACHES];
uint64_t page_cache_bits[PAGE_CACHE_WORDS];
LONG_TABLE struct page_cache_counts page_cache_counts;

/* -- finding --------------------------------------------------------------------------------------------------- */

/*@ requires lock:  LockHeld(LOCK_PAGES);
    requires ok:    PageCacheOk;
    requires used:  ExtUsed(e);
    requires some:  0 < npages < PAGE_COUNT_MAX;
    requires power: IsPowerOfTwo(align_npages) && align_npages < PAGE_COUNT_MAX;
    assigns         \nothing;
    ensures  fits:  \result ==> CacheFits(e, npages, align_npages);
    ensures  long:  ext_npages[e] >= npages + align_npages - 1 ==> \result;
*/
static bool cache_fits(uint32_t e, uint64_t npages, uint64_t align_npages)
{
    uint64_t page = AT(ext_page, e);
    uint64_t start = align_up(page, align_npages);
    /*@ ghost page_cache_lemma_start(page, align_npages, start); */
    return start + npages <= page + AT(ext_npages, e);
}

/* Returns a free extent of that state with room for the aligned run, 0 if none is found. It looks only at the first
 * extent of each heap. In the heaps above the class of npages + align_npages - 1 the first one always fits. In those
 * below, the search may be in vain. */
/*@ requires lock:  LockHeld(LOCK_PAGES);
    requires ok:    PageCacheOk;
    requires state: CacheState(state);
    requires some:  0 < npages < PAGE_COUNT_MAX;
    requires power: IsPowerOfTwo(align_npages) && align_npages < PAGE_COUNT_MAX;
    assigns         \nothing;
    ensures  found: \result != 0 ==> ExtUsed(\result) && ext_state[\result] == state;
    ensures  fits:  \result != 0 ==> CacheFits(\result, npages, align_npages);
    ensures  none:  \result == 0 ==> CacheNone(state, npages + align_npages - 1);
*/
static uint32_t cache_find(uint8_t state, uint64_t npages, uint64_t align_npages)
{
    uint32_t end = cache_heap_first(state) + SC_NPSIZES;
    uint32_t h = cache_heap(state, npages);
    /*@ ghost align_lemma_range(align_npages); */
    /*@ ghost ladder_lemma_order(h - (end - SC_NPSIZES)); */
    /*@ assert shorter: \forall integer k; CACHE_HEAP_FIRST(state) <= k < h ==> Rung(k - CACHE_HEAP_FIRST(state)) < npages; */
    h = cache_nonempty(h, end);
    /*@ loop invariant range: CACHE_HEAP_FIRST(state) <= h <= end;
        loop invariant bit:   h < end ==> CacheBit(h);
        loop invariant none:  \forall integer k; CACHE_HEAP_FIRST(state) <= k < h &&
                                  Rung(k - CACHE_HEAP_FIRST(state)) >= npages + align_npages - 1 ==> !CacheBit(k);
        loop assigns   h;
        loop variant   end - h;
    */
    while (h < end) {
        uint32_t e = pairing_heap_first(h);
        /*@ assert in: ph_own[e] == h && ext_state[e] == state; */
        /*@ assert class: Rung(h - CACHE_HEAP_FIRST(state)) <= ext_npages[e]; */
        if (cache_fits(e, npages, align_npages)) {
            return e;
        }
        /*@ assert short: Rung(h - CACHE_HEAP_FIRST(state)) < npages + align_npages - 1; */
        h = cache_nonempty(h + 1, end);
    }
    return 0;
}

/* Looks for such an extent in all states of the page cache, first in those whose pages are in memory. */
/*@ requires lock:  LockHeld(LOCK_PAGES);
    requires ok:    PageCacheOk;
    requires some:  0 < npages < PAGE_COUNT_MAX;
    requires power: IsPowerOfTwo(align_npages) && align_npages < PAGE_COUNT_MAX;
    requires cache: cache < PAGE_CACHES;
    assigns         \nothing;
    ensures  found: \result != 0 ==> ExtUsed(\result) && CacheOwn(ext_state[\result], cache);
    ensures  fits:  \result != 0 ==> CacheFits(\result, npages, align_npages);
    ensures  none:  \result == 0 ==> CacheNoneOf(cache, npages + align_npages - 1);
*/
static uint32_t cache_find_any(uint32_t cache, uint64_t npages, uint64_t align_npages)
{
    uint32_t e = cache_find((uint8_t)(EXTENT_DIRTY + cache), npages, align_npages);
    if (e == 0) {
        e = cache_find((uint8_t)(EXTENT_MUZZY + cache), npages, align_npages);
    }
    return e != 0 ? e : cache_find((uint8_t)(EXTENT_RETAINED + cache), npages, align_npages);
}

/* -- growing --------------------------------------------------------------------------------------------------- */

/* Returns how many pages to ask the OS for. It is a share of what the page cache has, so that growth is geometric and
 * wastes little, but no more than what is set for it. */
/*@ requires lock:  LockHeld(LOCK_PAGES);
    requires some:  0 < npages < PAGE_COUNT_MAX;
    requires cache: cache < PAGE_CACHES;
    assigns         \nothing;
    ensures  range: npages <= \result < PAGE_COUNT_MAX;
    ensures  most:  page_cache_grow_max[cache] != 0 ==> \result <= \max(npages, page_cache_grow_max[cache]);
*/
static uint64_t cache_step(uint32_t cache, uint64_t npages)
{
    uint64_t n = page_cache_mapped_npages[cache] / GROW_SHARE;
    if (n < GROW_NPAGES_MIN) {
        n = GROW_NPAGES_MIN;
    } else if (n > GROW_NPAGES_MAX) {
        n = GROW_NPAGES_MAX;
    }
    uint64_t most = page_cache_grow_max[cache];
    if (most != 0 && n > most) {
        n = most;
    }
    return n < npages ? npages : n;
}

/* Returns a RETAINED extent of the page cache, of so many new pages from the OS, or 0 if there is no memory for them or for what is to be
 * noted of them. */
/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires ok:     PageCacheOk;
    requires some:   0 < npages < PAGE_COUNT_MAX;
    requires cache:  cache < PAGE_CACHES;
    requires zeroes: CacheZero;
    requires whose:  CacheGiven;
    assigns          CACHE_ASSIGNS, CACHE_ASSIGNS_GROWTH;
    ensures  ok:     PageCacheOk;
    ensures  free:   \result != 0 ==> ExtUsed(\result) && ext_state[\result] == EXTENT_RETAINED + cache;
    ensures  enough: \result != 0 ==> ext_npages[\result] >= npages;
    ensures  out:    \result == 0 ==> MemoryOut(npages);
    ensures  total:  page_cache_mapped_npages[cache] == \old(page_cache_mapped_npages[cache]) + (\result == 0 ? 0 : npages);
    ENSURES_CACHE_GROWN(cache);
*/
static uint32_t cache_map(uint32_t cache, uint64_t npages)
{
    uint64_t page = os_map(cache, npages);
    /*@ assert nobodys: page != 0 ==> CachePagesAre(page, page + npages, 0); */
    uint32_t e = page == 0 ? 0 : cache_adopt(cache, page, npages);
    return e == 0 ? 0 : cache_give(e, (uint8_t)(EXTENT_RETAINED + cache));
}

/* Returns a RETAINED extent of the page cache, of at least npages with new pages from the OS, or 0 if there is no memory. */
/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires ok:     PageCacheOk;
    requires some:   0 < npages < PAGE_COUNT_MAX;
    requires cache:  cache < PAGE_CACHES;
    requires none:   CacheNoneOf(cache, npages);
    requires zeroes: CacheZero;
    requires whose:  CacheGiven;
    assigns          CACHE_ASSIGNS, CACHE_ASSIGNS_GROWTH;
    ensures  ok:     PageCacheOk;
    ensures  free:   \result != 0 ==> ExtUsed(\result) && ext_state[\result] == EXTENT_RETAINED + cache;
    ensures  enough: \result != 0 ==> ext_npages[\result] >= npages;
    ensures  out:    \result == 0 ==> MemoryOut(npages);
    ensures  most:   CacheGrownBy{Pre,Post}(cache, npages);
    ENSURES_CACHE_GROWN(cache);
*/
static uint32_t cache_grow(uint32_t cache, uint64_t npages)
{
    uint64_t n = cache_step(cache, npages);
    uint32_t e = cache_map(cache, n);
    /* A limit on address space may still allow less. */
    /*@ loop invariant range:   npages <= n < PAGE_COUNT_MAX;
        loop invariant ok:      PageCacheOk;
        loop invariant free:    e != 0 ==> ExtUsed(e) && ext_state[e] == EXTENT_RETAINED + cache;
        loop invariant enough:  e != 0 ==> ext_npages[e] >= npages;
        loop invariant out:     e == 0 ==> MemoryOut(n);
        loop invariant most:    page_cache_grow_max[cache] != 0 ==> n <= \max(npages, page_cache_grow_max[cache]);
        loop invariant total:   page_cache_mapped_npages[cache] == \at(page_cache_mapped_npages[cache],Pre) + (e == 0 ? 0 : n);
        loop invariant rest:    CacheTotalsKept{Pre,Here}(cache);
        loop invariant leaves:  RadixKept{Pre,Here};
        loop invariant others:  CacheHeldKept{Pre,Here}(0, 0);
        loop invariant foreign: CacheForeignSame{Pre,Here};
        loop invariant pages:   CachePagesKeptOrNew{Pre,Here}(0, 0, cache);
        loop invariant zeroes:  CacheZero;
        loop invariant whose:   CacheGiven;
        loop assigns   n, e, CACHE_ASSIGNS, CACHE_ASSIGNS_GROWTH;
        loop variant   n;
    */
    while (e == 0 && n > npages) {
        n = n / 2 < npages ? npages : n / 2;
        e = cache_map(cache, n);
    }
    return e;
}

/* Returns a free extent of the page cache with room for the aligned run, or 0 if there is no memory, and reserves two extent
 * ids. */
/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires ok:     PageCacheOk;
    requires some:   0 < npages && npages + align_npages < PAGE_COUNT_MAX;
    requires power:  IsPowerOfTwo(align_npages);
    requires cache:  cache < PAGE_CACHES;
    requires zeroes: CacheZero;
    requires whose:  CacheGiven;
    assigns          CACHE_ASSIGNS, CACHE_ASSIGNS_GROWTH;
    ensures  ok:     PageCacheOk;
    ensures  free:   \result != 0 ==> ExtUsed(\result) && CacheOwn(ext_state[\result], cache);
    ensures  fits:   \result != 0 ==> CacheFits(\result, npages, align_npages);
    ensures  spare:  \result != 0 ==> ExtSpare(2);
    ensures  out:    \result == 0 ==> MemoryOut(npages + align_npages - 1);
    ensures  most:   CacheGrownBy{Pre,Post}(cache, npages + align_npages - 1);
    ENSURES_CACHE_GROWN(cache);
*/
static uint32_t cache_supply(uint32_t cache, uint64_t npages, uint64_t align_npages)
{
    /*@ ghost align_lemma_range(align_npages); */
    uint32_t e = cache_find_any(cache, npages, align_npages);
    if (e == 0) {
        e = cache_grow(cache, npages + align_npages - 1);
    }
    return e != 0 && extent_reserve(2) ? e : 0;
}

/* -- carving --------------------------------------------------------------------------------------------------- */

/* Gives all pages of the BUSY extent e but the first npages back, free in that state. */
/*@ REQUIRES_CACHE_BUSY(e, state);
    requires some:  0 < npages;
    requires spare: ExtSpare(1);
    assigns         CACHE_ASSIGNS;
    ensures  ok:    PageCacheOk;
    ensures  busy:  CacheHas(e, \old(ext_state[e]));
    ensures  start: ext_page[e] == \old(ext_page[e]);
    ensures  rest:  ext_npages[e] == (npages < \old(ext_npages[e]) ? npages : \old(ext_npages[e]));
    ensures  tail:  CachePagesAre(ext_page[e] + ext_npages[e], \old(ext_page[e] + ext_npages[e]), state);
    ENSURES_CACHE_KEPT(e, ext_page[e] + ext_npages[e], \old(ext_page[e] + ext_npages[e]));
*/
static void cache_cut_tail(uint32_t e, uint64_t npages, uint8_t state)
{
    if (AT(ext_npages, e) > npages) {
        cache_give(cache_split(e, npages), state);
    }
}

/* Gives them back if there is memory for one more extent, and leaves e as it is otherwise. */
/*@ REQUIRES_CACHE_BUSY(e, state);
    requires some:  0 < npages;
    assigns         CACHE_ASSIGNS, extent_count, os_refused;
    ensures  ok:    PageCacheOk;
    ensures  busy:  CacheHas(e, \old(ext_state[e]));
    ensures  start: ext_page[e] == \old(ext_page[e]);
    ensures  rest:  ext_npages[e] <= \old(ext_npages[e]);
    ensures  tail:  CachePagesAre(ext_page[e] + ext_npages[e], \old(ext_page[e] + ext_npages[e]), state);
    ENSURES_CACHE_KEPT(e, ext_page[e] + ext_npages[e], \old(ext_page[e] + ext_npages[e]));
*/
static void cache_try_cut_tail(uint32_t e, uint64_t npages, uint8_t state)
{
    if (extent_reserve(1)) {
        cache_cut_tail(e, npages, state);
    }
}

/* Gives the pages of the BUSY extent e before start back, free in that state. Returns the extent of the pages from
 * start on. */
/*@ REQUIRES_CACHE_BUSY(e, state);
    requires in:    ExtIn(e, start);
    requires spare: ExtSpare(2);
    assigns         CACHE_ASSIGNS;
    ensures  ok:    PageCacheOk;
    ensures  busy:  CacheHas(\result, \old(ext_state[e]));
    ensures  start: ext_page[\result] == start;
    ensures  end:   ext_page[\result] + ext_npages[\result] == \old(ext_page[e] + ext_npages[e]);
    ensures  spare: ExtSpare(1);
    ensures  lead:  CachePagesAre(\old(ext_page[e]), start, state);
    ensures  id:    \result == e || !CacheHeldState(\old(ext_state[\result]));
    ENSURES_CACHE_KEPT(e, \old(ext_page[e]), start);
*/
static uint32_t cache_cut_lead(uint32_t e, uint64_t start, uint8_t state)
{
    uint64_t lead = start - AT(ext_page, e);
    if (lead == 0) {
        return e;
    }
    uint32_t rest = cache_split(e, lead);
    cache_give(e, state);
    return rest;
}

/* Takes the run of npages that begins at start out of the free extent e of the page cache, and returns it as an ACTIVE
 * extent. */
/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires ok:     PageCacheOk;
    requires cache:  cache < PAGE_CACHES;
    requires free:   ExtUsed(e) && CacheOwn(ext_state[e], cache);
    requires in:     ext_page[e] <= start && 0 < npages && start + npages <= ext_page[e] + ext_npages[e];
    requires spare:  ExtSpare(2);
    requires zeroes: CacheZero;
    requires whose:  CacheGiven;
    assigns          CACHE_ASSIGNS;
    ensures  ok:     PageCacheOk;
    ensures  active: CacheHas(\result, EXTENT_ACTIVE + cache);
    ensures  run:    ext_page[\result] == start && ext_npages[\result] == npages;
    ensures  zero:   CacheZeroIn(\old(ext_state[e]), start, start + npages);
    ensures  fresh:  !CacheHeldState(\old(ext_state[\result]));
    ensures  were:   \forall integer p; start <= p < start + npages ==>
                         CacheOwn(\old(ext_page_state[p]), cache);
    ENSURES_CACHE_KEPT(0, start, start + npages);
*/
static uint32_t cache_carve(uint32_t cache, uint32_t e, uint64_t start, uint64_t npages)
{
    uint8_t state = AT(ext_state, e);
    /*@ ghost page_cache_lemma_pages(e); */
    cache_pull(e, (uint8_t)(EXTENT_BUSY + cache));
    uint32_t run = cache_cut_lead(e, start, state);
    cache_cut_tail(run, npages, state);
    cache_hold(run, (uint8_t)(EXTENT_ACTIVE + cache));
    return run;
}

/* -- the interface --------------------------------------------------------------------------------------------- */

void page_cache_boot(void)
{
    pairing_heap_boot();
    extent_boot();
    /*@ ghost bitmap_word_lemma_clear(); */
    /*@ assert none: \forall integer i, k; 0 <= i < PAGE_CACHE_WORDS && 0 <= k < 64 ==> !tbit(page_cache_bits[i], k); */
    /*@ ghost page_cache_lemma_ok(); */
}

uint32_t page_cache_alloc(uint32_t cache, uint64_t npages, uint64_t align_npages, bool *zeroed)
{
    *zeroed = false;
    if (npages >= PAGE_COUNT_MAX || align_npages >= PAGE_COUNT_MAX - npages) {
        return 0;
    }
    /*@ ghost align_lemma_range(align_npages); */
    uint32_t e = cache_supply(cache, npages, align_npages);
    if (e == 0) {
        return 0;
    }
    *zeroed = AT(ext_state, e) >= EXTENT_RETAINED;
    return cache_carve(cache, e, align_up(AT(ext_page, e), align_npages), npages);
}

void page_cache_free(uint32_t e)
{
    uint32_t cache = AT(ext_state, e) - (uint32_t)EXTENT_ACTIVE;
    cache_hold(e, (uint8_t)(EXTENT_BUSY + cache));
    cache_give(e, (uint8_t)(EXTENT_DIRTY + cache));
}

bool page_cache_expand(uint32_t e, uint64_t npages)
{
    uint32_t cache = AT(ext_state, e) - (uint32_t)EXTENT_ACTIVE;
    uint64_t more = npages - AT(ext_npages, e);
    uint32_t next = extent_next(e);
    if (next == 0 || !cache_owns(cache, AT(ext_state, next)) || AT(ext_npages, next) < more || !extent_reserve(2)) {
        return false;
    }
    cache_merge(e, cache_carve(cache, next, AT(ext_page, next), more));
    return true;
}

bool page_cache_shrink(uint32_t e, uint64_t npages)
{
    if (!extent_reserve(1)) {
        return false;
    }
    page_cache_free(cache_split(e, npages));
    return true;
}

bool page_cache_fits(uint32_t cache, uint64_t npages, uint64_t align_npages)
{
    uint8_t  state = (uint8_t)(EXTENT_DIRTY + cache);
    uint32_t e = 0;
    if (npages < PAGE_COUNT_MAX && align_npages < PAGE_COUNT_MAX - npages) {
        e = cache_find(state, npages, align_npages);
    }
    /*@ assert witness: e != 0 ==> ExtUsed(e) && ext_state[e] == EXTENT_DIRTY + cache && CacheFits(e, npages, align_npages); */
    return e != 0;
}

uint32_t page_cache_take(uint32_t cache, uint8_t state, uint64_t npages_max)
{
    uint32_t end = cache_heap_first(state) + SC_NPSIZES;
    uint32_t h = cache_nonempty(cache_heap_first(state), end);
    if (h == end) {
        return 0;
    }
    uint32_t e = pairing_heap_first(h);
    /*@ ghost page_cache_lemma_pages(e); */
    cache_pull(e, (uint8_t)(EXTENT_BUSY + cache));
    cache_try_cut_tail(e, npages_max, state);
    return e;
}

void page_cache_give(uint32_t e, uint8_t state)
{
    cache_give(e, state);
}

bool page_cache_unmap(uint32_t e, bool must)
{
    uint64_t page = AT(ext_page, e);
    uint64_t npages = AT(ext_npages, e);
    uint32_t cache = AT(ext_state, e) - (uint32_t)EXTENT_BUSY;
    /*@ ghost uint64_t end = page + npages; */
    /*@ ghost page_cache_lemma_pages(e); */
    /*@ ghost page_cache_lemma_enough(cache, e); */
    /*@ assert mapped: \forall integer p; page <= p < end ==> os_mapped[p] == 1; */
    /*@ assert given: CacheGivenFor(page, end, cache); */
    extent_destroy(e);
    page_cache_mapped_npages[cache] -= npages;
    /*@ assert outside: CacheSeamsKept{Pre,Here}(page, end); */
    /*@ ghost page_cache_lemma_apart_held(page, end); */
    if (os_unmap(cache, page, npages, must)) {
        /*@ ghost page_cache_lemma_ok(); */
        return true;
    }
    uint32_t again = cache_adopt(cache, page, npages);
    if (again != 0) {
        cache_give(again, (uint8_t)(EXTENT_RETAINED + cache));
    }
    return again == 0;
}
