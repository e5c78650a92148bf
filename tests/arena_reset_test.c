/* arena_reset_test: all blocks of an arena end in one call, and no other block does. An arena that has ended keeps no page. What is out says a
 * list of the test's own, with what was written to each block. */
#include "blocks/arena_reset.h"
#include "blocks_boot.h"
#include "blocks_check.h"

#define OUT_MAX 1024U
#define ARENAS 3U

static struct blocks_model model;
static uint32_t            owner[BLOCKS_MODEL_COUNT];       /* the arena of block i of the model */
static uint32_t            arena[ARENAS];

static void add(uint32_t from, uint64_t address, uint32_t szind)
{
    size_t bytes = size_class_bytes(szind);
    CHECK(address != 0);
    owner[model.count] = from;
    blocks_model_add(&model, (void *)address, bytes, bytes, 0, (unsigned char)random_below(256));
}

static void take(uint32_t from)
{
    uint32_t szind = (uint32_t)random_below(SC_NBINS + LARGE_CACHED + 8);
    if (szind >= SC_NBINS) {
        bool zeroed;
        add(from, large_alloc(arena_pages(from), szind, 1, szind < SC_NBINS + LARGE_CACHED, &zeroed), szind);
        return;
    }
    uint64_t block[64];
    uint32_t room = BLOCKS_MODEL_COUNT - model.count;
    uint32_t n = bin_fill(from, szind, block, 1 + (uint32_t)random_below(room < 64 ? room : 64));
    for (uint32_t i = 0; i < n; i++) {
        add(from, block[i], szind);
    }
}

static void forget(uint32_t i)
{
    (void)blocks_model_remove(&model, i);
    owner[i] = owner[model.count];
}

static void give(uint32_t i)
{
    uint64_t block = (uintptr_t)model.block[i].address;
    uint32_t szind = size_class_index(model.block[i].usable);
    forget(i);
    if (szind >= SC_NBINS) {
        CHECK(large_free(block));
    } else {
        bin_flush(szind, &block, 1);
    }
}

/* Nothing of the arena is left: no extent, and no entry that names one of its bins. */
static void check_none(uint32_t from)
{
    CHECK(extent_npages_total[EXTENT_ACTIVE + arena_pages(from)] == 0);
    for (uint32_t e = 1; e <= extent_count; e++) {
        CHECK(AT(slab_bin, e) / SC_NBINS != from);
    }
    for (uint32_t b = from * SC_NBINS; b < (from + 1) * SC_NBINS; b++) {
        CHECK(bin_current[b] == 0 && bin_stats[b].regions_live == 0 && bin_stats[b].slabs == 0 && bin_stats[b].slabs_nonfull == 0);
        CHECK(pairing_heap_first(PAGE_CACHE_HEAPS + b) == 0);
    }
}

static void reset(uint32_t from)
{
    for (uint32_t i = model.count; i > 0; i--) {
        if (owner[i - 1] == from) {
            forget(i - 1);
        }
    }
    arena_reset(from);
    check_none(from);
    blocks_model_check_all(&model);
    blocks_check(model.block, model.count);
}

/* The arena's number and its page cache are as those of an arena that there has never been. */
static void destroy(uint32_t k)
{
    uint32_t from = arena[k], cache = arena_pages(from);
    uint64_t mapped = os_fake.mapped_npages, mine = page_cache_mapped_npages[cache];
    CHECK(arena_destroy(from) && !arena_serves(from) && !arena_destroy(from));
    reset(from);
    CHECK(page_cache_mapped_npages[cache] == mine);
    CHECK(pages_unmap(cache, EXTENT_DIRTY, true) && pages_unmap(cache, EXTENT_MUZZY, true) && pages_unmap(cache, EXTENT_RETAINED, true));
    CHECK(page_cache_mapped_npages[cache] == 0 && os_fake.mapped_npages == mapped - mine);
    CHECK(extent_npages_total[EXTENT_RETAINED + cache] == 0 && pages_unmap(cache, EXTENT_RETAINED, true));
    blocks_check(model.block, model.count);
    CHECK(arena_create() == from && arena_serves(from));
}

