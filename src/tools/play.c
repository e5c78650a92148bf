/* play: see play.h. */
#include "play.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blocks_model.h"
#include "shadow.h"

#define STACK_BYTES (256UL << 10)
#define OS_PAGE 4096U

struct player {                                 /* a thread */
    _Alignas(64) uint32_t at;                   /* its call; CALL_NONE: it has no more */
    int64_t live;                               /* bytes that it took minus bytes that it gave back */
};

static struct play    how;
static struct player *player;                   /* by thread */
static void         **address;                  /* by block; NULL: not handed out yet, or taken back */
static int            smaps;
static pthread_attr_t small_stack;
static sem_t          ended;

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static uint32_t        started;                 /* threads, of trace->start */
static uint32_t        next_start;              /* first call of the next one to start */

static __thread uint32_t now_at = CALL_NONE;    /* the call that runs */

/* ---- what the shadow knows --------------------------------------------------------------------------------------- */

static struct blocks_model_block model_of(uint32_t block, void *p)
{
    return (struct blocks_model_block){.address = p, .bytes = how.trace->bytes[block], .id = block, .seed = (unsigned char)block};
}

static void check_taken(uint32_t block, void *p)
{
    struct blocks_model_block b = model_of(block, p);
    blocks_model_check(&b);
    if (!shadow_turn(p, malloc_usable_size(p), false)) {
        blocks_model_fail("the usable size of a live block changed", p);
    }
}

static size_t alignment_of(const struct call *c)
{
    switch (c->kind) {
    case TRACE_VALLOC:
    case TRACE_PVALLOC: return (size_t)getpagesize();
    case TRACE_ALIGNED_ALLOC:
    case TRACE_POSIX_MEMALIGN:
    case TRACE_MEMALIGN: return c->other < 2 ? 1 : (size_t)1 << (64 - __builtin_clzl(c->other - 1));     /* memalign rounds up */
    default: return 1;
    }
}

static void check_handed_out(const struct call *c, void *p)
{
    struct blocks_model_block b = model_of(c->block, p);
    size_t usable = malloc_usable_size(p), asked = alignment_of(c), natural = usable >= 16 ? 16 : usable >= 8 ? 8 : 1;
    if (usable < b.bytes) {
        blocks_model_fail("usable size below what was asked", p);
    }
    if ((uintptr_t)p % (asked > natural ? asked : natural) != 0) {
        blocks_model_fail("not aligned", p);
    }
    if (!shadow_turn(p, usable, true)) {
        blocks_model_fail("overlaps a live block", p);
    }
    if (c->kind == TRACE_CALLOC) {
        blocks_model_check_zero(p, b.bytes);
    }
    if (c->kind == TRACE_REALLOC && c->old != 0) {
        struct blocks_model_block old = model_of(c->old, p);
        blocks_model_visit(&old, old.bytes, old.bytes < b.bytes ? old.bytes : b.bytes, false);
    }
    blocks_model_visit(&b, b.bytes, b.bytes, true);
}

/* ---- a call ------------------------------------------------------------------------------------------------------ */

static void *ask(const struct call *c, void *old)
{
    void *p = NULL;
    switch (c->kind) {
    case TRACE_MALLOC: return malloc(c->bytes);
    case TRACE_CALLOC: return calloc(c->other, c->bytes);
    case TRACE_REALLOC: return realloc(old, c->bytes == 0 && c->block != 0 ? 1 : c->bytes);    /* 0 frees, with some */
    case TRACE_ALIGNED_ALLOC: return aligned_alloc(c->other, c->bytes);
    case TRACE_POSIX_MEMALIGN: return posix_memalign(&p, c->other, c->bytes) == 0 ? p : NULL;
    case TRACE_MEMALIGN: return memalign(c->other, c->bytes);
    case TRACE_VALLOC: return valloc(c->bytes);
    default: return pvalloc(c->bytes);
    }
}

static void *take(struct player *self, uint32_t block)
{
    void *p;
    while ((p = __atomic_load_n(&address[block], __ATOMIC_ACQUIRE)) == NULL) {
        sched_yield();
    }
    __atomic_store_n(&address[block], NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&self->live, self->live - (int64_t)how.trace->bytes[block], __ATOMIC_RELAXED);
    if (how.check) {
        check_taken(block, p);
    }
    return p;
}

/* A program uses what it asks for. Here a byte in each page is written. */
static void touch(volatile char *p, size_t from, size_t to)
{
    for (; from < to; from += OS_PAGE) {
        p[from] = 1;
    }
}

