/* live_test: without the setting there are no bits. With it the bits of random addresses, in several windows and side by side, are as a plain
 * set says. Of threads that clear the same bit at once, one finds it set. Then no memory: the window's bits come with the next try. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/live.h"
#include "platform/os.h"
#include "platform/os_fake.h"

#define SLOTS 4096U
#define THREADS 4
#define ROUNDS 20000

static unsigned long checks;
static uint64_t      seed = 0x9E3779B97F4A7C15UL;
static bool          set[SLOTS];
static unsigned      found[ROUNDS];

#define CHECK(condition)                                                       \
    do {                                                                       \
        checks++;                                                              \
        if (!(condition)) {                                                    \
            fprintf(stderr, "live_test: line %d: %s\n", __LINE__, #condition); \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

static uint64_t random_below(uint64_t n)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (seed >> 32) % n;
}

/* Neighbours around the border of two windows, and around the last address. */
static uint64_t address_of(uint64_t slot)
{
    uint64_t from = slot < SLOTS / 2 ? (5UL << LIVE_LG_WINDOW) - SLOTS / 4 * LIVE_SPACING : (1UL << LG_VADDR) - SLOTS * LIVE_SPACING;
    return from + slot * LIVE_SPACING;
}

static void test_set(void)
{
    for (int i = 0; i < 200000; i++) {
        uint64_t slot = random_below(SLOTS), address = address_of(slot);
        switch (random_below(3)) {
        case 0: live_set(address); set[slot] = true; break;
        case 1: CHECK(live_clear(address) == set[slot]); set[slot] = false; break;
        default: CHECK(live_is(address) == set[slot]);
        }
    }
    for (uint64_t slot = 0; slot < SLOTS; slot++) {
        CHECK(live_is(address_of(slot)) == set[slot]);
    }
}

static void *clear_all(void *unused)
{
    for (uint64_t i = 0; i < ROUNDS; i++) {
        __atomic_fetch_add(&found[i], live_clear((7UL << LIVE_LG_WINDOW) + i * LIVE_SPACING) ? 1 : 0, __ATOMIC_RELAXED);
    }
    return unused;
}

static void test_threads(void)
{
    pthread_t thread[THREADS];
    for (uint64_t i = 0; i < ROUNDS; i++) {
        live_set((7UL << LIVE_LG_WINDOW) + i * LIVE_SPACING);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&thread[i], NULL, clear_all, NULL) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(thread[i], NULL) == 0);
    }
    for (uint64_t i = 0; i < ROUNDS; i++) {
        CHECK(found[i] == 1 && !live_is((7UL << LIVE_LG_WINDOW) + i * LIVE_SPACING));
    }
}

/* The bits of some pages go at once, and no others. */
static void test_pages(void)
{
    uint64_t first = (7UL << LIVE_LG_WINDOW) + 5 * PAGE;
    for (uint64_t a = first - PAGE; a < first + 3 * PAGE; a += LIVE_SPACING) {
        live_set(a);
    }
    live_clear_pages(first / PAGE, 2);
    for (uint64_t a = first - PAGE; a < first + 3 * PAGE; a += LIVE_SPACING) {
        CHECK(live_is(a) == (a < first || a >= first + 2 * PAGE));
    }
}

int main(void)
{
    uint64_t before = os_metadata_bytes;
    live_begin();
    CHECK(!live_booted() && !live_asked() && live_open(5) && os_metadata_bytes == before);
    live_boot();
    CHECK(live_booted() && !live_asked());
    live_begin();
    CHECK(live_asked());
    CHECK(!live_is(8) && !live_is((1UL << LG_VADDR) - LIVE_SPACING));
    os_fake_fail(OS_FAKE_METADATA, 1, 1);
    CHECK(!live_open(5) && live_open(5));
    before = os_metadata_bytes;
    CHECK(live_open(5) && os_metadata_bytes == before);
    CHECK(live_open(4) && live_open(LIVE_WINDOWS - 1) && live_open(7));
    test_set();
    test_threads();
    test_pages();
    printf("ok live: %lu checks\n", checks);
    return 0;
}
