/* bin_test: fills and flushes of every class in two arenas against a list of the blocks that are out: none is handed
 * out twice, all lie in their class's grid, counts agree, memory that fails half-way loses nothing. */
#include "heap_boot.h"

#define OUT_MAX 200000U

static uint64_t out[OUT_MAX];
static uint32_t out_count;

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void check_distinct(uint32_t szind)
{
    static uint64_t sorted[OUT_MAX];
    for (uint32_t i = 0; i < out_count; i++) {
        sorted[i] = out[i];
    }
    qsort(sorted, out_count, sizeof sorted[0], compare);
    for (uint32_t i = 1; i < out_count; i++) {
        CHECK(sorted[i - 1] + size_class_bytes(szind) <= sorted[i]);
    }
}

static void check_stats(uint32_t szind)
{
    struct bin_stats a, b;
    bin_read_stats(0, szind, &a);
    bin_read_stats(1, szind, &b);
    CHECK(a.regions_live + b.regions_live == out_count);
    CHECK(a.filled + b.filled - a.flushed - b.flushed == out_count);
    CHECK((a.slabs + b.slabs) * slab_regions[szind] >= out_count);
}

static void churn(uint32_t szind)
{
    uint64_t blocks[512];
    for (int step = 0; step < 150; step++) {
        uint32_t n = 1 + (uint32_t)random_below(512);
        if (random_below(5) < 3 && out_count + n <= 6000) {
            uint32_t got = bin_fill((uint32_t)random_below(2), szind, blocks, n);
            CHECK(got == n);
            for (uint32_t i = 0; i < got; i++) {
                uint64_t word = radix_tree_word(blocks[i] / PAGE);
                CHECK(word_bin(word) == szind + 1 && word_offset(word, blocks[i]) % size_class_bytes(szind) == 0);
                out[out_count++] = blocks[i];
            }
        } else {
            n = n < out_count ? n : out_count;
            for (uint32_t i = 0; i < n; i++) {
                uint32_t k = (uint32_t)random_below(out_count);
                blocks[i] = out[k];
                out[k] = out[--out_count];
            }
            bin_flush(szind, blocks, n);
        }
        check_stats(szind);
    }
    check_distinct(szind);
}

/* The first fill takes the lowest addresses, the last block of a batch being the lowest. */
static void test_order(void)
{
    uint64_t blocks[100];
    CHECK(bin_fill(0, 4, blocks, 100) == 100);
    for (uint32_t i = 1; i < 100; i++) {
        CHECK(blocks[i - 1] == blocks[i] + size_class_bytes(4));
    }
    uint64_t lowest = blocks[99];
    bin_flush(4, blocks, 100);
    CHECK(bin_fill(0, 4, blocks, 1) == 1 && blocks[0] == lowest);
    bin_flush(4, blocks, 1);
}

static void test_out_of_memory(void)
{
    uint64_t blocks[512];
    pages_trim();
    os_fake.mapped_npages_max = os_fake.mapped_npages;
    uint32_t all = 0;
    uint32_t got;
    do {
        got = bin_fill(0, SC_NBINS - 1, blocks, 512);
        for (uint32_t i = 0; i < got; i++) {
            CHECK(blocks[i] != 0 && all < OUT_MAX);
            out[all++] = blocks[i];
        }
    } while (got == 512);
    CHECK(bin_fill(0, SC_NBINS - 1, blocks, 1) == 0);
    out_count = all;
    check_distinct(SC_NBINS - 1);
    bin_flush(SC_NBINS - 1, out, all);
    out_count = 0;
    check_stats(SC_NBINS - 1);
    CHECK(bin_fill(0, SC_NBINS - 1, blocks, 1) == 1);
    bin_flush(SC_NBINS - 1, blocks, 1);
}

int main(void)
{
    heap_boot(2);
    for (uint32_t szind = 0; szind < SC_NBINS; szind++) {
        churn(szind);
        bin_flush(szind, out, out_count);
        out_count = 0;
        check_stats(szind);
    }
    test_order();
    test_out_of_memory();
    return heap_done("bin");
}
