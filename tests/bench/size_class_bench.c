/* size_class_bench: nanoseconds per size for the closed form, the table, and a binary search through the list of
 * classes. gcc -O2 -Isrc -Ispec -Itests tests/bench/size_class_bench.c src/math/size_class.c */
#include <time.h>

#include "../size_class_model.h"

#define SIZES 4096U
#define ROUNDS 5000U

static uint64_t sizes[SIZES];

/* As std::lower_bound does it. */
static uint32_t lower_bound(uint64_t x)
{
    uint32_t first = 0, length = SC_NSIZES;
    while (length > 0) {
        uint32_t half = length / 2;
        if (model_bytes[first + half] < x) {
            first += half + 1;
            length -= half + 1;
        } else {
            length = half;
        }
    }
    return first;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000UL + (uint64_t)t.tv_nsec;
}

#define TIME(f, ns)                                                                                                   \
    do {                                                                                                               \
        uint64_t from = now_ns();                                                                                      \
        for (uint32_t r = 0; r < ROUNDS; r++) {                                                                        \
            for (uint32_t i = 0; i < SIZES; i++) {                                                                     \
                sum += f(sizes[i]);                                                                                    \
            }                                                                                                          \
        }                                                                                                              \
        ns = (double)(now_ns() - from) / ROUNDS / SIZES;                                                               \
    } while (0)

int main(void)
{
    uint64_t seed = 88172645463325252UL;
    uint64_t sum = 0;
    double   closed, table, search;
    model_boot();
    printf("%-16s%10s%10s%10s\n", "sizes", "closed", "table", "search");
    for (uint32_t lg_max = 12; lg_max <= 48; lg_max += 12) {
        for (uint32_t i = 0; i < SIZES; i++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            sizes[i] = (seed >> 16) % (1UL << (1 + seed % lg_max));
        }
        TIME(size_class_index, closed);
        TIME(lower_bound, search);
        printf("below 2^%-8u%7.2f ns", lg_max, closed);
        if (1UL << lg_max <= SC_LOOKUP_MAX) {
            TIME(size_class_lookup, table);
            printf("%7.2f ns", table);
        } else {
            printf("%10s", "-");
        }
        printf("%7.2f ns   %.1f times\n", search, search / closed);
    }
    return sum == 0;
}
