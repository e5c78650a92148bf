/* context: see context.h. */
#include "prof/context.h"

#include <string.h>

#include "ds/rb_tree.h"
#include "math/hash.h"
#include "math/size_class.h"
#include "prof/pieces.h"

#define LG_CELLS_FIRST 4U                       /* lg of the buckets of the global table at first */
#define LG_CELLS_THREAD 1U                      /* and of a thread's */
#define WEIGHT_ONE 65536.0
#define TRAILS_BYTES (2 * sizeof(struct trail))

struct mutex       context_lock = MUTEX_INIT;
struct thread     *context_threads;
struct thread     *context_ended;
struct cuckoo_hash context_by_trace;
struct counts      context_live;
struct counts      context_accum;
uint32_t           context_globals;
uint32_t           context_locals;
uint32_t           context_seed;
TABLE_FEW(struct context, context_of);

static struct thread *threads_unused;
static uint64_t       threads_made;
static uint32_t       context_count;            /* ids 1 .. context_count have been used */
static uint32_t       context_unused;           /* an id that is free, whose `whole` is the next one */
static bool           counts_accum;
static double         mean;                     /* R */
static uint64_t       weight_of[SC_NSIZES];
static uint64_t       estimate_of[SC_NSIZES];

/* ---- what a sample stands for ------------------------------------------------------------------------------------ */

/* 1 - e^-x. Near 0 by its series, and further by f(2x) = f(x) (2 - f(x)). */
static double chance(double x)
{
    if (x > 0.125) {
        double half = x > 64 ? 1 : chance(x / 2);
        return half * (2 - half);
    }
    double sum = 0, term = x;
    for (int i = 2; i < 16; i++) {
        sum += term;
        term *= -x / i;
    }
    return sum;
}

static void weights(uint32_t lg_sample)
{
    mean = (double)(1UL << lg_sample);
    for (uint32_t c = 0; c < SC_NSIZES; c++) {
        double bytes = (double)size_class_bytes(c), p = lg_sample == 0 ? 1 : chance(bytes / mean);
        weight_of[c] = (uint64_t)(WEIGHT_ONE / p + 0.5);
        estimate_of[c] = (uint64_t)(bytes / p + 0.5);
    }
}

struct counts context_shown(const struct counts *c)
{
    double        objects = (double)c->weight / WEIGHT_ONE, bytes = (double)c->estimate;
    double        p = c->objects == 0 || mean <= 1 ? 1 : chance(bytes / objects / mean);
    struct counts shown = *c;
    shown.objects = (uint64_t)(objects * p + 0.5);
    shown.bytes = (uint64_t)(bytes * p + 0.5);
    return shown;
}

uint64_t context_estimate(uint32_t szind)
{
    return estimate_of[szind];
}

static void counts_add(struct counts *c, uint32_t szind)
{
    c->objects += 1;
    c->bytes += size_class_bytes(szind);
    c->weight += weight_of[szind];
    c->estimate += estimate_of[szind];
}

static void counts_subtract(struct counts *c, uint32_t szind)
{
    c->objects -= 1;
    c->bytes -= size_class_bytes(szind);
    c->weight -= weight_of[szind];
    c->estimate -= estimate_of[szind];
}

/* ---- ids and tables ---------------------------------------------------------------------------------------------- */

/* Returns an id whose context is zero, or 0 without memory. Id 0 is never used, and each id can be a tree and a node. */
static uint32_t id_take(void)
{
    uint32_t x = context_unused;
    if (x != 0) {
        context_unused = AT(context_of, x).whole;
        AT(context_of, x) = (struct context){.whole = 0};
        return x;
    }
    x = context_count + 1;
    if (x == TABLE_FEW_MAX || !TABLE_GROW(context_of, x) || !cuckoo_hash_grow(x) || !rb_tree_grow(x) || !rb_tree_grow_node(x)) {
        return 0;
    }
    context_count = x;
    return x;
}

static void id_give(uint32_t x)
{
    AT(context_of, x) = (struct context){.whole = context_unused};
    context_unused = x;
}

static size_t cells_bytes(uint32_t lg)
{
    return CUCKOO_CELLS(lg) * sizeof(uint32_t);
}

static bool table_make(struct cuckoo_hash *h, uint32_t lg)
{
    uint32_t *cell = pieces_take(cells_bytes(lg));
    if (cell != NULL) {
        cuckoo_hash_init(h, cell, lg);
    }
    return cell != NULL;
}

