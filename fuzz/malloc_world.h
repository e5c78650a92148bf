/* malloc_world: the world of fuzz/malloc_fuzz.c and of the C files that reproduce its crashes: logical threads, each with
 * its cache, over the deterministic OS, and the shadow model. */
#ifndef MALLOC_WORLD_H
#define MALLOC_WORLD_H

#include <errno.h>

#include "api/thread.h"
#include "blocks/arena.h"
#include "blocks/bin.h"
#include "tcache/stats.h"
#include "blocks_check.h"
#include "blocks_model.h"
#include "pages/pages.h"
#include "platform/countdown.h"
#include "platform/os_fake.h"
#include "prof/prof.h"
#include "qedmalloc/qedmalloc.h"
#include "reset.h"
#include "tcache/counting.h"

#define THREADS 6U
#define EXPLICIT_CACHES 4U
#define MAPPED_BYTES_MAX (1UL << 30)

unsigned long fuzz_operations;                          /* calls that take or give a block; churn is not counted */

static struct blocks_model model;
static struct tcache    *caches[THREADS];
static uint32_t          thread_now;
static bool              print;
static struct tcache    *counted_before;                /* the cache whose thread check_counts has looked at last, or NULL */

#define SHOW(...) (print ? (void)printf(__VA_ARGS__) : (void)0)

static bool standin(const struct tcache *t)
{
    return t == &tcache_unborn || t == &tcache_dead;
}

static void thread(uint32_t to)
{
    SHOW("thread(%u);\n", to);
    caches[thread_now] = thread_cache;
    thread_now = to;
    thread_cache = caches[to] == &tcache_dead ? &tcache_unborn : caches[to];
    countdown_left = 0;                                 /* each thread has its own; 0 asks the profiler anew */
}

static void thread_end(bool dead)                       /* dead: destructors that run later may still allocate */
{
    SHOW("thread_end(%d);\n", dead);
    if (!standin(thread_cache)) {
        prof_thread_end(thread_cache);
        counting_end(thread_cache, COUNTER_ALLOCATES);
        counting_end(thread_cache, COUNTER_PEAKS);
        depot_destroy(thread_cache);
    }
    thread_cache = dead ? &tcache_dead : &tcache_unborn;
    countdown_left = 0;
}

/* In the child the other threads are gone; here they end before, so that their blocks are not lost. */
static void fork_like(bool child)
{
    uint32_t self = thread_now;
    for (uint32_t t = 0; child && t < THREADS; t++) {
        if (t != self) {
            thread(t);
            thread_end(false);
        }
    }
    thread(self);
    SHOW("fork_like(%d);\n", child);
    depot_prefork(), arena_prefork(), bin_prefork(), pages_prefork();
    if (child) {
        pages_postfork_child(), bin_postfork_child(), arena_postfork_child(), depot_postfork_child(thread_cache);
    } else {
        pages_postfork_parent(), bin_postfork_parent(), arena_postfork_parent(), depot_postfork_parent();
    }
}

/* Before the first thread has a cache. Two more arenas, behind these, have pages of their own. */
static void arenas(uint32_t count)
{
    SHOW("arenas(%u);\n", count);
    arena_boot(count, false);
    (void)arena_create();
    (void)arena_create();
}

static unsigned arena_of(const void *block)             /* ARENAS_MAX where no block is */
{
    unsigned arena = ARENAS_MAX;
    size_t   bytes = sizeof arena;
    return qed_mallctl("arenas.lookup", &arena, &bytes, &block, sizeof block) == 0 ? arena : ARENAS_MAX;
}

static bool cache_holds(const struct tcache *t, uint32_t arena)
{
    for (uint32_t b = 1; b < TCACHE_STACKS; b++) {
        for (uint64_t i = t->floor[b] + 1; i <= t->top[b]; i++) {
            if (arena_of((void *)t->slot[i]) == arena) {
                return true;
            }
        }
    }
    return false;
}

static bool cache_has_none(const struct tcache *t)
{
    for (uint32_t b = 1; b < TCACHE_STACKS; b++) {
        if (t->top[b] != t->floor[b]) {
            return false;
        }
    }
    return true;
}

/* Whether the cache of a thread that is not at work, or an explicit one, has a block of the arena. */
static bool others_hold(uint32_t arena)
{
    bool held = false;
    for (uint32_t t = 0; t < THREADS; t++) {
        held |= t != thread_now && !standin(caches[t]) && cache_holds(caches[t], arena);
    }
    for (uint32_t n = 0; n < DEPOT_EXPLICIT; n++) {
        held |= depot_explicit[n] != NULL && cache_holds(depot_explicit[n], arena);
    }
    return held;
}

