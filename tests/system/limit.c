/* limit_hard. `limit`: 256 MiB. Blocks of all sizes, in one thread and in several, until there are no more: NULL and ENOMEM, and never a byte
 * more mapped than the limit says, as the kernel counts it. The program works on after it frees. Free pages of all kinds serve a block that
 * none of them has room for alone.
 * `limit soft`: limit_soft of 100 MiB and no decay. What is in memory stays below, but for live blocks, and free pages go back with the call
 * that frees them. `limit dirty`: dirty_max of 10 MiB and no decay.
 * `limit percent [BYTES]`: a percentage is a part of the memory that the process may use, or so many bytes. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jemalloc/jemalloc.h>

#define MIB (1UL << 20)
#define LIMIT (256 * MIB)
#define BLOCKS 300000
#define THREADS 4

#define CHECK(condition)                                                               \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fprintf(stderr, "limit: line %d: %s (errno %d)\n", __LINE__, #condition, errno); \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

static size_t number(const char *name)
{
    size_t value = 0, bytes = sizeof value;
    CHECK(mallctl(name, &value, &bytes, NULL, 0) == 0);
    return value;
}

/* Bytes of the process's memory that has no file, as /proc/self/maps says, read without an allocation. Stacks of threads are mapped, too, so the
 * program measures before it has any. */
static size_t anonymous_bytes(void)
{
    static char text[1 << 20];
    size_t      used = 0, sum = 0;
    ssize_t     n;
    int         file = open("/proc/self/maps", O_RDONLY);
    CHECK(file >= 0);
    while ((n = read(file, text + used, sizeof text - 1 - used)) > 0) {
        used += (size_t)n;
    }
    close(file);
    text[used] = '\0';
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        char    *rest;
        uint64_t from = strtoull(line, &rest, 16), to = strtoull(rest + 1, &rest, 16);
        *end = '\0';
        sum += strchr(line, '/') == NULL && strchr(line, '[') == NULL ? to - from : 0;
    }
    return sum;
}

static size_t first_bytes, first_mapped;

static void check_mapped(void)
{
    size_t mapped = number("stats.limit.mapped");
    CHECK(mapped <= LIMIT);
    CHECK(anonymous_bytes() == first_bytes + (mapped - first_mapped));
}

static void *block[BLOCKS];

/* Takes blocks until there are no more. Returns how many. */
static size_t fill(size_t bytes)
{
    size_t n = 0;
    for (; n < BLOCKS; n++) {
        errno = 0;
        block[n] = malloc(bytes);
        if (block[n] == NULL) {
            break;
        }
        memset(block[n], (int)n, bytes < 4096 ? bytes : 4096);
    }
    CHECK(n < BLOCKS && errno == ENOMEM);
    return n;
}

static void one_thread(void)
{
    static const size_t sizes[] = {1000, 100, 5000, 20000, 300000, 5 * MIB, 40 * MIB, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t refused = number("stats.limit.refused"), bytes = sizes[i] < 1000 ? 1000 : sizes[i], n = fill(bytes);
        CHECK(number("stats.limit.refused") > refused);
        check_mapped();
        CHECK(n * bytes > 150 * MIB);
        void *p = realloc(block[0], 200 * MIB);
        CHECK(p == NULL && errno == ENOMEM && *(char *)block[0] == 0);
        check_mapped();
        for (size_t k = 0; k < n / 2; k++) {
            free(block[k]);
        }
        CHECK((p = malloc(bytes)) != NULL);
        free(p);
        for (size_t k = n / 2; k < n; k++) {
            free(block[k]);
        }
        check_mapped();
    }
    void *large = malloc(60 * MIB);         /* pages that were free in pieces, some with memory and some without, join */
    CHECK(large != NULL);
    memset(large, 1, 60 * MIB);
    free(large);
}

static void *use(void *seed)
{
    uint32_t x = (uint32_t)(uintptr_t)seed;
    void    *mine[64] = {NULL};
    for (int i = 0; i < 20000; i++) {
        x = x * 1664525 + 1013904223;
        size_t k = x >> 26, bytes = (size_t)1 << (x >> 8) % 24;
        free(mine[k]);
        mine[k] = malloc(bytes);
        CHECK(mine[k] != NULL || errno == ENOMEM);
        CHECK(number("stats.limit.mapped") <= LIMIT);
        if (mine[k] != NULL) {
            *(char *)mine[k] = 1;
        }
    }
    for (size_t k = 0; k < 64; k++) {
        free(mine[k]);
    }
    return NULL;
}

static size_t resident(void)
{
    uint64_t next = 1;
    CHECK(mallctl("epoch", NULL, NULL, &next, sizeof next) == 0);
    return number("stats.resident");
}

/* Takes 300 MiB in blocks of a size, and frees them. Each time no more may be in memory than live blocks, and what may stay. */
static void come_and_go(size_t bytes, bool soft)
{
    size_t n = 300 * MIB / bytes, slack = 3 * MIB;
    for (size_t i = 0; i < n; i++) {
        CHECK((block[i] = malloc(bytes)) != NULL);
        memset(block[i], 1, bytes);
    }
    for (size_t i = 0; i < n; i++) {
        free(block[i]);
        if (i % 64 == 0 || i + 1 == n) {
            size_t now = resident(), used = (n - 1 - i) * nallocx(bytes, 0) + number("stats.metadata") + slack;
            CHECK(now <= (soft ? 0 : 10 * MIB) + (soft && used < 100 * MIB ? 100 * MIB : used));
        }
    }
}

static int pages_stay(bool soft)
{
    CHECK(number(soft ? "opt.limit_soft" : "opt.dirty_max") == (soft ? 100 * MIB : 10 * MIB));
    come_and_go(MIB, soft);
    come_and_go(5 * MIB, soft);
    come_and_go(300000, soft);
    printf("ok limit: %zu bytes in memory\n", resident());
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "percent") != 0) {
        return pages_stay(strcmp(argv[1], "soft") == 0);
    }
    if (argc > 1) {
        uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
        CHECK(number("opt.limit_hard") > 0 && (argc > 2 || number("opt.limit_hard") <= machine / 100));
        CHECK(argc == 2 || number("opt.limit_hard") == strtoull(argv[2], NULL, 10));
        printf("ok limit: the percentage is %zu bytes\n", number("opt.limit_hard"));
        return 0;
    }
    pthread_t thread[THREADS];
    CHECK(number("opt.limit_hard") == LIMIT);
    first_mapped = number("stats.limit.mapped");
    first_bytes = anonymous_bytes();
    one_thread();
    for (uintptr_t i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&thread[i], NULL, use, (void *)(i + 1)) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    CHECK(number("stats.limit.mapped") <= LIMIT && malloc(1000) != NULL);
    printf("ok limit: %zu bytes mapped, %zu times refused\n", number("stats.limit.mapped"), number("stats.limit.refused"));
    return 0;
}
