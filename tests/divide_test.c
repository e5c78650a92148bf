/* divide_test: every offset of the longest run of every small class that fits, and the cached large classes, against the
 * processor's own division. */
#include <stdio.h>
#include <stdlib.h>

#include "math/divide.h"

#define NSIZES_TESTED (SC_NBINS + 9)        /* beyond: the runs are single regions, or do not fit */

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
    check(divide_index((uint32_t)offset, magic) == offset / size, "index", size, offset);
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

int main(void)
{
    for (uint32_t i = 0; i < NSIZES_TESTED && size_class_bytes(i) <= DIVIDE_SIZE_MAX; i++) {
        check_size((uint32_t)size_class_bytes(i));
    }
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
