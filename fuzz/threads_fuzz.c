/* threads_fuzz: real threads over the real operating system. The input is a program of rounds; in a round every thread
 * makes calls that depend on the input and its own number alone, all at once or, in some rounds, one thread after the
 * other; between rounds all stand still, and blocks change hands. So each thread's calls and what it must find are the
 * same in every run of an input; only the interleaving within a round is the machine's.
 *
 * A round may also tick the clock, fork, refuse memory, trim, read statistics, and end threads and begin new ones in
 * their place. Each thread has an explicit cache too, which the one in its place has after it. The check: each thread's own
 * model at each call; when all stand still, no two threads' blocks overlap and the statistics are exact; what the sanitizer
 * says. The linker leads the calls of the OS through here (--wrap).
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#define BLOCKS_MODEL_COUNT 512U
#include "child.h"
#include "tcache/stats.h"
#include "prof/prof.h"
#include "blocks_check.h"
#include "blocks_model.h"
#include "pages/pages.h"
#include "platform/os.h"
#include "qedmalloc/qedmalloc.h"

#define THREADS_MAX 6U
#define ROUNDS_MAX 32U
#define POST_MAX 32U

struct round {
    uint8_t kind, length, sizes, event;
};

/* Blocks on their way from one thread to the next: one writer, one reader. */
struct post {
    struct blocks_model_block block[POST_MAX];
    uint32_t                sent, taken;
};

struct worker {
    pthread_t         id;
    uint32_t          index;
    uint64_t          dice;
    struct blocks_model model;
    struct post       post;
    bool              leaves;                           /* at the end of this round */
    uint64_t         *allocated, *deallocated;          /* what the thread counts, or NULL */
    unsigned          cache;                            /* the number of its explicit cache, plus 1; 0: there is none */
    uint64_t          sent, received;                   /* bytes of blocks that it did not free itself, and of others' that it freed */
};

static struct worker     worker[THREADS_MAX];
static uint32_t          threads, round_number;
static struct round      now;
static bool              over;
static pthread_barrier_t barrier;
static pthread_mutex_t   turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t    turn_next = PTHREAD_COND_INITIALIZER;
static uint32_t          turn;

/* The owners of caches write their counts plainly while statistics read them: approximate, as stats.h says. */
const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void)
{
    return "race:depot_blocks\n";
}

/* ---- the operating system ---------------------------------------------------------------------------------------- */

static uint64_t clock_ms, mapped_npages, os_calls;      /* atomic */
static bool     failing;                                /* changes between rounds only */

uint64_t __real_os_map(uint32_t cache, uint64_t npages);
uint64_t __wrap_os_map(uint32_t cache, uint64_t npages);
bool     __real_os_unmap(uint32_t cache, uint64_t page, uint64_t npages, bool must);
bool     __wrap_os_unmap(uint32_t cache, uint64_t page, uint64_t npages, bool must);
void    *__real_os_map_metadata(size_t bytes);
void    *__wrap_os_map_metadata(size_t bytes);
bool     __real_os_purge(uint32_t cache, uint64_t page, uint64_t npages, bool lazily);
bool     __wrap_os_purge(uint32_t cache, uint64_t page, uint64_t npages, bool lazily);
bool     __real_os_discard(uint32_t cache, uint64_t page, uint64_t npages);
bool     __wrap_os_discard(uint32_t cache, uint64_t page, uint64_t npages);
uint64_t __wrap_os_clock_ms(void);

static bool refuses(void)
{
    return __atomic_load_n(&failing, __ATOMIC_RELAXED) && __atomic_add_fetch(&os_calls, 1, __ATOMIC_RELAXED) % 3 != 0;
}

uint64_t __wrap_os_map(uint32_t cache, uint64_t npages)
{
    uint64_t page = refuses() ? 0 : __real_os_map(cache, npages);
    __atomic_fetch_add(&mapped_npages, page != 0 ? npages : 0, __ATOMIC_RELAXED);
    return page;
}

bool __wrap_os_unmap(uint32_t cache, uint64_t page, uint64_t npages, bool must)
{
    __atomic_fetch_sub(&mapped_npages, npages, __ATOMIC_RELAXED);
    return __real_os_unmap(cache, page, npages, must);
}

void *__wrap_os_map_metadata(size_t bytes)
{
    return refuses() ? NULL : __real_os_map_metadata(bytes);
}

bool __wrap_os_purge(uint32_t cache, uint64_t page, uint64_t npages, bool lazily)
{
    return !refuses() && __real_os_purge(cache, page, npages, lazily);
}

