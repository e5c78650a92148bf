/* What settings and mallopt ask of the bytes of blocks, in several threads, and what else mallopt does here.
 * usage: modes zero | perturb | arenas | trim | frees | keeps | ends | xmalloc */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "qedmalloc/qedmalloc.h"

#define CHECK(condition)                                                             \
    do {                                                                             \
        if (!(condition)) {                                                          \
            fprintf(stderr, "modes: line %d: %s\n", __LINE__, #condition);           \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)
#define ROUNDS 3
#define THREADS 12

static const size_t sizes[] = {1, 16, 100, 512, 4000, 4096, 6000, 16384, 100000, 262144, 300000, 3 << 20};

static size_t others(const unsigned char *p, size_t n, int byte)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        found += p[i] != byte;
    }
    return found;
}

/* Every way to a new block, after blocks of the same sizes have been written and freed. */
static void new_blocks(int byte)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t         n = sizes[i];
        unsigned char *p = malloc(n), *q = aligned_alloc(64, n), *r = calloc(n, 1);
        void          *s = NULL;
        CHECK(p != NULL && q != NULL && r != NULL && posix_memalign(&s, 8192, n) == 0);
        CHECK(others(p, malloc_usable_size(p), byte) == 0 && others(q, malloc_usable_size(q), byte) == 0 && others(r, n, 0) == 0);
        CHECK(others(s, malloc_usable_size(s), byte) == 0);
        memset(p, 7, malloc_usable_size(p));
        size_t was = malloc_usable_size(p);
        p = realloc(p, 2 * n + 1);
        CHECK(p != NULL && others(p, was, 7) == 0 && others(p + was, malloc_usable_size(p) - was, byte) == 0);
        free(memset(p, 7, malloc_usable_size(p)));
        free(memset(q, 7, malloc_usable_size(q)));
        free(memset(r, 7, malloc_usable_size(r)));
        free(memset(s, 7, malloc_usable_size(s)));
    }
}

static void freed_blocks(int byte)
{
    for (size_t n = 1; n <= 4096; n += 123) {
        unsigned char *p = malloc(n), *volatile again = p;
        size_t         bytes = malloc_usable_size(p);
        free(memset(p, 7, bytes));
        CHECK(others(again, bytes, byte) == 0);
    }
}

static void *thread_new(void *byte)
{
    free(malloc(0));
    for (int i = 0; i < ROUNDS; i++) {
        new_blocks(*(int *)byte);
    }
    return NULL;
}

static void in_threads(void *(*run)(void *), void *with)
{
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, run, with) == 0);
    }
    for (size_t i = 0; i < 4; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

/* A thread that begins with a block of another one: what it frees first is what it gets next. */
static void *thread_given(void *block)
{
    size_t n = malloc_usable_size(block);
    free(memset(block, 7, n));
    unsigned char *p = malloc(n);
    CHECK(p != NULL && others(p, malloc_usable_size(p), 0) == 0);
    free(p);
    return NULL;
}

static void *thread_frees(void *block)
{
    free(block);
    unsigned char *p = malloc(100);
    CHECK(p != NULL && others(p, malloc_usable_size(p), 0) == 0);
    free(p);
    return NULL;
}

static void zero(void)
{
    int byte = 0;
    thread_new(&byte);
    in_threads(thread_new, &byte);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;
        char     *p = malloc(100), *q = memset(malloc(100), 7, 100);
        CHECK(pthread_create(&thread, NULL, thread_given, p) == 0 && pthread_join(thread, NULL) == 0);
        CHECK(pthread_create(&thread, NULL, thread_frees, q) == 0 && pthread_join(thread, NULL) == 0);
    }
}

static void *thread_used(void *nothing)
{
    free(malloc(100));
    return nothing;
}

