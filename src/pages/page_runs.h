/* page_runs: the steps that the operations of the page cache are made of. Only page_cache.c includes it.
 *
 * Each of the primitives, from cache_pull to cache_adopt, keeps the whole invariant. Between two of them the extent
 * that is being worked on is BUSY, so that it is in no heap and joins no neighbour. Coalescing is built of these
 * primitives.
 */
#ifndef QED_PAGES_PAGE_RUNS_H
#define QED_PAGES_PAGE_RUNS_H

#include "pages/page_cache.h"

#include "pages/extent_lemmas.acsl"
#include "pages/page_cache_lemmas.acsl"

/* -- which heap ------------------------------------------------------------------------------------------------ */

/* Tells whether the state is one of the free states of the page cache. */
/*@ requires cache: cache < PAGE_CACHES;
    assigns         \nothing;
    ensures  is:    \result <==> CacheOwn(state, cache);
*/
static inline bool cache_owns(uint32_t cache, uint8_t state)
{
    return state == EXTENT_DIRTY + cache || state == EXTENT_MUZZY + cache || state == EXTENT_RETAINED + cache;
}

/* Returns the page cache of an extent. */
/*@ requires state: 0 < state;
    assigns         \nothing;
    ensures  range: \result < PAGE_CACHES;
    ensures  is:    \result == (state - 1) % PAGE_CACHES;
*/
static inline uint32_t cache_number(uint8_t state)
{
    return (state - (uint32_t)EXTENT_ACTIVE) % PAGE_CACHES;
}

/*@ requires state: CacheState(state);
    assigns         \nothing;
    ensures  first: \result == CACHE_HEAP_FIRST(state);
    ensures  range: 1 <= \result && \result + SC_NPSIZES <= PAGE_CACHE_HEAPS;
*/
static inline uint32_t cache_heap_first(uint8_t state)
{
    return 1U + (state - (uint32_t)EXTENT_DIRTY) * SC_NPSIZES;
}

/*@ requires state: CacheState(state);
    requires some:  0 < npages <= PAGE_COUNT_MAX;
    assigns         \nothing;
    ensures  is:    CacheHeapIs(\result, state, npages);
    ensures  range: CacheHeapRange(\result);
*/
static inline uint32_t cache_heap(uint8_t state, uint64_t npages)
{
    return cache_heap_first(state) + size_class_page_index(npages);
}

/* Returns the lowest heap of h .. end - 1 that is not empty, or end if there is none. */
/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires range:  1 <= h <= end <= PAGE_CACHE_HEAPS;
    requires top:    CacheTop;
    assigns          \nothing;
    ensures  range:  h <= \result <= end;
    ensures  found:  \result < end ==> CacheBit(\result);
    ensures  lowest: \forall integer k; h <= k < \result ==> !CacheBit(k);
*/
static inline uint32_t cache_nonempty(uint32_t h, uint32_t end)
{
    if (h == end) {
        return end;
    }
    uint32_t k = bitmap_tree_first_from(page_cache_bits, PAGE_CACHE_LEAVES, h);
    return k < end ? k : end;
}

/* -- primitives ------------------------------------------------------------------------------------------------ */

/* Changes the state of e to another one of its page cache. If it becomes free, its neighbours are not free in that state. */
/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires ok:     ExtentOk;
    requires apart:  CacheApart;
    requires total:  CacheTotal;
    requires zeroes: CacheZero;
    requires whose:  CacheGiven;
    requires used:   ExtUsed(e);
    requires state:  CacheStep(ext_state[e], state) || CacheStep(state, ext_state[e]);
    requires zero:   CacheZeroIn(state, ext_page[e], ext_page[e] + ext_npages[e]);
    requires before: CacheState(state) ==> ext_page_state[ext_page[e] - 1] != state;
    requires behind: CacheState(state) && ext_page[e] + ext_npages[e] < PAGE_COUNT_MAX ==>
                         ext_page_state[ext_page[e] + ext_npages[e]] != state;
    assigns          ext_state[e], extent_npages_total[0 .. EXTENT_STATES - 1],
                     ext_page_state[ext_page[e] .. ext_page[e] + ext_npages[e] - 1];
    ensures  ok:     ExtentOk;
    ensures  apart:  CacheApart;
    ensures  total:  CacheTotal;
    ensures  zeroes: CacheZero;
    ensures  whose:  CacheGiven;
    ensures  state:  ext_state[e] == state;
