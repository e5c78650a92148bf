/* counting_test: a thread counts for one reason, for two, for none. While it does, the fast path finds no stack, and while it counts bytes
 * there is no window; afterwards both are as before. So do modes, which are a reason of their own. What it counts is what is added up here.
 * While frees are checked, a block is put back once. */
#include "blocks_boot.h"
#include "platform/live.h"
#include "platform/modes.h"
#include "tcache/counting.h"

#define STEPS 2000

static const struct counter *counter_of(const struct tcache *t)
{
    return (const struct counter *)COUNTING_PLACE(t);
}

static void check_ends(struct tcache *t, bool counts, bool paces)
{
    bool adds = counting_only(t, COUNTER_ALLOCATES), asks = counting_only(t, COUNTER_CHECKS);
    CHECK(counting(t) == counts && t->lookup_end == (counts ? 0 : TCACHE_LOOKUP_END) && t->paced_end == (paces ? TCACHE_LOOKUP_END : 0));
    for (uint64_t bytes = 0; bytes <= SC_LOOKUP_MAX + 1; bytes++) {
        CHECK(counting_paces(t, bytes) == (paces && bytes <= SC_LOOKUP_MAX) && counting_adds(t, bytes) == (adds && bytes <= SC_LOOKUP_MAX));
        CHECK(counting_checks(t, bytes) == (asks && bytes <= SC_LOOKUP_MAX));
        CHECK(bytes > SC_LOOKUP_MAX || t->stack_of[bytes] == size_class_index(bytes) + 1);
    }
    uint64_t pages = t->window_pages, counted = t->counted_pages, checked = t->checked_pages;
    uint64_t first = refill(t, 5), second = tcache_take(t, size_class_bytes(4));
    CHECK(first != 0 && (second == 0) == counts && t->top[5] > t->floor[5]);
    overflow_free(t, first, "test");
    second != 0 ? (void)overflow_free(t, second, "test") : (void)0;
    refill_flush(t);
    t->window_pages = pages;
    t->counted_pages = counted;
    t->checked_pages = checked;
}

/* A stand-in has no stack for any size. */
static void check_standin(struct tcache *t)
{
    for (uint64_t bytes = 0; bytes <= SC_LOOKUP_MAX + 1; bytes++) {
        CHECK((bytes > SC_LOOKUP_MAX || t->stack_of[bytes] == 0) && tcache_take(t, bytes) == 0 && !counting_paces(t, bytes));
    }
    CHECK(!counting(t));
}

/* Whoever counts nothing but down is paced. */
static void test_reasons(struct tcache *t)
{
    for (uint64_t first = COUNTER_ALLOCATES; first <= COUNTER_SAMPLES; first++) {
        uint64_t second = COUNTER_ALLOCATES + COUNTER_SAMPLES - first;
        bool     paces = COUNTDOWN_RUNS && first == COUNTER_SAMPLES;
        check_ends(t, false, false);
        counting_end(t, first);
        check_ends(t, false, false);
        counting_begin(t, first);
        check_ends(t, true, paces);
        CHECK(counting_for(t, first) && !counting_for(t, second) && counting_bytes(t) == !paces);
        counting_begin(t, second);
        check_ends(t, true, false);
        CHECK(counting_for(t, first) && counting_for(t, second) && counting_bytes(t));
        counting_end(t, first);
        check_ends(t, true, COUNTDOWN_RUNS && second == COUNTER_SAMPLES);
        CHECK(!counting_for(t, first) && counting_for(t, second) && counting_bytes(t) == (second == COUNTER_ALLOCATES));
        counting_end(t, second);
        check_ends(t, false, false);
        CHECK(!counting_bytes(t));
    }
}

static void test_standins(void)
{
    check_standin(&tcache_unborn);
    check_standin(&tcache_dead);
    CHECK(!counting_bytes(&tcache_unborn) && !counting_for(&tcache_dead, COUNTER_SAMPLES));
    counting_end(&tcache_dead, COUNTER_ALLOCATES);
    check_standin(&tcache_dead);
}

/* A push finds no window, and overflow_push does what the fast path did. */
static void test_window(struct tcache *t)
{
    uint64_t block = refill(t, 5), large = refill(t, SC_NBINS + 1);
    overflow_free(t, block, "test");
    CHECK(tcache_pop(t, 5) == block && tcache_push(t, block) && tcache_pop(t, 5) == block && t->window_pages != 0);
    counting_begin(t, COUNTER_ALLOCATES);
    CHECK(t->window_pages == 0 && !tcache_push(t, block));
    overflow_free(t, block, "test");
    CHECK(t->window_pages == 0 && tcache_pop(t, 5) == block);
    CHECK(overflow_push(t, block) == size_class_bytes(4) && t->window_pages == 0 && overflow_push(t, block) == 0);
    CHECK(overflow_push(t, large) == size_class_bytes(SC_NBINS) && t->window_pages == 0);
    CHECK(tcache_pop(t, SC_NBINS + 1) == large && overflow_push(t, 64) == 0 && overflow_push(t, large + PAGE) == 0);
    overflow_free(t, large, "test");
    counting_end(t, COUNTER_ALLOCATES);
    CHECK(tcache_pop(t, 5) == block);
    overflow_free(t, block, "test");
    CHECK(t->window_pages != 0);
    refill_flush(t);
}