bool __wrap_os_discard(uint32_t cache, uint64_t page, uint64_t npages)
{
    return !refuses() && __real_os_discard(cache, page, npages);
}

uint64_t __wrap_os_clock_ms(void)
{
    return __atomic_load_n(&clock_ms, __ATOMIC_RELAXED);
}

/* ---- a thread's calls -------------------------------------------------------------------------------------------- */

static uint32_t below(struct worker *w, uint32_t n)
{
    w->dice = w->dice * 6364136223846793005UL + 1442695040888963407UL;
    return (uint32_t)(w->dice >> 33) % n;
}

/* The flag for the thread's explicit cache, or no flag where it cannot be made. */
static int cache_flag(struct worker *w)
{
    unsigned number;
    size_t   bytes = sizeof number;
    if (w->cache == 0 && qed_mallctl("tcache.create", &number, &bytes, NULL, 0) == 0) {
        w->cache = number + 1;
    }
    return w->cache == 0 ? 0 : MALLOCX_TCACHE(w->cache - 1);
}

/* Few classes in one round, so that threads meet at a bin; all magnitudes in another. */
static size_t some_bytes(struct worker *w)
{
    switch (now.sizes % 4) {
    case 0: return 1 + now.sizes / 4U * 8 + below(w, 16);
    case 1: return 1024U * (1 + now.sizes / 4U % 16) + below(w, 4096);
    case 2: return 1 + below(w, 1U << below(w, 21));
    default: return 60000 + below(w, 100000);
    }
}

static void added(struct worker *w, void *p, size_t bytes, size_t alignment)
{
    if (p != NULL) {
        blocks_model_add(&w->model, p, bytes, qed_malloc_usable_size(p), alignment, (uint8_t)below(w, 256));
    } else if (errno != ENOMEM || !__atomic_load_n(&failing, __ATOMIC_RELAXED)) {
        blocks_model_fail("no memory, and the OS has refused none", NULL);
    }
}

static void take(struct worker *w)
{
    size_t   bytes = some_bytes(w), alignment = (size_t)1 << below(w, 14);
    uint32_t n = bytes < 32768 && below(w, 4) == 0 ? below(w, 64) : 1;
    for (errno = 0; n > 0 && w->model.count < BLOCKS_MODEL_COUNT; n--) {
        uint32_t how = below(w, bytes < 65536 ? 8 : 64);
        void    *p = how == 0 ? qed_calloc(1, bytes) : how == 1 ? qed_aligned_alloc(alignment, bytes)
                  : how == 2 ? qed_mallocx(bytes, cache_flag(w)) : qed_malloc(bytes);
        how == 0 && p != NULL ? blocks_model_check_zero(p, bytes) : (void)0;
        added(w, p, bytes, how == 1 ? alignment : 0);
    }
}

static void resize(struct worker *w)
{
    size_t                  bytes = some_bytes(w);
    struct blocks_model_block b = blocks_model_remove(&w->model, below(w, w->model.count));
    void                   *p = qed_realloc(b.address, bytes);
    if (p == NULL) {
        added(w, NULL, bytes, 0);
        blocks_model_insert(&w->model, b);
        return;
    }
    b.address = p;
    blocks_model_visit(&b, b.bytes, b.bytes < bytes ? b.bytes : bytes, false);
    added(w, p, bytes, 0);
}

static void give(struct worker *w)
{
    for (uint32_t n = below(w, 4) == 0 ? below(w, 64) : 1; n > 0 && w->model.count > 0; n--) {
        struct blocks_model_block b = blocks_model_remove(&w->model, below(w, w->model.count));
        if (b.alignment == 0 && b.seed % 2 == 0) {
            qed_free_sized(b.address, b.bytes);
        } else if (b.seed % 8 == 1) {
            qed_dallocx(b.address, cache_flag(w));
        } else {
            qed_free(b.address);
        }
    }
}

static void receive(struct worker *to, struct post *from)
{
    uint32_t sent = __atomic_load_n(&from->sent, __ATOMIC_ACQUIRE);
    while (from->taken != sent) {
        struct blocks_model_block b = from->block[from->taken % POST_MAX];
        __atomic_store_n(&from->taken, from->taken + 1, __ATOMIC_RELEASE);
        blocks_model_check(&b);
        qed_free(b.address);
        to->received += b.usable;
    }
}

