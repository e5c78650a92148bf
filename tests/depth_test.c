/* depth_test: stacks are made shallower and deeper, with blocks in them and without, and hold no more than they may, whatever is pushed. */
#include "blocks_boot.h"
#include "tcache/depth.h"

#define BLOCKS 1100U

static uint64_t block[BLOCKS];

static uint32_t slots(const struct tcache *t, uint32_t b) { return t->room[b] - t->floor[b]; }
static uint32_t held(const struct tcache *t, uint32_t b) { return (uint32_t)t->top[b] - t->floor[b]; }

static uint64_t live(uint32_t arena, uint32_t stack)
{
    struct bin_stats stats;
    bin_read_stats(arena, stack - 1, &stats);
    return stats.regions_live;
}

static void check_stack(const struct tcache *t, uint32_t b, uint32_t most)
{
    CHECK(t->most[b] == t->floor[b] + most && t->least[b] <= t->limit[b] && t->limit[b] <= t->most[b] && t->top[b] <= t->limit[b]);
    CHECK((t->least[b] == t->floor[b]) == (most == 0) && t->slot[t->floor[b]] == 0);
}

/* n blocks and back, some times, so that the stack becomes as deep as it may. */
static void swing(struct tcache *t, uint32_t b, uint32_t n)
{
    for (int round = 0; round < 12; round++) {
        for (uint32_t i = 0; i < n; i++) {
            block[i] = tcache_pop(t, b);
            block[i] = block[i] != 0 ? block[i] : refill(t, b);
            CHECK(block[i] != 0);
        }
        for (uint32_t i = 0; i < n; i++) {
            if (!tcache_push(t, block[i])) {
                overflow_free(t, block[i], "test");
            }
            CHECK(held(t, b) <= t->most[b] - t->floor[b]);
        }
    }
}

static void test_depth(struct tcache *t, uint32_t b, uint32_t n)
{
    uint32_t all = slots(t, b), before = t->least[b];
    check_stack(t, b, all);
    swing(t, b, n);
    CHECK(held(t, b) > 4);
    depth_set(t, b, 4);                         /* those above go back */
    check_stack(t, b, 4);
    CHECK(held(t, b) == 4 && t->most[b - 1] == t->room[b - 1] && (b > SC_NBINS || live(t->arena, b) == 4));
    swing(t, b, n);
    check_stack(t, b, 4);
    depth_set(t, b, 0);
    check_stack(t, b, 0);
    swing(t, b, n);
    CHECK(held(t, b) == 0 && (b > SC_NBINS || live(t->arena, b) == 0));
    depth_set(t, b, UINT32_MAX);                /* as many as it has slots for, and it begins as shallow as at first */
    check_stack(t, b, all);
    CHECK(t->least[b] == before);
    swing(t, b, n);
    CHECK(held(t, b) > 4);
}

/* A cache comes to its next thread with the depths that the classes say. */
static void test_next_thread(struct tcache *t)
{
    for (uint32_t b = 1; b < TCACHE_STACKS; b++) {
        depth_set(t, b, (uint32_t)random_below(3));
    }
    depot_destroy(t);
    CHECK(depot_create() == t);
    for (uint32_t b = 1; b < TCACHE_STACKS; b++) {
        check_stack(t, b, slots(t, b));
        CHECK(slots(t, b) > 0 && t->limit[b] == t->least[b]);
    }
}

int main(void)
{
    blocks_boot(1);
    struct tcache *t = depot_create();
    CHECK(t != NULL);
    test_depth(t, 1 + size_class_index(64), BLOCKS);
    test_depth(t, 1 + size_class_index(1024), BLOCKS);
    test_depth(t, 1 + size_class_index(20480), 100);
    test_depth(t, TCACHE_STACKS - 1, 10);
    test_next_thread(t);
    for (int step = 0; step < 2000; step++) {
        uint32_t b = 1 + (uint32_t)random_below(TCACHE_STACKS - 1), n = (uint32_t)random_below(12);
        depth_set(t, b, n);
        check_stack(t, b, n < slots(t, b) ? n : slots(t, b));
        swing(t, b, 1 + (uint32_t)random_below(8));
    }
    return blocks_done("depth");
}
