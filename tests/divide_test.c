/* divide_test: compares with the processor's own division, at every offset of the longest run that fits, for every
 * class, and at the short offsets of large sizes. */
#include <stdio.h>
#include <stdlib.h>

#include "math/divide.h"

#define NSIZES_LARGE 40U                    /* large classes tested: more than thread caches hold */

static uint64_t checks;

static void check(bool good, const char *what, uint32_t size, uint64_t offset)
{
    checks++;
    if (!good) {
        printf("%s: size %u offset %lu\n", what, size, offset);
        exit(1);
    }
}

static void check_offset(uint32_t size, divide_magic_t magic, uint64_t offset)
{
    check(divide_high(divide_product((uint32_t)offset, magic)) == offset / size, "high", size, offset);
    check(divide_is_multiple((uint32_t)offset, magic) == (offset % size == 0), "multiple", size, offset);
    check((divide_fraction((uint32_t)offset, magic) < magic) == (offset % size == 0), "fraction", size, offset);
}

/* All offsets up to 1 MiB, around each multiple beyond. */
static void check_size(uint32_t size)
{
    divide_magic_t magic = divide_magic(size);
    uint64_t       end = DIVIDE_NREGIONS_MAX(size) * size;
    check((uint64_t)magic * size >= DIVIDE_ONE && ((uint64_t)magic - 1) * size < DIVIDE_ONE, "magic", size, magic);
    end = end < 1UL << DIVIDE_LG_OFFSET ? end : 1UL << DIVIDE_LG_OFFSET;
    for (uint64_t offset = 0; offset < end && offset < 1UL << 20; offset++) {
        check_offset(size, magic, offset);
    }
    for (uint64_t k = 1, step = 1 + end / size / 4096; k < end / size; k += step) {
        check_offset(size, magic, k * size - 1);
        check_offset(size, magic, k * size);
        check_offset(size, magic, k * size + 1);
    }
    check_offset(size, magic, end - 1);
}

/* Every offset that such a size allows. */
static void check_first(uint32_t size)
{
    divide_magic_t magic = divide_magic(size);
    check((uint64_t)magic * size >= DIVIDE_ONE && ((uint64_t)magic - 1) * size < DIVIDE_ONE, "magic", size, magic);
    for (uint64_t offset = 0; offset < DIVIDE_SIZE_MAX; offset++) {
        check_offset(size, magic, offset);
    }
}

int main(void)
{
    for (uint32_t i = 0; i < SC_NBINS + NSIZES_LARGE && size_class_bytes(i) <= UINT32_MAX; i++) {
        uint32_t size = (uint32_t)size_class_bytes(i);
        if (size <= DIVIDE_SIZE_MAX) {
            check_size(size);
        } else {
            check_first(size);
        }
    }
    check_first(DIVIDE_SIZE_MAX + 1);
    check_first(UINT32_MAX);
    for (uint32_t i = 0; i < SC_NBINS; i++) {       /* slabs of the least page count fit */
        uint64_t bytes = size_class_slab_pages(i) * PAGE;
        check(bytes / size_class_bytes(i) <= DIVIDE_NREGIONS_MAX(size_class_bytes(i)), "fits", i, bytes);
    }
    for (uint32_t size = (uint32_t)SC_TINY; size <= 1U << 14; size += 1 + size / 8) {   /* sizes that are no class */
        check_size(size);
    }
    printf("ok divide: %lu checks\n", checks);
    return 0;
}
