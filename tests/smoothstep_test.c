/* smoothstep_test: compares every row with the polynomial in rational arithmetic and with rows of jemalloc's table,
 * and checks that the rows rise. Unlike the code, the test computes the polynomial by Horner's rule over 128-bit
 * integers. */
#include <stdio.h>
#include <stdlib.h>

#include "math/smoothstep.h"

static uint64_t checks;

static void check(int ok, const char *what, uint32_t i)
{
    checks++;
    if (!ok) {
        printf("FAIL smoothstep: %s, row %u = %u\n", what, i, smoothstep[i]);
        exit(1);
    }
}

/* Rows of jemalloc's smoothstep.h (h_sum for 200 steps, 24 bits). */
static const struct { uint32_t i, row; } known[] = {
    {1, 0x14}, {2, 0xa5}, {3, 0x229}, {4, 0x516}, {100, 0x800000}, {200, 0x1000000},
};

int main(void)
{
    const __int128 n = SMOOTHSTEP_NSTEPS;
    smoothstep_boot();
    smoothstep_boot();
    for (uint32_t i = 0; i <= SMOOTHSTEP_NSTEPS; i++) {
        __int128 x = i;
        __int128 h = (((6 * x - 15 * n) * x + 10 * n * n) * x * x * x) << 24;   /* times n^5 */
        __int128 row = smoothstep[i], unit = n * n * n * n * n;
        check(row * unit <= h, "above the curve", i);
        check((row + 1) * unit > h, "more than one unit below the curve", i);
        check(i == 0 || smoothstep[i] > smoothstep[i - 1], "does not rise", i);
        uint32_t mirrored = smoothstep[i] + smoothstep[SMOOTHSTEP_NSTEPS - i];    /* h(x) + h(1 - x) = 1 */
        check(mirrored == SMOOTHSTEP_ONE || mirrored == SMOOTHSTEP_ONE - 1, "not symmetric", i);
    }
    for (uint32_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        check(smoothstep[known[k].i] == known[k].row, "not jemalloc's row", known[k].i);
    }
    printf("ok smoothstep: %lu checks\n", checks);
    return 0;
}
