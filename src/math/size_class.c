/* size_class: the lookup table, and the page count of a slab. */
#include "math/size_class.h"

#include "math/size_class_npages_lemmas.acsl"

uint8_t size_class_table[SC_LOOKUP_MAX / SC_TINY + 1];

void size_class_boot(void)
{
    /*@ loop invariant range:  0 <= i <= SC_LOOKUP_MAX / SC_TINY + 1;
        loop invariant filled: SizeClassTable(i);
        loop assigns i, size_class_table[0 .. SC_LOOKUP_MAX / SC_TINY];
        loop variant SC_LOOKUP_MAX / SC_TINY + 1 - i;
    */
    for (uint32_t i = 0; i <= SC_LOOKUP_MAX / SC_TINY; i++) {
        size_class_table[i] = (uint8_t)size_class_index(i * SC_TINY);
    }
}

/* Cancels the factors 2 that PAGE and size have in common. What is left of size is the page count. */
uint32_t size_class_slab_pages(uint32_t szind)
{
    uint32_t size = (uint32_t)size_class_bytes(szind);
    uint32_t n = size;
    uint32_t d = PAGE;
    /*@ ghost uint32_t lg = LG_PAGE; */
    /*@ loop invariant lg:    0 <= lg <= LG_PAGE && d == POW2(lg);
        loop invariant range: 1 <= n <= size && 1 <= d <= PAGE;
        loop invariant ratio: n * PAGE == size * d;
        loop assigns n, d, lg;
        loop variant d;
    */
    while (n % 2 == 0 && d > 1) {
        /*@ ghost npages_lemma_half(d, lg); */
        /*@ assert even: n == 2 * (n / 2) && d == 2 * (d / 2); */
        /*@ ghost npages_lemma_halves(n / 2, PAGE, size, d / 2); */
        n /= 2;
        d /= 2;
        /*@ ghost lg--; */
    }
    /*@ ghost npages_lemma_least(szind, size, n, d, lg); */
    return n;
}
