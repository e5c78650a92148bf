/* page_cache: two primitives, cache_pull and cache_put, move an extent out of and into the free ones; between them its
 * state is not free, so every invariant holds in between, and the operations are sequences of these, splits and merges.
 */
#include "pages/page_cache.h"

#include "ds/bitmap_word.h"
#include "ds/pairing_heap.h"
#include "platform/bits.h"
#include "platform/os.h"

#define CACHE_WORDS ((PAGE_CACHE_HEAPS + 63U) / 64U)
#define GROW_NPAGES_MIN (1UL << (21 - LG_PAGE))         /* 2 MiB */
#define GROW_NPAGES_MAX (1UL << (26 - LG_PAGE))         /* 64 MiB */
#define GROW_SHARE 4U                                   /* a growth adds a quarter to what is mapped */

_Static_assert(EXTENT_MUZZY == EXTENT_DIRTY + 1 && EXTENT_RETAINED == EXTENT_DIRTY + 2, "heaps are numbered by state");
_Static_assert(LG_PAGE <= 21, "the least growth is at least a page");

uint64_t page_cache_mapped_npages;

static uint64_t cache_bits[CACHE_WORDS];                /* bit h: heap h is not empty */

static bool cache_is_free(uint8_t state)
{
    return EXTENT_DIRTY <= state && state <= EXTENT_RETAINED;
}

static uint32_t cache_heap_first(uint8_t state)
{
    return 1U + (uint32_t)(state - EXTENT_DIRTY) * SC_NPSIZES;
}

static uint32_t cache_heap(uint8_t state, uint64_t npages)
{
    return cache_heap_first(state) + size_class_page_index(npages);
}

/* The lowest non-empty heap of h .. end - 1, end if there is none. */
static uint32_t cache_nonempty(uint32_t h, uint32_t end)
{
    while (h < end) {
        uint64_t w = cache_bits[h / 64] >> (h % 64);
        if (w != 0) {
            uint32_t found = h + bits_lowest(w);
            return found < end ? found : end;
        }
        h = (h / 64 + 1) * 64;
    }
    return end;
}

/* Takes free e out: BUSY. */
static void cache_pull(uint32_t e)
{
    uint32_t h = cache_heap(AT(ext_state, e), AT(ext_npages, e));
    pairing_heap_remove(h, e);
    if (pairing_heap_first(h) == 0) {
        cache_bits[h / 64] = bitmap_word_clear(cache_bits[h / 64], h % 64);
    }
    extent_set_state(e, EXTENT_BUSY);
}

/* Makes e, which is not free and has no neighbour of that state, free. */
static void cache_put(uint32_t e, uint8_t state)
{
    uint32_t h = cache_heap(state, AT(ext_npages, e));
    extent_set_state(e, state);
    pairing_heap_insert(h, e, AT(ext_page, e));
    cache_bits[h / 64] = bitmap_word_set(cache_bits[h / 64], h % 64);
}

static void cache_absorb_next(uint32_t e, uint8_t state)
{
    uint32_t next = extent_next(e);
    if (next != 0 && AT(ext_state, next) == state) {
        cache_pull(next);
        extent_merge(e, next);
    }
}

static uint32_t cache_absorb_into_prev(uint32_t e, uint8_t state)
{
    uint32_t prev = extent_prev(e);
    if (prev != 0 && AT(ext_state, prev) == state) {
        cache_pull(prev);
        extent_merge(prev, e);
        return prev;
    }
    return e;
}

/* BUSY e becomes free in that state, with its neighbours of that state: the free extent that it is now part of. */
static uint32_t cache_give(uint32_t e, uint8_t state)
{
    cache_absorb_next(e, state);
    e = cache_absorb_into_prev(e, state);
    cache_put(e, state);
    return e;
}

static uint64_t cache_lead(uint64_t page, uint64_t align_npages)
{
    uint64_t over = page % align_npages;
    return over == 0 ? 0 : align_npages - over;
}

static bool cache_fits(uint32_t e, uint64_t npages, uint64_t align_npages)
{
    return cache_lead(AT(ext_page, e), align_npages) + npages <= AT(ext_npages, e);
}

/* A free extent of that state with room for the aligned run, 0 if none is found. Only the first extent of each heap is
 * looked at: above the class of npages + align_npages - 1 the first always fits, so at most the heaps below it, which
 * fit by luck, are looked at in vain. */
static uint32_t cache_find(uint8_t state, uint64_t npages, uint64_t align_npages)
{
    uint32_t end = cache_heap_first(state) + SC_NPSIZES;
    uint32_t h = cache_nonempty(cache_heap(state, npages), end);
    while (h < end) {
        uint32_t e = pairing_heap_first(h);
        if (cache_fits(e, npages, align_npages)) {
            return e;
        }
        h = cache_nonempty(h + 1, end);
    }
    return 0;
}