/* An extent is another page cache's, or free, or has no such id. */
static void test_look(void)
{
    uint64_t block;
    CHECK(bin_fill(arena[1], 0, &block, 1) == 1);
    uint32_t e = bin_current[arena[1] * SC_NBINS];
    struct pages_extent x = pages_look(arena_pages(arena[1]), e);
    CHECK(x.page == AT(ext_page, e) && x.npages == AT(ext_npages, e) && x.last == extent_count);
    CHECK(pages_look(arena_pages(arena[2]), e).npages == 0 && pages_look(arena_pages(arena[1]), extent_count + 1).npages == 0);
    bin_flush(0, &block, 1);
    arena_reset(arena[1]);
    CHECK(pages_look(arena_pages(arena[1]), e).npages == 0);
}

/* What the OS does not purge stays in the page cache until it is unmapped. */
static void test_refused(void)
{
    uint32_t cache = arena_pages(arena[1]);
    bool     zeroed;
    CHECK(large_alloc(cache, SC_NBINS + LARGE_CACHED + 4, 1, false, &zeroed) != 0);
    arena_reset(arena[1]);
    os_fake_fail(OS_FAKE_PURGE, 1, UINT64_MAX / 2);
    uint64_t dirty = extent_npages_total[EXTENT_DIRTY + cache];
    CHECK(dirty != 0 && !pages_purge(cache) && pages_unmap(cache, EXTENT_RETAINED, true));
    CHECK(extent_npages_total[EXTENT_DIRTY + cache] == dirty && page_cache_mapped_npages[cache] == dirty);
    CHECK(pages_unmap(cache, EXTENT_DIRTY, true) && extent_npages_total[EXTENT_DIRTY + cache] == 0 && page_cache_mapped_npages[cache] == 0);
    os_fake_fail(OS_FAKE_PURGE, 1, 0);
    blocks_check(model.block, model.count);
}

/* Caches that have blocks of the arena are seen, and no others. */
static void test_holds(void)
{
    struct tcache *t = depot_create();
    uint32_t       home = t->arena, classes[] = {0, SC_NBINS - 1, SC_NBINS, SC_NBINS + LARGE_CACHED - 1};
    CHECK(arena_move(home, arena[1]));
    t->arena = (uint16_t)arena[1];
    CHECK(!arena_destroy(arena[1]) && arena_serves(arena[1]));
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t block = refill(t, classes[i] + 1);
        CHECK(block != 0);
        overflow_free(t, block, "free");
        CHECK(depot_holds(arena_pages(arena[1])) && !depot_holds(arena_pages(arena[2])) && !depot_holds(PAGES_SHARED));
        refill_flush(t);
        CHECK(!depot_holds(arena_pages(arena[1])));
    }
    CHECK(arena_move(arena[1], home));
    t->arena = (uint16_t)home;
    depot_destroy(t);
    arena_reset(arena[1]);
    check_none(arena[1]);
}

int main(void)
{
    blocks_boot(1);
    for (uint32_t k = 1; k < ARENAS; k++) {
        arena[k] = arena_create();
        CHECK(arena[k] != 0);
    }
    CHECK(!arena_destroy(0) && !arena_destroy(ARENAS_MAX - 1));
    for (uint32_t k = 1; k < ARENAS; k++) {     /* nothing is out yet */
        reset(arena[k]);
    }
    test_look();
    test_refused();
    test_holds();
    for (int step = 0; step < 6000; step++) {
        uint32_t k = (uint32_t)random_below(ARENAS);
        if (step % 400 == 399) {
            reset(arena[1 + random_below(ARENAS - 1)]);
        } else if (step % 1000 == 999) {
            destroy(1 + (uint32_t)random_below(ARENAS - 1));
        } else if (model.count < BLOCKS_MODEL_COUNT && random_below(model.count + 1) < 600) {
            take(arena[k]);
        } else {
            give((uint32_t)random_below(model.count));
        }
    }
    for (int round = 0; round < 2000; round++) {
        destroy(1);
        take(arena[1]);
        if (round % 100 != 0) {                 /* most rounds look at the arena alone */
            uint32_t kept = model.count;
            while (model.count > kept / 2 && model.count > 50) {
                give(model.count - 1);
            }
        }
    }
    return blocks_done("arena_reset");
}
