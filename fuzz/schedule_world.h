/* schedule_world: small programs of a few threads, run over the deterministic OS in a given order (schedule.h).
 *
 * A program is a list of calls for each thread. Blocks lie in slots that all threads share: what one thread has taken another one may free,
 * as soon as the call that gave it has returned. Before each run the world is put back, to before the library's boot (cold), or to where each
 * thread has what its kind says: a cache, none yet, or none any more, so that its calls go straight to the bins.
 */
#ifndef SCHEDULE_WORLD_H
#define SCHEDULE_WORLD_H

#include <errno.h>

#include "schedule.h"

#define BLOCKS_MODEL_FAIL schedule_fail
#include "api/ctl.h"
#include "api/thread.h"
#include "blocks_check.h"
#include "pages/pages.h"
#include "platform/os_fake.h"
#include "qedmalloc/qedmalloc.h"
#include "tcache/stats.h"

#define SLOTS 8U
#define CALLS_MAX 12U                       /* of a thread */
#define SIZES 8U

enum call { MALLOC, FREE, REALLOC, CALLOC, USABLE, EXIT, STATS, TRIM, DECAY, FORK, REFUSE, EPOCH, FLUSH, SET_DECAY, CALL_KINDS };
enum kind { CACHED, UNBORN, DEAD, KINDS };

struct step {
    uint8_t call, slot, size;
};

struct program {
    uint32_t    threads, arenas;
    bool        cold, filled;               /* filled: each slot has a block of 14336 bytes. There are two slabs of four such blocks. */
    uint8_t     kind[SCHEDULE_THREADS];
    uint32_t    count[SCHEDULE_THREADS];
    struct step step[SCHEDULE_THREADS][CALLS_MAX];
};

struct slot {
    uint8_t              *block;
    size_t                bytes, usable;
    bool                  busy;
    struct schedule_clock clock;
};

static const size_t size_of[SIZES] = {8, 100, 2048, 14336, 16384, 100000, 300000, 1 << 20};

static struct {
    struct slot slot[SLOTS];
    bool        refused;                    /* the OS has refused something */
} world;

static const struct program *program;
static uint64_t              schedule_count;

/* ---- what must hold ---------------------------------------------------------------------------------------------- */

/* Rows of proofs/data/unlocked.tsv with plain accesses: statistics read the heights of other threads' stacks; and a thread that has no cache
 * yet asks the first stand-in where its table ends while another one boots. The table names no stack, wherever it ends. */
bool schedule_expects(uintptr_t a)
{
    if (a - (uintptr_t)&tcache_unborn.lookup_end < sizeof tcache_unborn.lookup_end) {
        return true;
    }
    for (const struct tcache *t = depot_list; t != NULL; t = t->next) {
        if (a - (uintptr_t)t->top < sizeof t->top) {
            return true;
        }
    }
    return false;
}

static void check_stamp(const struct slot *s, uint32_t i)
{
    uint64_t first, last;
    memcpy(&first, s->block, sizeof first);
    memcpy(&last, s->block + s->usable - sizeof last, sizeof last);
    if (last != (uintptr_t)s->block || first != (uintptr_t)s->block) {
        schedule_fail("p[%u] = %p has changed", i, (void *)s->block);
    }
}

static void check_slots(void)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        world.slot[i].block != NULL ? check_stamp(&world.slot[i], i) : (void)0;
    }
}

uint64_t schedule_model(void)
{
    uint64_t h = world.refused;
    for (uint32_t i = 0; i < SLOTS; i++) {
        const struct slot *s = &world.slot[i];
        h = (h ^ h >> 32) * 0x9E3779B97F4A7C15UL + (uintptr_t)s->block + s->bytes * 0xBF58476D1CE4E5B9UL + s->usable * 0x94D049BB133111EBUL;
    }
    return h;
}

struct schedule_variables schedule_variables(void)
{
    return (struct schedule_variables){&world, sizeof world};
}

