/* heap_check: the invariants of the heap, looked at in full while nobody is at work. The first clause that does not hold is
 * named, as spec/ names it (extent.acsl, page_cache.acsl, heap.acsl). */
#ifndef QED_TESTS_HEAP_CHECK_H
#define QED_TESTS_HEAP_CHECK_H

#include "ds/pairing_heap.h"
#include "heap/arena.h"
#include "heap/bin.h"
#include "heap/slab.h"
#include "heap/tcache_threads.h"
#include "heap_model.h"
#include "pages/page_cache.h"

#define HEAP_CHECK(clause, condition, what)                                                          \
    do {                                                                                             \
        if (!(condition)) {                                                                          \
            heap_model_fail("invariant " #clause ": not so: " #condition, (void *)(uintptr_t)(what)); \
        }                                                                                            \
    } while (0)

static inline int heap_check_order(const void *a, const void *b)
{
    uint64_t x = AT(ext_page, *(const uint32_t *)a), y = AT(ext_page, *(const uint32_t *)b);
    return x < y ? -1 : x > y;
}

static inline bool heap_check_free(uint32_t state)
{
    return state == EXTENT_DIRTY || state == EXTENT_MUZZY || state == EXTENT_RETAINED;
}

/* One extent by itself; it joins the totals, and the first of its heap if it is the lowest so far. */
static inline void heap_check_extent(uint32_t e, uint64_t *total, uint32_t *first)
{
    uint64_t page = AT(ext_page, e), npages = AT(ext_npages, e);
    uint8_t  state = AT(ext_state, e);
    HEAP_CHECK(ExtState, state < EXTENT_STATES && (state == EXTENT_UNUSED) == (npages == 0), e);
    if (npages != 0) {
        HEAP_CHECK(ExtRange, page > 0 && page + npages <= PAGE_COUNT_MAX, e);
        HEAP_CHECK(ExtEnds, radix_tree_extent(page) == e && radix_tree_extent(page + npages - 1) == e, e);
        HEAP_CHECK(PagesBusy, state != EXTENT_BUSY, e);
        total[state] += npages;
        if (heap_check_free(state)) {
            uint32_t *f = &first[1 + (state - (uint32_t)EXTENT_DIRTY) * SC_NPSIZES + size_class_page_index(npages)];
            *f = *f == 0 || page < AT(ext_page, *f) ? e : *f;
        }
    }
}

static inline void heap_check_pages(void)
{
    static uint32_t order[1U << 16];
    uint32_t        first[PAGE_CACHE_HEAPS] = {0}, n = 0;
    uint64_t        total[EXTENT_STATES] = {0}, mapped = 0;
    for (uint32_t e = 1; e <= extent_count; e++) {
        heap_check_extent(e, total, first);
        if (AT(ext_npages, e) != 0 && n < sizeof order / sizeof order[0]) {
            order[n++] = e;
        }
    }
    qsort(order, n, sizeof order[0], heap_check_order);
    for (uint32_t i = 1; i < n; i++) {
        uint32_t a = order[i - 1], b = order[i];
        uint64_t end = AT(ext_page, a) + AT(ext_npages, a);
        HEAP_CHECK(ExtOwn1, end <= AT(ext_page, b), b);
        HEAP_CHECK(CacheApart, end < AT(ext_page, b) || AT(ext_state, a) != AT(ext_state, b) || !heap_check_free(AT(ext_state, a)), b);
    }
    for (uint32_t s = EXTENT_ACTIVE; s < EXTENT_STATES; s++) {
        HEAP_CHECK(ExtTotals, extent_npages_total[s] == total[s], s);
        mapped += total[s];
    }
    HEAP_CHECK(CacheTotal, page_cache_mapped_npages == mapped, mapped);
    for (uint32_t h = 1; h < PAGE_CACHE_HEAPS; h++) {
        HEAP_CHECK(CacheFree, pairing_heap_first(h) == first[h], h);
        HEAP_CHECK(CacheBits, (page_cache_bits[h / 64] >> (h % 64) & 1) == (first[h] != 0), h);
    }
}

/* All live blocks of the program: each is where the heap says, and what the bins gave is live or cached. */
static inline void heap_check_blocks(const struct heap_model_block *block, uint32_t count)
{
    uint64_t live[SC_NBINS] = {0};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t address = (uintptr_t)block[i].address, usable = block[i].usable;
        uint32_t szind = size_class_index(usable), e = extent_at(address / PAGE);
        if (szind >= SC_NBINS) {
            HEAP_CHECK(HeapLargePlace, address % PAGE == 0 && e != 0, address);
            HEAP_CHECK(HeapLargeExt, AT(ext_state, e) == EXTENT_ACTIVE, address);
            HEAP_CHECK(HeapLargeLength, AT(ext_npages, e) * PAGE == usable, address);
        } else {
            live[szind]++;
        }
        HEAP_CHECK(HeapBlockClass, tcache_usable(address, "check") == usable, address);
    }
    for (uint32_t c = 0; c < SC_NBINS; c++) {
        uint64_t out = 0;
        for (uint32_t a = 0; a < arena_count(); a++) {
            struct bin_stats s;
            bin_read_stats(a, c, &s);
            HEAP_CHECK(BinFilled, s.regions_live <= s.slabs * slab_regions[c] && s.filled - s.flushed == s.regions_live, c);
            out += s.regions_live;
        }
        HEAP_CHECK(BinCounts, out == live[c] + tcache_blocks(c + 1), c);
    }
}

static inline void heap_check(const struct heap_model_block *block, uint32_t count)
{
    heap_check_pages();
    heap_check_blocks(block, count);
}

#endif