*/
static inline void cache_set(uint32_t e, uint8_t state)
{
    /*@ ghost page_cache_lemma_pages(e); */
    /*@ assert same: (state - 1) % PAGE_CACHES == (ext_state[e] - 1) % PAGE_CACHES; */
    extent_set_state(e, state);
    /*@ ghost page_cache_lemma_pages(e); */
    /*@ ghost uint64_t page = ext_page[e]; */
    /*@ ghost uint64_t end = page + ext_npages[e]; */
    /*@ assert rest: \forall integer p; 0 <= p < PAGE_COUNT_MAX && !(page <= p < end) ==>
            ext_page_state[p] == \at(ext_page_state[p], Pre); */
    /*@ assert outside: CacheSeamsKept{Pre,Here}(page, end); */
    /*@ assert left: CacheState(state) ==> ext_page_state[page - 1] != ext_page_state[page]; */
    /*@ ghost page_cache_lemma_apart(page, end); */
}

/* Counts an extent of npages that comes into the heap. */
/*@ requires lock:    LockHeld(LOCK_PAGES);
    requires heap:    CacheHeapRange(h);
    assigns           page_cache_counts.extents[h], page_cache_counts.npages[h];
    ensures  one:     page_cache_counts.extents[h] == \min(\old(page_cache_counts.extents[h]) + 1, UINT64_MAX);
    ensures  npages:  page_cache_counts.npages[h] == \min(\old(page_cache_counts.npages[h]) + npages, UINT64_MAX);
*/
static inline void cache_count_in(uint32_t h, uint64_t npages)
{
    page_cache_counts.extents[h] += page_cache_counts.extents[h] < UINT64_MAX ? 1 : 0;
    uint64_t n = page_cache_counts.npages[h];
    page_cache_counts.npages[h] = n > UINT64_MAX - npages ? UINT64_MAX : n + npages;
}

/* Counts one that leaves it. */
/*@ requires lock:    LockHeld(LOCK_PAGES);
    requires heap:    CacheHeapRange(h);
    assigns           page_cache_counts.extents[h], page_cache_counts.npages[h];
    ensures  one:     page_cache_counts.extents[h] == \max(\old(page_cache_counts.extents[h]) - 1, 0);
    ensures  npages:  page_cache_counts.npages[h] == \max(\old(page_cache_counts.npages[h]) - npages, 0);
*/
static inline void cache_count_out(uint32_t h, uint64_t npages)
{
    page_cache_counts.extents[h] -= page_cache_counts.extents[h] > 0 ? 1 : 0;
    uint64_t n = page_cache_counts.npages[h];
    page_cache_counts.npages[h] = n < npages ? 0 : n - npages;
}

/* Takes the free extent e out of its heap and makes it BUSY in its page cache. */
/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires ok:     PageCacheOk;
    requires busy:   CacheBusyState(busy);
    requires free:   ExtUsed(e) && CacheFreeOf(busy, ext_state[e]);
    requires zeroes: CacheZero;
    requires whose:  CacheGiven;
    assigns          CACHE_ASSIGNS_HEAPS, CACHE_ASSIGNS_STATES;
    ensures  ok:     PageCacheOk;
    ensures  busy:   CacheHas(e, busy);
    ENSURES_CACHE_KEPT(e, ext_page[e], ext_page[e] + ext_npages[e]);
