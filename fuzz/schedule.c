/* schedule: see schedule.h. */
#include "schedule.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "api/thread.h"
#include "blocks/bin_slabs.h"
#include "fiber.h"
#include "platform/lock.h"
#include "platform/os_fake.h"

#define STACK_BYTES (256UL << 10)
#define SPAN_ALIGN (1UL << RADIX_LG_WINDOW) /* so that the windows of the radix tree begin at the same pages in every process */
#define SPANS_BYTES (1UL << 38)             /* for both spans of os_fake, each with the room that it aligns in */
#define WRITES_MAX (1U << 22)
#define HELD_MAX 512U
#define NOBODY SCHEDULE_THREADS

struct thread {
    struct fiber   fiber;
    bool           ended;
    uint32_t      *sleeps;                  /* the futex that it waits for */
    struct tcache *cache;                   /* the library's thread-local variables, while another thread runs */
    uint16_t       mutex_count, fork_quiet;
    uint32_t       held;                    /* locks */
    uint64_t       locks;                   /* a bit for each */
    uintptr_t      last;                    /* what its last point was about, 0 if another thread has run since */
};

struct held {
    const void *lock;
    int         rank;
};

struct write {
    uint64_t *at;
    uint64_t  was;
};

struct schedule_point schedule_stop;
bool                  schedule_ended;
bool                  schedule_print;
bool                  schedule_repeats;

static char                   stacks[SCHEDULE_THREADS + 1][STACK_BYTES] __attribute__((aligned(4096)));
static struct thread          thread[SCHEDULE_THREADS];
static struct held            held[SCHEDULE_THREADS][HELD_MAX];
static struct fiber           outside;
static uint32_t               threads, now = NOBODY, next_switch, points;
static uint32_t               stopped, stopped_to;      /* the thread that has stopped, and who is to go on */
static uint32_t               era, run;                 /* eras are parts of runs that can be undone; run: this run's first one */
static size_t                 moments_bytes;            /* that are kept */
static bool                   failed;
static union {                              /* races are not looked for, and there are no points but those of system calls: */
    struct {
        bool alone, resting, unwatched;
        bool in_kernel;                     /* a system call is one step */
    };
    uint32_t any;
} off;
static const struct schedule *plan;
static uint32_t               stops_from;               /* the point from which on the run stops, */
static bool                   stops_forced;             /* where a thread cannot go on alone */
static void (*thread_body)(uint32_t);
static void (*thread_end)(void);
static struct schedule_clock clock_of[SCHEDULE_THREADS];
static struct write           writes[WRITES_MAX];
static size_t                 write_count, marked;   /* marked: at the last mark, which the writes after it may not reach into */
static char                   failure[1024];
static uint64_t               beginning = 1;            /* of schedule_states.h: another number for each beginning of runs */

extern struct mutex context_lock;                       /* src/prof/context.h, whose struct thread is another one */

/* ---- what failed ------------------------------------------------------------------------------------------------- */

static _Noreturn void leave_run(void)
{
    struct fiber dropped;
    schedule_ended = failed = true;
    beginning++;                            /* what has failed is to fail again */
    now = NOBODY;
    fiber_switch(&dropped, &outside);
    abort();
}

_Noreturn void schedule_fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    (void)vsnprintf(failure, sizeof failure, format, list);
    va_end(list);
    if (now == NOBODY) {
        fprintf(stderr, "schedule: outside of a run: %s\n", failure);
        abort();
    }
    leave_run();
}

void schedule_say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (schedule_print) {
        printf("thread %u: ", now);
        vprintf(format, list);
        printf("\n");
    }
    va_end(list);
}

static void on_fault(int number)
{
    if (now == NOBODY) {
        signal(number, SIG_DFL);
        raise(number);
    }
    schedule_fail("signal %d in thread %u", number, now);
}

/* ---- undoing ----------------------------------------------------------------------------------------------------- */

static bool on_a_stack(uintptr_t a)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return a - (uintptr_t)stacks < sizeof stacks || (now == NOBODY && a - here < (8UL << 20));
}

/* The variables of the thread of the OS lie side by side: the library's, which change with each switch, and an engine's. */
static bool thread_local_variable(uintptr_t a)
{
    return a + 4096 - (uintptr_t)&thread_cache < 8192;
}