/* The next thread frees it; if it is slow, so does this one. */
static void send(struct worker *w)
{
    struct blocks_model_block b = blocks_model_remove(&w->model, below(w, w->model.count));
    if (w->post.sent - __atomic_load_n(&w->post.taken, __ATOMIC_ACQUIRE) == POST_MAX) {
        qed_free(b.address);
        return;
    }
    w->sent += b.usable;
    w->post.block[w->post.sent % POST_MAX] = b;
    __atomic_store_n(&w->post.sent, w->post.sent + 1, __ATOMIC_RELEASE);
}

/* The child finds its thread's blocks as they were, and an allocator that works. */
static void fork_now(struct worker *w)
{
    pid_t child = fork();
    if (child == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(10);                      /* a deadlock ends the child */
        blocks_model_check_all(&w->model);
        for (int i = 0; i < 20; i++) {
            take(w);
            w->model.count > 0 ? resize(w) : (void)0;
            give(w);
        }
        qed_malloc_trim(0);
        _exit(0);
    }
    if (child > 0 && !child_ends_well(child)) {
        blocks_model_fail("the child of a fork failed", (void *)(uintptr_t)child);
    }
}

/* What the statistics say while others run adds up, too. */
static void check_meanwhile(void)
{
    struct stats s = prof_read_totals();
    if (s.allocated + s.cached > s.active || s.active + s.dirty + s.muzzy + s.retained != s.mapped) {
        blocks_model_fail("the statistics do not add up", (void *)s.allocated);
    }
}

static void call(struct worker *w)
{
    uint32_t op = below(w, 32);
    bool     some = w->model.count > 0;
    switch (op) {
    case 0: check_meanwhile(); break;
    case 1: __atomic_fetch_add(&clock_ms, below(w, now.event % 8 == 0 ? 1000 : 10), __ATOMIC_RELAXED); break;
    case 2: now.event % 8 == 1 ? (void)qed_malloc_trim(0) : pages_decay(); break;
    case 3: sched_yield(); break;
    case 4: receive(w, &worker[(w->index + threads - 1) % threads].post); break;
    case 5: case 6: case 7: some ? send(w) : (void)0; break;
    case 8: case 9: some ? resize(w) : (void)0; break;
    default: op % 2 == 0 || !some ? take(w) : give(w);
    }
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

static void calls(struct worker *w, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        i == n / 2 && now.event % 32 == 2 && now.event / 32 % threads == w->index ? fork_now(w) : (void)0;
        call(w);
    }
}

/* One thread after the other, a few calls each. */
static void calls_in_turn(struct worker *w, uint32_t n)
{
    for (uint32_t i = 0; i < n; i += 4) {
        pthread_mutex_lock(&turn_lock);
        while (turn % threads != (w->index + now.kind) % threads) {
            pthread_cond_wait(&turn_next, &turn_lock);
        }
        calls(w, n < 4 ? n : 4);
        turn++;
        pthread_cond_broadcast(&turn_next);
        pthread_mutex_unlock(&turn_lock);
    }
}

/* Every other thread counts, unless there is no memory for its cache. */
static void counts(struct worker *w)
{
    size_t bytes = sizeof w->allocated;
    w->allocated = w->deallocated = NULL;
    if (w->index % 2 == 1 && qed_mallctl("thread.allocatedp", &w->allocated, &bytes, NULL, 0) == 0) {
        (void)qed_mallctl("thread.deallocatedp", &w->deallocated, &bytes, NULL, 0);
    }
}

/* What the thread has counted, less what its blocks say: the same at a round's end as at its beginning. */
static uint64_t counted(const struct worker *w)
{
    return w->allocated == NULL ? 0 : *w->allocated - *w->deallocated - w->model.usable - w->sent + w->received;
}

static void *work(void *argument)
{
    struct worker *w = argument;
    counts(w);
    for (;;) {
        pthread_barrier_wait(&barrier);
        if (over) {
            return NULL;
        }
        w->dice = (((uint64_t)now.kind << 24 | now.length << 16 | now.sizes << 8 | now.event) * 64 + w->index) * 64 + round_number;
        uint64_t before = counted(w);
        now.kind % 4 == 3 ? calls_in_turn(w, 1 + now.length % 64) : calls(w, 1 + now.length);
        counted(w) != before ? blocks_model_fail("a thread has counted something else", (void *)(counted(w) - before)) : (void)0;
        bool leaves = w->leaves;
        pthread_barrier_wait(&barrier);
        if (leaves) {
            return NULL;
        }
    }
}

static void begin(uint32_t i)
{
    if (pthread_create(&worker[i].id, NULL, work, &worker[i]) != 0) {
        blocks_model_fail("no thread", NULL);
    }
}

