/* large_test: blocks that are whole extents are aligned and apart, and have the size of their class. They are resized
 * where they are or not at all. Only their first page has the tag of their class. They go back once, by their first
 * address alone, and the counts tell so. */
#include "blocks_boot.h"

#define BLOCKS 64U
#define CLASSES 28U                             /* large classes tested: cached ones, and some above */

static bool cached(uint32_t szind)
{
    return szind < SC_NBINS + LARGE_CACHED;
}

static bool tag_is(uint64_t block, uint32_t szind)
{
    uint64_t tag = cached(szind) ? tag_make(block, szind) : 0, pages = size_class_bytes(szind) / PAGE;
    return radix_tree_tag(block / PAGE) == tag && radix_tree_tag(block / PAGE + 1) == 0 &&
           radix_tree_tag(block / PAGE + pages - 1) == 0;
}

/* Each class by its first address alone, once; its neighbours stay. */
static void test_free(void)
{
    uint64_t           block[3];
    struct large_stats before, after;
    bool               zeroed;
    large_read_stats(&before);
    for (uint32_t szind = SC_NBINS; szind < SC_NBINS + CLASSES; szind++) {
        for (uint32_t i = 0; i < 3; i++) {
            block[i] = large_alloc(PAGES_SHARED, szind, 1, cached(szind), &zeroed);
            CHECK(block[i] != 0 && tag_is(block[i], szind));
        }
        CHECK(!large_free(block[1] + 1) && !large_free(block[1] + PAGE) && !large_free(block[1] + (1UL << LG_VADDR)));
        CHECK(large_free(block[1]) && !large_free(block[1]) && radix_tree_tag(block[1] / PAGE) == 0);
        CHECK(large_bytes(block[0]) == size_class_bytes(szind) && large_bytes(block[2]) == size_class_bytes(szind));
        CHECK(large_free(block[0]) && large_free(block[2]));
    }
    large_read_stats(&after);
    CHECK(after.allocated - before.allocated == 3 * CLASSES && after.freed - before.freed == 3 * CLASSES);
}

/* Blocks that are out by their class, in both page caches together. */
static uint64_t out_of(uint32_t szind)
{
    struct large_stats a, b;
    large_read_class(PAGES_SHARED, szind, &a);
    large_read_class(PAGES_OVERSIZE, szind, &b);
    return a.allocated - a.freed + b.allocated - b.freed;
}

static void check_counts(const uint64_t *block, const uint32_t *class)
{
    uint64_t out[SC_NSIZES] = {0};
    for (uint32_t k = 0; k < BLOCKS; k++) {
        out[class[k]] += block[k] != 0 ? 1 : 0;
    }
    struct large_stats all, sum = {0, 0};
    for (uint32_t szind = SC_NBINS; szind < SC_NSIZES; szind++) {
        CHECK(out_of(szind) == out[szind]);
    }
    for (uint32_t i = 0; i < LARGE_COUNTERS; i++) {
        struct large_stats one;
        large_read_class(i / LARGE_CLASSES, SC_NBINS + i % LARGE_CLASSES, &one);
        sum.allocated += one.allocated;
        sum.freed += one.freed;
    }
    large_read_stats(&all);
    CHECK(all.allocated == sum.allocated && all.freed == sum.freed);
}

/* A block that crosses the threshold where it is stays in the page cache that it came from, and is counted there. */
static void test_oversize(void)
{
    struct large_stats shared, after;
    bool               zeroed;
    large_boot(size_class_bytes(SC_NBINS + 8));
    large_read_class(PAGES_SHARED, SC_NBINS + 9, &shared);
    uint64_t big = large_alloc(PAGES_SHARED, SC_NBINS + 9, 1, true, &zeroed), block = large_alloc(PAGES_SHARED, SC_NBINS + 9, 1, true, &zeroed);
    large_read_class(PAGES_OVERSIZE, SC_NBINS + 9, &after);
    CHECK(big != 0 && block != 0 && after.allocated == 2 && after.freed == 0);
    CHECK(large_resize(block, SC_NBINS + 2) && large_free(block) && large_free(big));
    large_read_class(PAGES_OVERSIZE, SC_NBINS + 9, &after);
    CHECK(after.allocated == 2 && after.freed == 2);
    large_read_class(PAGES_OVERSIZE, SC_NBINS + 2, &after);
    CHECK(after.allocated == 1 && after.freed == 1);
    large_read_class(PAGES_SHARED, SC_NBINS + 9, &after);
    CHECK(after.allocated == shared.allocated && after.freed == shared.freed);
    large_boot(0);
}

/* From each class to each other and back. */
static void test_resize(void)
{
    bool zeroed;
    for (uint32_t from = SC_NBINS; from < SC_NBINS + CLASSES; from++) {
        for (uint32_t to = SC_NBINS; to < SC_NBINS + CLASSES; to++) {
            uint64_t block = large_alloc(PAGES_SHARED, to > from ? to : from, 1, cached(to > from ? to : from), &zeroed);
            CHECK(block != 0 && large_resize(block, from) && tag_is(block, from));
            CHECK(large_resize(block, to) && tag_is(block, to) && large_bytes(block) == size_class_bytes(to));
            CHECK(large_free(block));
        }
    }
}

int main(void)
{
    uint64_t block[BLOCKS] = {0};
    uint32_t class[BLOCKS] = {0};
    bool     zeroed;
    blocks_boot(1);
    CHECK(!large_free(0) && !large_free(PAGE) && !large_free(UINT64_MAX) && large_bytes(12345) == 0);
    for (int step = 0; step < 20000; step++) {
        uint32_t i = (uint32_t)random_below(BLOCKS);
        if (block[i] == 0) {
            uint64_t align = PAGE << random_below(6);
            class[i] = SC_NBINS + (uint32_t)random_below(CLASSES);
            block[i] = large_alloc(PAGES_SHARED, class[i], align, cached(class[i]), &zeroed);
            CHECK(block[i] != 0 && block[i] % align == 0);
        } else if (random_below(3) == 0) {
            uint32_t to = SC_NBINS + (uint32_t)random_below(CLASSES);
            class[i] = large_resize(block[i], to) ? to : class[i];
        } else {
            CHECK(!large_free(block[i] + PAGE) && !large_free(block[i] + 8));
            CHECK(large_free(block[i]) && !large_free(block[i]));
            block[i] = 0;
        }
        for (uint32_t k = 0; k < BLOCKS && block[i] != 0; k++) {
            uint64_t bytes = size_class_bytes(class[i]);
            CHECK(k == i || block[k] == 0 || block[i] + bytes <= block[k] || block[k] + size_class_bytes(class[k]) <= block[i]);
        }
        step % 1000 == 0 ? check_counts(block, class) : (void)0;
        CHECK(block[i] == 0 || (large_bytes(block[i]) == size_class_bytes(class[i]) && tag_is(block[i], class[i])));
    }
    check_counts(block, class);
    test_free();
    test_resize();
    check_counts(block, class);
    test_oversize();
    CHECK(large_alloc(PAGES_SHARED, SC_NSIZES - 1, 1, false, &zeroed) == 0);
    CHECK(large_alloc(PAGES_SHARED, SC_NBINS, 1UL << 62, false, &zeroed) == 0);
    return blocks_done("large");
}