/* An engine's counters of edges, which the compiler treats like other variables. */
extern uint8_t  __start___sancov_cntrs[] __attribute__((weak)), __stop___sancov_cntrs[] __attribute__((weak));
extern uint8_t *__afl_area_ptr __attribute__((weak));
extern uint32_t __afl_map_size __attribute__((weak));

static bool of_the_engine(uintptr_t a)
{
    return a - (uintptr_t)__start___sancov_cntrs < (size_t)(__stop___sancov_cntrs - __start___sancov_cntrs)
           || (&__afl_area_ptr != NULL && (a - (uintptr_t)__afl_area_ptr < __afl_map_size || a == (uintptr_t)&__afl_area_ptr));
}

/* The pages of os_fake, and which of them some run has written. All others are zero. */
static uintptr_t spans;
static bool      written[SPANS_BYTES / PAGE];

static bool page_written(const void *at)
{
    return written[((uintptr_t)at - spans) / PAGE];
}

/* Returns whether the bytes lie in the word that was noted last. */
static inline bool noted(uintptr_t a, size_t bytes)
{
    return write_count > marked && writes[write_count - 1].at == (uint64_t *)(a & ~7UL) && (a & 7) + bytes <= 8;
}

static __attribute__((noinline)) void note_words(uintptr_t from, uintptr_t to)
{
    for (uintptr_t word = from; word < to; word += 8) {
        if (noted(word, 8)) {
            continue;
        }
        if (word - spans < SPANS_BYTES) {
            written[(word - spans) / PAGE] = true;
        }
        if (write_count == WRITES_MAX) {
            schedule_fail("no end: %u writes", WRITES_MAX);
        }
        writes[write_count++] = (struct write){(uint64_t *)word, *(uint64_t *)word};
    }
}

static inline void note_write(uintptr_t a, size_t bytes)
{
    noted(a, bytes) ? (void)0 : note_words(a & ~7UL, a + bytes);
}

void schedule_write(void *at, uint64_t value)
{
    note_write((uintptr_t)at, 8);
    memcpy(at, &value, 8);
}

struct schedule_mark schedule_mark(void)
{
    struct schedule_mark m = {.writes = marked = write_count};
    for (uint32_t t = 0; t < SCHEDULE_THREADS; t++) {
        m.cache[t] = t == now ? thread_cache : thread[t].cache;
    }
    return m;
}

#include "schedule_races.h"
#include "schedule_meetings.h"
#include "schedule_states.h"

static void undo_writes(size_t left)
{
    while (write_count > left) {
        write_count--;
        *writes[write_count].at = writes[write_count].was;
    }
    marked = write_count;
    states_undone();
}

void schedule_undo(const struct schedule_mark *mark)
{
    undo_writes(mark->writes);
    for (uint32_t t = 0; t < SCHEDULE_THREADS; t++) {
        thread[t].cache = mark->cache[t];
    }
    thread_cache = now == NOBODY ? thread_cache : mark->cache[now];
}

struct schedule_kept {
    struct schedule_mark mark;
    size_t               count;
    struct {
        uint64_t *at, value;
    } word[];
};

struct schedule_kept *schedule_keep(const struct schedule_mark *since)
{
    size_t                count = write_count - since->writes;
    struct schedule_kept *kept = malloc(sizeof *kept + count * sizeof kept->word[0]);
    if (kept == NULL) {
        perror("schedule: malloc");
        abort();
    }
    kept->mark = schedule_mark();
    kept->count = 0;
    for (const struct write *w = &writes[since->writes]; w < &writes[write_count]; w++) {
        if (*w->at != w->was) {
            kept->word[kept->count].at = w->at;
            kept->word[kept->count++].value = *w->at;
        }
    }
    return kept;
}

void schedule_again(const struct schedule_kept *kept)
{
    for (size_t i = 0; i < kept->count; i++) {
        schedule_write(kept->word[i].at, kept->word[i].value);
    }
    for (uint32_t t = 0; t < SCHEDULE_THREADS; t++) {
        thread[t].cache = kept->mark.cache[t];
    }
}

#include "schedule_moments.h"

/* ---- locks ------------------------------------------------------------------------------------------------------- */

/* The library's mutexes are the only words that it exchanges. Returns three times the rank of spec/platform/locks.acsl. Three are not in the
 * proofs: the profiler's lock comes after all others, those of mallctl and of library.c after that of boot. */