static int by_address(const void *a, const void *b)
{
    const struct blocks_model_block *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* All stand still: the blocks of all threads and on their way are disjoint, and the statistics exact. */
static void check(void)
{
    static struct blocks_model_block all[THREADS_MAX * (BLOCKS_MODEL_COUNT + POST_MAX)];
    uint32_t                       n = 0;
    size_t                         usable = 0;
    for (uint32_t i = 0; i < threads; i++) {
        for (uint32_t k = 0; k < worker[i].model.count; k++) {
            all[n++] = worker[i].model.block[k];
        }
        for (uint32_t k = worker[i].post.taken; k != worker[i].post.sent; k++) {
            all[n++] = worker[i].post.block[k % POST_MAX];
        }
    }
    qsort(all, n, sizeof all[0], by_address);
    for (uint32_t k = 0; k < n; k++) {
        usable += all[k].usable;
        if (k > 0 && blocks_model_end(&all[k - 1]) > (uintptr_t)all[k].address) {
            blocks_model_fail("two threads' blocks overlap", all[k].address);
        }
    }
    struct stats s = prof_read_totals();
    s.allocated != usable ? blocks_model_fail("allocated differs from the live blocks", (void *)s.allocated) : (void)0;
    s.mapped != mapped_npages * PAGE ? blocks_model_fail("pages are lost", (void *)s.mapped) : (void)0;
    blocks_check(all, n);
    s.threads > threads + 1 ? blocks_model_fail("threads that have a cache", (void *)(uintptr_t)s.threads) : (void)0;
}

/* Up to 24 of each thread's blocks become another thread's. */
static void change_hands(uint32_t shift)
{
    for (uint32_t i = 0; i < threads; i++) {
        struct worker *from = &worker[i], *to = &worker[(i + shift) % threads];
        for (uint32_t n = 0; n < 24 && from != to && from->model.count > 0 && to->model.count < BLOCKS_MODEL_COUNT; n++) {
            blocks_model_insert(&to->model, blocks_model_remove(&from->model, n * 7 % from->model.count));
        }
    }
}

static void run_round(void)
{
    uint32_t leaver = now.event % 4 == 3 ? now.event / 4U % threads : THREADS_MAX;
    turn = 0;
    __atomic_store_n(&failing, now.event % 16 == 4, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < threads; i++) {
        worker[i].leaves = i == leaver || now.event == 255;
    }
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    for (uint32_t i = 0; i < threads; i++) {
        if (worker[i].leaves) {
            pthread_join(worker[i].id, NULL);
            begin(i);
        }
    }
    __atomic_store_n(&failing, false, __ATOMIC_RELAXED);
    check();
    now.kind % 2 == 0 ? change_hands(now.kind / 4U) : (void)0;
    now.event % 16 == 5 ? pages_set_decay(now.event / 16 % 2, now.event & 64 ? 0 : 500, now.event & 128 ? 100 : 0) : (void)0;
}

static void finish(void)
{
    over = true;
    pthread_barrier_wait(&barrier);
    for (uint32_t i = 0; i < threads; i++) {
        pthread_join(worker[i].id, NULL);
        receive(&worker[i], &worker[i].post);
        while (worker[i].model.count > 0) {
            qed_free(blocks_model_remove(&worker[i].model, worker[i].model.count - 1).address);
        }
        unsigned number = worker[i].cache - 1;
        if (worker[i].cache != 0 && qed_mallctl("tcache.destroy", NULL, NULL, &number, sizeof number) != 0) {
            blocks_model_fail("an explicit cache is not destroyed", (void *)(uintptr_t)number);
        }
    }
    over = false;
    pthread_barrier_destroy(&barrier);
    qed_malloc_trim(0);
    struct stats s = prof_read_totals();
    if (s.allocated + s.cached + s.dirty + s.muzzy != 0 || s.threads > 1) {
        blocks_model_fail("something is left at the end", (void *)(s.allocated + s.cached + s.dirty + s.muzzy));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct blocks_model_block nothing;
    blocks_model_piece(&nothing, 0, 0, false);            /* makes the pattern that the threads share */
    if (size < 5) {
        return 0;
    }
    threads = 2 + data[0] % (THREADS_MAX - 1);
    pthread_barrier_init(&barrier, NULL, threads + 1);
    for (uint32_t i = 0; i < threads; i++) {
        memset(&worker[i], 0, sizeof worker[i]);
        worker[i].index = i;
        begin(i);
    }
    for (round_number = 0; round_number < ROUNDS_MAX && 1 + 4 * round_number + 4 <= size; round_number++) {
        memcpy(&now, &data[1 + 4 * round_number], sizeof now);
        run_round();
    }
    finish();
    return 0;
}
