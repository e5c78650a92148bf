/* bin_test: fills and flushes every class in three arenas, through tests/bin_model.h. No block is handed out twice,
 * each lies where its class may have one, and the counts agree. Memory that fails half-way loses nothing. */
#include "bin_model.h"
#include "blocks_boot.h"

static void churn(uint32_t szind)
{
    for (int step = 0; step < 150; step++) {
        uint32_t n = 1 + (uint32_t)random_below(BIN_MODEL_BATCH);
        if (random_below(5) < 3 && bin_model.count + n <= 6000) {
            bin_model_fill((uint32_t)random_below(BIN_MODEL_ARENAS), szind, n);
        } else {
            bin_model_flush(szind, n, (uint32_t)random_below(bin_model.count + 1));
        }
        bin_model_compare();
        checks++;
    }
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
    pages_trim();
    os_fake.mapped_npages_max = os_fake.mapped_npages;
    for (uint32_t before = bin_model.count + 1; bin_model.count != before;) {
        before = bin_model.count;
        bin_model_fill(0, SC_NBINS - 1, BIN_MODEL_BATCH);
        bin_model_compare();
    }
    CHECK(bin_model.count > 0 && bin_model.count < BLOCKS_MODEL_COUNT);
    bin_model_finish();
    bin_model_fill(0, SC_NBINS - 1, 1);
    CHECK(bin_model.count == 1);
    bin_model_finish();
}

int main(void)
{
    bin_model_controls();
    bin_model_boot();
    for (uint32_t szind = 0; szind < SC_NBINS; szind++) {
        churn(szind);
        bin_model_finish();
    }
    test_out_of_memory();
    test_order();
    return blocks_done("bin");
}
