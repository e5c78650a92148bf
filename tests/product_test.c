/* product_test: whether a product fits is compared with 128-bit arithmetic, around every power of two and for pseudo-
 * random factors. */
#include <stdio.h>
#include <stdlib.h>

#include "math/product.h"

static unsigned long checks;

static void check(uint64_t a, uint64_t b)
{
    checks++;
    if (product_overflows(a, b) != ((unsigned __int128)a * b > UINT64_MAX)) {
        fprintf(stderr, "product_test: %lu * %lu\n", a, b);
        exit(1);
    }
}

int main(void)
{
    for (int i = 0; i < 64; i++) {
        for (int k = 0; k < 64; k++) {
            for (uint64_t d = 0; d < 5; d++) {
                check((1UL << i) - 2 + d, (1UL << k) - 2);
                check((1UL << i) - 2 + d, (1UL << k) - 1);
                check((1UL << i) - 2 + d, 1UL << k);
                check((1UL << i) - 2 + d, (1UL << k) + 1);
            }
        }
    }
    uint64_t seed = 0x9E3779B97F4A7C15UL;
    for (int i = 0; i < 1000000; i++) {
        seed = seed * 6364136223846793005UL + 1442695040888963407UL;
        uint64_t a = seed >> (seed >> 58);
        check(a, UINT64_MAX / (a + 1));
        check(a, UINT64_MAX / (a + 1) + 1);
        check(a, UINT64_MAX / (a | 1));
        check(a, UINT64_MAX / (a | 1) + 1);
    }
    printf("ok product: %lu checks, seed 0x9E3779B97F4A7C15\n", checks);
    return 0;
}