static int rank_of(const void *word)
{
    uintptr_t offset = (uintptr_t)word - (uintptr_t)lock_table;
    return offset < sizeof lock_table ? 3 * (int)((offset / sizeof lock_table[0] + LOCK_RANKS - 1) % LOCK_RANKS)
         : word == &context_lock.word ? 3 * (int)LOCK_RANKS : 1;
}

static void took(const void *word)
{
    struct thread *t = &thread[now];
    int            rank = rank_of(word);
    if (t->held > 0 && held[now][t->held - 1].rank >= rank) {       /* each is above those before it */
        schedule_fail("lock order: thread %u takes rank %d while it holds rank %d", now, rank / 3, held[now][t->held - 1].rank / 3);
    }
    if (t->held == HELD_MAX) {
        schedule_fail("locks held");
    }
    t->locks |= off.resting ? 0 : bit_of(word);
    held[now][t->held++] = (struct held){word, rank};
}

static void gave(const void *word)
{
    struct thread *t = &thread[now];
    for (uint32_t i = t->held; i > 0; i--) {
        if (held[now][i - 1].lock == word) {
            t->locks &= off.resting ? UINT64_MAX : ~bit_of(word);
            memmove(&held[now][i - 1], &held[now][i], (t->held - i) * sizeof held[0][0]);
            t->held--;
            return;
        }
    }
    schedule_fail("thread %u gives back a lock of rank %d that it does not hold", now, rank_of(word) / 3);
}

/* ---- turns ------------------------------------------------------------------------------------------------------- */

static uint32_t ready(void)
{
    uint32_t mask = 0;
    for (uint32_t t = 0; t < threads; t++) {
        mask |= (uint32_t)(!thread[t].ended && thread[t].sleeps == NULL) << t;
    }
    return mask;
}

static bool locks_free(void)
{
    uint32_t sum = 0;
    for (uint32_t t = 0; t < threads; t++) {
        sum += thread[t].held;
    }
    return sum == 0;
}

static void leave_thread(struct thread *from)
{
    from->cache = thread_cache;
    from->mutex_count = mutex_count;
    from->fork_quiet = fork_quiet;
}

static void enter_thread(const struct thread *to)
{
    thread_cache = to->cache;
    mutex_count = to->mutex_count;
    fork_quiet = to->fork_quiet;
    now = (uint32_t)(to - thread);
}

static void go_on_with(uint32_t t)
{
    struct thread *from = &thread[now], *to = &thread[t];
    leave_thread(from);
    from->last = 0;
    if (locks_free() && !schedule_checked(0)) {
        off.resting = true;
        schedule_check();
        off.resting = false;
    }
    enter_thread(to);
    lately_none();
    fiber_switch(&from->fiber, &to->fiber);
}

/* Leaves the run to whoever has begun it, until schedule_go says who goes on. */
static void stop(uint32_t mask, uint32_t to, bool forced)
{
    struct thread *t = &thread[now];
    schedule_stop = (struct schedule_point){points, (uint8_t)mask, (uint8_t)to, forced};
    leave_thread(t);
    stopped = now;
    now = NOBODY;
    fiber_switch(&t->fiber, &outside);
}

/* Returns who goes on, by the plan if it has a word for this point, else by default. */
static uint32_t choose(uint32_t mask, bool forced)
{
    uint32_t to = now;
    while (plan != NULL && next_switch < plan->count && plan->at[next_switch].point < points) {
        next_switch++;
    }
    bool planned = plan != NULL && next_switch < plan->count && plan->at[next_switch].point == points;
    if (planned || forced) {
        to = planned ? plan->at[next_switch].to % threads : (now + 1) % threads;
        while ((mask >> to & 1) == 0) {
            to = (to + 1) % threads;
        }
    }
    if (points == SCHEDULE_POINTS_MAX) {
        schedule_fail("no end: %u points", SCHEDULE_POINTS_MAX);
    }
    if (points >= stops_from && (forced || !stops_forced) && (mask & (mask - 1)) != 0) {
        stop(mask, to, forced);
        to = stopped_to;
    }
    points++;
    return to;
}

static void say_stop(const char *what, const void *at, const void *pc)
{
    char name[32] = "";
    int  rank = at == NULL ? 1 : rank_of(at);
    if (rank != 1) {
        (void)snprintf(name, sizeof name, " the lock of rank %d", rank / 3);
    } else if (at != NULL) {
        (void)snprintf(name, sizeof name, " %p", at);
    }
    printf("thread %u: stops before it %s%s", now, what, name);
    pc != NULL ? (void)printf(", at %p\n", pc) : (void)printf("\n");
}