/* How much to ask the OS for: as much as a share of what is mapped, so that growth is geometric and wastes little. */
static uint64_t cache_step(uint64_t npages_least)
{
    uint64_t n = page_cache_mapped_npages / GROW_SHARE;
    if (n < GROW_NPAGES_MIN) {
        n = GROW_NPAGES_MIN;
    } else if (n > GROW_NPAGES_MAX) {
        n = GROW_NPAGES_MAX;
    }
    return n < npages_least ? npages_least : n;
}

/* Makes pages that the OS just gave RETAINED: the extent that they are now part of, 0 if there is no memory for it. */
static uint32_t cache_adopt(uint64_t page, uint64_t npages)
{
    if (!extent_reserve(1) || !extent_reserve_pages(page, npages)) {
        os_unmap(page, npages);
        return 0;
    }
    page_cache_mapped_npages += npages;
    return cache_give(extent_create(page, npages, EXTENT_BUSY), EXTENT_RETAINED);
}

/* A RETAINED extent of at least npages with new pages from the OS; 0: out of memory. */
static uint32_t cache_grow(uint64_t npages)
{
    uint64_t n = cache_step(npages);
    uint64_t page = os_map(n);
    while (page == 0 && n > npages) {
        n = n / 2 < npages ? npages : n / 2;
        page = os_map(n);
    }
    return page == 0 ? 0 : cache_adopt(page, n);
}

/* Gives all pages of BUSY e but the first npages back, free in that state. */
static void cache_cut_tail(uint32_t e, uint64_t npages, uint8_t state)
{
    if (AT(ext_npages, e) > npages) {
        cache_give(extent_split(e, npages), state);
    }
}

/* Gives the first pages of BUSY e back, up to a multiple of align_npages: the rest. */
static uint32_t cache_cut_lead(uint32_t e, uint64_t align_npages, uint8_t state)
{
    uint64_t lead = cache_lead(AT(ext_page, e), align_npages);
    if (lead == 0) {
        return e;
    }
    uint32_t rest = extent_split(e, lead);
    cache_give(e, state);
    return rest;
}

/* The aligned run, ACTIVE, out of free e with room for it. Two ids are reserved. */
static uint32_t cache_carve(uint32_t e, uint64_t npages, uint64_t align_npages)
{
    uint8_t state = AT(ext_state, e);
    cache_pull(e);
    uint32_t run = cache_cut_lead(e, align_npages, state);
    cache_cut_tail(run, npages, state);
    extent_set_state(run, EXTENT_ACTIVE);
    AT(ext_zeroed, run) = state == EXTENT_RETAINED;
    return run;
}

/* A free extent with room for the aligned run. */
static uint32_t cache_find_any(uint64_t npages, uint64_t align_npages)
{
    uint32_t e = cache_find(EXTENT_DIRTY, npages, align_npages);
    if (e == 0) {
        e = cache_find(EXTENT_MUZZY, npages, align_npages);
    }
    return e != 0 ? e : cache_find(EXTENT_RETAINED, npages, align_npages);
}

void page_cache_boot(void)
{
    extent_boot();
}

uint32_t page_cache_alloc(uint64_t npages, uint64_t align_npages)
{
    if (npages >= PAGE_COUNT_MAX || align_npages >= PAGE_COUNT_MAX - npages) {
        return 0;
    }
    uint32_t e = cache_find_any(npages, align_npages);
    if (e == 0) {
        e = cache_grow(npages + align_npages - 1);
    }
    return e == 0 || !extent_reserve(2) ? 0 : cache_carve(e, npages, align_npages);
}

void page_cache_free(uint32_t e)
{
    extent_set_state(e, EXTENT_BUSY);
    cache_give(e, EXTENT_DIRTY);
}

bool page_cache_expand(uint32_t e, uint64_t npages)
{
    uint64_t more = npages - AT(ext_npages, e);
    uint32_t next = extent_next(e);
    if (next == 0 || !cache_is_free(AT(ext_state, next)) || AT(ext_npages, next) < more || !extent_reserve(2)) {
        return false;
    }
    extent_merge(e, cache_carve(next, more, 1));
    AT(ext_zeroed, e) = 0;
    return true;
}

bool page_cache_shrink(uint32_t e, uint64_t npages)
{
    if (!extent_reserve(1)) {
        return false;
    }
    page_cache_free(extent_split(e, npages));
    return true;
}

uint32_t page_cache_take(uint8_t state, uint64_t npages_max)
{
    uint32_t end = cache_heap_first(state) + SC_NPSIZES;
    uint32_t h = cache_nonempty(cache_heap_first(state), end);
    if (h == end) {
        return 0;
    }
    uint32_t e = pairing_heap_first(h);
    cache_pull(e);
    if (extent_reserve(1)) {
        cache_cut_tail(e, npages_max, state);
    }
    return e;
}

void page_cache_give(uint32_t e, uint8_t state)
{
    cache_give(e, state);
}
