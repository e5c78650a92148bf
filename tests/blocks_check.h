/* blocks_check: looks at all invariants of the heap while nobody is at work. It names the first clause that does not
 * hold, as spec/ names it (extent.acsl, page_cache.acsl, blocks/blocks.acsl). */
#ifndef QED_TESTS_HEAP_CHECK_H
#define QED_TESTS_HEAP_CHECK_H

#include "ds/pairing_heap.h"
#include "blocks/arena.h"
#include "blocks/bin.h"
#include "blocks/large.h"
#include "blocks/slab.h"
#include "tcache/depot.h"
#include "tcache/overflow.h"
#include "tcache/refill.h"
#include "blocks_model.h"
#include "pages/page_cache.h"
#include "prof/prof.h"

#define BLOCKS_CHECK(clause, condition, what)                                                          \
    do {                                                                                             \
        if (!(condition)) {                                                                          \
            blocks_model_fail("invariant " #clause ": not so: " #condition, (void *)(uintptr_t)(what)); \
        }                                                                                            \
    } while (0)

static inline int blocks_check_order(const void *a, const void *b)
{
    uint64_t x = AT(ext_page, *(const uint32_t *)a), y = AT(ext_page, *(const uint32_t *)b);
    return x < y ? -1 : x > y;
}

static inline bool blocks_check_free(uint32_t state)
{
    return state >= EXTENT_DIRTY;
}

/* One extent by itself; it joins the totals, the counts of its heap, and is the first of that if it is the lowest so far. */
static inline void blocks_check_extent(uint32_t e, uint64_t *total, uint32_t *first, struct page_cache_counts *counts)
{
    uint64_t page = AT(ext_page, e), npages = AT(ext_npages, e);
    uint8_t  state = AT(ext_state, e);
    BLOCKS_CHECK(ExtState, state < EXTENT_STATES && (state == EXTENT_UNUSED) == (npages == 0), e);
    if (npages != 0) {
        BLOCKS_CHECK(ExtRange, page > 0 && page + npages <= PAGE_COUNT_MAX, e);
        BLOCKS_CHECK(ExtEnds, radix_tree_extent(page) == e && radix_tree_extent(page + npages - 1) == e, e);
        BLOCKS_CHECK(PagesBusy, state < EXTENT_BUSY || state >= EXTENT_DIRTY, e);
        total[state] += npages;
        if (blocks_check_free(state)) {
            uint32_t  h = 1 + (state - (uint32_t)EXTENT_DIRTY) * SC_NPSIZES + size_class_page_index(npages);
            uint32_t *f = &first[h];
            *f = *f == 0 || page < AT(ext_page, *f) ? e : *f;
            counts->extents[h] += 1;
            counts->npages[h] += npages;
        }
    }
}

/* The ids without pages are the members of the list of unused ones. */
static inline void blocks_check_unused(void)
{
    uint32_t unused = 0, listed = 0;
    for (uint32_t e = 1; e <= extent_count; e++) {
        unused += AT(ext_npages, e) == 0;
    }
    for (uint32_t e = list_first(EXT_UNUSED_LIST); e != 0 && listed <= unused; e = list_next(e)) {
        BLOCKS_CHECK(ExtUnused, e <= extent_count && AT(ext_npages, e) == 0, e);
        listed++;
    }
    BLOCKS_CHECK(ExtUnused, listed == unused && list_length[EXT_UNUSED_LIST] == unused, unused);
}

/* So many page caches, counted from the first one, are all that have pages. */
static inline uint32_t blocks_check_caches(void)
{
    uint32_t n = PAGE_CACHES;
    while (n > 1 && page_cache_mapped_npages[n - 1] == 0) {
        n--;
    }
    return n;
}

/* The heaps of free extents in a state of that kind. Returns how many of them are marked. */
static inline uint32_t blocks_check_heaps(uint32_t from, uint32_t count, const uint32_t *first, const struct page_cache_counts *counts)
{
    uint32_t marked = 0;
    for (uint32_t h = from; h < from + count; h++) {
        BLOCKS_CHECK(CacheFree, pairing_heap_first(h) == first[h], h);
        BLOCKS_CHECK(CacheCounts, page_cache_counts.extents[h] == counts->extents[h] && page_cache_counts.npages[h] == counts->npages[h], h);
        BLOCKS_CHECK(CacheBits, (page_cache_bits[h / 64] >> (h % 64) & 1) == (first[h] != 0), h);
        marked += first[h] != 0;
    }
    return marked;
}

static inline void blocks_check_pages(void)
{
    static const uint32_t kind[] = {EXTENT_DIRTY, EXTENT_MUZZY, EXTENT_RETAINED};
    static uint32_t       order[1U << 16], first[PAGE_CACHE_HEAPS];
    static struct page_cache_counts counts;
    uint32_t              n = 0, marked = 0, marks = 0, heaps = blocks_check_caches() * SC_NPSIZES;
    uint64_t              total[EXTENT_STATES] = {0};
    for (uint32_t k = 0; k < sizeof kind / sizeof kind[0]; k++) {
        uint32_t from = 1 + (kind[k] - (uint32_t)EXTENT_DIRTY) * SC_NPSIZES;
        memset(&first[from], 0, heaps * sizeof first[0]);
        memset(&counts.extents[from], 0, heaps * sizeof counts.extents[0]);
        memset(&counts.npages[from], 0, heaps * sizeof counts.npages[0]);
    }
    for (uint32_t e = 1; e <= extent_count; e++) {
        blocks_check_extent(e, total, first, &counts);
        if (AT(ext_npages, e) != 0 && n < sizeof order / sizeof order[0]) {
            order[n++] = e;
        }
    }
    qsort(order, n, sizeof order[0], blocks_check_order);
    for (uint32_t i = 1; i < n; i++) {
        uint32_t a = order[i - 1], b = order[i];
        uint64_t end = AT(ext_page, a) + AT(ext_npages, a);
        BLOCKS_CHECK(ExtOwn1, end <= AT(ext_page, b), b);
        BLOCKS_CHECK(CacheApart, end < AT(ext_page, b) || AT(ext_state, a) != AT(ext_state, b) || !blocks_check_free(AT(ext_state, a)), b);
    }
    for (uint32_t s = EXTENT_ACTIVE; s < EXTENT_STATES; s++) {
        BLOCKS_CHECK(ExtTotals, extent_npages_total[s] == total[s], s);
    }
    for (uint32_t c = 0; c < PAGE_CACHES; c++) {
        uint64_t mapped = total[EXTENT_ACTIVE + c] + total[EXTENT_BUSY + c] + total[EXTENT_DIRTY + c] + total[EXTENT_MUZZY + c]
                          + total[EXTENT_RETAINED + c];
        BLOCKS_CHECK(CacheTotal, page_cache_mapped_npages[c] == mapped, mapped);
    }
    for (uint32_t k = 0; k < sizeof kind / sizeof kind[0]; k++) {
        marked += blocks_check_heaps(1 + (kind[k] - (uint32_t)EXTENT_DIRTY) * SC_NPSIZES, heaps, first, &counts);
    }
    for (uint32_t k = 0; k < PAGE_CACHE_LEAVES; k++) {
        marks += (uint32_t)__builtin_popcountll(page_cache_bits[k]);
    }
    BLOCKS_CHECK(CacheBits, marks == marked, marks);        /* a page cache without pages has none */
    for (uint32_t k = 0; k < 64 * BITMAP_TREE_TOPS(PAGE_CACHE_LEAVES); k++) {
        bool shown = (page_cache_bits[PAGE_CACHE_LEAVES + k / 64] >> k % 64 & 1) != 0;
        BLOCKS_CHECK(CacheTop, shown == (k < PAGE_CACHE_LEAVES && page_cache_bits[k] != 0), k);
    }
    blocks_check_unused();
}

/* The slabs of each bin, and those of them that are in its pairing heap. Counts the regions of each class that are out. */
static inline void blocks_check_slabs(uint64_t out[SC_NBINS])
{
    static struct bin_stats count[BINS];
    static bool             walk[BINS];             /* the next visit for holes begins with a slab of the bin */
    uint32_t                bins = arena_count() * SC_NBINS;
    memset(count, 0, bins * sizeof count[0]);
    memset(walk, 0, bins * sizeof walk[0]);
    for (uint32_t e = 1; e <= extent_count; e++) {
        uint32_t stack = AT(ext_npages, e) == 0 || AT(ext_state, e) >= EXTENT_BUSY ? 0 : tag_stack(radix_tree_tag(AT(ext_page, e)));
        if (0 < stack && stack <= SC_NBINS) {
            struct bin_stats *b = &count[AT(slab_bin, e)];
            b->slabs += 1;
            b->slabs_nonfull += AT(slab_free_count, e) != 0 && bin_current[AT(slab_bin, e)] != e ? 1 : 0;
            walk[AT(slab_bin, e)] |= bin_walk[AT(slab_bin, e)] == e;
        }
    }
    for (uint32_t b = 0; b < bins; b++) {
        struct bin_stats s;
        bin_read_stats(b / SC_NBINS, b % SC_NBINS, &s);
        BLOCKS_CHECK(BinLists, s.slabs == count[b].slabs && s.slabs_nonfull == count[b].slabs_nonfull && s.slabs <= s.slabs_made, b);
        BLOCKS_CHECK(BinFilled, s.regions_live <= s.slabs * slab_regions[b % SC_NBINS] && s.filled - s.flushed == s.regions_live, b);
        BLOCKS_CHECK(BinWalk, bin_walk[b] == 0 || walk[b], b);
        out[b % SC_NBINS] += s.regions_live;
    }
}

/* All live blocks of the program: each is where the heap says, and what the bins gave is live or cached. */
static inline void blocks_check_blocks(const struct blocks_model_block *block, uint32_t count, const uint64_t regions_out[SC_NBINS])
{
    uint64_t live[SC_NSIZES] = {0};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t address = (uintptr_t)block[i].address, usable = block[i].usable;
        uint64_t sampled = prof_usable(address);        /* such a block is in no slab, and no counter of large blocks has it */
        uint32_t szind = size_class_index(usable), e = extent_at(address / PAGE);
        if (szind >= SC_NBINS) {
            BLOCKS_CHECK(BlocksLargePlace, address % PAGE == 0 && e != 0, address);
            BLOCKS_CHECK(BlocksLargeExt, AT(ext_state, e) < EXTENT_BUSY, address);
            BLOCKS_CHECK(BlocksLargeLength, AT(ext_npages, e) * PAGE == usable, address);
        } else if (sampled == 0) {
            uint64_t base = address - half_distance((uint32_t)radix_tree_tag(address / PAGE), (uint32_t)address);
            uint32_t slab = extent_at(base / PAGE);
            BLOCKS_CHECK(ArenaPages, AT(ext_state, slab) == EXTENT_ACTIVE + arena_pages(AT(slab_bin, slab) / SC_NBINS), address);
        }
        live[szind] += sampled == 0;
        BLOCKS_CHECK(BlocksBlockClass, (sampled != 0 ? sampled : overflow_usable(address, "check")) == usable, address);
    }
    for (uint32_t c = 0; c < SC_NBINS; c++) {
        BLOCKS_CHECK(BinCounts, regions_out[c] == live[c] + depot_blocks(c + 1), c);
    }
    struct large_stats sum = {0, 0}, all;
    large_read_stats(&all);
    uint32_t caches = blocks_check_caches();
    for (uint32_t a = 0; a < arena_count(); a++) {          /* one that has ended has counters, and no pages */
        caches = caches > arena_pages(a) ? caches : arena_pages(a) + 1;
    }
    for (uint32_t c = SC_NBINS; c < SC_NSIZES; c++) {
        uint64_t out = 0;
        for (uint32_t cache = 0; cache < caches; cache++) {
            struct large_stats l;
            large_read_class(cache, c, &l);
            out += l.allocated - l.freed;
            sum.allocated += l.allocated;
            sum.freed += l.freed;
        }
        BLOCKS_CHECK(LargeCounts, out == live[c] + (c < SC_NBINS + LARGE_CACHED ? depot_blocks(c + 1) : 0), c);
    }
    BLOCKS_CHECK(LargeTotals, sum.allocated == all.allocated && sum.freed == all.freed, all.allocated);
}

static inline void blocks_check(const struct blocks_model_block *block, uint32_t count)
{
    uint64_t out[SC_NBINS] = {0};
    blocks_check_pages();
    blocks_check_slabs(out);
    blocks_check_blocks(block, count, out);
}

#endif
