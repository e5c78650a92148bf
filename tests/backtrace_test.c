/* backtrace_test: a chain of calls of known depth. Each walker that is there sees one frame more for each call, and no more than it may. A
 * walker that remembers the last stack sees what one without a memory sees, whatever the calls and the sizes of their frames, in any thread and
 * on the stacks of coroutines. No word is read that may not be mapped. */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "blocks_boot.h"
#include "prof/backtrace.h"

static struct backtrace        bt;
static struct trail            trails[2];
static struct backtrace_thread thread = {.trail = trails};

static __attribute__((noinline)) void chain(uint32_t n)
{
    if (n == 0) {
        backtrace_take(&bt, &thread);
    } else {
        chain(n - 1);
    }
    __asm__ volatile("" ::: "memory");
}

/* Two frames of chain call from the same place, so that their return addresses are equal. */
static void test_walker(const char *wanted)
{
    const char *serves = backtrace_start(wanted, BACKTRACE_MAX);
    chain(0);
    uint32_t least = bt.depth;
    CHECK(strcmp(serves, "libgcc") == 0 || strcmp(serves, "libunwind") == 0 || strcmp(serves, "fp") == 0);
    CHECK(least > 0);
    for (uint32_t n = 1; n < 60; n++) {
        chain(n);
        CHECK(bt.depth >= least + n || bt.depth == BACKTRACE_MAX || strcmp(serves, "fp") == 0);
    }
    chain(300);
    CHECK(bt.depth <= BACKTRACE_MAX);
    if (strcmp(serves, "fp") != 0) {
        CHECK(bt.depth == BACKTRACE_MAX && bt.frame[50] == bt.frame[60]);
    }
    (void)backtrace_start(wanted, 5);
    chain(20);
    CHECK(bt.depth <= 5);
    printf("%s: %s serves, %u frames\n", wanted, serves, least);
}

/* ---- a walker with a memory -------------------------------------------------------------------------------------- */

#define TURNS 20000

static uint32_t met;                            /* walks that were the last one again */

static __attribute__((noinline)) void compare(void)
{
    static struct backtrace fresh;
    struct backtrace_thread nobody = {.trail = NULL};
    uint32_t                last = thread.last;
    for (int times = 0; times < 2; times++) {
        backtrace_take(times == 0 ? &bt : &fresh, times == 0 ? &thread : &nobody);
        __asm__ volatile("" : "+r"(times));     /* both calls are one, at the same place */
    }
    met += thread.last == last;
    CHECK(bt.depth == fresh.depth && memcmp(bt.frame, fresh.frame, bt.depth * sizeof bt.frame[0]) == 0);
}

static __attribute__((noinline)) void wander(uint64_t way);

/* A frame of a size that is known at run time only, and one that uses the frame pointer's register for something else. */
static __attribute__((noinline)) void wander_wide(uint64_t way)
{
    volatile char room[16 + way % 5 * 16];
    room[0] = 1;
    wander(way / 5);
    __asm__ volatile("" : : "r"(room) : "memory");
}

static __attribute__((noinline)) void wander_other(uint64_t way)
{
    uint64_t a = way ^ 1, b = way ^ 2, c = way ^ 3, d = way ^ 4, e = way ^ 5, f = way ^ 6;
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    wander(way / 2);
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f) : : "memory");
}

static __attribute__((noinline)) void wander(uint64_t way)
{
    if (way == 0) {
        compare();
    } else if (way % 3 == 0) {
        wander_wide(way / 3);
    } else if (way % 3 == 1) {
        wander_other(way / 3);
    } else {
        wander(way / 3);
    }
    __asm__ volatile("" ::: "memory");
}

static void wander_often(int turns)
{
    for (int i = 0; i < turns; i++) {
        uint64_t way = random_below(UINT64_MAX) >> random_below(64);
        wander(way);
        random_below(2) == 0 ? wander(way ^ 1UL << random_below(20)) : (void)0;
    }
}

static void test_memory(uint32_t depth)
{
    (void)backtrace_start("libgcc", depth);
    met = 0;
    wander_often(TURNS);
    for (int i = 0; i < 10; i++) {
        wander(12345);
    }
    CHECK(depth < 8 || met >= 9);
    printf("%u of %d walks to %u frames were the last one again\n", met, TURNS * 3 / 2, depth);
}

