/* What the allocation workloads share: dice, sizes, threads, and main. One workload a run: `PROGRAM NAME [SCALE]`; the time and
 * memory of the process are what counts. `PROGRAM` lists the names. All dice are fixed. */
#ifndef QED_TESTS_BENCH_WORKLOAD_H
#define QED_TESTS_BENCH_WORKLOAD_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double scale = 1;

struct dice {
    uint64_t state;
};

struct workload {
    const char *name;
    void (*body)(void);
};

static inline uint64_t roll(struct dice *d)
{
    d->state ^= d->state << 13;
    d->state ^= d->state >> 7;
    d->state ^= d->state << 17;
    return d->state;
}

static inline size_t times(double n)
{
    return (size_t)(n * scale) + 1;
}

static inline void touch(void *p)
{
    *(volatile char *)p = 1;
}

static inline size_t small(struct dice *d)          /* most are short, as in real programs */
{
    uint64_t r = roll(d);
    return 8 + (r % 16 < 12 ? (r >> 8) % 120 : (r >> 8) % 1000);
}

static inline void run(size_t n, void *(*body)(void *))     /* n threads, numbered from 1 */
{
    pthread_t id[64];
    for (size_t i = 0; i < n; i++) {
        pthread_create(&id[i], NULL, body, (void *)(i + 1));
    }
    for (size_t i = 0; i < n; i++) {
        pthread_join(id[i], NULL);
    }
}

static inline int run_one(const struct workload *workload, size_t count, int argc, char **argv)
{
    scale = argc > 2 ? atof(argv[2]) : 1;
    for (size_t i = 0; i < count; i++) {
        if (argc < 2) {
            puts(workload[i].name);
        } else if (strcmp(argv[1], workload[i].name) == 0) {
            workload[i].body();
            return 0;
        }
    }
    return argc < 2 ? 0 : 2;
}

#endif
