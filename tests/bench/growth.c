/* What one operation costs as one quantity grows: prints nanoseconds per operation (of wall time).
 *
 * usage: growth MODE N [OPERATIONS]
 *   live     N blocks of 64 bytes live; an operation frees one at random and allocates another in its place
 *   walk     as live, but frees and allocates nothing: what the caches and the loop alone cost
 *   size     64 blocks of N bytes live, replaced at random; only the first byte of a block is written
 *   classes  512 blocks live, of sizes of N classes from 16 bytes to at most 16 KiB, replaced at random
 *   own      N threads, each with 500 live blocks of 8 to 1000 bytes of its own, replaced at random
 *   shared   N threads that replace blocks in one table: most are freed by a thread that did not allocate them
 *   pages    as shared, with blocks above 256 KiB, to 4 MiB, which no thread cache holds
 * The operations are split between the threads, and the time is from the first one's beginning to the last one's end.
 * Filling (but that of the shared table) and emptying do not count. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS_MAX 64
#define SHARED      4096
#define OWN         500

static size_t            threads, operations;
static void *volatile    shared[SHARED];
static pthread_barrier_t gate;
static struct {
    double from, to;
} time_of[THREADS_MAX]; /* each thread's own: the one that waits for them may be woken when they have finished */

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t roll(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void *filled(size_t bytes)
{
    char *p = malloc(bytes);
    *(volatile char *)p = 1;
    return p;
}

/* ---- one thread -------------------------------------------------------------------------------------------------- */

static double replace(size_t live, size_t bytes, int walk_only)
{
    uint64_t state = 1;
    void   **p = malloc(live * sizeof *p);
    for (size_t i = 0; i < live; i++) {
        p[i] = filled(bytes);
    }
    double since = now_ns();
    for (size_t i = 0; i < operations; i++) {
        size_t k = roll(&state) % live;
        if (walk_only) {
            ++*(volatile char *)p[k];
        } else {
            free(p[k]);
            p[k] = filled(bytes);
        }
    }
    double spent = now_ns() - since;
    for (size_t i = 0; i < live; i++) {
        free(p[i]);
    }
    free(p);
    return spent;
}

static size_t class_bytes(size_t k)             /* 16, 32 ... 128, and then four for each power of two */
{
    return k < 8 ? 16 * (k + 1) : (5 + k % 4) << (3 + k / 4);
}

static double replace_classes(size_t classes)
{
    uint64_t state = 1;
    void    *p[512];
    for (size_t i = 0; i < 512; i++) {
        p[i] = filled(class_bytes(i % classes));
    }
    double since = now_ns();
    for (size_t i = 0; i < operations; i++) {
        size_t k = roll(&state) % 512;
        free(p[k]);
        p[k] = filled(class_bytes((state >> 20) % classes));
    }
    double spent = now_ns() - since;
    for (size_t i = 0; i < 512; i++) {
        free(p[i]);
    }
    return spent;
}

/* ---- many threads ------------------------------------------------------------------------------------------------ */

static size_t small(uint64_t r) { return 8 + r % 992; }
static size_t some_pages(uint64_t r) { return (256 << 10) + 1 + r % (3840 << 10); }

static void *own_body(void *argument)
{
    size_t   me = (uintptr_t)argument;
    uint64_t state = (me + 1) * 77;
    void    *p[OWN];
    for (size_t k = 0; k < OWN; k++) {
        p[k] = filled(small(roll(&state)));
    }
    pthread_barrier_wait(&gate);
    time_of[me].from = now_ns();
    for (size_t i = 0; i < operations / threads; i++) {
        size_t k = roll(&state) % OWN;
        free(p[k]);
        p[k] = filled(small(state >> 20));
    }
    time_of[me].to = now_ns();
    for (size_t k = 0; k < OWN; k++) {
        free(p[k]);
    }
    return NULL;
}

static void exchange(size_t me, size_t (*bytes)(uint64_t), size_t slots)
{
    uint64_t state = (me + 1) * 77;
    pthread_barrier_wait(&gate);
    time_of[me].from = now_ns();
    for (size_t i = 0; i < operations / threads; i++) {
        void *p = filled(bytes(roll(&state) >> 20));
        free(__atomic_exchange_n(&shared[state % slots], p, __ATOMIC_ACQ_REL));
    }
    time_of[me].to = now_ns();
}

static void *shared_body(void *argument)
{
    exchange((uintptr_t)argument, small, SHARED);
    return NULL;
}

static void *pages_body(void *argument)
{
    exchange((uintptr_t)argument, some_pages, SHARED / 8);
    return NULL;
}

static double together(void *(*body)(void *))
{
    pthread_t id[THREADS_MAX];
    pthread_barrier_init(&gate, NULL, (unsigned)threads);
    for (size_t i = 0; i < threads; i++) {
        if (pthread_create(&id[i], NULL, body, (void *)i) != 0) {
            exit(1);
        }
    }
    double from = 1e300, to = 0;
    for (size_t i = 0; i < threads; i++) {
        pthread_join(id[i], NULL);
        from = time_of[i].from < from ? time_of[i].from : from;
        to = time_of[i].to > to ? time_of[i].to : to;
    }
    return to - from;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[1] : "";
    size_t      n = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    operations = argc > 3 ? (size_t)atof(argv[3]) : 1000000;
    threads = n < THREADS_MAX ? n : THREADS_MAX;
    double spent = n == 0                         ? -1
                   : strcmp(mode, "live") == 0    ? replace(n, 64, 0)
                   : strcmp(mode, "walk") == 0    ? replace(n, 64, 1)
                   : strcmp(mode, "size") == 0    ? replace(64, n, 0)
                   : strcmp(mode, "classes") == 0 ? replace_classes(n)
                   : strcmp(mode, "own") == 0     ? together(own_body)
                   : strcmp(mode, "shared") == 0  ? together(shared_body)
                   : strcmp(mode, "pages") == 0   ? together(pages_body)
                                                  : -1;
    if (spent < 0 || operations < threads) {
        return 2;
    }
    printf("%.2f\n", spent / (double)operations);
    return 0;
}