static void perform(struct player *self, const struct call *c)
{
    void *old = c->old == 0 ? NULL : take(self, c->old);
    if (c->kind == TRACE_FREE) {
        free(old);
        return;
    }
    void *p = ask(c, old);
    if (c->fails && c->old != 0) {              /* the old block goes on, wherever it is */
        p = p == NULL ? old : p;
    } else if (c->block == 0) {                 /* a failure that does not happen here, or a block of realloc to 0 */
        free(p);
        return;
    } else if (p == NULL) {
        die("call %u: no memory for %lu bytes", now_at, (unsigned long)c->bytes);
    }
    if (how.check) {
        check_handed_out(c, p);
    } else {
        touch(p, c->old == 0 ? 0 : how.trace->bytes[c->old], how.trace->bytes[c->block]);
    }
    __atomic_store_n(&self->live, self->live + (int64_t)how.trace->bytes[c->block], __ATOMIC_RELAXED);
    __atomic_store_n(&address[c->block], p, __ATOMIC_RELEASE);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* Reads smaps_rollup, which counts pages. The counters in status and statm lag behind. */
uint64_t resident_bytes(void)
{
    char    text[2048];
    ssize_t n = pread(smaps, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    const char *rss = strstr(text, "Rss:");
    if (rss == NULL) {
        die("/proc/self/smaps_rollup has no Rss");
    }
    return strtoull(rss + 4, NULL, 10) * 1024;
}

static void sample(uint32_t i)
{
    int64_t live = 0;
    for (uint32_t t = 0; t < how.trace->thread_count; t++) {
        live += __atomic_load_n(&player[t].live, __ATOMIC_RELAXED);
    }
    how.sample[i >> how.sample_lg] = (struct play_sample){live < 0 ? 0 : (uint64_t)live, resident_bytes()};
}

static inline void step(struct player *self, uint32_t i)
{
    now_at = i;
    perform(self, &how.trace->call[i]);
    if (how.sample != NULL && (i & ((1U << how.sample_lg) - 1)) == 0) {
        sample(i);
    }
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* Returns the first call that no thread has passed, or CALL_NONE at the end. */
static uint32_t slowest(void)
{
    uint32_t low = CALL_NONE;
    for (uint32_t t = 0; t < how.trace->thread_count; t++) {
        uint32_t at = __atomic_load_n(&player[t].at, __ATOMIC_ACQUIRE);
        low = at < low ? at : low;
    }
    return low;
}

/* Waits until call i is in the window. Returns the end of the window. */
static uint64_t wait_for_window(uint32_t i)
{
    uint64_t end;
    while ((end = (uint64_t)slowest() + how.window) <= i) {
        sched_yield();
    }
    return end;
}

static void *run_thread(void *arg);

/* Begins the threads whose first call is not above i, or is the next of all. */
static void start_due(uint32_t i)
{
    const struct trace *t = how.trace;
    pthread_mutex_lock(&starting);
    uint32_t low = slowest(), due = i > low ? i : low;
    while (started < t->start_count && t->first[t->start[started]] <= due) {
        pthread_t id;
        if (pthread_create(&id, &small_stack, run_thread, &player[t->start[started]]) != 0) {
            die("cannot start a thread");
        }
        started++;
        __atomic_store_n(&next_start, started < t->start_count ? t->first[t->start[started]] : CALL_NONE, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&starting);
}

/* Some thread meets the first call of the next one to start: by passing it, or by ending when that call is the next. */
static void *run_thread(void *arg)
{
    struct player *self = arg;
    uint64_t       window_end = 0;
    for (uint32_t i = self->at; i != CALL_NONE; i = how.trace->call[i].next) {
        __atomic_store_n(&self->at, i, __ATOMIC_RELEASE);
        if (i >= __atomic_load_n(&next_start, __ATOMIC_RELAXED)) {
            start_due(i);
        }
        if (i >= window_end) {
            window_end = wait_for_window(i);
        }
        step(self, i);
    }
    __atomic_store_n(&self->at, CALL_NONE, __ATOMIC_RELEASE);
    start_due(0);
    sem_post(&ended);
    return NULL;
}

/* A function of its own, since callgrind counts from here. */
__attribute__((noinline)) void play_pass(void)
{
    const struct trace *t = how.trace;
    if (how.single || t->start_count == 1) {
        for (uint32_t i = 0; i < t->call_count; i++) {
            step(&player[0], i);
        }
        return;
    }
    for (uint32_t i = 0; i < t->thread_count; i++) {
        player[i].at = t->first[i];
    }
    started = 0;
    start_due(0);
    for (uint32_t i = 0; i < t->start_count; i++) {
        sem_wait(&ended);
    }
}

void play_free_rest(void)
{
    for (uint32_t b = 1; b <= how.trace->block_count; b++) {
        if (address[b] != NULL) {
            free(take(&player[0], b));
        }
    }
}

/* Prints which call it was when the process dies, whether by the check, by the allocator or by a signal. */
static void died(int signal_number)
{
    char text[64];
    int  n = snprintf(text, sizeof text, "qed-replay: signal %d in call %u\n", signal_number, now_at);
    (void)!write(2, text, (size_t)n);
}

void play_begin(const struct play *p)
{
    const struct trace *t = p->trace;
    how = *p;
    player = os_array(t->thread_count + 1U, sizeof *player);
    address = os_array(t->block_count + 1U, sizeof *address);
    memset(player, 0xff, (t->thread_count + 1U) * sizeof *player);
    memset(player, 0, (t->thread_count + 1U) * sizeof *player);
    memset(address, 0xff, (t->block_count + 1U) * sizeof *address);
    memset(address, 0, (t->block_count + 1U) * sizeof *address);
    smaps = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    pthread_attr_init(&small_stack);
    pthread_attr_setstacksize(&small_stack, STACK_BYTES);
    pthread_attr_setdetachstate(&small_stack, PTHREAD_CREATE_DETACHED);
    sem_init(&ended, 0, 0);
    struct blocks_model_block empty = {0};
    blocks_model_check(&empty);                   /* makes the model's pattern, while there is one thread */
    for (int i = 0; i < 3; i++) {
        sigaction((const int[]){SIGABRT, SIGSEGV, SIGBUS}[i], &(struct sigaction){.sa_handler = died, .sa_flags = (int)SA_RESETHAND}, NULL);
    }
}
