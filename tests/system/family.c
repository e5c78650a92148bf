/* Calls the malloc family and checks what the standards say: results, alignments, errno, and what a failure must leave alone. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t alignment, size_t size);

static int checks;

#define CHECK(condition)                                                                    \
    do {                                                                                    \
        checks++;                                                                           \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "family: line %d: %s (errno %d)\n", __LINE__, #condition, errno); \
            return 1;                                                                       \
        }                                                                                   \
    } while (0)

static void *volatile sink;

static int sizes(void)
{
    for (size_t n = 0; n < 70000; n = n < 5000 ? n + 1 : n * 9 / 8) {
        unsigned char *p = malloc(n), *z = calloc(n, 1);
        CHECK(p != NULL && z != NULL && p != z);
        CHECK(malloc_usable_size(p) >= n && malloc_usable_size(z) >= n);
        CHECK((uintptr_t)p % (n >= 16 ? 16 : n >= 8 ? 8 : 1) == 0);
        memset(p, 0xA5, malloc_usable_size(p));
        for (size_t i = 0; i < n; i++) {
            if (z[i] != 0) {
                CHECK(!"calloc is zero");
            }
        }
        memset(z, 0x5A, malloc_usable_size(z));
        free(z);
        free_sized(p, n);
    }
    return 0;
}

static int limits(void)
{
    const size_t too_much[] = {SIZE_MAX, SIZE_MAX / 2, (size_t)PTRDIFF_MAX + 1, (size_t)1 << 62, (size_t)1 << 50, SIZE_MAX - 4096};
    char        *p = malloc(100);
    memset(p, 7, 100);
    for (size_t i = 0; i < sizeof too_much / sizeof *too_much; i++) {
        size_t n = too_much[i];
        errno = 0;
        CHECK((sink = malloc(n)) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK((sink = calloc(n, 1)) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK((sink = realloc(p, n)) == NULL && errno == ENOMEM && p[0] == 7 && p[99] == 7);
        errno = 0;
        CHECK((sink = aligned_alloc(64, n)) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK((sink = valloc(n)) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK((sink = pvalloc(n)) == NULL && errno == ENOMEM);
        void *kept = p;
        CHECK(posix_memalign(&kept, 64, n) == ENOMEM && kept == p);
    }
    errno = 0;
    CHECK((sink = calloc((size_t)1 << 33, (size_t)1 << 33)) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK((sink = reallocarray(p, (size_t)1 << 33, (size_t)1 << 33)) == NULL && errno == ENOMEM && p[50] == 7);
    free(p);
    return 0;
}

static int alignments(void)
{
    for (size_t align = 1; align <= (size_t)1 << 26; align *= 2) {
        for (size_t n = 0; n < 300000; n = n * 3 + 1) {
            char *p = aligned_alloc(align, n), *m = memalign(align, n);
            void *q = NULL;
            CHECK(p != NULL && (uintptr_t)p % align == 0 && malloc_usable_size(p) >= n);
            CHECK(m != NULL && (uintptr_t)m % align == 0);
            CHECK(posix_memalign(&q, align, n) == (align < sizeof(void *) ? EINVAL : 0));
            CHECK((uintptr_t)q % align == 0 && (q != NULL) == (align >= sizeof(void *)));
            memset(p, 1, n);
            p = realloc(p, n + 1000);
            CHECK(p != NULL && (n == 0 || (p[0] == 1 && p[n - 1] == 1)));
            free(p);
            free_aligned_sized(m, align, n);
            free(q);
        }
    }
    void *kept = &checks;
    CHECK(posix_memalign(&kept, 24, 10) == EINVAL && kept == &checks);
    CHECK(posix_memalign(&kept, 0, 10) == EINVAL && kept == &checks);
    errno = 0;
    CHECK((sink = aligned_alloc(24, 10)) == NULL && errno == EINVAL);
    errno = 0;
    CHECK((sink = aligned_alloc(0, 10)) == NULL && errno == EINVAL);
    CHECK((sink = memalign(24, 10)) != NULL && (uintptr_t)sink % 32 == 0);
    free(sink);
    CHECK((sink = memalign(0, 10)) != NULL);
    free(sink);
    for (int lg = 47; lg < 64; lg++) {  /* no such address; above 2^63 no such power of two */
        errno = 0;
        CHECK((sink = memalign((size_t)1 << lg, 10)) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK((sink = memalign(((size_t)1 << lg) + 1, 10)) == NULL && errno == (lg == 63 ? EINVAL : ENOMEM));
    }
    errno = 0;
    CHECK((sink = memalign(SIZE_MAX, 10)) == NULL && errno == EINVAL);
    CHECK((sink = valloc(1)) != NULL && (uintptr_t)sink % 4096 == 0);
    free(sink);
    CHECK((sink = pvalloc(4097)) != NULL && (uintptr_t)sink % 4096 == 0 && malloc_usable_size(sink) >= 8192);
    free(sink);
    return 0;
}

static int resizing(void)
{
    unsigned char *p = realloc(NULL, 10);
    size_t         n = 10;
    memset(p, 3, n);
    for (int round = 0; round < 2000; round++) {
        size_t         m = 1 + (size_t)round * 104729 % (round % 7 == 0 ? 3000000 : 9000);
        unsigned char *q = realloc(p, m);
        CHECK(q != NULL && malloc_usable_size(q) >= m);
        for (size_t i = 0; i < (n < m ? n : m); i += 251) {
            if (q[i] != 3) {
                CHECK(!"realloc keeps the prefix");
            }
        }
        memset(q, 3, m);
        p = q;
        n = m;
    }
    CHECK(realloc(p, 0) == NULL);
    return 0;
}

