/* A program under a limit of the system that leaves it little (`ulimit -d`, `ulimit -v`): `small_limit KIND OVERHEAD`, where the kind is data
 * or space, and the overhead is how many KiB of the limit the program and the library may need for themselves.
 *
 * Blocks of each size come until there are no more: NULL and ENOMEM, and all that the limit leaves has been handed out by then. What is freed
 * serves again, and no block changes meanwhile. When the limit rises, the heap grows on.
 *
 * The overhead is for one window of 4 GiB of addresses. Where the system places the heap across two, the tables of the other one take
 * address space, too. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define KIB 1024UL
#define BLOCKS 20000000U
#define WINDOW (1UL << 32)
#define WINDOW_TABLES (12288 * KIB)
#define NEAR (16384 * KIB)      /* what the heap takes around a block before its limit rises */

#define CHECK(condition)                                                                     \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            fprintf(stderr, "small_limit: line %d: %s (errno %d)\n", __LINE__, #condition, errno); \
            _Exit(1);                                                                        \
        }                                                                                    \
    } while (0)

struct block {                  /* at the beginning of each */
    struct block *before;
    size_t        bytes;
};

static struct block *last;
static size_t        tables;    /* bytes of address space for another window, once blocks lie in it or near it */

/* Takes blocks of that size until there is none. Returns their bytes. */
static size_t take(size_t bytes)
{
    size_t taken = 0;
    for (unsigned i = 0; i < BLOCKS; i++) {
        errno = 0;
        struct block *b = malloc(bytes);
        if (b == NULL) {
            CHECK(errno == ENOMEM);
            return taken;
        }
        CHECK(errno == 0);
        memset(b, (int)(bytes % 255), bytes);
        if (((uintptr_t)b - NEAR) / WINDOW != ((uintptr_t)b + bytes + NEAR) / WINDOW) {
            tables = WINDOW_TABLES;
        }
        b->before = last;
        b->bytes = bytes;
        last = b;
        taken += bytes;
    }
    CHECK(!"a limit");
    return 0;
}

static void give_all(void)
{
    while (last != NULL) {
        struct block        *b = last;
        const unsigned char *byte = (const unsigned char *)b;
        for (size_t i = sizeof *b; i < b->bytes; i++) {
            CHECK(byte[i] == b->bytes % 255);
        }
        last = b->before;
        free(b);
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    int           kind = strcmp(argv[1], "data") == 0 ? RLIMIT_DATA : RLIMIT_AS;
    struct rlimit limit;
    CHECK(getrlimit(kind, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY);
    static const size_t sizes[] = {16, 1000, 5000, 70000, 300000};
    size_t              least = limit.rlim_cur - strtoul(argv[2], NULL, 10) * KIB;
    for (int round = 0; round < 2; round++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            size_t taken = take(sizes[s]);
            printf("%s %lu KiB, blocks of %zu: %zu KiB\n", argv[1], (unsigned long)(limit.rlim_cur / KIB), sizes[s], taken / KIB);
            CHECK(taken + (kind == RLIMIT_AS ? tables : 0) >= least && taken <= limit.rlim_cur);
            for (int again = 0; again < 3; again++) {           /* other sizes get what is freed */
                give_all();
                size_t other = take(sizes[(s + 1 + (size_t)again) % 5]);
                printf("  then of %zu: %zu KiB\n", sizes[(s + 1 + (size_t)again) % 5], other / KIB);
                CHECK(other + (kind == RLIMIT_AS ? tables : 0) >= least);
            }
            give_all();
        }
        limit.rlim_cur *= 4;
        least = limit.rlim_cur / 4 * 3 - strtoul(argv[2], NULL, 10) * KIB;
        CHECK(setrlimit(kind, &limit) == 0);
    }
    printf("ok small_limits: %s\n", argv[1]);
    return 0;
}
