/* backtrace_test: a chain of calls of known depth. Each walker that is there sees one frame more for each call, and no more than it may. A
 * walker that remembers the last stack sees what one without a memory sees, whatever the calls and the sizes of their frames. */
#include <string.h>

#include "blocks_boot.h"
#include "prof/backtrace.h"

static struct backtrace        bt;
static struct backtrace_thread thread;

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
    static struct backtrace        fresh;
    static struct backtrace_thread nobody;
    nobody.trail[0].count = nobody.trail[1].count = 0;
    uint32_t last = thread.last;
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

static void test_memory(uint32_t depth)
{
    (void)backtrace_start("libgcc", depth);
    met = 0;
    for (int i = 0; i < TURNS; i++) {
        uint64_t way = random_below(UINT64_MAX) >> random_below(64);
        wander(way);
        random_below(2) == 0 ? wander(way ^ 1UL << random_below(20)) : (void)0;
    }
    for (int i = 0; i < 10; i++) {
        wander(12345);
    }
    CHECK(depth < 8 || met >= 9);
    printf("%u of %d walks to %u frames were the last one again\n", met, TURNS * 3 / 2, depth);
}

int main(void)
{
    test_memory(BACKTRACE_MAX);
    test_memory(12);
    test_memory(3);
    memset(&thread, 0, sizeof thread);
    test_walker("libgcc");
    test_walker("libunwind");
    test_walker("fp");
    return blocks_done("backtrace");
}