static void *in_thread(void *depth)
{
    thread = (struct backtrace_thread){.trail = trails};
    trails[0].count = trails[1].count = 0;
    test_memory(*(uint32_t *)depth);
    return NULL;
}

static void test_thread(uint32_t depth)
{
    pthread_t other;
    CHECK(pthread_create(&other, NULL, in_thread, &depth) == 0 && pthread_join(other, NULL) == 0);
    thread = (struct backtrace_thread){.trail = trails};
    trails[0].count = trails[1].count = 0;
}

/* ---- other stacks ------------------------------------------------------------------------------------------------ */

#ifdef __GLIBC__                                /* musl has no makecontext */
#define COROUTINE_PAGES 64U

static ucontext_t outside, inside;
static char      *place;
static uint64_t   place_bytes;

/* Frames of any size stand at the upper end of the stack. */
static void coroutine(void)
{
    volatile char room[16 + random_below(place_bytes / 4)];
    room[0] = 1;
    wander_often(20);
    __asm__ volatile("" : : "r"(room) : "memory");
}

/* Coroutines of different sizes at one address, and in between the thread's own stack. Nothing is mapped above their stacks. */
static void test_coroutines(void)
{
    (void)backtrace_start("libgcc", BACKTRACE_MAX);
    place = mmap(NULL, COROUTINE_PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (uint32_t turn = 0; turn < 200; turn++) {
        place_bytes = (COROUTINE_PAGES / 4 + random_below(COROUTINE_PAGES * 3 / 4)) * PAGE;
        CHECK(mprotect(place, place_bytes, PROT_READ | PROT_WRITE) == 0 && getcontext(&inside) == 0);
        inside.uc_stack.ss_sp = place;
        inside.uc_stack.ss_size = place_bytes;
        inside.uc_link = &outside;
        makecontext(&inside, coroutine, 0);
        CHECK(swapcontext(&outside, &inside) == 0 && mprotect(place, COROUTINE_PAGES * PAGE, PROT_NONE) == 0);
        random_below(2) == 0 ? wander_often(5) : (void)0;
    }
}
#endif

/* Below an interrupted frame there is nothing, nor between two stacks. */
static void test_trail(void)
{
    static struct trail t;
    uintptr_t low = (uintptr_t)mmap(NULL, 5 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const struct trail_stack stack = {.low = low + PAGE, .end = low + 4 * PAGE};
    CHECK(mprotect((void *)(low + 3 * PAGE), PAGE, PROT_READ | PROT_WRITE) == 0);
    uintptr_t *words = (uintptr_t *)(low + 3 * PAGE);
    words[3] = 7;
    words[6] = 8;
    trail_add(&t, &stack, (struct trail_frame){.sp = low + PAGE, .ip = 5}, false);
    trail_add(&t, &stack, (struct trail_frame){.sp = (uintptr_t)words, .ip = 6}, true);
    CHECK(t.first == 1);
    trail_add(&t, &stack, (struct trail_frame){.sp = (uintptr_t)(words + 4), .ip = 7, .fp = 1}, false);
    CHECK(t.first == 2);
    trail_add(&t, &stack, (struct trail_frame){.sp = (uintptr_t)(words + 7), .ip = 8, .fp = 1}, false);
    CHECK(t.first == 2 && t.count == 4);
    CHECK(trail_meets(&t, 2, t.frame[2]) && !trail_meets(&t, 1, t.frame[1]));
    trail_add(&t, &stack, (struct trail_frame){.sp = low + 5 * PAGE, .ip = 9}, false);
    trail_add(&t, &stack, (struct trail_frame){.sp = low + 5 * PAGE + 64, .ip = 9}, false);
    CHECK(t.first == 5 && t.count == 6);
    t.count = 0;
    trail_add(&t, &stack, (struct trail_frame){.sp = low, .ip = 5}, false);
    trail_add(&t, &stack, (struct trail_frame){.sp = low + 2 * PAGE, .ip = 6}, false);
    CHECK(t.first == 1);
}

int main(void)
{
    test_memory(BACKTRACE_MAX);
    test_memory(12);
    test_memory(3);
    test_thread(BACKTRACE_MAX);
    test_thread(12);
#ifdef __GLIBC__
    test_coroutines();
#endif
    test_trail();
    test_walker("libgcc");
    test_walker("libunwind");
    test_walker("fp");
    return blocks_done("backtrace");
}
