/* Allocation workloads of one idea each: an order, a size, a number of threads. */
#include "workload.h"

/* ---- one thread -------------------------------------------------------------------------------------------------- */

static void fixed(size_t bytes, size_t live, double rounds)
{
    void **p = calloc(live, sizeof *p);
    for (size_t r = times(rounds); r > 0; r--) {
        for (size_t i = 0; i < live; i++) {
            touch(p[i] = malloc(bytes));
        }
        for (size_t i = 0; i < live; i++) {
            free(p[i]);
        }
    }
    free(p);
}

static void fixed_16(void) { fixed(16, 500, 60000); }
static void fixed_64(void) { fixed(64, 500, 60000); }
static void fixed_1024(void) { fixed(1024, 500, 40000); }
static void fixed_32k(void) { fixed(32768, 50, 20000); }

static void stack_order(void)                       /* last in, first out, mixed sizes */
{
    struct dice d = {1};
    void      **p = calloc(2000, sizeof *p);
    for (size_t r = times(8000); r > 0; r--) {
        for (size_t i = 0; i < 2000; i++) {
            touch(p[i] = malloc(small(&d)));
        }
        for (size_t i = 2000; i > 0; i--) {
            free(p[i - 1]);
        }
    }
    free(p);
}

static void queue_order(void)                       /* first in, first out, mixed sizes */
{
    struct dice d = {2};
    void      **p = calloc(5000, sizeof *p);
    for (size_t i = 0; i < times(20e6); i++) {
        free(p[i % 5000]);
        touch(p[i % 5000] = malloc(small(&d)));
    }
    for (size_t i = 0; i < 5000; i++) {
        free(p[i]);
    }
    free(p);
}

static void random_order(size_t live, double operations, size_t (*bytes)(struct dice *))
{
    struct dice d = {3};
    void      **p = calloc(live, sizeof *p);
    for (size_t i = 0; i < times(operations); i++) {
        size_t k = roll(&d) % live;
        free(p[k]);
        touch(p[k] = malloc(bytes(&d)));
    }
    for (size_t i = 0; i < live; i++) {
        free(p[i]);
    }
    free(p);
}

static size_t any(struct dice *d) { return 16 + roll(d) % 4000; }
static size_t wide(struct dice *d) { return (size_t)1 << (4 + roll(d) % 14); }

static void random_in_cache(void) { random_order(1000, 20e6, small); }
static void random_100_mib(void) { random_order(600000, 10e6, small); }
static void random_1_gib(void) { random_order(500000, 5e6, any); }
static void random_wide(void) { random_order(10000, 6e6, wide); }

static void large_blocks(size_t from, size_t to, double operations)
{
    struct dice d = {4};
    void       *p[16] = {0};
    for (size_t i = 0; i < times(operations); i++) {
        size_t k = roll(&d) % 16;
        size_t bytes = from + roll(&d) % (to - from);
        free(p[k]);
        p[k] = malloc(bytes);
        for (size_t b = 0; b < bytes; b += 65536) {
            ((volatile char *)p[k])[b] = 1;
        }
    }
    for (size_t k = 0; k < 16; k++) {
        free(p[k]);
    }
}

static void large_100k(void) { large_blocks(50000, 200000, 2e6); }
static void large_1m(void) { large_blocks(500000, 2000000, 200e3); }
static void large_20m(void) { large_blocks(10000000, 30000000, 1500); }

static void realloc_grow(void)                      /* vectors that grow by half, strings by pieces */
{
    for (size_t r = times(300); r > 0; r--) {
        char *p = NULL;
        for (size_t n = 16; n < 20000000; n += n / 2) {
            p = realloc(p, n);
            touch(p + n - 1);
        }
        free(p);
        p = NULL;
        for (size_t n = 1; n < 200000; n += 37) {
            p = realloc(p, n);
            touch(p + n - 1);
        }
        free(p);
    }
}

static void calloc_mixed(void)
{
    struct dice d = {5};
    void       *p[1000] = {0};
    for (size_t i = 0; i < times(5e6); i++) {
        size_t k = roll(&d) % 1000;
        free(p[k]);
        p[k] = calloc(1, any(&d));
    }
    for (size_t k = 0; k < 1000; k++) {
        free(p[k]);
    }
}

struct tree {
    struct tree *left, *right;
};

static struct tree *grow(int depth)
{
    struct tree *t = malloc(sizeof *t);
    t->left = depth > 0 ? grow(depth - 1) : NULL;
    t->right = depth > 0 ? grow(depth - 1) : NULL;
    return t;
}

