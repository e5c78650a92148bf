/* large_free_test: a large block goes back by its first address alone, once, and its neighbours stay; the counts tell. */
#include "heap_boot.h"

#define BLOCKS 3U

int main(void)
{
    uint64_t           block[BLOCKS];
    struct large_stats stats;
    bool               zeroed;
    uint64_t           freed = 0;
    heap_boot(1);
    for (uint32_t szind = SC_NBINS; szind < SC_NBINS + 28; szind++) {
        for (uint32_t i = 0; i < BLOCKS; i++) {
            block[i] = large_alloc(szind, 1, szind < SC_NBINS + HEAP_LARGE_CACHED, &zeroed);
            CHECK(block[i] != 0);
        }
        CHECK(!large_free(block[1] + 1) && !large_free(block[1] + PAGE) && !large_free(block[1] + (1UL << LG_VADDR)));
        CHECK(large_free(block[1]) && !large_free(block[1]) && radix_tree_word(block[1] / PAGE) == 0);
        CHECK(large_bytes(block[0]) == size_class_bytes(szind) && large_bytes(block[2]) == size_class_bytes(szind));
        CHECK(large_free(block[0]) && large_free(block[2]));
        freed += BLOCKS;
        large_read_stats(&stats);
        CHECK(stats.freed == freed && stats.allocated == freed);
    }
    return heap_done("large_free");
}