static void point(const char *what, const void *at, const void *pc)
{
    if (now == NOBODY || off.alone || off.resting) {
        return;
    }
    uint32_t to = choose(ready(), false);
    if (to != now) {
        schedule_print ? say_stop(what, at, pc) : (void)0;
        go_on_with(to);
    }
}

void schedule_between(const char *what)
{
    point(what, NULL, NULL);
}

void schedule_alone(bool is)
{
    static struct thread kept;
    static struct held   kept_held[HELD_MAX];
    if (is) {
        thread[now].mutex_count = mutex_count;
        thread[now].fork_quiet = fork_quiet;
        kept = thread[now];
        memcpy(kept_held, held[now], kept.held * sizeof kept_held[0]);
        thread[now].held = 0;
    } else {
        thread[now] = kept;
        memcpy(held[now], kept_held, kept.held * sizeof kept_held[0]);
        mutex_count = kept.mutex_count;
        fork_quiet = kept.fork_quiet;
    }
    off.alone = is;
}

uint32_t schedule_now(void)
{
    return now;
}

static void thread_main(void)
{
    thread_body(now);
    if (thread[now].held != 0) {
        schedule_fail("thread %u ends with a lock", now);
    }
    thread[now].ended = true;
    uint32_t mask = ready();
    for (uint32_t t = 0; mask == 0 && t < threads; t++) {
        if (!thread[t].ended) {
            schedule_fail("deadlock: thread %u sleeps and nobody wakes it", t);
        }
    }
    if (mask != 0) {
        go_on_with(choose(mask, true));
    }
    off.resting = true;
    for (uint32_t t = 0; t < threads; t++) {
        learn(&clock_of[t]);
    }
    thread[now].cache = thread_cache;
    now = 0;
    thread_cache = thread[0].cache;
    schedule_checked(1) ? (void)0 : thread_end();
    schedule_ended = true;
    now = NOBODY;
    fiber_switch(&thread[0].fiber, &outside);
    abort();
}

static void catch_faults(void)
{
    static char      signals[64UL << 10];
    stack_t          stack = {.ss_sp = signals, .ss_size = sizeof signals};
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK | SA_NODEFER};
    (void)sigaltstack(&stack, NULL);
    (void)sigaction(SIGSEGV, &action, NULL);
    (void)sigaction(SIGBUS, &action, NULL);
    (void)sigaction(SIGFPE, &action, NULL);
}

/* From outside of the run to a thread of it, until the run stops or ends. */
static void enter(uint32_t t)
{
    struct tcache *keep = thread_cache;
    enter_thread(&thread[t]);
    fiber_switch(&outside, &thread[t].fiber);
    thread_cache = keep;
    mutex_count = fork_quiet = 0;
}

void schedule_go(uint32_t to, bool forced)
{
    stops_from = 0;
    stops_forced = forced;
    stopped_to = to;
    enter(stopped);
}

/* Eras have 32 bits. Long before their numbers would begin again, the tables of earlier runs are made empty. */
static void first_era(void)
{
    if (era > UINT32_MAX / 2) {
        races_none();
        era = 0;
    }
}

void schedule_begin(uint32_t count, void (*body)(uint32_t), void (*end)(void), const struct schedule *schedule, uint32_t from)
{
    run == 0 ? catch_faults() : first_era();
    begin_era();
    run = era;
    note_count = 0;
    states_begin();
    threads = count;
    plan = schedule;
    off.unwatched = schedule == NULL;
    thread_body = body;
    thread_end = end;
    stops_from = from;
    next_switch = points = locks_known = 0;
    off.alone = off.resting = off.in_kernel = schedule_repeats = schedule_ended = failed = stops_forced = false;
    memset(clock_of, 0, sizeof clock_of);
    for (uint32_t t = 0; t < threads; t++) {
        struct thread *it = &thread[t];
        fiber_make(&it->fiber, stacks[t], STACK_BYTES, thread_main);
        it->ended = false;
        it->sleeps = NULL;
        it->mutex_count = it->fork_quiet = it->held = 0;
        it->locks = 0;
        it->last = 0;
        clock_of[t].of[t] = 1;
    }
    enter(0);
}

const char *schedule_failure(void)
{
    return failed ? failure : NULL;
}

#include "schedule_kernel.h"
#include "schedule_calls.h"