static void cut(struct tree *t)
{
    if (t != NULL) {
        cut(t->left);
        cut(t->right);
        free(t);
    }
}

static void trees(void)
{
    for (size_t r = times(24); r > 0; r--) {
        struct tree *t = grow(18);
        cut(t);
    }
}

static void fragmentation(void)                     /* the mix of sizes drifts while most blocks stay */
{
    struct dice d = {6};
    size_t      live = 200000;
    void      **p = calloc(live, sizeof *p);
    for (size_t i = 0; i < times(6e6); i++) {
        size_t k = roll(&d) % live;
        size_t centre = 32 + i * 2000 / times(6e6);
        free(p[k]);
        touch(p[k] = malloc(centre + roll(&d) % (centre / 2 + 1)));
    }
    for (size_t i = 0; i < live; i++) {
        free(p[i]);
    }
    free(p);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

#define RING 4096
static void *volatile ring[4][RING];

static void *produce_or_consume(void *argument)     /* odd threads produce for the even one after them */
{
    size_t      me = (size_t)argument, pair = (me - 1) / 2;
    struct dice d = {me};
    for (size_t i = 0; i < times(6e6); i++) {
        void *volatile *slot = &ring[pair][i % RING];
        if (me % 2 == 1) {
            void *p = malloc(small(&d));
            touch(p);
            while (__atomic_load_n(slot, __ATOMIC_ACQUIRE) != NULL) {
                sched_yield();
            }
            __atomic_store_n(slot, p, __ATOMIC_RELEASE);
        } else {
            void *p;
            while ((p = __atomic_load_n(slot, __ATOMIC_ACQUIRE)) == NULL) {
                sched_yield();
            }
            __atomic_store_n(slot, NULL, __ATOMIC_RELEASE);
            free(p);
        }
    }
    return NULL;
}

static void producer_consumer(void) { run(2, produce_or_consume); }

#define SHARED 20000
static void *volatile shared[SHARED];

static void *serve(void *argument)                  /* larson: any thread frees what any other left behind */
{
    struct dice d = {(size_t)argument * 77};
    for (size_t i = 0; i < times(3e6); i++) {
        void *p = malloc(small(&d));
        touch(p);
        free(__atomic_exchange_n(&shared[roll(&d) % SHARED], p, __ATOMIC_ACQ_REL));
    }
    return NULL;
}

static void server_4(void) { run(4, serve); }
static void server_16(void) { scale /= 4; run(16, serve); }

static void *own(void *argument)
{
    struct dice d = {(size_t)argument};
    void       *p[500] = {0};
    for (size_t i = 0; i < times(6e6); i++) {
        size_t k = roll(&d) % 500;
        free(p[k]);
        touch(p[k] = malloc(small(&d)));
    }
    for (size_t k = 0; k < 500; k++) {
        free(p[k]);
    }
    return NULL;
}

static void threads_own_8(void) { scale /= 4; run(8, own); }

static void *short_life(void *argument)
{
    struct dice d = {(size_t)argument};
    void       *p[100];
    for (size_t i = 0; i < 100; i++) {
        touch(p[i] = malloc(small(&d)));
    }
    for (size_t i = 0; i < 100; i++) {
        free(p[i]);
    }
    return NULL;
}

static void thread_churn(void)                      /* 10,000 short threads */
{
    for (size_t r = times(2500); r > 0; r--) {
        run(4, short_life);
    }
}

static const struct workload workload[] = {
    {"fixed_16", fixed_16},               {"fixed_64", fixed_64},               {"fixed_1024", fixed_1024},
    {"fixed_32k", fixed_32k},             {"stack_order", stack_order},         {"queue_order", queue_order},
    {"random_in_cache", random_in_cache}, {"random_100_mib", random_100_mib},   {"random_1_gib", random_1_gib},
    {"random_wide", random_wide},         {"large_100k", large_100k},           {"large_1m", large_1m},
    {"large_20m", large_20m},             {"realloc_grow", realloc_grow},       {"calloc_mixed", calloc_mixed},
    {"trees", trees},                     {"fragmentation", fragmentation},     {"producer_consumer", producer_consumer},
    {"server_4", server_4},               {"server_16", server_16},             {"threads_own_8", threads_own_8},
    {"thread_churn", thread_churn},
};

int main(int argc, char **argv)
{
    return run_one(workload, sizeof workload / sizeof workload[0], argc, argv);
}
