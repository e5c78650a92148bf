/* What the heap profiler must do, from the inside: linked with the library's own objects, so that seeds can be set and counters read.
 *
 * usage: MALLOC_CONF=... check estimate|intervals|counter|contexts|threads|control
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/thread.h"
#include "ds/rb_tree.h"
#include "math/size_class.h"
#include "platform/countdown.h"
#include "prof/context.h"
#include "prof/prof.h"
#include "tcache/counting.h"

#include "qedmalloc/qedmalloc.h"

static int failures;

#define CHECK(good, ...) ((good) ? (void)0 : (failures++, (void)fprintf(stderr, "check: line %d: ", __LINE__), \
    (void)fprintf(stderr, __VA_ARGS__), (void)fputc('\n', stderr)))

static struct prof_stats now(void)
{
    struct prof_stats s;
    prof_read_stats(&s);
    return s;
}

static void in_thread(void *(*f)(void *), void *arg)
{
    pthread_t thread;
    pthread_create(&thread, NULL, f, arg);
    pthread_join(thread, NULL);
}

/* ---- estimates --------------------------------------------------------------------------------------------------- */

#define SEEDS 100
#define BLOCKS_MAX 200000

struct trial {
    const size_t *sizes;        /* as many as there are, then 0 */
    size_t        bytes;        /* of all blocks together, at least */
    double        truth;        /* bytes that were live, by their classes */
    double        estimate;
};

static void *estimate_once(void *arg)
{
    static void  *block[BLOCKS_MAX];
    struct trial *t = arg;
    size_t        count = 0;
    for (size_t i = 0, bytes = 0; bytes < t->bytes; i = t->sizes[i + 1] == 0 ? 0 : i + 1) {
        block[count] = qed_malloc(t->sizes[i]);
        bytes += t->sizes[i];
        t->truth += (double)qed_malloc_usable_size(block[count++]);
    }
    t->estimate = (double)now().estimate;
    while (count > 0) {
        qed_free(block[--count]);
    }
    return NULL;
}

/* Over the seeds the mean estimate lies within 2.576 of its standard errors of the truth: the 99 % interval. */
static void estimate(const char *name, uint32_t lg_sample, const size_t *sizes, size_t bytes)
{
    double sum = 0, squares = 0, truth = 0;
    prof_reset(lg_sample);
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        struct trial t = {.sizes = sizes, .bytes = bytes};
        context_seed = seed;
        in_thread(estimate_once, &t);
        sum += t.estimate;
        squares += t.estimate * t.estimate;
        truth = t.truth;
        CHECK(now().live == 0 && now().estimate == 0 && now().contexts == 0, "%s: %lu samples are live after all frees", name, now().live);
    }
    double mean = sum / SEEDS, error = sqrt((squares / SEEDS - mean * mean) / (SEEDS - 1));
    printf("estimate %-8s truth %.0f, mean of %d seeds %.0f (%+.2f %%), standard error %.0f: %.2f of them away\n", name, truth, SEEDS, mean,
           (mean / truth - 1) * 100, error, fabs(mean - truth) / error);
    CHECK(fabs(mean - truth) <= 2.576 * error, "%s: the estimate is not within its 99 %% interval", name);
}

static void estimates(void)
{
    static const size_t tiny[] = {16, 0}, kilo[] = {1024, 0}, mega[] = {1 << 20, 0}, mix[] = {16, 1024, 40, 7, 300000, 5000, 100, 0};
    estimate("16 B", 14, tiny, 2 << 20);
    estimate("1 KiB", 14, kilo, 32 << 20);
    estimate("1 MiB", 20, mega, 64 << 20);
    estimate("mix", 16, mix, 32 << 20);
}

/* ---- intervals --------------------------------------------------------------------------------------------------- */