/* Ends all blocks of an arena that has been made, or the arena with them; then another one gets its number. */
static void arena_end(uint32_t arena, bool destroy)
{
    char     name[32];
    unsigned next = 0;
    size_t   bytes = sizeof next;
    bool     held = others_hold(arena);
    SHOW("arena_end(%u, %d);\n", arena, destroy);
    (void)snprintf(name, sizeof name, destroy ? "arena.%u.destroy" : "arena.%u.reset", arena);
    for (uint32_t i = model.count; !held && i > 0; i--) {
        if (arena_of(model.block[i - 1].address) == arena) {
            (void)blocks_model_remove(&model, i - 1);
        }
    }
    if (qed_mallctl(name, NULL, NULL, NULL, 0) != (held ? EAGAIN : 0)) {
        blocks_model_fail("an arena does not end, or does although a cache has a block of it", (void *)(uintptr_t)arena);
    }
    if (destroy && !held && (qed_mallctl("arenas.create", &next, &bytes, NULL, 0) != 0 || next != arena)) {
        blocks_model_fail("the number of an arena that has ended is lost", (void *)(uintptr_t)arena);
    }
    if (!held && (page_cache_mapped_npages[arena_pages(arena)] != 0) > !destroy) {
        blocks_model_fail("an arena that has ended keeps pages", (void *)(uintptr_t)arena);
    }
    counted_before = NULL;                              /* no thread counts blocks that end so */
}

/* Samples a block each 2^lg bytes in the mean. */
static void profile(uint32_t lg)
{
    const struct prof_options o = {.prof = true, .active = true, .thread_active = true, .lg_sample = lg, .lg_interval = -1, .depth = 4,
                                   .prefix = "fuzz", .backtrace = "libgcc"};
    SHOW("profile(%u);\n", lg);
    prof_start(thread_get(), &o);
}

/* The thread counts its bytes from now on, if it has a cache, and every other time their peak. */
static void counts(void)
{
    uint64_t value = 0;
    size_t   bytes = sizeof value;
    SHOW("counts();\n");
    int result = qed_mallctl(model.count % 2 == 0 ? "thread.allocated" : "thread.peak.read", &value, &bytes, NULL, 0);
    if (result != (standin(thread_cache) ? EAGAIN : 0) || counting_bytes(thread_cache) != (result == 0)) {
        blocks_model_fail("a thread counts where it should not, or does not", (void *)(uintptr_t)result);
    }
}

/* What a thread that counts has got and given back since the last look is what its blocks have become. */
static void check_counts(void)
{
    static struct counter was;
    static size_t         usable;
    bool                  counted = !standin(thread_cache) && counting_bytes(thread_cache);
    struct counter        c = counted ? *(const struct counter *)COUNTING_PLACE(thread_cache) : (struct counter){.allocated = 0};
    if (counted && counted_before == thread_cache) {
        uint64_t got = c.allocated - was.allocated, gone = c.deallocated - was.deallocated;
        if (got - gone != model.usable - usable || got > UINT64_MAX / 2 || gone > UINT64_MAX / 2) {
            blocks_model_fail("the thread has counted something else", (void *)(got - gone));
        }
        bool falls = (was.reasons & COUNTER_PEAKS) != 0 && c.peak < was.peak;
        if ((c.reasons & COUNTER_PEAKS) != 0 && (falls || c.peak < (int64_t)(c.allocated - c.deallocated))) {
            blocks_model_fail("the peak is too low", (void *)c.peak);
        }
    }
    counted_before = counted ? thread_cache : NULL;
    was = c;
    usable = model.usable;
}

/* ---- explicit caches --------------------------------------------------------------------------------------------- */

static unsigned cache_number[EXPLICIT_CACHES];          /* plus 1; 0: there is none */

static void cache_create(uint32_t k)
{
    unsigned number = 0;
    size_t   bytes = sizeof number;
    SHOW("cache_create(%u);\n", k);
    cache_number[k] = qed_mallctl("tcache.create", &number, &bytes, NULL, 0) == 0 ? number + 1 : 0;
    for (uint32_t j = 0; j < EXPLICIT_CACHES; j++) {
        if (j != k && cache_number[k] != 0 && cache_number[j] == cache_number[k]) {
            blocks_model_fail("two explicit caches have one number", (void *)(uintptr_t)number);
        }
    }
    for (uint32_t n = 0; cache_number[k] != 0 && n < DEPOT_EXPLICIT; n++) {
        if (n != number && depot_explicit[n] == depot_explicit[number]) {
            blocks_model_fail("one explicit cache has two numbers", (void *)(uintptr_t)number);
        }
    }
}

