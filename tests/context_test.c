/* context_test: random samples and frees by threads that come and go, against plain arrays of counts. Memory fails now and then. */
#include <string.h>

#include "blocks_boot.h"
#include "ds/rb_tree.h"
#include "prof/context.h"

#define THREADS 9U
#define TRACES 40U
#define HELD 2000U

static struct tcache *cache[THREADS];           /* caches are named only, and never looked into */
static char           name[THREADS];
static uint64_t       count[TRACES];            /* live samples */
static uint64_t       bytes[TRACES];

static struct held {
    uint32_t x;
    uint32_t trace;
    uint32_t szind;
} held[HELD];
static uint32_t held_count;

static struct backtrace trace_of(uint32_t trace)
{
    struct backtrace bt = {.depth = 1 + trace % 7};
    for (uint32_t i = 0; i < bt.depth; i++) {
        bt.frame[i] = 4096 + trace / (i + 1) * 16 + (i == 0 ? trace : 0);
    }
    return bt;
}

static void sample(void)
{
    struct backtrace bt = trace_of((uint32_t)random_below(TRACES));
    struct held     *h = &held[held_count];
    h->trace = 0;
    for (uint32_t t = 0; t < TRACES; t++) {
        struct backtrace other = trace_of(t);
        if (other.depth == bt.depth && memcmp(other.frame, bt.frame, bt.depth * sizeof bt.frame[0]) == 0) {
            h->trace = t;
        }
    }
    h->szind = (uint32_t)random_below(SC_NSIZES / 2);
    struct thread *thread = context_thread(cache[random_below(THREADS)], true);
    h->x = thread == NULL ? 0 : context_add(thread, &bt, h->szind);
    if (h->x != 0) {
        count[h->trace] += 1;
        bytes[h->trace] += size_class_bytes(h->szind);
        held_count += 1;
    }
}

static void release(void)
{
    uint32_t i = (uint32_t)random_below(held_count);
    context_remove(held[i].x, held[i].szind);
    count[held[i].trace] -= 1;
    bytes[held[i].trace] -= size_class_bytes(held[i].szind);
    held[i] = held[--held_count];
}

/* The same backtrace has one context, with the sums of its threads. A thread's context is in its table and in one tree. A thread that has ended
 * stands apart, without its trails, as long as it has contexts. */
static void compare(void)
{
    uint32_t globals = 0, locals = 0, some = 0, contexts = 0;
    uint64_t cursor = 0, objects = 0, all = 0;
    for (uint32_t g = 0; (g = cuckoo_hash_next(&context_by_trace, &cursor)) != 0; globals++) {
        uint64_t sum = 0, sum_bytes = 0, before = 0;
        for (uint32_t x = rb_tree_first(g); x != 0; x = rb_tree_next(x), locals++) {
            const struct context *c = &AT(context_of, x);
            CHECK(c->whole == g && c->live.objects > 0 && c->thread->number > before);
            CHECK(c->thread->cache == NULL || cuckoo_hash_search(&c->thread->by_trace, AT(cuckoo_a, g), AT(cuckoo_b, g)) == x);
            before = c->thread->number;
            sum += c->live.objects;
            sum_bytes += c->live.bytes;
        }
        uint32_t t = 0;
        for (; t < TRACES; t++) {
            struct backtrace bt = trace_of(t);
            if (count[t] > 0 && bt.depth == AT(context_of, g).depth && memcmp(bt.frame, AT(context_of, g).frame,
                bt.depth * sizeof bt.frame[0]) == 0) {
                break;
            }
        }
        CHECK(t < TRACES && count[t] == sum && bytes[t] == sum_bytes);
    }
    for (uint32_t t = 0; t < TRACES; t++) {
        some += count[t] > 0 ? 1 : 0;
        objects += count[t];
        all += bytes[t];
    }
    for (const struct thread *t = context_threads; t != NULL; t = t->next) {
        CHECK(t->cache != NULL && t->walks.trail != NULL && *t->at == t);
        contexts += t->contexts;
    }
    for (const struct thread *t = context_ended; t != NULL; t = t->next) {
        CHECK(t->cache == NULL && t->walks.trail == NULL && *t->at == t && t->contexts > 0);
        contexts += t->contexts;
    }
    CHECK(contexts == locals);
    CHECK(globals == some && globals == context_globals && locals == context_locals);
    CHECK(context_live.objects == objects && context_live.bytes == all && objects == held_count);
}

/* 1 / (1 - e^(-Z/R)) for Z = R / 2, R, 2 R and 64 R, as others have computed it. */
static void test_weights(void)
{
    static const struct { uint64_t bytes; double weight; } known[] = {{2048, 2.541494083}, {4096, 1.581976707},
        {8192, 1.156517643}, {262144, 1.0}};
    context_reset(12);
    for (uint32_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        double estimate = (double)context_estimate(size_class_index(known[i].bytes)) / (double)known[i].bytes;
        CHECK(estimate > known[i].weight - 0.001 && estimate < known[i].weight + 0.001);
    }
}

int main(void)
{
    os_fake_reset();
    size_class_boot();
    for (uint32_t t = 0; t < THREADS; t++) {
        cache[t] = (struct tcache *)(void *)&name[t];
    }
    CHECK(context_boot(12, false));
    test_weights();
    for (uint32_t n = 0; n < 60000; n++) {
        uint64_t dice = random_below(100);
        if (dice == 0) {
            struct thread *thread = context_find(cache[random_below(THREADS)]);
            thread == NULL ? (void)0 : context_thread_end(thread);
        } else if (dice == 1) {
            os_fake_fail(OS_FAKE_METADATA, 1, 1 + random_below(3));
        } else if (held_count > 0 && (held_count == HELD || dice < 40 + n / 1000 % 40)) {
            release();
        } else {
            sample();
        }
        if (n % 64 == 0) {
            compare();
        }
    }
    while (held_count > 0) {
        release();
    }
    compare();
    CHECK(context_ended == NULL);
    for (uint32_t t = 0; t < THREADS; t++) {
        struct thread *thread = context_find(cache[t]);
        thread == NULL ? (void)0 : context_thread_end(thread);
    }
    CHECK(context_threads == NULL && context_ended == NULL);
    CHECK(context_globals == 0 && context_live.estimate == 0 && context_live.weight == 0);
    return blocks_done("context");
}