#define INTERVALS 20000

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Blocks of 8 bytes from one sample to the next. With p = 1 - e^(-8/R) for each, their number is geometric. */
static void *intervals_once(void *arg)
{
    static double n[INTERVALS];
    double        sum = 0, p = 1 - exp(-8.0 / (double)(1UL << prof_options.lg_sample)), worst = 0;
    (void)arg;
    for (int i = 0; i < INTERVALS; i++) {
        for (bool sampled = false; !sampled; n[i] += 1) {
            void *block = qed_malloc(8);
            sampled = prof_usable((uint64_t)block) != 0;
            qed_free(block);
        }
        sum += n[i];
    }
    qsort(n, INTERVALS, sizeof *n, by_size);
    for (int i = 0; i < INTERVALS; i++) {
        if (i + 1 == INTERVALS || n[i + 1] > n[i]) {
            double below = 1 - pow(1 - p, n[i]), seen = (i + 1.0) / INTERVALS;
            worst = fmax(worst, fabs(below - seen));
        }
    }
    double mean = sum / INTERVALS, wanted = 1 / p;
    printf("intervals %d at R = %lu: mean %.2f blocks of 8 bytes, wanted %.2f (%+.2f %%); "
           "Kolmogorov and Smirnov's D %.5f, 1 %% bound %.5f\n", INTERVALS,
           1UL << prof_options.lg_sample, mean, wanted, (mean / wanted - 1) * 100, worst, 1.628 / sqrt(INTERVALS));
    CHECK(fabs(mean / wanted - 1) < 0.01, "the mean is off by more than 1 %%");
    CHECK(worst < 1.628 / sqrt(INTERVALS), "the intervals are not geometric");
    return NULL;
}

/* ---- the counter ------------------------------------------------------------------------------------------------- */

/* The bytes that are left in all counts of the thread. */
static uint64_t left(void)
{
    const struct thread  *me = context_find(thread_cache);
    const struct counter *c = (const struct counter *)COUNTING_PLACE(thread_cache);
    uint64_t              sum = countdown_left + (me == NULL ? 0 : me->more);
    for (uint32_t szind = 0; szind < SC_NBINS; szind++) {
        sum += (uint64_t)c->left[szind + 1] * size_class_bytes(szind);
    }
    return sum;
}

/* Whatever a block is asked for with, its bytes are counted once: one of the counts falls by the bytes of its class, or a sample is taken. */
static uint64_t counted, samples;

static void *once(uint64_t before, void *block, const char *call)
{
    if (prof_usable((uint64_t)block) != 0) {
        samples++;
    } else {
        CHECK(before - left() == qed_malloc_usable_size(block), "%s of %zu bytes counts %lu", call,
            qed_malloc_usable_size(block), before - left());
        counted++;
    }
    return block;
}

static void *counter_once(void *arg)
{
    (void)arg;
    qed_free(qed_malloc(1));
    for (size_t size = 1; size < 600000; size += 1 + size / 37) {
        uint64_t before = left();
        void    *p = once(before, qed_malloc(size), "malloc"), *q = NULL;
        before = left();
        qed_free(p);
        CHECK(before == left(), "free counts");
        before = left();
        p = once(before, qed_calloc(1, size), "calloc");
        before = left();
        qed_free(once(before, qed_aligned_alloc(64, size), "aligned_alloc"));
        before = left();
        CHECK(qed_posix_memalign(&q, 8192, size) == 0, "posix_memalign fails");
        qed_free(once(before, q, "posix_memalign"));
        before = left();
        qed_free(once(before, qed_mallocx(size, MALLOCX_ZERO), "mallocx"));
        before = left();
        size_t was = qed_malloc_usable_size(p);
        q = qed_realloc(p, size * 2 + 64);
        if (before - left() != 0 || qed_malloc_usable_size(q) != was) {
            once(before, q, "realloc");
        }
        before = left();
        q = qed_realloc(q, qed_malloc_usable_size(q));
        CHECK(before == left(), "realloc to the same class counts");
        qed_free(q);
    }
    printf("counter: %lu allocations count their bytes once, %lu were samples\n", counted, samples);
    CHECK(samples > 10 && counted > 1000, "too few");
    return NULL;
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

#define STACKS 32
#define THREADS 8
#define ROUNDS 4

static void *held[THREADS][ROUNDS][STACKS];

static __attribute__((noinline)) void *path(unsigned bits, unsigned depth);
static __attribute__((noinline)) void *path_left(unsigned bits, unsigned depth) { void *p = path(bits, depth);
    __asm__ volatile("" ::: "memory"); return p; }
static __attribute__((noinline)) void *path_right(unsigned bits, unsigned depth) { void *p = path(bits, depth);
    __asm__ volatile("" ::: "memory"); return p; }

static void *path(unsigned bits, unsigned depth)
{
    void *p = depth == 0 ? qed_malloc(200000) : bits % 2 == 0 ? path_left(bits / 2, depth - 1) : path_right(bits / 2, depth - 1);
    __asm__ volatile("" ::: "memory");
    return p;
}

static void *contexts_once(void *arg)
{
    uintptr_t t = (uintptr_t)arg;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < STACKS; i++) {
            held[t][round][i] = path(i, 5);
        }
    }
    return NULL;
}