/* Blocks in an explicit cache. */
static uint64_t cache_held(uint32_t k)
{
    const struct tcache *t = cache_number[k] != 0 ? depot_explicit[cache_number[k] - 1] : NULL;
    uint64_t             n = 0;
    for (uint32_t b = 0; b < TCACHE_STACKS; b++) {
        n += t != NULL ? t->top[b] - t->floor[b] : 0;
    }
    return n;
}

/* Empties one of them, which may be destroyed by that. What the others have stays. */
static void cache_empty(uint32_t k, bool destroy)
{
    uint64_t held[EXPLICIT_CACHES];
    unsigned number = cache_number[k] - 1;              /* one that is not there: UINT_MAX */
    SHOW("cache_empty(%u, %d);\n", k, destroy);
    for (uint32_t j = 0; j < EXPLICIT_CACHES; j++) {
        held[j] = cache_held(j);
    }
    int result = qed_mallctl(destroy ? "tcache.destroy" : "tcache.flush", NULL, NULL, &number, sizeof number);
    if (result != (cache_number[k] != 0 ? 0 : EFAULT)) {
        blocks_model_fail("an explicit cache is refused, or none is not", (void *)(uintptr_t)number);
    }
    cache_number[k] = destroy ? 0 : cache_number[k];
    for (uint32_t j = 0; j < EXPLICIT_CACHES; j++) {
        if (cache_held(j) != (j == k ? 0 : held[j])) {
            blocks_model_fail("another explicit cache than the one that is named is emptied", (void *)(uintptr_t)j);
        }
    }
}

/* The flag for one of them, which is made now unless it is there, or no flag where it cannot be made. */
static int cache_flag(uint32_t k)
{
    if (cache_number[k] == 0) {
        cache_create(k);
    }
    return cache_number[k] == 0 ? 0 : MALLOCX_TCACHE(cache_number[k] - 1);
}

/* Slow events, so that the cache collects and pages decay. */
static void churn(uint32_t times)
{
    SHOW("churn(%u);\n", times);
    for (; times > 0; times--) {
        qed_free(qed_malloc(100000));
    }
}

static void os_fake_fail_none(void)
{
    SHOW("os_fake_fail_none();\n");
    memset(os_fake.fail_count, 0, sizeof os_fake.fail_count);
}

static struct stats check_stats(void)
{
    uint32_t threads = 0;
    caches[thread_now] = thread_cache;
    for (uint32_t t = 0; t < THREADS; t++) {
        threads += standin(caches[t]) ? 0 : 1;
    }
    struct stats s = prof_read_totals();
    s.threads != threads ? blocks_model_fail("threads that have a cache", (void *)(uintptr_t)s.threads) : (void)0;
    s.mapped != os_fake.mapped_npages * PAGE
        ? blocks_model_fail("pages are lost: mapped differs from what the OS gave", (void *)s.mapped) : (void)0;
    s.allocated != model.usable ? blocks_model_fail("allocated differs from the live blocks", (void *)s.allocated) : (void)0;
    return s;
}

static void check_heap(void)                            /* contents, statistics, every invariant */
{
    SHOW("check_heap();\n");
    blocks_model_check_all(&model);
    (void)check_stats();
    blocks_check(model.block, model.count);
}

static void world_begin(void)
{
    reset();
    check_counts();
    os_fake.mapped_npages_max = MAPPED_BYTES_MAX / PAGE;
    thread_now = 0;
    memset(cache_number, 0, sizeof cache_number);
    for (uint32_t t = 0; t < THREADS; t++) {
        caches[t] = &tcache_unborn;
    }
}

static void world_end(void)     /* every block freed, every thread ended: every page is retained */
{
    os_fake_fail_none();
    os_fake.gap_npages = 0;
    check_heap();
    for (uint32_t k = 0; k < EXPLICIT_CACHES; k++) {
        cache_empty(k, true);
    }
    for (uint32_t i = 0; model.count > 0; i++) {
        if (i % 64 == 0) {
            thread(i / 64 % THREADS);
        }
        struct blocks_model_block b = blocks_model_remove(&model, model.count - 1);
        SHOW("gone(%u); qed_free(p[%u]);\n", b.id, b.id);
        qed_free(b.address);
    }
    for (uint32_t t = 0; t < THREADS; t++) {
        thread(t);
        thread_end(false);
    }
    thread(0);
    for (uint32_t c = 0; c < PAGE_CACHES; c++) {
        pages_set_decay(c, 10000, 0);
    }
    pages_trim();
    struct stats s = check_stats();
    if (s.allocated + s.cached + s.dirty + s.muzzy != 0) {
        blocks_model_fail("something is left at the end", (void *)(s.allocated + s.cached + s.dirty + s.muzzy));
    }
    model.next_id = 0;
}

#endif
