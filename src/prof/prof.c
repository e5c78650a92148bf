/* prof: see prof.h. */
#include "prof/prof.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "math/geometric.h"
#include "pages/pages.h"
#include "platform/atomic.h"
#include "platform/countdown.h"
#include "platform/table.h"
#include "prof/context.h"
#include "prof/dump.h"
#include "tcache/counting.h"
#include "tcache/outside.h"

#define INACTIVE_BYTES 65536U                   /* a thread that may not sample asks again after so many of slow calls, */
#define WAITING_BYTES (1U << 20)                /* and one that comes past the clock while pages wait after so many */
#define PRINTABLE " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"
#define GDUMP_STEP (1UL << 20)                  /* a maximum that is higher by less is no new one */

struct prof_options prof_options;

/* Before the library has started no thread samples. */
enum { PROF_WAITS, PROF_OFF, PROF_ON };
static uint32_t prof_state = PROF_WAITS;

/* A sampled block is an ACTIVE extent, in which nobody else puts anything. The tables lead from its id to the rest. */
static TABLE(uint64_t, block_of);               /* its address, 0 for an extent that is no sampled block */
static TABLE(uint32_t, trace_of);               /* its context, 0 for one that was sampled before the last reset */
static TABLE(uint16_t, class_of);               /* its class */

_Static_assert(SC_NSIZES <= UINT16_MAX, "a class fits in two bytes");

static struct prof_stats stats;
static uint64_t          interval_estimate;     /* bytes that samples since the last dump stand for */
static uint64_t          gdump_maximum;

/* ---- counting down -----------------------------------------------------------------------------------------------
 * malloc counts the blocks of each small class down (counting.h). Bytes that it does not see there, for it misses or the block is larger or
 * comes from another call, are counted down in countdown_left. Each byte is in one count, and the next sample of each count is drawn for
 * itself, so each byte is a sample with the same probability whichever count it is in. */

static bool is_counting(const struct tcache *t)
{
    return counting_for(t, COUNTER_SAMPLES);
}

static void count_off(struct tcache *t)
{
    counting_end(t, COUNTER_SAMPLES);
}

static uint32_t count_most(uint64_t left)
{
    uint32_t most = ATOMIC_LOAD(countdown_max);
    return left < most ? (uint32_t)left : most;
}

static void count_set(struct thread *me, uint64_t left)
{
    countdown_left = count_most(left);
    me->more = left - countdown_left;
}

static uint32_t *left_of(const struct tcache *t, uint32_t szind)
{
    return &((struct counter *)COUNTING_PLACE(t))->left[szind + 1];
}

/* Draws how many blocks of a small class pass before its next sample: the distance in bytes ends in that one. A number that the counter cannot
 * have is far. */
static void blocks_draw(const struct tcache *t, struct thread *me, uint32_t szind)
{
    uint64_t blocks = (geometric_next(&me->random, prof_options.lg_sample) - 1) / size_class_bytes(szind);
    me->far[szind] = blocks > COUNTER_LEFT_MAX;
    *left_of(t, szind) = me->far[szind] ? COUNTER_LEFT_MAX : (uint32_t)blocks;
}

/* Draws the distance to the next sample among bytes that no class counts for itself. A distance of 1 is the very next byte. */
static void count_draw(struct thread *me)
{
    count_set(me, geometric_next(&me->random, prof_options.lg_sample) - 1);
}

static void count_on(struct tcache *t, struct thread *me)
{
    if (is_counting(t) && me->lg_sample == prof_options.lg_sample) {
        return;
    }
    counting_begin(t, COUNTER_SAMPLES);
    me->lg_sample = prof_options.lg_sample;
    count_draw(me);
    for (uint32_t szind = 0; szind < SC_NBINS; szind++) {
        blocks_draw(t, me, szind);
    }
}

/* Returns whether the block is one that its class has counted down to as the next sample, and has the class count again. After blocks enough
 * that were far from a sample the next one is drawn again, which changes no probability. me is NULL where the thread may not sample. Then the
 * class counts to the next look at the clock, if there is to be one. */
static bool blocks_over(const struct tcache *t, struct thread *me, uint32_t szind)
{
    if (tcache_is_standin(t) || szind >= SC_NBINS || *left_of(t, szind) <= COUNTER_LEFT_MAX) {
        return false;
    }
    if (me == NULL) {
        *left_of(t, szind) = counting_for(t, COUNTER_WAITS) ? (uint32_t)(WAITING_BYTES / size_class_bytes(szind))
                             : counting_for(t, COUNTER_SAMPLES) ? 0 : COUNTER_LEFT_MAX;
        return false;
    }
    bool far = me->far[szind];
    blocks_draw(t, me, szind);
    count_draw(me);
    return !far;
}

