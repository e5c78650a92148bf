/* stats_test: what is handed out, taken back, purged, and made for the allocator itself is counted where it belongs.
 * Counters that other threads have left behind are cut to what the pages have room for. */
#include "tcache/stats.h"
#include "blocks_boot.h"

#define BLOCKS 100U

static uint64_t block[SC_NBINS][BLOCKS];

static void check_sums(struct stats s)
{
    CHECK(s.active + s.dirty + s.muzzy + s.retained == s.mapped && s.mapped == os_fake.mapped_npages * PAGE);
    CHECK(s.allocated + s.cached <= s.active && s.metadata == os_metadata_bytes && s.metadata >= base_mapped);
}

/* Small ones of every class from two arenas: each fill and each flush shows. */
static uint64_t fill(void)
{
    uint64_t bytes = 0, slabs = stats_read().slabs;
    for (uint32_t c = 0; c < SC_NBINS; c++) {
        for (uint32_t i = 0; i < BLOCKS; i++) {
            CHECK(bin_fill(i % 2, c, &block[c][i], 1) == 1);
        }
        bytes += BLOCKS * size_class_bytes(c);
        slabs += 2 * ((BLOCKS / 2 + slab_regions[c] - 1) / slab_regions[c]);
        struct stats s = stats_read();
        check_sums(s);
        CHECK(s.allocated == bytes && s.cached == 0 && s.slabs == slabs && s.small_filled == (c + 1) * BLOCKS);
    }
    return bytes;
}

static void empty(uint64_t bytes)
{
    for (uint32_t c = 0; c < SC_NBINS; c++) {
        bin_flush(c, block[c], BLOCKS);
        bytes -= BLOCKS * size_class_bytes(c);
        check_sums(stats_read());
        CHECK(stats_read().allocated == bytes);
    }
}

/* Extents change their states; all of them stay mapped. */
static void test_large(void)
{
    bool         zeroed;
    uint32_t     szind = SC_NBINS + 3;
    struct stats was = stats_read();
    uint64_t     a = large_alloc(PAGES_SHARED, szind, 1, true, &zeroed), bytes = size_class_bytes(szind);
    struct stats now = stats_read();
    CHECK(a != 0 && now.allocated == was.allocated + bytes && now.active == was.active + bytes);
    CHECK(now.large_allocated == was.large_allocated + 1 && now.slabs == was.slabs);
    CHECK(large_free(a));
    now = stats_read();
    check_sums(now);
    CHECK(now.allocated == was.allocated && now.active == was.active && now.dirty >= bytes);
    CHECK(pages_trim());
    now = stats_read();
    check_sums(now);
    CHECK(now.dirty == 0 && now.muzzy == 0 && now.retained >= bytes && now.purges > was.purges && now.purged >= was.purged + bytes);
}

/* What a cache holds is not allocated. */
static void test_cached(void)
{
    struct tcache *t = depot_create();
    uint32_t       bin = size_class_index(64) + 1;
    uint64_t       bytes = size_class_bytes(bin - 1);
    CHECK(t != NULL && stats_read().threads == 1);
    uint64_t     a = refill(t, bin), stands = t->top[bin] - t->floor[bin];
    struct stats s = stats_read();
    check_sums(s);
    CHECK(a != 0 && stands > 0 && s.cached == stands * bytes && s.allocated == bytes);
    overflow_free(t, a, "test");
    s = stats_read();
    CHECK(s.cached >= stands * bytes && s.allocated == 0);
    depot_destroy(t);
    s = stats_read();
    check_sums(s);
    CHECK(s.cached == 0 && s.allocated == 0 && s.threads == 0);
}

/* Counters as they may be read between two steps of other threads, and absurd ones. */
static void test_cut(void)
{
    static const uint64_t some[] = {0, 1, 63, 1UL << 20, 1UL << 47, UINT64_MAX / 2, UINT64_MAX};
    struct bin_stats      was = bin_stats[5];
    for (uint32_t i = 0; i < 7 * 7; i++) {
        bin_stats[5].regions_live = some[i / 7];
        bin_stats[5].slabs = some[i % 7];
        bin_stats[5].filled = some[i % 7];
        check_sums(stats_read());
    }
    bin_stats[5] = was;
}

int main(void)
{
    blocks_boot(2);
    check_sums(stats_read());
    CHECK(stats_read().mapped == 0);
    uint64_t bytes = fill();
    test_large();
    test_cut();
    empty(bytes);
    CHECK(stats_read().allocated == 0);
    test_large();
    test_cached();
    return blocks_done("stats");
}
