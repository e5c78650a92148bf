/* ring: the columns, and the walk around a ring. */
#include "ds/ring.h"

TABLE(uint32_t, ring_after);
TABLE(uint32_t, ring_before);

bool ring_grow(uint32_t x)
{
    return TABLE_GROW(ring_after, x) && TABLE_GROW(ring_before, x);
}

uint32_t ring_length(uint32_t a, uint32_t length_max)
{
    uint32_t x = a;
    /*@ loop invariant range: 0 <= n <= length_max;
        loop invariant nth:   x == RingNth(a, n) && RingMade(x);
        loop invariant least: \forall integer k; 0 < k <= n ==> RingNth(a, k) != a;
        loop assigns n, x;
        loop variant length_max - n;
    */
    for (uint32_t n = 0; n < length_max; n++) {
        x = AT(ring_after, x);
        if (x == a) {
            return n + 1;
        }
    }
    return length_max;
}
