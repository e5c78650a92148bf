/* align_test: takes every power of two with every number near its multiples, all small pairs of numbers, and the ends
 * of the range. */
#include <stdio.h>
#include <stdlib.h>

#include "math/align.h"

static uint64_t checks;

static void check(bool good, const char *what, uint64_t x, uint64_t a)
{
    checks++;
    if (!good) {
        printf("%s: %lu, %lu\n", what, x, a);
        exit(1);
    }
}

static void check_pair(uint64_t x, uint64_t a)
{
    bool     fits = x <= UINT64_MAX - a + 1;
    uint64_t down = x - x % a;
    check(align_down(x, a) == down, "down", x, a);
    if (fits) {
        check(align_up(x, a) == (down == x ? x : down + a), "up", x, a);
    }
}

static bool model_is_power(uint64_t x)
{
    uint32_t ones = 0;
    for (; x != 0; x /= 2) {
        ones += x % 2 == 1;
    }
    return ones == 1;
}

static void check_above(uint64_t x)
{
    uint64_t model = 1;
    while (model < x) {
        model *= 2;
    }
    check(align_power_above(x) == model, "power above", x, 0);
}

int main(void)
{
    for (uint64_t x = 0; x <= 1UL << 16; x++) {
        check(is_power_of_two(x) == model_is_power(x), "power", x, 0);
        check_above(x);
        check_above((1UL << 63) - x);
        check(is_power_of_two(UINT64_MAX - x) == model_is_power(UINT64_MAX - x), "power", x, 0);
    }
    for (uint32_t lg = 0; lg < 64; lg++) {
        uint64_t a = 1UL << lg;
        for (uint64_t x = 0; x < 600; x++) {
            check_pair(x, a);
            check_above(a > 1UL << 62 ? a - x : a + x);
            check_pair(UINT64_MAX - x, a);
            check_pair(a - 300 + x, a);
            check_pair(x % 7 * a + x % 11 - 5, a);
            check(is_power_of_two(a - 300 + x) == model_is_power(a - 300 + x), "power", a, x);
        }
    }
    printf("ok align: %lu checks\n", checks);
    return 0;
}