/* Counts bytes that are more than countdown_left. Returns true if a sample is among them. */
static bool count(struct thread *me, uint64_t bytes)
{
    uint64_t left = countdown_left + me->more;
    if (bytes > left) {
        return true;
    }
    count_set(me, left - bytes);
    return false;
}

/* Returns the thread if it may sample now. A thread begins to count at the first call here that finds the profiler active, and stops at
 * the first that does not. */
static struct thread *ready(struct tcache *t)
{
    if (ATOMIC_LOAD_ACQUIRE(prof_state) != PROF_ON || tcache_is_standin(t)) {
        countdown_left = prof_state != PROF_OFF ? 0 : count_most(counting_for(t, COUNTER_WAITS) ? WAITING_BYTES : COUNTDOWN_MAX);
        return NULL;
    }
    if (!ATOMIC_LOAD(prof_options.active)) {
        count_off(t);
        countdown_left = 0;
        return NULL;
    }
    mutex_lock(&context_lock);
    struct thread *me = context_thread(t, prof_options.thread_active);
    mutex_unlock(&context_lock);
    if (me == NULL || !me->active || me->inside) {
        if (me == NULL || !me->active) {
            count_off(t);
        }
        countdown_left = count_most(INACTIVE_BYTES);
        return NULL;
    }
    count_on(t, me);
    return me;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* Returns the extent of the sampled block that begins there, or 0. */
static uint32_t block_extent(uint64_t block)
{
    uint32_t e = block % PAGE != 0 || block / PAGE >= PAGE_COUNT_MAX ? 0 : radix_tree_extent(block / PAGE);
    if (e == 0 || ATOMIC_LOAD_ACQUIRE(block_of[table_chunk(e)]) == NULL) {
        return 0;
    }
    return ATOMIC_LOAD(AT(block_of, e)) == block ? e : 0;
}

static uint64_t rounding(uint32_t szind)
{
    return align_up(size_class_bytes(szind), PAGE) - size_class_bytes(szind);
}

/* The other tables have the entry before block_of has it, so that who finds a block there finds the rest. */
static bool block_room(uint32_t e)
{
    return TABLE_GROW(trace_of, e) && TABLE_GROW(class_of, e) && TABLE_GROW(block_of, e);
}

static bool block_enter(struct thread *me, const struct backtrace *bt, uint32_t e, uint32_t szind)
{
    mutex_lock(&context_lock);
    uint32_t x = block_room(e) ? context_add(me, bt, szind) : 0;
    if (x != 0) {
        AT(trace_of, e) = x;
        AT(class_of, e) = (uint16_t)szind;
        ATOMIC_STORE(AT(block_of, e), AT(ext_page, e) * PAGE);
        stats.sampled += 1;
        stats.rounding += rounding(szind);
        interval_estimate += context_estimate(szind);
    }
    mutex_unlock(&context_lock);
    return x != 0;
}

/* A sample without memory is dropped. The program then gets an ordinary block, if there is one. */
static uint64_t block_take_noted(struct thread *me, uint32_t szind, uint64_t align_bytes, bool *zeroed)
{
    struct backtrace bt;
    backtrace_take(&bt, &me->walks);
    uint64_t npages = align_up(size_class_bytes(szind), PAGE) / PAGE;
    uint32_t e = pages_alloc(PAGES_SHARED, npages, align_bytes <= PAGE ? 1 : align_bytes / PAGE, zeroed);
    if (e != 0 && block_enter(me, &bt, e, szind)) {
        return AT(ext_page, e) * PAGE;
    }
    if (e != 0) {
        pages_free(e);
        *zeroed = false;
    }
    ATOMIC_ADD(stats.dropped, 1);
    return 0;
}

/* Returns whether samples stand for an interval's bytes, from which the next one begins. */
static bool interval_over(void)
{
    if (prof_options.lg_interval < 0) {
        return false;
    }
    mutex_lock(&context_lock);
    bool over = interval_estimate >> prof_options.lg_interval != 0;
    interval_estimate = over ? 0 : interval_estimate;
    mutex_unlock(&context_lock);
    return over;
}

/* Dumps that become due by themselves. */
static void dumps(void)
{
    if (interval_over()) {
        (void)dump_numbered('i');
    }
    if (ATOMIC_LOAD(prof_options.gdump)) {
        struct pages_stats p;
        pages_read_stats(&p);
        uint64_t mapped = (p.active + p.dirty + p.muzzy + p.busy) * PAGE;
        if (mapped > ATOMIC_LOAD(gdump_maximum) + GDUMP_STEP) {
            ATOMIC_STORE(gdump_maximum, mapped);
            (void)dump_numbered('u');
        }
    }
}

uint64_t prof_take(struct tcache *t, uint32_t szind, uint64_t align_bytes, bool *zeroed)
{
    struct thread *me = ready(t);
    bool           over = blocks_over(t, me, szind);
    if (me == NULL || !(over || count(me, size_class_bytes(szind)))) {
        return 0;
    }
    int keep = errno;
    me->inside = true;
    countdown_left = count_most(COUNTDOWN_MAX);
    uint64_t block = block_take_noted(me, szind, align_bytes, zeroed);
    dumps();
    me->inside = false;
    count_draw(me);
    count_on(t, me);
    errno = keep;
    return block;
}

uint64_t prof_usable(uint64_t block)
{
    if (ATOMIC_LOAD_ACQUIRE(prof_state) != PROF_ON) {
        return 0;
    }
    uint32_t e = block_extent(block);
    return e == 0 ? 0 : size_class_bytes(AT(class_of, e));
}

void prof_free(struct tcache *t, uint64_t block)
{
    (void)t;
    uint32_t e = block_extent(block);
    mutex_lock(&context_lock);
    uint32_t szind = AT(class_of, e), x = AT(trace_of, e);
    if (x != 0) {
        context_remove(x, szind);
    }
    stats.rounding -= rounding(szind);
    ATOMIC_STORE(AT(block_of, e), 0);
    mutex_unlock(&context_lock);
    pages_free(e);
}

/* Returns the thread if it counts down to its next sample now. */
static struct thread *counts_down(const struct tcache *t)
{
    if (!ATOMIC_LOAD(prof_options.active) || tcache_is_standin(t) || !is_counting(t)) {
        return NULL;
    }
    mutex_lock(&context_lock);
    struct thread *me = context_find(t);
    mutex_unlock(&context_lock);
    return me != NULL && me->active && !me->inside ? me : NULL;
}

/* A sampled block of another class is another sample, from here. Without memory it has no context any more. */
static void block_again(struct thread *me, const struct backtrace *bt, uint32_t e, uint32_t szind)
{
    mutex_lock(&context_lock);
    uint32_t was = AT(class_of, e), x = context_add(me, bt, szind);
    if (AT(trace_of, e) != 0) {
        context_remove(AT(trace_of, e), was);
    }
    AT(trace_of, e) = x;
    AT(class_of, e) = (uint16_t)szind;
    stats.rounding += rounding(szind) - rounding(was);
    stats.sampled += x != 0 ? 1 : 0;
    stats.dropped += x == 0 ? 1 : 0;
    interval_estimate += x != 0 ? context_estimate(szind) : 0;
    mutex_unlock(&context_lock);
}

/* Where the block moves the counter stays as it is: malloc meets it again. */
static bool block_resize_sampled(struct tcache *t, uint32_t e, uint32_t szind)
{
    uint64_t       bytes = size_class_bytes(szind);
    struct thread *me = counts_down(t);
    if (me == NULL || bytes <= countdown_left + me->more || !pages_resize(e, align_up(bytes, PAGE) / PAGE)) {
        return false;
    }
    int keep = errno;
    me->inside = true;
    countdown_left = count_most(COUNTDOWN_MAX);
    struct backtrace bt;
    backtrace_take(&bt, &me->walks);
    block_again(me, &bt, e, szind);
    dumps();
    me->inside = false;
    count_draw(me);
    count_on(t, me);
    errno = keep;
    return true;
}

/* In a mode that makes every allocation due the counter says nothing, and bytes by which blocks grow where they are do not count. */
enum prof_resized prof_resize(struct tcache *t, uint64_t block, uint32_t szind)
{
    if (prof_usable(block) != 0) {
        return block_resize_sampled(t, block_extent(block), szind) ? PROF_RESIZED : PROF_MOVES;
    }
    bool counts = ATOMIC_LOAD_ACQUIRE(prof_state) == PROF_ON && ATOMIC_LOAD(prof_options.active) && ATOMIC_LOAD(countdown_max) != 0;
    return counts && countdown_due(size_class_bytes(szind)) ? PROF_MOVES : PROF_ORDINARY;
}

/* ---- control ----------------------------------------------------------------------------------------------------- */

void prof_start(struct tcache *t, const struct prof_options *o)
{
    prof_options = *o;
    if (!o->prof) {
        ATOMIC_STORE_RELEASE(prof_state, PROF_OFF);
        return;
    }
    memcpy(&context_seed, (const void *)getauxval(AT_RANDOM), sizeof context_seed);
    prof_options.backtrace = backtrace_start(o->backtrace, o->depth);
    mutex_lock(&context_lock);
    bool room = context_boot(o->lg_sample, o->accum);
    mutex_unlock(&context_lock);
    ATOMIC_STORE_RELEASE(prof_state, room ? PROF_ON : PROF_OFF);
    (void)ready(t);
}

bool prof_stop(void)
{
    if (prof_state != PROF_ON) {
        return false;
    }
    ATOMIC_STORE(prof_options.active, false);
    if (prof_options.final) {
        (void)dump_numbered('f');
    }
    return prof_options.leak && dump_leaks() && prof_options.leak_error;
}

void prof_thread_end(struct tcache *t)
{
    if (prof_state != PROF_ON) {
        return;
    }
    count_off(t);
    mutex_lock(&context_lock);
    struct thread *me = context_find(t);
    if (me != NULL) {
        context_thread_end(me);
    }
    mutex_unlock(&context_lock);
    countdown_left = count_most(COUNTDOWN_MAX);
}

void prof_read_stats(struct prof_stats *s)
{
    mutex_lock(&context_lock);
    *s = stats;
    s->contexts = context_globals;
    s->thread_contexts = context_locals;
    s->live = context_live.objects;
    s->live_bytes = context_live.bytes;
    s->estimate = context_live.estimate;
    mutex_unlock(&context_lock);
}

struct stats prof_read_totals(void)
{
    struct stats s = stats_read();
    mutex_lock(&context_lock);
    s.allocated -= stats.rounding < s.allocated ? stats.rounding : s.allocated;
    mutex_unlock(&context_lock);
    return s;
}

void prof_set_active(struct tcache *t, bool active)
{
    ATOMIC_STORE(prof_options.active, active);
    (void)ready(t);
}

void prof_set_gdump(bool on)
{
    ATOMIC_STORE(prof_options.gdump, on);
}

void prof_set_thread_active_init(bool active)
{
    ATOMIC_STORE(prof_options.thread_active, active);
}

/* The thread of the cache, or NULL. The calling thread alone ends it, so it stays. */
static struct thread *mine(struct tcache *t)
{
    mutex_lock(&context_lock);
    struct thread *me = prof_state == PROF_ON && !tcache_is_standin(t) ? context_thread(t, prof_options.thread_active) : NULL;
    mutex_unlock(&context_lock);
    return me;
}

bool prof_thread_active(struct tcache *t)
{
    const struct thread *me = mine(t);
    return me != NULL && me->active;
}

int prof_set_thread_active(struct tcache *t, bool active)
{
    struct thread *me = mine(t);
    if (me == NULL) {
        return EAGAIN;
    }
    me->active = active;
    (void)ready(t);
    return 0;
}

const char *prof_thread_name(struct tcache *t)
{
    const struct thread *me = mine(t);
    return me == NULL ? "" : me->name;
}

int prof_set_thread_name(struct tcache *t, const char *name)
{
    struct thread *me = mine(t);
    if (name == NULL || name[strspn(name, PRINTABLE)] != '\0') {
        return EFAULT;
    }
    if (me == NULL) {
        return EAGAIN;
    }
    mutex_lock(&context_lock);
    size_t bytes = strlen(name) < PROF_NAME_BYTES ? strlen(name) : PROF_NAME_BYTES - 1;
    memcpy(me->name, name, bytes);
    me->name[bytes] = '\0';
    mutex_unlock(&context_lock);
    return 0;
}

int prof_set_prefix(const char *prefix)
{
    static char words[PROF_PREFIX_BYTES];
    if (strlen(prefix) >= sizeof words) {
        return EINVAL;
    }
    mutex_lock(&context_lock);
    strcpy(words, prefix);
    prof_options.prefix = words;
    mutex_unlock(&context_lock);
    return 0;
}

/* Blocks that were sampled before have no context any more. They stay extents of their own until they are freed. */
void prof_reset(uint32_t lg_sample)
{
    mutex_lock(&context_lock);
    for (uint32_t c = 0; c < TABLE_CHUNKS; c++) {
        for (uint64_t i = 0; trace_of[c] != NULL && i < 1UL << c; i++) {
            if (trace_of[c][i] != 0) {              /* a page that is not touched stays so */
                trace_of[c][i] = 0;
            }
        }
    }
    context_reset(lg_sample);
    prof_options.lg_sample = lg_sample;
    mutex_unlock(&context_lock);
}

int prof_dump(const char *path)
{
    if (ATOMIC_LOAD_ACQUIRE(prof_state) != PROF_ON) {
        return ENOENT;
    }
    return (path == NULL ? dump_numbered('m') : dump_file(path)) ? 0 : EFAULT;
}

/* ---- fork -------------------------------------------------------------------------------------------------------- */

void prof_prefork(void)
{
    mutex_lock(&context_lock);
}

void prof_postfork_parent(void)
{
    mutex_unlock(&context_lock);
}

/* Of the threads only the one that forked is left. */
void prof_postfork_child(const struct tcache *t)
{
    for (struct thread *thread = context_threads, *next = NULL; thread != NULL; thread = next) {
        next = thread->next;
        if (thread->cache != NULL && thread->cache != t) {
            context_thread_end(thread);
        }
    }
    mutex_reset(&context_lock);
}