/* What malloc_stats says is whole. */
static int whole(const char *said)
{
    CHECK(strncmp(said, "___ Begin", 9) == 0 && strcmp(strchr(said, '\0') - 4, "---\n") == 0);
    return 0;
}

/* malloc_stats writes to standard error: to the file that has the descriptor. */
static int stats(void)
{
    static char said[10000];
    FILE       *f = tmpfile();
    int         keep = dup(2);
    dup2(fileno(f), 2);
    malloc_stats();
    fflush(stderr);
    dup2(keep, 2);
    close(keep);
    rewind(f);
    said[fread(said, 1, sizeof said - 1, f)] = 0;
    fclose(f);
    return whole(said);
}

/* .. and with glibc to the stream that a program has put in the place of stderr. */
#ifdef __GLIBC__
static int stats_to_stream(void)
{
    char  *said = NULL;
    size_t bytes = 0;
    FILE  *f = open_memstream(&said, &bytes);
    FILE  *keep = stderr;
    stderr = f;
    malloc_stats();
    stderr = keep;
    fclose(f);
    int failed = whole(said);
    free(said);
    return failed;
}
#else
static int stats_to_stream(void)
{
    return 0;
}
#endif

static int reports(void)
{
    errno = 77;
    free(NULL);
    void *p = malloc(3000000);
    free(p);
    free(malloc(10));
    CHECK(errno == 77);
    struct mallinfo2 before = mallinfo2();
    p = malloc(50 << 20);
    struct mallinfo2 after = mallinfo2();
    CHECK(after.uordblks >= before.uordblks + (50 << 20) && after.arena >= after.uordblks);
    memset(p, 1, 50 << 20);
    free(p);
    CHECK(malloc_trim(0) == 1);
    CHECK(malloc_info(1, stdout) == EINVAL);
    char  *xml = NULL;
    size_t bytes = 0;
    FILE  *f = open_memstream(&xml, &bytes);
    CHECK(malloc_info(0, f) == 0);
    fclose(f);
    CHECK(strncmp(xml, "<malloc version=\"1\">", 20) == 0 && strstr(xml, "</malloc>") != NULL);
    free(xml);
    CHECK(malloc_usable_size(NULL) == 0);
    return stats() || stats_to_stream();
}

/* mallopt(3): 1 for what it names, in its range; errno stays. */
static int parameters(void)
{
    const int names[] = {M_MXFAST, M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD, M_MMAP_MAX, M_CHECK_ACTION, M_PERTURB,
        M_ARENA_TEST, M_ARENA_MAX};
    errno = 77;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        CHECK(mallopt(names[i], 0) == 1);
        CHECK(mallopt(names[i], 1) == 1);
        CHECK(mallopt(names[i], -1) == (names[i] != M_MXFAST && names[i] != M_MMAP_THRESHOLD));
    }
    CHECK(mallopt(M_PERTURB, 0) == 1 && mallopt(M_TRIM_THRESHOLD, 1) == 1 && mallopt(M_ARENA_MAX, 0) == 1);
    CHECK(mallopt(M_MXFAST, 160) == 1 && mallopt(M_MXFAST, 161) == 0);
    CHECK(mallopt(M_MMAP_THRESHOLD, 32 << 20) == 1 && mallopt(M_MMAP_THRESHOLD, (32 << 20) + 1) == 0);
    CHECK(mallopt(M_CHECK_ACTION, 7) == 1 && mallopt(M_CHECK_ACTION, 3) == 1);
    CHECK(mallopt(2, 1) == 0 && mallopt(3, 1) == 0 && mallopt(4, 1) == 0);      /* names that do nothing in glibc either */
    CHECK(mallopt(0, 1) == 0 && mallopt(5, 1) == 0 && mallopt(-9, 1) == 0);
    CHECK(errno == 77);
    return 0;
}

#ifdef __GLIBC__
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void  __libc_free(void *block);
void *__libc_memalign(size_t alignment, size_t size);
void *__libc_valloc(size_t size);
void *__libc_pvalloc(size_t size);
void  cfree(void *block);

/* A block that comes by one of glibc's other names goes back by any. */
static int other_names(void)
{
    void *blocks[] = {__libc_malloc(100), __libc_calloc(10, 10), __libc_realloc(malloc(10), 100), __libc_memalign(64, 100), __libc_valloc(100),
                      __libc_pvalloc(100), malloc(100), malloc(100)};
    for (int i = 0; i < 8; i++) {
        CHECK(blocks[i] != NULL && malloc_usable_size(blocks[i]) >= 100);
        blocks[i] = realloc(blocks[i], 200);
        CHECK(malloc_usable_size(blocks[i]) >= 200 && malloc_usable_size(blocks[i]) < 8192);
        (i == 6 ? __libc_free : i == 7 ? cfree : free)(blocks[i]);
    }
    return 0;
}
#else
static int other_names(void)
{
    return 0;
}
#endif

int main(void)
{
    if (sizes() || limits() || alignments() || resizing() || reports() || parameters() || other_names()) {
        return 1;
    }
    printf("ok family: %d checks\n", checks);
    return 0;
}