/* Nobody holds a lock. What a thread purges is BUSY, and the rest of the page cache is whole. */
void schedule_check(void)
{
    check_slots();
    if (thread_booted && !pages_purging) {
        bool busy = false;
        for (uint32_t e = 1; e <= extent_count; e++) {
            busy = busy || AT(ext_state, e) == EXTENT_BUSY;
        }
        busy ? (void)0 : blocks_check_pages();
    }
}

static void put(uint32_t i, void *p, size_t bytes)
{
    struct slot *s = &world.slot[i];
    size_t       usable = qed_malloc_usable_size(p);
    s->busy = false;
    if (p == NULL) {
        world.refused ? (void)0 : schedule_fail("no memory, and the OS has refused none");
        return;
    }
    for (uint32_t k = 0; k < SLOTS; k++) {
        const struct slot *o = &world.slot[k];
        if (o->block != NULL && o->block < (uint8_t *)p + usable && (uint8_t *)p < o->block + o->usable) {
            schedule_fail("p[%u] = %p overlaps p[%u] = %p", i, p, k, (void *)o->block);
        }
    }
    *s = (struct slot){.block = p, .bytes = bytes, .usable = usable};
    schedule_write(p, (uintptr_t)p);
    schedule_write((uint8_t *)p + usable - 8, (uintptr_t)p);
    schedule_send(&s->clock);
}

static void *take(uint32_t i)
{
    struct slot *s = &world.slot[i];
    void        *p = s->block;
    check_stamp(s, i);
    schedule_receive(&s->clock);
    s->block = NULL;
    return p;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void call_take(const struct step *c)
{
    struct slot *s = &world.slot[c->slot];
    size_t       bytes = size_of[c->size];
    if (s->busy || s->block != NULL) {
        return;
    }
    s->busy = true;
    schedule_say("p[%u] = qed_%s%zu);", c->slot, c->call == CALLOC ? "calloc(1, " : "malloc(", bytes);
    uint8_t *p = c->call == CALLOC ? qed_calloc(1, bytes) : qed_malloc(bytes);
    if (p != NULL && c->call == CALLOC) {
        uint64_t first, last;
        memcpy(&first, p, 8);
        memcpy(&last, p + bytes - 8, 8);
        first != 0 || last != 0 ? schedule_fail("calloc is not zero: %p has %#lx and %#lx", (void *)p,
            (unsigned long)first, (unsigned long)last) : (void)0;
    }
    put(c->slot, p, bytes);
}

static void call_give(const struct step *c)
{
    struct slot *s = &world.slot[c->slot];
    if (s->block == NULL) {
        return;
    }
    if (c->call == USABLE) {
        void *p = take(c->slot);
        schedule_say("qed_malloc_usable_size(p[%u]);", c->slot);
        s->busy = true;
        qed_malloc_usable_size(p) != s->usable ? schedule_fail("another usable size") : (void)0;
        put(c->slot, p, s->bytes);
    } else if (c->call == FREE) {
        void *p = take(c->slot);
        schedule_say("qed_free(p[%u]);", c->slot);
        qed_free(p);
    } else {
        uint8_t *old = take(c->slot);
        size_t   bytes = size_of[c->size], was = s->bytes;
        uint64_t first = (uintptr_t)old, is = 0;
        schedule_say("p[%u] = qed_realloc(p[%u], %zu);", c->slot, c->slot, bytes);
        s->busy = true;
        uint8_t *p = qed_realloc(old, bytes);
        p != NULL ? (void)memcpy(&is, p, 8) : (void)0;
        p != NULL && is != first ? schedule_fail("realloc lost the prefix") : (void)0;
        put(c->slot, p != NULL ? p : old, p != NULL ? bytes : was);
    }
}

static void call_exit(void)                 /* the next calls are those of a new thread, or of destructors that run later */
{
    schedule_say("thread ends");
    if (thread_cache != &tcache_unborn && thread_cache != &tcache_dead) {
        thread_exit(thread_cache);
    }
}

static void call_again(void)
{
    thread_cache = thread_cache == &tcache_dead ? &tcache_unborn : thread_cache;
}

static void call_stats(void)
{
    schedule_say("stats_read();");
    thread_get();
    struct stats s = stats_read();
    if (s.allocated + s.cached > s.active || s.active + s.dirty + s.muzzy + s.retained != s.mapped) {
        schedule_fail("the statistics do not add up");
    }
}

/* The child goes on with this thread alone, from the memory of this moment. */
static void child_of_fork(void)
{
    schedule_alone(true);
    schedule_fork.child();
    check_slots();
    blocks_check_pages();
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (world.slot[i].block != NULL) {
            qed_free(world.slot[i].block);
        }
        void *p = qed_malloc(size_of[i]);
        p == NULL && !world.refused ? schedule_fail("no memory in the child of a fork") : (void)0;
        qed_free(p);
    }
    (void)qed_malloc_trim(0);
    (void)stats_read();
    blocks_check_pages();
    thread_cache != &tcache_dead ? thread_exit(thread_cache) : (void)0;
}

