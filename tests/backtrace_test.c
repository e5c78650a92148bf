/* backtrace_test: a chain of calls of known depth. Each walker that is there sees one frame more for each call, and no more than it may. */
#include <string.h>

#include "blocks_boot.h"
#include "prof/backtrace.h"

static struct backtrace bt;

static __attribute__((noinline)) void chain(uint32_t n)
{
    if (n == 0) {
        backtrace_take(&bt);
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

int main(void)
{
    test_walker("libgcc");
    test_walker("libunwind");
    test_walker("fp");
    return blocks_done("backtrace");
}
