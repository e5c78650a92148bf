/* prng_test: compares with known answers (Knuth's MMIX constants, computed with plain wrapping arithmetic, and by hand
 * for 0). It checks ranges at their limits, that all numbers of a small world fall into parts of equal size, and that
 * each value comes up equally often. */
#include <stdio.h>
#include <stdlib.h>

#include "math/prng.h"

static uint64_t checks;

static void check(int ok, const char *what, uint64_t a, uint64_t b)
{
    checks++;
    if (!ok) {
        printf("FAIL prng: %s: %lu, %lu\n", what, a, b);
        exit(1);
    }
}

int main(void)
{
    static const uint64_t known[] = {1442695040888963407UL, 1876011003808476466UL, 11166244414315200793UL};
    static const uint64_t edges[] = {0, 1, 2, UINT32_MAX, 1UL << 32, (1UL << 32) + 1, 1UL << 63, UINT64_MAX - 1, UINT64_MAX};
    uint64_t              x = 0;
    for (uint32_t i = 0; i < 3; i++) {
        x = prng_step(x);
        check(x == known[i], "known answer", x, known[i]);
    }
    for (uint32_t i = 0; i < 9; i++) {
        check(prng_step(edges[i]) == edges[i] * PRNG_MULTIPLIER + PRNG_INCREMENT, "edge", edges[i], prng_step(edges[i]));
    }
    for (uint32_t i = 0; i < 1000000; i++) {
        uint64_t next = prng_step(x);
        check(next == x * PRNG_MULTIPLIER + PRNG_INCREMENT, "wrapping product", x, next);
        x = next;
    }
    for (uint64_t range = 1; range < 1000; range++) {       /* every part begins and ends where it must */
        uint64_t size = UINT64_MAX / range;
        for (uint64_t r = 0; r < range; r++) {
            check(prng_part(r * size, range) == r, "first of a part", r, range);
            check(prng_part(r * size + size - 1, range) == r, "last of a part", r, range);
        }
        check(prng_part(UINT64_MAX, range) == range, "remainder", UINT64_MAX, range);
    }
    for (uint32_t i = 1; i < 9; i++) {
        for (uint32_t k = 0; k < 1000; k++) {
            check(prng_range(&x, edges[i]) < edges[i], "range", edges[i], k);
        }
    }
    uint32_t used[100] = {0};
    for (uint32_t i = 0; i < 1000000; i++) {
        used[prng_range(&x, 100)]++;
    }
    for (uint32_t i = 0; i < 100; i++) {
        check(used[i] > 9500 && used[i] < 10500, "even use", i, used[i]);       /* five standard deviations */
    }
    printf("ok prng: %lu checks\n", checks);
    return 0;
}
