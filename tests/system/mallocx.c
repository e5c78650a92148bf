/* Calls the extended API and checks what jemalloc's manual says: sizes, alignments, zeroes, and what stays where it is. The program runs on
 * jemalloc too. */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <jemalloc/jemalloc.h>

static int checks;

#define CHECK(condition)                                                                        \
    do {                                                                                        \
        checks++;                                                                               \
        if (!(condition)) {                                                                     \
            fprintf(stderr, "mallocx: line %d: %s (errno %d)\n", __LINE__, #condition, errno); \
            return 1;                                                                           \
        }                                                                                       \
    } while (0)

static void *volatile sink;

static size_t zeroes(const unsigned char *p, size_t from, size_t to)    /* where they end */
{
    while (from < to && p[from] == 0) {
        from++;
    }
    return from;
}

static int sizes(void)
{
    for (int lg = 0; lg <= 21; lg += lg < 14 ? 1 : 7) {
        for (size_t n = 1; n < 400000; n = n * 5 / 3 + 1) {
            int            flags = MALLOCX_LG_ALIGN(lg);
            unsigned char *p = mallocx(n, flags), *z = mallocx(n, flags | MALLOCX_ZERO);
            size_t         usable = nallocx(n, flags);
            CHECK(p != NULL && z != NULL && (uintptr_t)p % (1UL << lg) == 0 && (uintptr_t)z % (1UL << lg) == 0);
            CHECK(usable >= n && sallocx(p, flags) == usable && malloc_usable_size(z) == usable);
            CHECK(nallocx(usable, flags) == usable && MALLOCX_ALIGN(1UL << lg) == flags);
            CHECK(zeroes(z, 0, usable) == usable);
            memset(p, 0xA5, usable);
            memset(z, 0x5A, usable);
            sdallocx(z, n, flags);
            n % 2 == 0 ? sdallocx(p, usable, flags) : dallocx(p, flags);
        }
    }
    CHECK(nallocx(SIZE_MAX, 0) == 0 && nallocx((size_t)PTRDIFF_MAX + 1, 0) == 0 && nallocx(1, MALLOCX_LG_ALIGN(63)) == 0);
    CHECK((sink = mallocx(SIZE_MAX / 2, 0)) == NULL && (sink = mallocx(SIZE_MAX / 2, MALLOCX_ZERO)) == NULL);
    CHECK((sink = mallocx(10, MALLOCX_LG_ALIGN(62) | MALLOCX_ZERO)) == NULL && (sink = mallocx(10, MALLOCX_LG_ALIGN(62))) == NULL);
    return 0;
}

static int hints(void)              /* no cache of its own, another arena: a block all the same */
{
    const int flags[] = {MALLOCX_TCACHE_NONE, MALLOCX_ARENA(0), MALLOCX_ARENA(0) | MALLOCX_TCACHE_NONE | MALLOCX_ZERO | MALLOCX_ALIGN(4096)};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        char *p = mallocx(100, flags[i]);
        CHECK(p != NULL && sallocx(p, flags[i]) == nallocx(100, flags[i]));
        p = rallocx(p, 100000, flags[i]);
        CHECK(p != NULL);
        dallocx(p, flags[i]);
    }
    return 0;
}

static int resizing(void)
{
    size_t         n = 10;
    unsigned char *p = mallocx(n, MALLOCX_ZERO);
    memset(p, 3, n);
    for (int round = 0; round < 3000; round++) {
        int            lg = round % 5 == 0 ? round / 5 % 14 : 0, flags = MALLOCX_LG_ALIGN(lg) | (round % 2 == 0 ? MALLOCX_ZERO : 0);
        size_t         m = 1 + (size_t)round * 104729 % (round % 7 == 0 ? 1000000 : 9000), before = sallocx(p, 0);
        unsigned char *q = rallocx(p, m, flags);
        CHECK(q != NULL && (uintptr_t)q % (1UL << lg) == 0 && sallocx(q, 0) == nallocx(m, flags));
        for (size_t i = 0; i < (n < m ? n : m); i += 61) {
            if (q[i] != 3) {
                CHECK(!"rallocx keeps the prefix");
            }
        }
        size_t after = sallocx(q, 0);
        CHECK(round % 2 != 0 || before >= after || zeroes(q, before, after) == after);
        memset(q, 3, after);
        p = q;
        n = m;
    }
    unsigned char *kept = p;
    size_t         usable = sallocx(p, 0);
    CHECK((sink = rallocx(p, SIZE_MAX / 2, 0)) == NULL && sallocx(kept, 0) == usable && kept[0] == 3 && kept[n - 1] == 3);
    CHECK((sink = rallocx(p, 10, MALLOCX_LG_ALIGN(62))) == NULL && sallocx(kept, 0) == usable);
    sdallocx(kept, n, 0);
    return 0;
}

static int in_place(void)
{
    char *small = mallocx(100, 0);
    CHECK(xallocx(small, 100, 0, 0) == 112 && xallocx(small, 112, 0, 0) == 112 && xallocx(small, 100, 12, 0) == 112);
    CHECK(xallocx(small, 5000, 0, 0) == 112);                   /* a small block keeps its class */
    memset(small, 7, 100);
    dallocx(small, 0);
    unsigned char *large = mallocx(1 << 20, 0);
    memset(large, 7, 1 << 20);
    CHECK(xallocx(large, 64 << 10, 0, 0) == 64 << 10);          /* gives the rest back */
    size_t grown = xallocx(large, 80 << 10, 400 << 10, MALLOCX_ZERO);       /* the pages behind it are free now */
    CHECK(grown >= 64 << 10 && grown == sallocx(large, 0));
    CHECK(zeroes(large, 64 << 10, grown) == grown && large[0] == 7 && large[(64 << 10) - 1] == 7);
    CHECK(xallocx(large, grown, SIZE_MAX - grown, 0) == sallocx(large, 0));
    sdallocx(large, sallocx(large, 0), 0);
    return 0;
}

int main(void)
{
    if (sizes() || hints() || resizing() || in_place()) {
        return 1;
    }
    printf("ok mallocx: %d checks\n", checks);
    return 0;
}