*/
static void cache_pull(uint32_t e, uint8_t busy)
{
    uint32_t h = cache_heap(AT(ext_state, e), AT(ext_npages, e));
    /*@ ghost page_cache_lemma_class(ext_npages[e], ext_state[e], h, ph_own[e]); */
    pairing_heap_remove(h, e);
    /*@ assert kept: \forall integer k, x; k != h ==> (PhIn(k, x) && x != e <==> PhIn{Pre}(k, x)); */
    /*@ assert top: CacheTop; */
    if (pairing_heap_first(h) == 0) {
        bitmap_tree_unset(page_cache_bits, PAGE_CACHE_LEAVES, h);
        /*@ assert clear: !CacheBit(h); */
        /*@ ghost page_cache_lemma_top(); */
    }
    cache_count_out(h, AT(ext_npages, e));
    /*@ assert top: CacheTop; */
    cache_set(e, busy);
    /*@ assert top: CacheTop; */
    /*@ ghost page_cache_lemma_ok(); */
}

/* Makes the BUSY extent e, which has no neighbour of that state, free. */
/*@ REQUIRES_CACHE_BUSY(e, state);
    requires before: ext_page_state[ext_page[e] - 1] != state;
    requires behind: ext_page[e] + ext_npages[e] < PAGE_COUNT_MAX ==>
                         ext_page_state[ext_page[e] + ext_npages[e]] != state;
    assigns          CACHE_ASSIGNS_HEAPS, CACHE_ASSIGNS_STATES;
    ensures  ok:     PageCacheOk;
    ensures  free:   ExtUsed(e) && ext_state[e] == state;
    ENSURES_CACHE_KEPT(e, ext_page[e], ext_page[e] + ext_npages[e]);
*/
static void cache_put(uint32_t e, uint8_t state)
{
    uint32_t h = cache_heap(state, AT(ext_npages, e));
    cache_set(e, state);
    pairing_heap_insert(h, e, AT(ext_page, e));
    /*@ assert here: PhIn(h, e); */
    /*@ assert kept: \forall integer k, x; PhIn{Pre}(k, x) && k != 0 ==> PhIn(k, x); */
    bitmap_tree_set(page_cache_bits, PAGE_CACHE_LEAVES, h);
    /*@ ghost page_cache_lemma_top(); */
    /*@ assert some: CacheBitsSome; */
    cache_count_in(h, AT(ext_npages, e));
    /*@ assert top: CacheTop; */
    /*@ ghost page_cache_lemma_ok(); */
}

/* Changes the held extent e from ACTIVE to BUSY or back, in its page cache. */
/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires ok:     PageCacheOk;
    requires held:   ExtUsed(e) && CacheHeldState(ext_state[e]) && ph_own[e] == 0;
    requires state:  CacheHeldState(state) && (CacheStep(ext_state[e], state) || CacheStep(state, ext_state[e]));
    requires zeroes: CacheZero;
    requires whose:  CacheGiven;
    assigns          CACHE_ASSIGNS_STATES;
    ensures  ok:     PageCacheOk;
    ensures  zeroes: CacheZero;
    ensures  whose:  CacheGiven;
    ensures  has:    CacheHas(e, state);
    ensures  others: CacheHeldKept{Pre,Post}(e, e);
    ensures  pages:  CachePagesKept{Pre,Post}(ext_page[e], ext_page[e] + ext_npages[e]);
*/
static inline void cache_hold(uint32_t e, uint8_t state)
{
    cache_set(e, state);
    /*@ ghost page_cache_lemma_ok(); */
}

