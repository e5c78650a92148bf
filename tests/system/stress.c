/* Threads exchange blocks through a shared table. Whichever thread finds a block there checks, resizes or frees it.
 *
 * usage: stress SECONDS [THREADS [SEED]]       linked with the prefixed library, plain or under a sanitizer
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "qedmalloc/qedmalloc.h"

#define SLOTS 4096
#define THREADS_MAX 64

struct block {
    size_t        bytes;
    unsigned char pattern;
    unsigned char data[];
};

static struct block *table[SLOTS];
static double        deadline;
static uint64_t      seed = 1;
static uint64_t      operations[THREADS_MAX];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t next(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void fail(const char *what, const void *p)
{
    fprintf(stderr, "stress: %s at %p\n", what, p);
    abort();
}

/* Mostly small, sometimes cached large, seldom huge; the whole block is written only while that stays cheap. */
static size_t some_bytes(uint64_t *state)
{
    uint64_t r = next(state);
    uint64_t kind = r % 100;
    r = next(state);
    return sizeof(struct block) + (kind < 70 ? r % 256 : kind < 95 ? r % 8192 : kind < 99 ? r % 100000 : r % 1500000);
}

static void check(const struct block *b, size_t prefix)
{
    size_t n = b->bytes - sizeof *b < prefix ? b->bytes - sizeof *b : prefix;
    for (size_t i = 0; i < n; i += n < 512 ? 1 : 61) {
        if (b->data[i] != b->pattern) {
            fail("contents changed", b);
        }
    }
}

static struct block *fill(struct block *b, size_t bytes, unsigned char pattern)
{
    b->bytes = bytes;
    b->pattern = pattern;
    memset(b->data, pattern, bytes - sizeof *b);
    return b;
}

static struct block *make(uint64_t *state)
{
    size_t        bytes = some_bytes(state);
    uint64_t      how = next(state) % 8;
    size_t        align = (size_t)16 << (next(state) % 10);
    struct block *b;
    if (how == 0) {
        b = qed_calloc(1, bytes);
        for (size_t i = 0; b != NULL && i < bytes; i += 97) {
            if (((unsigned char *)b)[i] != 0) {
                fail("calloc is not zero", b);
            }
        }
    } else if (how == 1) {
        b = qed_aligned_alloc(align, bytes);
        if ((uintptr_t)b % align != 0) {
            fail("not aligned", b);
        }
    } else {
        b = qed_malloc(bytes);
    }
    if (b == NULL || qed_malloc_usable_size(b) < bytes) {
        fail("too small", b);
    }
    return fill(b, bytes, (unsigned char)next(state));
}

static void *worker(void *argument)
{
    uint64_t index = (uint64_t)(uintptr_t)argument;
    uint64_t state = seed * 1000 + index;
    for (uint64_t i = 0;; i++) {
        if (i % 256 == 0 && now() > deadline) {
            operations[index] = i;
            return NULL;
        }
        uint64_t      slot = next(&state) % SLOTS;
        struct block *mine = next(&state) % 4 == 0 ? NULL : make(&state);
        struct block *found = __atomic_exchange_n(&table[slot], mine, __ATOMIC_ACQ_REL);
        if (found == NULL) {
            continue;
        }
        check(found, SIZE_MAX);
        if (next(&state) % 4 == 0) {
            size_t before = found->bytes - sizeof *found;
            size_t bytes = some_bytes(&state);
            found = qed_realloc(found, bytes);
            if (found == NULL) {
                fail("realloc failed", found);
            }
            found->bytes = bytes;
            check(found, before);
        }
        qed_free(found);
    }
}

int main(int argc, char **argv)
{
    double    seconds = argc > 1 ? atof(argv[1]) : 5;
    long      threads = argc > 2 ? atol(argv[2]) : 8;
    pthread_t ids[THREADS_MAX];
    seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    deadline = now() + seconds;
    for (long i = 0; i < threads; i++) {
        pthread_create(&ids[i], NULL, worker, (void *)(uintptr_t)i);
    }
    uint64_t total = 0;
    for (long i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        total += operations[i];
    }
    for (int i = 0; i < SLOTS; i++) {
        if (table[i] != NULL) {
            check(table[i], SIZE_MAX);
            qed_free(table[i]);
        }
    }
    qed_malloc_trim(0);
    printf("ok stress: %ld threads, %.0f s, seed %llu, %llu exchanges\n", threads, seconds, (unsigned long long)seed,
           (unsigned long long)total);
    return 0;
}
