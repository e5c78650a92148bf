/* How long single calls take: every malloc and every free of a workload is timed, and what is printed are the quantiles of each.
 *
 * usage: tails SHAPE [SCALE]
 *   churn    two threads replace blocks in one table: half of what a thread frees, the other one has allocated
 *   decay    one thread replaces small blocks while 300 MB that it has freed before go back to the OS; 12 s at scale 1
 *   large    one thread replaces a hundred blocks of 4 KiB to 4 MiB, which do not fit into its caches
 * A line for malloc and one for free: the call, its count, then median, 99.9 %, 99.99 % and greatest in nanoseconds, and what the
 * greatest was. A call that was interrupted by the scheduler is counted like any other; it is named so if it was the greatest. */
#include <math.h>
#include <sys/resource.h>
#include <time.h>

#include "workload.h"

/* Buckets: exact below 16 ticks, then 16 for each power of two, so that a quantile is known to 6 %. */
#define LG_SUB 4
#define BUCKETS (64 << LG_SUB)
#define SLOW_NS 20000.0         /* of calls slower than this one, the cause is looked for */

struct tail {
    uint64_t count[BUCKETS], calls, greatest;
    char     cause[80];
};

static struct tail     all_malloc, all_free;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
static double          ns_per_tick;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#if defined __x86_64__
static inline uint64_t ticks(void)              /* after all loads and stores before it have ended */
{
    uint32_t low, high;
    __asm__ volatile("mfence\n\tlfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}
#else
static inline uint64_t ticks(void)
{
    return (uint64_t)now_ns();
}
#endif

static size_t bucket_of(uint64_t t)
{
    if (t < 1 << LG_SUB) {
        return t;
    }
    unsigned lg = 63 - (unsigned)__builtin_clzll(t);
    return ((size_t)(lg - LG_SUB + 1) << LG_SUB) + (t >> (lg - LG_SUB)) % (1 << LG_SUB);
}

static uint64_t bucket_end(size_t b)
{
    size_t lg = (b >> LG_SUB) + LG_SUB - 1;
    return b < 1 << LG_SUB ? b : ((uint64_t)(1 << LG_SUB) + b % (1 << LG_SUB) + 1) << (lg - LG_SUB);
}

/* ---- one thread's calls -------------------------------------------------------------------------------------------- */

struct timer {
    struct tail   in_malloc, in_free;
    struct rusage before;       /* as it was lately */
};

/* Looks at the thread's counters from time to time, so that what they say after a slow call is of that call or just before it. */
static void look(struct timer *t)
{
    getrusage(RUSAGE_THREAD, &t->before);
}

static void note(struct timer *t, struct tail *tail, uint64_t spent, size_t bytes)
{
    tail->count[bucket_of(spent)]++;
    if (tail->calls++ % 64 == 0) {
        look(t);
    }
    if (spent > tail->greatest) {
        tail->greatest = spent;
        if ((double)spent * ns_per_tick > SLOW_NS) {
            struct rusage u;
            getrusage(RUSAGE_THREAD, &u);
            long faults = u.ru_minflt - t->before.ru_minflt, waits = u.ru_nvcsw - t->before.ru_nvcsw, taken = u.ru_nivcsw - t->before.ru_nivcsw;
            snprintf(tail->cause, sizeof tail->cause, "%zu bytes%s%s, %ld faults", bytes, taken > 0 ? ", preempted" : "",
                     waits > 0 ? ", waited" : "", faults);
            look(t);
        } else {
            snprintf(tail->cause, sizeof tail->cause, "%zu bytes", bytes);
        }
    }
}

static size_t *timed_malloc(struct timer *t, size_t bytes)
{
    uint64_t begin = ticks();
    size_t  *p = malloc(bytes);
    note(t, &t->in_malloc, ticks() - begin, bytes);
    *(volatile size_t *)p = bytes;
    return p;
}

static void timed_free(struct timer *t, size_t *p)
{
    if (p != NULL) {
        size_t   bytes = *p;
        uint64_t begin = ticks();
        free(p);
        note(t, &t->in_free, ticks() - begin, bytes);
    }
}

static void add(struct tail *to, const struct tail *from)
{
    for (size_t b = 0; b < BUCKETS; b++) {
        to->count[b] += from->count[b];
    }
    to->calls += from->calls;
    if (from->greatest > to->greatest) {
        to->greatest = from->greatest;
        memcpy(to->cause, from->cause, sizeof to->cause);
    }
}

static void finish(struct timer *t)
{
    pthread_mutex_lock(&adding);
    add(&all_malloc, &t->in_malloc);
    add(&all_free, &t->in_free);
    pthread_mutex_unlock(&adding);
}

/* ---- shapes -------------------------------------------------------------------------------------------------------- */

#define TABLE 20000
static size_t *volatile table[TABLE];

static void *churn_body(void *argument)
{
    struct dice  d = {(size_t)argument * 77};
    struct timer t = {0};
    look(&t);
    for (size_t i = 0; i < times(4e6); i++) {
        size_t *p = timed_malloc(&t, small(&d));
        timed_free(&t, __atomic_exchange_n(&table[roll(&d) % TABLE], p, __ATOMIC_ACQ_REL));
    }
    finish(&t);
    return NULL;
}

static void churn(void) { run(2, churn_body); }

static void *decay_body(void *argument)
{
    enum { BIG = 300 };
    struct dice  d = {(size_t)argument * 5};
    struct timer t = {0};
    char        *big[BIG];
    size_t      *p[1000] = {0};
    for (size_t i = 0; i < BIG; i++) {
        memset(big[i] = malloc(1 << 20), 1, 1 << 20);
    }
    for (size_t i = 0; i < BIG; i++) {
        free(big[i]);
    }
    look(&t);
    for (double begin = now_ns(); now_ns() - begin < 12e9 * scale;) {
        for (size_t i = 0; i < 1000; i++) {
            size_t k = roll(&d) % 1000;
            timed_free(&t, p[k]);
            p[k] = timed_malloc(&t, small(&d));
        }
    }
    finish(&t);
    return NULL;
}

static void decay(void) { run(1, decay_body); }

static void *large_body(void *argument)
{
    struct dice  d = {(size_t)argument * 3};
    struct timer t = {0};
    size_t      *p[100] = {0};
    look(&t);
    for (size_t i = 0; i < times(1e6); i++) {
        size_t k = roll(&d) % 100, least = (size_t)4096 << roll(&d) % 10;
        timed_free(&t, p[k]);
        p[k] = timed_malloc(&t, least + roll(&d) % least);
    }
    finish(&t);
    return NULL;
}

static void large(void) { run(1, large_body); }

/* ---- what is printed ------------------------------------------------------------------------------------------------ */

static double quantile(const struct tail *tail, double share)
{
    uint64_t below = 0, wanted = (uint64_t)ceil((double)tail->calls * share);
    size_t   b = 0;
    while (b < BUCKETS - 1 && (below += tail->count[b]) < wanted) {
        b++;
    }
    return (double)bucket_end(b) * ns_per_tick;
}

static void print(const char *call, const struct tail *tail)
{
    printf("%s\t%lu\t%.0f\t%.0f\t%.0f\t%.0f\t%s\n", call, tail->calls, quantile(tail, 0.5), quantile(tail, 0.999), quantile(tail, 0.9999),
           (double)tail->greatest * ns_per_tick, tail->cause);
}

static const struct workload workload[] = {{"churn", churn}, {"decay", decay}, {"large", large}};

int main(int argc, char **argv)
{
    double   begin = now_ns();
    uint64_t first = ticks();
    while (now_ns() - begin < 2e7) {
    }
    ns_per_tick = (now_ns() - begin) / (double)(ticks() - first);
    int status = run_one(workload, sizeof workload / sizeof workload[0], argc, argv);
    if (status == 0 && argc > 1) {
        print("malloc", &all_malloc);
        print("free", &all_free);
    }
    return status;
}