/* The held extent e keeps its first npages. Returns a new extent of the others, in the same state. */
/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires ok:     PageCacheOk;
    requires held:   ExtUsed(e) && CacheHeldState(ext_state[e]);
    requires spare:  ExtSpare(1);
    requires less:   0 < npages < ext_npages[e];
    assigns          CACHE_ASSIGNS_IDS, CACHE_ASSIGNS_PAGES, ext_state[EXT_UNUSED];
    ensures  ok:     PageCacheOk;
    ensures  spare:  \old(ExtSpare(2)) ==> ExtSpare(1);
    ensures  front:  ExtUsed(e) && ext_page[e] == \old(ext_page[e]) && ext_npages[e] == npages;
    ensures  back:   CacheHas(\result, ext_state[e]) && ext_page[\result] == ext_page[e] + npages &&
                         ext_npages[\result] == \old(ext_npages[e]) - npages;
    ensures  state:  ext_state[e] == \old(ext_state[e]);
    ensures  others: CacheHeldKept{Pre,Post}(e, e);
    ensures  fresh:  \result != e && !\old(ExtUsed(EXT_UNUSED)) && \result == \old(EXT_UNUSED);
*/
static inline uint32_t cache_split(uint32_t e, uint64_t npages)
{
    /*@ ghost uint64_t page = ext_page[e]; */
    /*@ ghost uint64_t end = page + ext_npages[e]; */
    /*@ ghost page_cache_lemma_pages(e); */
    uint32_t rest = extent_split(e, npages);
    os_tell_seam(cache_number(AT(ext_state, e)), AT(ext_page, e), npages, AT(ext_npages, rest), false);
    /*@ assert outside: CacheSeamsKept{Pre,Here}(page, end); */
    /*@ ghost page_cache_lemma_apart_held(page, end); */
    /*@ ghost page_cache_lemma_ok(); */
    return rest;
}

/* The held extent b, which follows a and is in the same state, becomes part of a. */
/*@ requires lock:    LockHeld(LOCK_PAGES);
    requires ok:      PageCacheOk;
    requires held:    ExtUsed(a) && CacheHeldState(ext_state[a]);
    requires has:     CacheHas(b, ext_state[a]);
    requires follows: ext_page[a] + ext_npages[a] == ext_page[b];
    assigns           CACHE_ASSIGNS_IDS, CACHE_ASSIGNS_PAGES, ext_state[b];
    ensures  ok:      PageCacheOk;
    ensures  spare:   ExtSpare(1);
    ensures  all:     ExtUsed(a) && ext_page[a] == \old(ext_page[a]) &&
                          ext_npages[a] == \old(ext_npages[a] + ext_npages[b]);
    ensures  state:   ext_state[a] == \old(ext_state[a]);
    ensures  others:  CacheHeldKept{Pre,Post}(a, b);
*/
static inline void cache_merge(uint32_t a, uint32_t b)
{
    /*@ ghost uint64_t page = ext_page[b]; */
    /*@ ghost uint64_t end = page + ext_npages[b]; */
    /*@ ghost page_cache_lemma_pages(a); */
    /*@ ghost page_cache_lemma_pages(b); */
    os_tell_seam(cache_number(AT(ext_state, a)), AT(ext_page, a), AT(ext_npages, a), AT(ext_npages, b), true);
    extent_merge(a, b);
    /*@ assert outside: CacheSeamsKept{Pre,Here}(page, end); */
    /*@ ghost page_cache_lemma_apart_held(page, end); */
    /*@ ghost page_cache_lemma_ok(); */
}

#define PAGES_AN_ID 3                   /* pages that the smallest block of whole pages has, but for few */

/* Makes a BUSY extent of pages that the OS just gave for the page cache, and returns it. Returns 0 if there is no memory
 * for it, and gives the pages back to the OS. The tables grow with the pages, so that there is an extent for each block that the
 * pages have room for, even if the OS refuses all that comes. */