/* A thread that counts bytes alone knows its window from its next free on, and counts what it pushes there. */
static void test_push(struct tcache *t)
{
    uint64_t block = refill(t, 5), bytes = size_class_bytes(4);
    counting_begin(t, COUNTER_ALLOCATES);
    CHECK(t->counted_pages == 0 && !counting_push(t, block) && overflow_push(t, block) == bytes);
    CHECK(t->counted_pages != 0 && t->window_pages == 0 && counter_of(t)->deallocated == 0);
    CHECK(!counting_push(t, block));                /* it is the one that was freed last */
    for (uint64_t n = 1; n < 10; n++) {
        CHECK(tcache_pop(t, 5) == block && !tcache_push(t, block) && counting_push(t, block) && t->slot[t->top[5]] == block);
        counting_took(t, 5);
        CHECK(counter_of(t)->deallocated == n * bytes && counter_of(t)->allocated == n * bytes);
    }
    CHECK(!counting_push(t, 0) && !counting_push(t, block + 1) && !counting_push(t, 64));
    counting_begin(t, COUNTER_PEAKS);
    CHECK(!counting_adds(t, 64) && counter_of(t)->peak == 0);
    counting_end(t, COUNTER_PEAKS);
    CHECK(counting_adds(t, 64));
    modes_set_bytes(MODES_NO_BYTE, 0x5a);           /* a mode sees what is freed */
    counting_modes(t);
    CHECK(t->counted_pages == 0 && !counting_push(t, block));
    CHECK(tcache_pop(t, 5) == block && overflow_push(t, block) == bytes && t->counted_pages == 0 && !counting_push(t, block));
    modes_set_bytes(MODES_NO_BYTE, MODES_NO_BYTE);
    counting_end(t, COUNTER_ALLOCATES);
    CHECK(!counting_adds(t, 64));
    for (uint32_t stack = 1; stack < TCACHE_STACKS; stack++) {
        CHECK(counter_of(t)->bytes[stack] == size_class_bytes(stack - 1));
    }
    refill_flush(t);
}

/* A thread that checks what it frees, and nothing else, puts back in its window what is live, and clears its bit. */
static void test_check(struct tcache *t)
{
    uint64_t block = refill(t, 5), other = refill(t, 5), bytes = size_class_bytes(4);
    live_boot();
    CHECK(live_open(block >> LIVE_LG_WINDOW) && live_open(other >> LIVE_LG_WINDOW));
    counting_begin(t, COUNTER_CHECKS);
    CHECK(counting_checks(t, SC_LOOKUP_MAX) && !counting_checks(t, SC_LOOKUP_MAX + 1) && t->checked_pages == 0);
    live_set(block);
    CHECK(!counting_push(t, block) && overflow_push(t, block) == bytes && tcache_pop(t, 5) == block);
    CHECK(t->checked_pages != 0 && t->window_pages == 0 && t->counted_pages == 0);
    CHECK(!counting_push(t, other) && !counting_push(t, block + 1) && !counting_push(t, block + bytes / 2) && !counting_push(t, 0));
    for (int times = 0; times < 3; times++) {
        CHECK(live_is(block) && counting_push(t, block) && !live_is(block) && t->slot[t->top[5]] == block && !counting_push(t, block));
        CHECK(tcache_pop(t, 5) == block && !counting_push(t, block));
        live_set(block);
    }
    counting_wait(t, true);                         /* a thread that comes past the clock goes on to check */
    CHECK(counting_for(t, COUNTER_WAITS) == COUNTDOWN_RUNS && counting_checks(t, 0) && (t->checked_pages == 0) == COUNTDOWN_RUNS);
    CHECK(overflow_push(t, block) == bytes && tcache_pop(t, 5) == block && t->checked_pages != 0);
    counting_wait(t, false);
    CHECK(counting_checks(t, 0) && t->checked_pages != 0);
    uint16_t limit = t->limit[5];
    t->limit[5] = (uint16_t)t->top[5];              /* a full stack takes nothing, and the block stays live */
    CHECK(!counting_push(t, block) && live_is(block));
    t->limit[5] = limit;
    counting_begin(t, COUNTER_ALLOCATES);           /* for two reasons all goes past the fast paths */
    CHECK(!counting_checks(t, 0) && !counting_adds(t, 0) && overflow_push(t, block) == bytes && tcache_pop(t, 5) == block);
    CHECK(t->checked_pages == 0 && t->counted_pages == 0 && !counting_push(t, block));
    counting_end(t, COUNTER_ALLOCATES);
    CHECK(counting_checks(t, 0) && overflow_push(t, block) == bytes && tcache_pop(t, 5) == block && t->checked_pages != 0);
    modes_set_bytes(MODES_NO_BYTE, 0x5a);           /* a mode sees what is freed */
    counting_modes(t);
    CHECK(t->checked_pages == 0 && !counting_push(t, block) && overflow_push(t, block) == bytes && t->checked_pages == 0);
    modes_set_bytes(MODES_NO_BYTE, MODES_NO_BYTE);
    counting_end(t, COUNTER_CHECKS);
    CHECK(!counting_checks(t, 0) && live_clear(block) && tcache_pop(t, 5) == block);
    overflow_free(t, block, "test");
    overflow_free(t, other, "test");
    refill_flush(t);
}

