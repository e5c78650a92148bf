/* geometric_test: the distance of a state against the logarithm of the C library, its mean and its distribution (Kolmogorov and
 * Smirnov) over many draws, and its range at the ends. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "math/geometric.h"
#include "math/prng.h"

#define DRAWS 1000000U

static uint64_t checks;

static void check(int ok, const char *what, double a, double b)
{
    checks++;
    if (!ok) {
        printf("FAIL geometric: %s: %.9g, %.9g\n", what, a, b);
        exit(1);
    }
}

/* Every draw is the floor of -ln(u / 2^64) * R, plus one, within R * 2^-23 and one. */
static void against_logarithm(uint32_t lg)
{
    uint64_t state = 42 + lg;
    double   mean = ldexp(1, (int)lg);
    for (uint32_t i = 0; i < 100000; i++) {
        double d = (double)geometric_next(&state, lg);
        double exact = (64 * log(2) - log((double)state)) * mean;
        check(d >= exact - mean * 0x1p-31 && d <= exact + 1 + mean * 0x1p-23, "near the logarithm", d, exact);
    }
}

/* P(d > k) is e^(-k/R): the greatest difference of the two distribution functions, at the draws in order. */
static int order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void distribution(uint32_t lg)
{
    static uint64_t d[DRAWS];
    uint64_t        state = 7;
    double          mean = ldexp(1, (int)lg), sum = 0, worst = 0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        d[i] = geometric_next(&state, lg);
        check(d[i] > 0, "positive", (double)d[i], 0);
        sum += (double)d[i];
    }
    check(fabs(sum / DRAWS / (1 / (1 - exp(-1 / mean))) - 1) < 0.004, "mean", sum / DRAWS, mean);   /* four standard errors */
    qsort(d, DRAWS, sizeof *d, order);
    for (uint32_t i = 0; i < DRAWS; i++) {
        if (i + 1 == DRAWS || d[i + 1] != d[i]) {
            double wrong = fabs((double)(i + 1) / DRAWS + expm1(-(double)d[i] / mean));
            worst = wrong > worst ? wrong : worst;
        }
    }
    check(worst < 1.63 / sqrt(DRAWS), "Kolmogorov and Smirnov at 1 %", worst, 1.63 / sqrt(DRAWS));
}

int main(void)
{
    for (uint32_t lg = 1; lg <= GEOMETRIC_LG_MEAN_MAX; lg++) {
        against_logarithm(lg);
    }
    for (uint32_t lg = 4; lg <= 24; lg += 5) {
        distribution(lg);
    }
    uint64_t state = 1;
    for (uint32_t i = 0; i < 1000; i++) {
        check(geometric_next(&state, 0) == 1, "every byte is sampled", i, 0);
    }
    printf("ok geometric: %lu checks\n", checks);
    return 0;
}