/* The calling thread fills at once, and threads that begin later do, though their caches are those of threads that have ended. */
static void perturb(void)
{
    in_threads(thread_used, NULL);
    static const int values[] = {1, 0x5a, 0xff, 0x100, -2};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        CHECK(mallopt(M_PERTURB, values[i]) == 1);
        int fresh = ~values[i] & 0xff;
        thread_new(&fresh);
        freed_blocks(values[i] & 0xff);
        in_threads(thread_new, &fresh);
    }
    CHECK(mallopt(M_PERTURB, 0) == 1);
    char *p = memset(malloc(77), 7, 77), *volatile again = p;
    free(p);
    CHECK(again[76] == 7);
}

static unsigned        highest;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *thread_arena(void *barrier)
{
    unsigned arena = 0;
    size_t   bytes = sizeof arena;
    free(malloc(100));
    CHECK(qed_mallctl("thread.arena", &arena, &bytes, NULL, 0) == 0);
    pthread_mutex_lock(&lock);
    highest = arena > highest ? arena : highest;
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(barrier);
    return NULL;
}

static unsigned highest_of_many(void)
{
    pthread_barrier_t barrier;
    pthread_t         threads[THREADS];
    highest = 0;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, thread_arena, &barrier) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    return highest;
}

/* With four arenas. */
static void arenas(void)
{
    CHECK(mallopt(M_ARENA_MAX, 1) == 1 && highest_of_many() == 0);
    CHECK(mallopt(M_ARENA_MAX, 2) == 1 && highest_of_many() == 1);
    CHECK(mallopt(M_ARENA_MAX, 1000) == 1 && highest_of_many() == 3);
    CHECK(mallopt(M_ARENA_MAX, 0) == 1 && highest_of_many() == 3);
}

static size_t dirty(void)
{
    uint64_t epoch = 1;
    size_t   pages = 0, bytes = sizeof pages;
    CHECK(qed_mallctl("epoch", NULL, NULL, &epoch, sizeof epoch) == 0);
    CHECK(qed_mallctl("stats.arenas.0.pdirty", &pages, &bytes, NULL, 0) == 0);
    return pages;
}

static void trim(void)
{
    CHECK(mallopt(M_TRIM_THRESHOLD, -1) == 1);
    free(memset(malloc(20 << 20), 7, 20 << 20));
    CHECK(dirty() >= (20 << 20) / 65536);
    CHECK(mallopt(M_TRIM_THRESHOLD, 0) == 1 && dirty() == 0);
    free(memset(malloc(20 << 20), 7, 20 << 20));
    usleep(100000);                         /* free pages go back at the first slow call after 64 ms */
    void *p = malloc(300000);
    CHECK(dirty() == 0);
    free(p);
    CHECK(mallopt(M_TRIM_THRESHOLD, 128 << 10) == 1);
    free(memset(malloc(20 << 20), 7, 20 << 20));
    CHECK(dirty() >= (20 << 20) / 65536);
}

/* realloc to no bytes frees the block. */
static void frees(void)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        CHECK(realloc(malloc(sizes[i]), 0) == NULL && reallocarray(malloc(sizes[i]), 0, 7) == NULL);
    }
}

/* Or it is realloc to the smallest class, which keeps the first bytes. */
static void keeps(void)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *p = realloc(memset(malloc(sizes[i]), 7, sizes[i]), 0), *q = reallocarray(p, 3, 0);
        CHECK(p != NULL && q == p && q[0] == 7 && malloc_usable_size(q) == malloc_usable_size(malloc(0)));
        free(q);
    }
    CHECK(realloc(NULL, 0) != NULL);
}

