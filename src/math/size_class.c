/* size_class: the lookup table, and what is needed once per slab. */
#include "math/size_class.h"

uint8_t size_class_table[SC_LOOKUP_MAX / SC_TINY + 1];

void size_class_boot(void)
{
    for (uint32_t i = 0; i <= SC_LOOKUP_MAX / SC_TINY; i++) {
        size_class_table[i] = (uint8_t)size_class_index(i * SC_TINY);
    }
}

uint32_t size_class_slab_pages(uint32_t szind)
{
    uint32_t n = (uint32_t)size_class_bytes(szind);
    uint32_t d = PAGE;
    while (n % 2 == 0 && d > 1) {
        n /= 2;
        d /= 2;
    }
    return n;
}