/* A thread's context is in its global context's tree if and only if it is in the thread's table. */
static void check_links(void)
{
    uint32_t globals = 0, locals = 0;
    uint64_t cursor = 0;
    mutex_lock(&context_lock);
    for (uint32_t g = 0; (g = cuckoo_hash_next(&context_by_trace, &cursor)) != 0; globals++) {
        for (uint32_t x = rb_tree_first(g); x != 0; x = rb_tree_next(x), locals++) {
            CHECK(AT(context_of, x).whole == g && AT(context_of, x).live.objects > 0, "a context is under another one, or empty");
        }
    }
    CHECK(globals == context_globals && locals == context_locals, "%u and %u contexts are counted as %u and %u", globals,
        locals, context_globals, context_locals);
    mutex_unlock(&context_lock);
}

static void contexts(void)
{
    pthread_t thread[THREADS];
    for (uintptr_t t = 0; t < THREADS; t++) {
        pthread_create(&thread[t], NULL, contexts_once, (void *)t);
    }
    for (unsigned t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
    }
    struct prof_stats s = now();
    printf("contexts: %d threads with %d stacks: %lu contexts, %lu of threads, %lu samples, %lu dropped\n", THREADS,
        STACKS, s.contexts, s.thread_contexts,
           s.live, s.dropped);
    CHECK(s.contexts == STACKS && s.thread_contexts <= THREADS * STACKS && s.live == THREADS * STACKS * ROUNDS
        && s.dropped == 0, "other numbers are wanted");
    check_links();
    for (unsigned t = 0; t < THREADS; t++) {
        for (unsigned i = 0; i < ROUNDS * STACKS; i++) {
            qed_free(held[t][i / STACKS][i % STACKS]);
        }
    }
    s = now();
    CHECK(s.contexts == 0 && s.thread_contexts == 0 && s.live == 0 && s.live_bytes == 0 && s.estimate == 0
        && s.rounding == 0, "counts are left after all frees");
}

/* ---- threads that end ---------------------------------------------------------------------------------------------- */

#define ENDED 3000

static void *left_behind[ENDED];

static void *leave(void *arg)
{
    while (prof_usable((uint64_t)*(void **)arg) == 0) {
        qed_free(*(void **)arg);
        *(void **)arg = qed_malloc(64);
    }
    return NULL;
}

static uint32_t threads_in(const struct thread *t)
{
    uint32_t n = 0;
    mutex_lock(&context_lock);
    for (; t != NULL; t = t->next) {
        n++;
    }
    mutex_unlock(&context_lock);
    return n;
}

/* Lines of the dump that name a thread, once each before the first stack. */
static uint32_t dumped_threads(void)
{
    char     path[] = "/tmp/qed-prof-check-XXXXXX", line[4096];
    uint32_t n = 0;
    FILE    *file = fdopen(mkstemp(path), "r");
    CHECK(file != NULL && prof_dump(path) == 0, "no dump");
    while (file != NULL && fgets(line, sizeof line, file) != NULL && line[0] != '@') {
        n += strncmp(line, "  t", 3) == 0 && line[3] != '*' ? 1 : 0;
    }
    file == NULL ? 0 : fclose(file);
    remove(path);
    return n;
}

/* Who looks for a thread meets those that run. Those that have ended stay in dumps as long as they have blocks. */
static void threads(void)
{
    for (uint32_t i = 0; i < ENDED; i++) {
        in_thread(leave, &left_behind[i]);
    }
    uint32_t running = threads_in(context_threads), ended = threads_in(context_ended), dumped = dumped_threads();
    printf("threads: %u run, %u have ended, %u are in a dump; %zu bytes each\n", running, ended, dumped, sizeof(struct thread));
    CHECK(running <= 1 && ended == ENDED && dumped == running + ended, "other numbers are wanted");
    CHECK(sizeof(struct thread) <= 512, "a thread that has ended keeps too much");
    for (uint32_t i = 0; i < ENDED; i++) {
        qed_free(left_behind[i * 7 % ENDED]);
    }
    CHECK(threads_in(context_ended) == 0 && now().live == 0, "threads that have ended are left after all frees");
}