/* Runs it in a child, which it ends by abort, and reads what the child has written to standard error. */
static void died(void (*run)(void), char *said, size_t bytes)
{
    int pipes[2], status;
    CHECK(pipe(pipes) == 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        run();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    ssize_t n = read(pipes[0], said, bytes - 1);
    CHECK(n > 0);
    said[n] = '\0';
    close(pipes[0]);
    close(pipes[1]);
}

static void to_nothing(void)
{
    void *p = realloc(malloc(100), 0);
    free(p);
}

/* Or it ends the program with a message. */
static void ends(void)
{
    char  said[200];
    void *p = malloc(100);
    CHECK(realloc(NULL, 0) != NULL && (p = realloc(p, 200)) != NULL);
    died(to_nothing, said, sizeof said);
    CHECK(strstr(said, "realloc(0x") != NULL && strstr(said, "size 0") != NULL);
}

/* ---- xmalloc: a call without memory ends the program ------------------------------------------------------------------- */

#define TOO_MUCH ((size_t)1 << 47)

static void *block_of_64;               /* a block to make larger */

static void by_malloc(void) { block_of_64 = malloc(TOO_MUCH); }
static void by_calloc(void) { block_of_64 = calloc(2, TOO_MUCH / 2); }
static void by_product(void) { block_of_64 = calloc(SIZE_MAX / 2, 3); }
static void by_realloc(void) { block_of_64 = realloc(block_of_64, TOO_MUCH); }
static void by_reallocarray(void) { block_of_64 = reallocarray(block_of_64, SIZE_MAX / 2, 3); }
static void by_aligned_alloc(void) { block_of_64 = aligned_alloc(64, TOO_MUCH); }
static void by_posix_memalign(void) { (void)!posix_memalign(&block_of_64, 64, TOO_MUCH); }
static void by_memalign(void) { block_of_64 = memalign(64, TOO_MUCH); }
static void by_valloc(void) { block_of_64 = valloc(TOO_MUCH); }
static void by_pvalloc(void) { block_of_64 = pvalloc(TOO_MUCH); }
static void by_mallocx(void) { block_of_64 = qed_mallocx(TOO_MUCH, MALLOCX_TCACHE_NONE); }
static void by_rallocx(void) { block_of_64 = qed_rallocx(block_of_64, TOO_MUCH, MALLOCX_TCACHE_NONE); }

/* The setting limit_hard refuses: it is 32 MiB, and 64 are asked for. */
static void by_limit(void)
{
    for (int i = 0; i < 64; i++) {
        block_of_64 = malloc(1 << 20);
    }
}

static void xmalloc(void)
{
    static const struct { void (*allocates)(void); const char *said; } calls[] = {
        {by_malloc, "malloc(0x800000000000): "}, {by_calloc, "calloc(0x800000000000): "}, {by_product, "calloc(0xffffffffffffffff): "},
        {by_realloc, "malloc(0x800000000000): "}, {by_reallocarray, "reallocarray(0xffffffffffffffff): "},
        {by_aligned_alloc, "aligned_alloc(0x800000000000): "}, {by_posix_memalign, "posix_memalign(0x800000000000): "},
        {by_memalign, "memalign(0x800000000000): "}, {by_valloc, "valloc(0x800000000000): "}, {by_pvalloc, "pvalloc(0x800000000000): "},
        {by_mallocx, "mallocx(0x800000000000): "}, {by_rallocx, "mallocx(0x800000000000): "}, {by_limit, "malloc(0x100000): "},
    };
    block_of_64 = malloc(64);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        char said[200];
        died(calls[i].allocates, said, sizeof said);
        CHECK(strncmp(said, "qedmalloc: ", 11) == 0 && strncmp(said + 11, calls[i].said, strlen(calls[i].said)) == 0);
        CHECK(strcmp(said + 11 + strlen(calls[i].said), "no memory, which xmalloc:true forbids\n") == 0);
    }
    errno = 0;                          /* an alignment that cannot be is no want of memory */
    CHECK(aligned_alloc(24, 64) == NULL && errno == EINVAL && posix_memalign(&block_of_64, 2, 64) == EINVAL);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    static const struct { const char *mode; void (*check)(void); } checks[] = {
        {"zero", zero}, {"perturb", perturb}, {"arenas", arenas}, {"trim", trim}, {"frees", frees}, {"keeps", keeps}, {"ends", ends},
        {"xmalloc", xmalloc},
    };
    size_t i = 0;
    for (; i < sizeof checks / sizeof checks[0] && strcmp(mode, checks[i].mode) != 0; i++) {
    }
    CHECK(i < sizeof checks / sizeof checks[0]);
    checks[i].check();
    printf("ok modes: %s\n", mode);
    return 0;
}