/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires grown:  PageCacheGrown(page, page + npages);
    requires range:  0 < page && 0 < npages && page + npages <= PAGE_COUNT_MAX;
    requires cache:  cache < PAGE_CACHES;
    requires zeroes: CacheZero;
    requires whose:  CacheGiven;
    requires zero:   OsZeroPages(page, page + npages);
    requires given:  CacheGivenFor(page, page + npages, cache);
    assigns          CACHE_ASSIGNS_IDS, CACHE_ASSIGNS_PAGES, CACHE_ASSIGNS_STATES, CACHE_ASSIGNS_GROWTH;
    ensures  ok:     PageCacheOk;
    ensures  zeroes: CacheZero;
    ensures  whose:  CacheGiven;
    ensures  busy:   \result != 0 ==> CacheHas(\result, EXTENT_BUSY + cache);
    ensures  all:    \result != 0 ==> ext_page[\result] == page && ext_npages[\result] == npages;
    ensures  fresh:  \result != 0 ==> !CacheHeldState(\old(ext_state[\result]));
    ensures  zero:   \result != 0 ==> OsZeroPages(page, page + npages);
    ensures  leaves: RadixKept{Pre,Post};
    ensures  others: CacheHeldKept{Pre,Post}(0, 0);
    ensures  pages:  \result != 0 ==> CachePagesKept{Pre,Post}(page, page + npages);
    ensures  fail:   \result == 0 ==> CachePagesKept{Pre,Post}(0, 0);
    ensures  total:  page_cache_mapped_npages[cache] == \old(page_cache_mapped_npages[cache]) + (\result == 0 ? 0 : npages);
    ensures  rest:   CacheTotalsKept{Pre,Post}(cache);
    ensures  out:    \result == 0 ==> MemoryOut(1);
*/
static uint32_t cache_adopt(uint32_t cache, uint64_t page, uint64_t npages)
{
    /*@ ghost page_cache_lemma_total(cache); */
    uint64_t ids = (page_cache_mapped_npages[cache] + npages) / PAGES_AN_ID;
    if (!extent_reserve_tables(ids) || !extent_reserve(1) || !extent_reserve_pages(page, npages)) {
        (void)os_unmap(cache, page, npages, true);
        /*@ ghost page_cache_lemma_ok(); */
        return 0;
    }
    /*@ ghost page_cache_lemma_total(cache); */
    page_cache_mapped_npages[cache] += npages;
    uint32_t e = extent_create(page, npages, (uint8_t)(EXTENT_BUSY + cache));
    /*@ ghost uint64_t end = page + npages; */
    /*@ ghost page_cache_lemma_pages(e); */
    /*@ assert outside: CacheSeamsKept{Pre,Here}(page, end); */
    /*@ ghost page_cache_lemma_apart_held(page, end); */
    /*@ ghost page_cache_lemma_ok(); */
    return e;
}

/* -- coalescing ------------------------------------------------------------------------------------------------ */

/* Joins the BUSY extent e with the extent behind it, if that is free in that state. */
/*@ REQUIRES_CACHE_BUSY(e, state);
    assigns          CACHE_ASSIGNS;
    ensures  ok:     PageCacheOk;
    ensures  busy:   CacheHas(e, \old(ext_state[e]));
    ensures  start:  ext_page[e] == \old(ext_page[e]);
    ensures  more:   ext_npages[e] >= \old(ext_npages[e]);
    ensures  spare:  \old(ExtSpare(1)) ==> ExtSpare(1);
    ensures  joined: \forall integer p; \old(ext_page[e] + ext_npages[e]) <= p < ext_page[e] + ext_npages[e] ==>
                         \old(ext_page_state[p]) == state;
    ensures  zero:   CacheZeroIn(state, ext_page[e], ext_page[e] + ext_npages[e]);
    ensures  behind: ext_page[e] + ext_npages[e] < PAGE_COUNT_MAX ==>
                         ext_page_state[ext_page[e] + ext_npages[e]] != state;
    ENSURES_CACHE_KEPT(e, \old(ext_page[e] + ext_npages[e]), ext_page[e] + ext_npages[e]);
*/
static void cache_absorb_next(uint32_t e, uint8_t state)
{
    uint32_t next = extent_next(e);
    if (next == 0 || AT(ext_state, next) != state) {
        /*@ ghost page_cache_lemma_behind(e, next, state); */
        return;
    }
    /*@ ghost uint64_t end = ext_page[next] + ext_npages[next]; */
    /*@ ghost page_cache_lemma_pages(next); */
    /*@ ghost page_cache_lemma_ends(next); */
    cache_pull(next, AT(ext_state, e));
    /*@ assert behind: end < PAGE_COUNT_MAX ==> ext_page_state[end] != state; */
    cache_merge(e, next);
    /*@ assert end: ext_page[e] + ext_npages[e] == end; */
    /*@ assert still: end < PAGE_COUNT_MAX ==> ext_page_state[end] != state; */
}

