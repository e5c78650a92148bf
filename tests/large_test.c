/* large_test: blocks of whole extents: aligned, disjoint, sized as their class, resized in place or not at all. */
#include "heap_boot.h"

#define BLOCKS 64U

int main(void)
{
    uint64_t block[BLOCKS] = {0};
    uint32_t class[BLOCKS] = {0};
    bool     zeroed;
    heap_boot(1);
    CHECK(!large_free(0) && !large_free(PAGE) && !large_free(UINT64_MAX) && large_bytes(12345) == 0);
    for (int step = 0; step < 20000; step++) {
        uint32_t i = (uint32_t)random_below(BLOCKS);
        if (block[i] == 0) {
            uint64_t align = PAGE << random_below(6);
            class[i] = SC_NBINS + (uint32_t)random_below(28);
            block[i] = large_alloc(class[i], align, random_below(2) == 0, &zeroed);
            CHECK(block[i] != 0 && block[i] % align == 0);
        } else if (random_below(3) == 0) {
            uint32_t to = SC_NBINS + (uint32_t)random_below(28);
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
        CHECK(block[i] == 0 || large_bytes(block[i]) == size_class_bytes(class[i]));
    }
    CHECK(large_alloc(SC_NSIZES - 1, 1, false, &zeroed) == 0);
    CHECK(large_alloc(SC_NBINS, 1UL << 62, false, &zeroed) == 0);
    return heap_done("large");
}