/* Gives a table other cells. Returns false, and leaves it as it was, without memory or without a place for each id. */
static bool table_resize(struct cuckoo_hash *h, uint32_t lg)
{
    uint32_t  lg_before = h->lg;
    uint32_t *before = h->cell, *cell = pieces_take(cells_bytes(lg));
    bool      done = cuckoo_hash_resize(h, cell, lg);
    if (done) {
        pieces_give(before, cells_bytes(lg_before));
    } else if (cell != NULL) {
        pieces_give(cell, cells_bytes(lg));
    }
    return done;
}

static bool table_insert(struct cuckoo_hash *h, uint32_t x, const uint64_t key[2])
{
    uint32_t lg = h->lg;
    while (!cuckoo_hash_insert(h, x, key[0], key[1])) {
        lg += 1;
        if (lg > CUCKOO_LG_MAX || (!table_resize(h, lg) && lg > h->lg + 4)) {
            return false;
        }
    }
    return true;
}

static void table_remove(struct cuckoo_hash *h, uint32_t x)
{
    cuckoo_hash_remove(h, x);
    if (cuckoo_hash_sparse(h)) {
        (void)table_resize(h, h->lg - 1);
    }
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void thread_link(struct thread **list, struct thread *thread)
{
    thread->next = *list;
    thread->at = list;
    *list = thread;
    if (thread->next != NULL) {
        thread->next->at = &thread->next;
    }
}

static void thread_unlink(struct thread *thread)
{
    *thread->at = thread->next;
    if (thread->next != NULL) {
        thread->next->at = thread->at;
    }
}

/* What only a thread that runs has. */
static bool thread_equip(struct thread *thread)
{
    thread->walks.trail = pieces_take(TRAILS_BYTES);
    if (thread->walks.trail != NULL && !table_make(&thread->by_trace, LG_CELLS_THREAD)) {
        pieces_give(thread->walks.trail, TRAILS_BYTES);
        thread->walks.trail = NULL;
    }
    return thread->walks.trail != NULL;
}

static struct thread *thread_begin(struct tcache *cache, bool active)
{
    uint64_t       seed[2];
    struct thread *thread = threads_unused;
    if (thread != NULL) {
        thread_unlink(thread);
        memset(thread, 0, sizeof *thread);
    } else {
        thread = pieces_take(sizeof *thread);
    }
    if (thread == NULL) {
        return NULL;
    }
    if (!thread_equip(thread)) {
        thread_link(&threads_unused, thread);
        return NULL;
    }
    threads_made += 1;
    thread->number = threads_made;
    thread->cache = cache;
    thread->active = active;
    hash_x64_128((const uint8_t *)&thread->number, sizeof thread->number, context_seed, seed);
    thread->random = seed[0];
    thread_link(&context_threads, thread);
    return thread;
}

/* The thread that sampled last stands first, since it often samples next. */
struct thread *context_find(const struct tcache *cache)
{
    struct thread *thread = context_threads;
    while (thread != NULL && thread->cache != cache) {
        thread = thread->next;
    }
    if (thread != NULL && thread != context_threads) {
        thread_unlink(thread);
        thread_link(&context_threads, thread);
    }
    return thread;
}

struct thread *context_thread(struct tcache *cache, bool active)
{
    struct thread *thread = context_find(cache);
    return thread != NULL ? thread : thread_begin(cache, active);
}

void context_thread_end(struct thread *thread)
{
    thread->cache = NULL;
    pieces_give(thread->by_trace.cell, cells_bytes(thread->by_trace.lg));
    thread->by_trace.cell = NULL;
    pieces_give(thread->walks.trail, TRAILS_BYTES);
    thread->walks.trail = NULL;
    thread_unlink(thread);
    thread_link(thread->contexts == 0 ? &threads_unused : &context_ended, thread);
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

static void global_drop(uint32_t g)
{
    struct context *c = &AT(context_of, g);
    table_remove(&context_by_trace, g);
    pieces_give(c->frame, c->depth * sizeof(uintptr_t));
    id_give(g);
    context_globals -= 1;
}

/* Returns whether the global context is of that backtrace. */
static bool trace_is(uint32_t g, const struct backtrace *bt)
{
    const struct context *c = &AT(context_of, g);
    return c->depth == bt->depth && memcmp(c->frame, bt->frame, bt->depth * sizeof(uintptr_t)) == 0;
}

/* Returns the global context of the backtrace, which is new if there was none, or 0 without memory. Two backtraces with the same hash of 128
 * bits would share a context; then the later one has none. */
static uint32_t global_get(const struct backtrace *bt, const uint64_t key[2])
{
    size_t   bytes = bt->depth * sizeof(uintptr_t);
    uint32_t g = cuckoo_hash_search(&context_by_trace, key[0], key[1]);
    if (g != 0) {
        return trace_is(g, bt) ? g : 0;
    }
    uintptr_t *frame = pieces_take(bytes);
    g = frame == NULL ? 0 : id_take();
    if (g != 0 && table_insert(&context_by_trace, g, key)) {
        memcpy(frame, bt->frame, bytes);
        AT(context_of, g).frame = frame;
        AT(context_of, g).depth = bt->depth;
        context_globals += 1;
        return g;
    }
    if (g != 0) {
        id_give(g);
    }
    if (frame != NULL) {
        pieces_give(frame, bytes);
    }
    return 0;
}

/* Returns the thread's context of that backtrace under g, or 0 without memory. */
static uint32_t local_get(struct thread *thread, uint32_t g, const uint64_t key[2])
{
    uint32_t x = cuckoo_hash_search(&thread->by_trace, key[0], key[1]);
    if (x != 0) {
        return x;
    }
    x = id_take();
    if (x == 0) {
        return 0;
    }
    if (!table_insert(&thread->by_trace, x, key)) {
        id_give(x);
        return 0;
    }
    (void)rb_tree_insert(g, x, thread->number);
    AT(context_of, x).whole = g;
    AT(context_of, x).thread = thread;
    thread->contexts += 1;
    context_locals += 1;
    return x;
}

/* Returns whether the context of the thread's last sample, if it is still there, is of that backtrace. */
static bool last_is(const struct thread *thread, const struct backtrace *bt)
{
    return thread->last != 0 && trace_is(AT(context_of, thread->last).whole, bt);
}

/* Returns the thread's context of that backtrace, or 0 without memory. */
static uint32_t context_get(struct thread *thread, const struct backtrace *bt)
{
    uint64_t key[2];
    hash_x64_128((const uint8_t *)bt->frame, bt->depth * sizeof(uintptr_t), 0, key);
    uint32_t g = global_get(bt, key);
    uint32_t x = g == 0 ? 0 : local_get(thread, g, key);
    if (x == 0 && g != 0 && rb_tree_first(g) == 0) {
        global_drop(g);
    }
    return x;
}

static void local_drop(uint32_t x)
{
    uint32_t       g = AT(context_of, x).whole;
    struct thread *thread = AT(context_of, x).thread;
    rb_tree_remove(g, x);
    thread->last = thread->last == x ? 0 : thread->last;
    if (thread->cache != NULL) {
        table_remove(&thread->by_trace, x);
    }
    id_give(x);
    context_locals -= 1;
    thread->contexts -= 1;
    if (thread->contexts == 0 && thread->cache == NULL) {
        thread_unlink(thread);
        thread_link(&threads_unused, thread);
    }
    if (rb_tree_first(g) == 0) {
        global_drop(g);
    }
}

/* ---- the interface ----------------------------------------------------------------------------------------------- */

bool context_boot(uint32_t lg_sample, bool accum)
{
    counts_accum = accum;
    weights(lg_sample);
    return table_make(&context_by_trace, LG_CELLS_FIRST);
}

uint32_t context_add(struct thread *thread, const struct backtrace *bt, uint32_t szind)
{
    uint32_t x = last_is(thread, bt) ? thread->last : context_get(thread, bt);
    thread->last = x;
    if (x == 0) {
        return 0;
    }
    struct context *c = &AT(context_of, x);
    counts_add(&c->live, szind);
    counts_add(&c->thread->live, szind);
    counts_add(&context_live, szind);
    if (counts_accum) {
        counts_add(&c->accum, szind);
        counts_add(&c->thread->accum, szind);
        counts_add(&context_accum, szind);
    }
    return x;
}

void context_remove(uint32_t x, uint32_t szind)
{
    counts_subtract(&AT(context_of, x).live, szind);
    counts_subtract(&AT(context_of, x).thread->live, szind);
    counts_subtract(&context_live, szind);
    if (AT(context_of, x).live.objects == 0 && !counts_accum) {
        local_drop(x);
    }
}

/* A thread that has ended goes with its contexts. */
void context_reset(uint32_t lg_sample)
{
    uint64_t cursor = 0;
    for (uint32_t g = 0; (g = cuckoo_hash_next(&context_by_trace, &cursor)) != 0;) {
        for (uint32_t x = rb_tree_first(g), next = 0; x != 0; x = next) {
            next = rb_tree_next(x);
            local_drop(x);
        }
        cursor = 0;                             /* the table may have other cells now */
    }
    for (struct thread *thread = context_threads; thread != NULL; thread = thread->next) {
        thread->live = thread->accum = (struct counts){.objects = 0};
    }
    context_live = context_accum = (struct counts){.objects = 0};
    weights(lg_sample);
}