/* ---- control ----------------------------------------------------------------------------------------------------- */

static uint64_t sampled_by(unsigned blocks)
{
    uint64_t before = now().sampled;
    for (unsigned i = 0; i < blocks; i++) {
        qed_free(qed_malloc(100));
    }
    return now().sampled - before;
}

static int set(const char *name, bool value)
{
    return qed_mallctl(name, NULL, NULL, &value, sizeof value);
}

static void *other(void *arg)
{
    *(uint64_t *)arg = sampled_by(1000);
    return NULL;
}

static void control(void)
{
    uint64_t    others = 0;
    size_t      lg = 3;
    const char *name = "a thread", *back = NULL;
    size_t      bytes = sizeof(void *);
    CHECK(sampled_by(1000) > 100, "nothing is sampled");
    CHECK(set("prof.active", false) == 0 && sampled_by(1000) == 0, "prof.active false does not stop it");
    CHECK(thread_cache->lookup_end != 0, "the fast path stays closed");
    CHECK(set("prof.active", true) == 0 && sampled_by(1000) > 100, "prof.active true does not begin again");
    CHECK(set("thread.prof.active", false) == 0 && sampled_by(1000) == 0, "thread.prof.active false does not stop the thread");
    in_thread(other, &others);
    CHECK(others > 100, "thread.prof.active false stops others");
    CHECK(set("thread.prof.active", true) == 0 && sampled_by(1000) > 100, "thread.prof.active true does not begin again");
    CHECK(set("prof.thread_active_init", false) == 0, "prof.thread_active_init cannot be set");
    in_thread(other, &others);
    CHECK(others == 0, "prof.thread_active_init false does not keep new threads off");
    CHECK(qed_mallctl("thread.prof.name", NULL, NULL, &name, sizeof(void *)) == 0, "thread.prof.name cannot be set");
    CHECK(qed_mallctl("thread.prof.name", &back, &bytes, NULL, 0) == 0 && strcmp(back, name) == 0, "thread.prof.name is another one");
    void *p = NULL;
    while (prof_usable((uint64_t)p) == 0) {
        qed_free(p);
        p = qed_malloc(100);
    }
    CHECK(now().live == 1, "one block is live, and %lu are counted", now().live);
    CHECK(qed_mallctl("prof.reset", NULL, NULL, &lg, sizeof lg) == 0 && now().live == 0 && now().contexts == 0, "prof.reset leaves samples");
    CHECK(prof_options.lg_sample == 3, "prof.reset does not set lg_sample");
    CHECK(qed_malloc_usable_size(p) == 112, "a block of before is forgotten");
    qed_free(p);
    CHECK(now().live == 0 && now().rounding == 0, "a block of before is subtracted");
    char        text[PROF_PREFIX_BYTES + 1] = "";
    const char *prefix = text;
    CHECK(qed_mallctl("prof.prefix", NULL, NULL, &prefix, sizeof(void *)) == 0, "prof.prefix cannot be empty");
    CHECK(qed_mallctl("prof.dump", NULL, NULL, NULL, 0) == EFAULT, "prof.dump without a name makes one without a prefix");
    memset(text, 'p', PROF_PREFIX_BYTES);
    CHECK(qed_mallctl("prof.prefix", NULL, NULL, &prefix, sizeof(void *)) == EINVAL, "prof.prefix takes too much");
    prefix++;
    CHECK(qed_mallctl("prof.prefix", NULL, NULL, &prefix, sizeof(void *)) == 0, "prof.prefix does not take 127 bytes");
    printf("control: active, thread.active, thread_active_init, thread.name, reset, prefix\n");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    context_seed = 1;
    if (strcmp(what, "estimate") == 0) {
        estimates();
    } else if (strcmp(what, "intervals") == 0) {
        in_thread(intervals_once, NULL);
    } else if (strcmp(what, "counter") == 0) {
        in_thread(counter_once, NULL);
    } else if (strcmp(what, "contexts") == 0) {
        contexts();
    } else if (strcmp(what, "threads") == 0) {
        threads();
    } else if (strcmp(what, "control") == 0) {
        control();
    } else {
        return 2;
    }
    return failures != 0;
}