static void call_fork(void)
{
    schedule_say("fork()");
    if (schedule_fork.prepare == NULL) {    /* the first call of all has not come so far */
        return;
    }
    schedule_fork.prepare();
    if (!schedule_checked(2)) {
        struct schedule_mark mark = schedule_mark();
        typeof(world)        keep = world;
        child_of_fork();
        schedule_undo(&mark);
        schedule_alone(false);
        world = keep;
    }
    schedule_fork.parent();
}

static void call_epoch(void)
{
    uint64_t epoch = 1;
    schedule_say("qed_mallctl(\"epoch\");");
    (void)qed_mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
}

static void call_set_decay(const struct step *c)
{
    static const char *const name[] = {"arenas.dirty_decay_ms", "arenas.muzzy_decay_ms"};
    ssize_t                  ms = c->size % 4 == 0 ? 10000 : c->size % 4 - 2, was;
    size_t                   bytes = sizeof was;
    schedule_say("qed_mallctl(\"%s\", %zd);", name[c->slot % 2], ms);
    (void)qed_mallctl(name[c->slot % 2], &was, &bytes, &ms, sizeof ms);
}

static void do_call(const struct step *c)
{
    errno = 0;
    switch (c->call) {
    case MALLOC: case CALLOC: call_take(c); break;
    case FREE: case REALLOC: case USABLE: call_give(c); break;
    case EXIT: call_exit(); c->size % 2 == 0 ? call_again() : (void)0; break;
    case STATS: call_stats(); break;
    case TRIM: schedule_say("qed_malloc_trim(0);"); (void)qed_malloc_trim(0); break;
    case DECAY:
        schedule_say("os_fake.clock_ms += 4000; pages_decay();");
        schedule_write(&os_fake.clock_ms, os_fake.clock_ms + 4000);
        thread_get();
        pages_decay();
        break;
    case FORK: call_fork(); break;
    case REFUSE:
        schedule_say("os_fake_fail(%u, 1, 1);", c->size % OS_FAKE_CALLS);
        schedule_write(&os_fake.fail_from[c->size % OS_FAKE_CALLS], os_fake.calls[c->size % OS_FAKE_CALLS] + 1);
        schedule_write(&os_fake.fail_count[c->size % OS_FAKE_CALLS], 1);
        world.refused = true;
        break;
    case EPOCH: call_epoch(); break;
    case SET_DECAY: call_set_decay(c); break;
    default:
        schedule_say("refill_flush(thread_get());");
        refill_flush(thread_get());
    }
}

static void body(uint32_t t)
{
    for (uint32_t i = 0; i < program->count[t]; i++) {
        schedule_between("goes on with its next call");
        do_call(&program->step[t][i]);
    }
}