/* Joins the BUSY extent e with the extent before it, if that is free in that state. Returns the extent that e is then
 * part of. */
/*@ REQUIRES_CACHE_BUSY(e, state);
    assigns          CACHE_ASSIGNS;
    ensures  ok:     PageCacheOk;
    ensures  busy:   CacheHas(\result, \old(ext_state[e]));
    ensures  start:  ext_page[\result] <= \old(ext_page[e]);
    ensures  end:    ext_page[\result] + ext_npages[\result] == \old(ext_page[e] + ext_npages[e]);
    ensures  spare:  \old(ExtSpare(1)) ==> ExtSpare(1);
    ensures  joined: \forall integer p; ext_page[\result] <= p < \old(ext_page[e]) ==>
                         \old(ext_page_state[p]) == state;
    ensures  zero:   CacheZeroIn(state, ext_page[\result], ext_page[\result] + ext_npages[\result]);
    ensures  before: ext_page_state[ext_page[\result] - 1] != state;
    ensures  same:   \result == e || CacheState(\old(ext_state[\result]));
    ENSURES_CACHE_KEPT(e, ext_page[\result], \old(ext_page[e]));
*/
static uint32_t cache_absorb_into_prev(uint32_t e, uint8_t state)
{
    uint32_t prev = extent_prev(e);
    if (prev == 0 || AT(ext_state, prev) != state) {
        /*@ ghost page_cache_lemma_before(e, prev, state); */
        /*@ assert none: ext_page_state[ext_page[e] - 1] != state; */
        return e;
    }
    /*@ ghost uint64_t page = ext_page[prev]; */
    /*@ ghost page_cache_lemma_pages(prev); */
    /*@ ghost page_cache_lemma_ends(prev); */
    cache_pull(prev, AT(ext_state, e));
    /*@ assert before: ext_page_state[page - 1] != state; */
    cache_merge(prev, e);
    /*@ assert start: ext_page[prev] == page; */
    /*@ assert still: ext_page_state[ext_page[prev] - 1] != state; */
    return prev;
}

/* The BUSY extent e becomes free in that state and joins its neighbours of that state. Returns the free extent that
 * it is then part of. */
/*@ REQUIRES_CACHE_BUSY(e, state);
    assigns         CACHE_ASSIGNS;
    ensures  ok:    PageCacheOk;
    ensures  free:  ExtUsed(\result) && ext_state[\result] == state;
    ensures  start: ext_page[\result] <= \old(ext_page[e]);
    ensures  end:   ext_page[\result] + ext_npages[\result] >= \old(ext_page[e] + ext_npages[e]);
    ensures  spare: \old(ExtSpare(1)) ==> ExtSpare(1);
    ensures  are:   CachePagesAre(\old(ext_page[e]), \old(ext_page[e] + ext_npages[e]), state);
    ENSURES_CACHE_KEPT(e, \old(ext_page[e]), \old(ext_page[e] + ext_npages[e]));
*/
static uint32_t cache_give(uint32_t e, uint8_t state)
{
    cache_absorb_next(e, state);
    /*@ assert behind: CacheHeldKept{Pre,Here}(e, e); */
    uint32_t all = cache_absorb_into_prev(e, state);
    /*@ assert before: CacheHeldKept{Pre,Here}(e, e); */
    /*@ assert free: all == e || !CacheHeldState(\at(ext_state[\at(all,Here)],Pre)); */
    cache_put(all, state);
    /*@ ghost page_cache_lemma_pages(all); */
    return all;
}

#endif