static void test_numbers(struct tcache *t)
{
    uint64_t got = 0, gone = 0;
    int64_t  peak = 0;
    counting_begin(t, COUNTER_ALLOCATES);
    CHECK(counter_of(t)->allocated == 0 && counter_of(t)->deallocated == 0 && counter_of(t)->peak == 0);
    for (int i = 0; i < STEPS; i++) {
        uint64_t bytes = size_class_bytes((uint32_t)random_below(SC_NSIZES / 2));
        if (random_below(2) == 0) {
            counting_take(t, bytes);
            got += bytes;
            peak = (int64_t)(got - gone) > peak ? (int64_t)(got - gone) : peak;
        } else {
            counting_give(t, bytes);
            gone += bytes;
        }
        CHECK(counter_of(t)->allocated == got && counter_of(t)->deallocated == gone && counter_of(t)->peak == peak);
    }
    counting_end(t, COUNTER_ALLOCATES);
    CHECK(!counting_bytes(t));
    counting_begin(t, COUNTER_SAMPLES);         /* for the profiler no bytes are counted */
    CHECK(!counting_bytes(t) && counter_of(t)->allocated == got);
    counting_end(t, COUNTER_SAMPLES);
}

/* A thread counts while new blocks are filled, and has no window once freed ones are. */
static void test_modes(struct tcache *t)
{
    for (int times = 0; times < 2; times++) {
        modes_set_bytes(times == 0 ? 0 : 0xa5, MODES_NO_BYTE);
        counting_modes(t);
        check_ends(t, true, false);
        CHECK(counting_for(t, COUNTER_FILLS) && !counting_for(t, COUNTER_ALLOCATES));
    }
    modes_set_bytes(MODES_NO_BYTE, MODES_NO_BYTE);
    counting_modes(t);
    check_ends(t, false, false);
    overflow_free(t, refill(t, 5), "test");
    counting_modes(t);
    CHECK(t->window_pages != 0);
    modes_set_bytes(MODES_NO_BYTE, 0x5a);
    counting_modes(t);
    check_ends(t, false, false);
    CHECK(t->window_pages == 0);
    modes_set_bytes(0, 0x5a);
    counting_modes(&tcache_dead);
    check_standin(&tcache_dead);
    modes_set_bytes(MODES_NO_BYTE, MODES_NO_BYTE);
    refill_flush(t);
}

#if QED_PROF                                    /* without it nothing is counted down */
/* While pages wait the thread's blocks are counted down, and the next one of each stack is due, unless a sample is counted down to. The window
 * stays. */
static void test_waits(struct tcache *t)
{
    overflow_free(t, refill(t, 5), "test");
    CHECK(t->window_pages != 0);
    for (int samples = 0; samples < 2; samples++) {
        samples == 1 ? counting_begin(t, COUNTER_SAMPLES) : (void)0;
        counting_wait(t, false);
        check_ends(t, samples == 1, samples == 1);
        for (int times = 0; times < 2; times++) {
            countdown_left = 1000;
            counting_wait(t, true);
            check_ends(t, true, true);
            CHECK(counting_for(t, COUNTER_WAITS) && !counting_bytes(t) && t->window_pages != 0);
            CHECK(countdown_left == (samples == 0 && times == 0 ? 0 : 1000));
            for (uint64_t stack = 1; stack < TCACHE_STACKS; stack++) {
                bool due = samples == 0 && times == 0;
                CHECK(counting_passes(t, stack) == !due && countdown_left == (due ? 0 : 1000));
                ((struct counter *)COUNTING_PLACE(t))->left[stack] = 3;
            }
        }
        counting_wait(t, false);
        check_ends(t, samples == 1, samples == 1);
        CHECK(!counting_for(t, COUNTER_WAITS));
    }
    counting_end(t, COUNTER_SAMPLES);
    check_ends(t, false, false);
    counting_begin(t, COUNTER_ALLOCATES);       /* a thread that counts its bytes goes on with that */
    counting_wait(t, true);
    counting_wait(t, false);
    CHECK(counting_bytes(t) && !counting_for(t, COUNTER_WAITS));
    counting_end(t, COUNTER_ALLOCATES);
    check_ends(t, false, false);
    refill_flush(t);
}
#else
static void test_waits(struct tcache *t)
{
    counting_wait(t, true);
    check_ends(t, false, false);
}
#endif

int main(void)
{
    blocks_boot(2);
    struct tcache *t = depot_create();
    CHECK(t != NULL);
    test_standins();
    test_reasons(t);
    test_window(t);
    test_check(t);
    test_push(t);
    test_waits(t);
    test_numbers(t);
    test_modes(t);
    depot_destroy(t);
    return blocks_done("counting");
}