/* All threads are at rest: every invariant, and exact statistics. */
static void end(void)
{
    static struct blocks_model_block block[SLOTS];
    uint32_t                         n = 0;
    size_t                           usable = 0;
    if (!thread_booted) {
        return;
    }
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (world.slot[i].block != NULL) {
            check_stamp(&world.slot[i], i);
            block[n++] = (struct blocks_model_block){.address = world.slot[i].block, .bytes = world.slot[i].bytes,
                .usable = world.slot[i].usable};
            usable += world.slot[i].usable;
        }
    }
    blocks_check(block, n);
    struct stats s = stats_read();
    s.allocated != usable ? schedule_fail("allocated is %lu, and live are %zu", (unsigned long)s.allocated, usable) : (void)0;
    s.mapped != os_fake.mapped_npages * PAGE ? schedule_fail("pages are lost") : (void)0;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void warm_body(uint32_t t)
{
    if (program->kind[t] == CACHED || t == 0) {
        qed_free(qed_malloc(100));
    }
    if (program->kind[t] == DEAD) {
        thread_get();
        call_exit();
    }
    for (uint8_t i = 0; t == 0 && program->filled && i < SLOTS; i++) {
        struct tcache *keep = thread_cache;
        thread_cache = &tcache_dead;
        call_take(&(struct step){MALLOC, i, 3});
        world.slot[i].clock = (struct schedule_clock){{0}};
        thread_cache = keep;
    }
}

static void warm_end(void)
{
}

/* The world as it is before programs whose threads and arenas are these. */
static struct beginning {
    struct program        as;
    struct schedule_kept *kept;
    typeof(world)         world;
    struct beginning     *next;
} *beginnings, *begun;
static struct schedule_mark mark_cold, begins;
static bool                 marked_cold;

static bool begins_like(const struct program *a, const struct program *b)
{
    return a->threads == b->threads && a->arenas == b->arenas && a->cold == b->cold && a->filled == b->filled
           && memcmp(a->kind, b->kind, sizeof a->kind) == 0;
}

/* Memory as it is before the library's first call, which its constructor has made: what that has written is undone. */
static void make_cold(uint32_t arenas)
{
    if (!marked_cold) {
        for (uint32_t t = 0; t < SCHEDULE_THREADS; t++) {
            mark_cold.cache[t] = &tcache_unborn;
        }
        marked_cold = true;
    }
    schedule_undo(&mark_cold);
    schedule_write(&os_fake.cpus, arenas);
}

static void make_warm(const struct program *p)
{
    bool        keep = schedule_print;
    schedule_print = false;
    schedule_begin(p->threads, warm_body, warm_end, NULL, UINT32_MAX);
    schedule_print = keep;
    if (schedule_failure() != NULL) {
        fprintf(stderr, "schedule: before the program: %s\n", schedule_failure());
        abort();
    }
}

static struct beginning *make_beginning(const struct program *p)
{
    struct beginning *b = malloc(sizeof *b);
    if (b == NULL) {
        perror("schedule: malloc");
        abort();
    }
    memset(&world, 0, sizeof world);
    p->cold ? (void)0 : make_warm(p);
    *b = (struct beginning){.as = *p, .kept = schedule_keep(&mark_cold), .world = world, .next = beginnings};
    return beginnings = b;
}

static void world_begin(const struct program *p)
{
    if (begun != NULL && begins_like(p, &begun->as)) {
        schedule_undo(&begins);
        world = begun->world;
        return;
    }
    make_cold(p->arenas);
    for (begun = beginnings; begun != NULL && !begins_like(p, &begun->as); begun = begun->next) {
    }
    begun != NULL ? schedule_again(begun->kept) : (void)(begun = make_beginning(p));
    world = begun->world;
    begins = schedule_mark();
}

/* Runs a program by a schedule, up to the first stop from point `from` on, or to the end. */
static void begin_program(const struct program *p, const struct schedule *s, uint32_t from)
{
    do {
        program = p;
        world_begin(p);
        os_fake.echo = false;
        os_fake.text_bytes = 0;
        schedule_begin(p->threads, body, end, s, from);
    } while (schedule_repeats);
}

/* Returns NULL, or what failed. */
static const char *run_program(const struct program *p, const struct schedule *s)
{
    begin_program(p, s, UINT32_MAX);
    schedule_count++;
    return schedule_failure();
}

#endif
