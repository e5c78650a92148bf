/* refill_test: pops from two caches, pushes to them, refills and flushes them, and compares with the set of blocks
 * that are out. */
#include "blocks_boot.h"
#include "tcache_model.h"
#include "tcache/counting.h"

#define OUT_MAX 20000U

static uint64_t out[OUT_MAX];
static uint32_t out_bin[OUT_MAX];
static uint32_t out_count;

static bool is_out(uint64_t block)
{
    for (uint32_t i = 0; i < out_count; i++) {
        if (out[i] == block) {
            return true;
        }
    }
    return false;
}

static void take(struct tcache *t, uint32_t bin)
{
    uint64_t block = tcache_pop(t, bin);
    if (block == 0) {
        block = refill(t, bin);
    }
    CHECK(block != 0 && overflow_usable(block, "test") == size_class_bytes(bin - 1));
    CHECK(out_count % 16 != 0 || !is_out(block));
    out_bin[out_count] = bin;
    out[out_count++] = block;
}

static void give(struct tcache *t, uint32_t i)
{
    uint64_t block = out[i];
    uint32_t bin = out_bin[i];
    uint64_t before = t->top[bin];
    out[i] = out[--out_count];
    out_bin[i] = out_bin[out_count];
    if (tcache_push(t, block)) {
        CHECK(t->top[bin] == before + 1 && t->slot[before + 1] == block);
        CHECK(!tcache_push(t, block));          /* the same block twice in a row, and nothing changed */
        CHECK(t->top[bin] == before + 1);
    } else {
        overflow_free(t, block, "test");
    }
    CHECK(tcache_pop(t, bin) == block);         /* last in, first out */
    overflow_free(t, block, "test");
}

static void check_shape(const struct tcache *t)
{
    for (uint32_t b = 0; b < TCACHE_STACKS; b++) {
        CHECK(t->floor[b] <= t->top[b] && t->top[b] <= t->limit[b] && t->slot[t->floor[b]] == 0);
        CHECK(t->least[b] <= t->limit[b] && t->limit[b] <= t->room[b]);
        for (uint64_t i = t->floor[b] + 1; i <= t->top[b]; i++) {
            CHECK(t->slot[i] != 0);
        }
    }
}

/* n blocks at a time, and again: at last no more come from the bins. Without misses the stack is as shallow as before. */
static void test_swing(struct tcache *t, uint32_t bin)
{
    uint32_t n = (t->room[bin] - t->floor[bin]) * 3 / 4, missed = 1;
    CHECK(t->limit[bin] == t->least[bin]);
    for (int round = 0; missed > 0 && round < 20; round++) {
        missed = 0;
        for (uint32_t i = 0; i < n; i++) {
            missed += t->top[bin] == t->floor[bin] ? 1 : 0;
            take(t, bin);
        }
        for (uint32_t i = 0; i < n; i++) {
            uint64_t block = out[--out_count];
            tcache_push(t, block) ? (void)0 : overflow_free(t, block, "test");
        }
    }
    CHECK(missed == 0 && t->limit[bin] == t->room[bin] && t->top[bin] >= t->floor[bin] + n);
    for (uint32_t i = 0; i < 200 * TCACHE_STACKS; i++) {
        refill_tick(t);
    }
    CHECK(t->limit[bin] == t->least[bin] && t->top[bin] <= t->least[bin]);
}

/* Where the OS has no memory for a slab of the thread's own arena, a block comes from a slab of arena 0 that has free regions. */
static void test_other_arena(struct tcache *first, struct tcache *second)
{
    static uint32_t taken[1UL << 16];
    uint32_t bin = 1 + size_class_index(512), n = 0;
    bool zeroed;
    CHECK(first->arena == 0 && second->arena == 1);
    take(first, bin);
    os_fake_fail(OS_FAKE_MAP, 1, UINT32_MAX);
    while ((taken[n] = pages_alloc(PAGES_SHARED, 1, 1, &zeroed)) != 0) {
        n++;
    }
    CHECK(n > 0);
    take(second, bin);
    os_fake_reset();
    while (n > 0) {
        pages_free(taken[--n]);
    }
    give(first, 1);
    give(first, 0);
}

/* The OS gets pages back with time, as slow events go on. */
static void test_decay(struct tcache *t)
{
    struct pages_stats stats;
    refill_flush(t);
    pages_read_stats(&stats);
    CHECK(stats.dirty > 0);
    for (uint32_t i = 0; i < 20; i++) {         /* fewer than a turn takes while the clock stands still */
        os_fake.clock_ms += 600;
        refill_tick(t);
    }
    pages_read_stats(&stats);
    CHECK(stats.dirty == 0);
}

/* While many pages wait for their time, hits are counted down, so that they come past the clock. When the next turn by time finds few, they are
 * not any more. */
static void test_wait(struct tcache *t)
{
    bool     zeroed;
    uint32_t e = pages_alloc(PAGES_SHARED, (20UL << 20) >> LG_PAGE, 1, &zeroed);
    uint64_t block = refill(t, 5);
    CHECK(e != 0 && !counting(t));
    pages_free(e);
    os_fake.clock_ms += 100;
    refill_tick(t);
    CHECK(counting_for(t, COUNTER_WAITS) == COUNTDOWN_RUNS && (t->lookup_end == 0) == COUNTDOWN_RUNS);
    CHECK(tcache_push(t, block) && tcache_pop(t, 5) == block);
    CHECK(pages_trim());
    for (int i = 0; i < 100; i++) {
        refill_tick(t);
    }
    CHECK(counting_for(t, COUNTER_WAITS) == COUNTDOWN_RUNS);
    os_fake.clock_ms += 100;
    refill_tick(t);
    CHECK(!counting(t) && t->lookup_end == TCACHE_LOOKUP_END && t->paced_end == 0);
    overflow_free(t, block, "test");
    refill_flush(t);
    pages_free(pages_alloc(PAGES_SHARED, (20UL << 20) >> LG_PAGE, 1, &zeroed));
    os_fake.clock_ms += 100;
    refill_tick(t);
    CHECK(counting_for(t, COUNTER_WAITS) == COUNTDOWN_RUNS);    /* the thread ends so, and the next one begins without it */
}

/* Caches that come and go, large blocks beside them, an OS that refuses now and then, through the model. */
static void test_model(void)
{
    tcache_model_others = depot_live();
    for (int round = 0; round < 10; round++) {
        tcache_model_controls();
        os_fake_fail((enum os_fake_call)random_below(OS_FAKE_CALLS), 1 + random_below(20), random_below(3));
        for (int step = 0; step < 3000; step++) {
            uint32_t k = (uint32_t)random_below(TCACHE_MODEL_CACHES), some = tcache_model.count;
            uint32_t i = (uint32_t)random_below(some + 1) % (some + (some == 0)), large = SC_NBINS + (uint32_t)random_below(24);
            uint32_t op = (uint32_t)random_below(64);
            if (op < 30) {
                some < BLOCKS_MODEL_COUNT ? tcache_model_take(k, 1 + (uint32_t)random_below(TCACHE_STACKS - 1), (uint8_t)step) : (void)0;
            } else if (op < 32) {
                some < BLOCKS_MODEL_COUNT ? tcache_model_take_large(large, 1UL << random_below(20), (uint8_t)step) : (void)0;
            } else if (op < 60) {
                some > 0 ? tcache_model_give(k, i) : (void)0;
            } else if (op < 62) {
                some > 0 ? tcache_model_resize(i, large) : (void)0;
            } else {
                op == 62 ? tcache_model_toggle(k) : refill_flush(tcache_model_of(k));
                tcache_model_deepen(k, 1 + (uint32_t)random_below(TCACHE_STACKS - 1), (uint32_t)random_below(300));
            }
            step % 8 == 0 ? tcache_model_compare() : (void)0;
            checks++;
        }
        tcache_model_finish();
    }
}

int main(void)
{
    blocks_boot(2);
    struct tcache *t[2] = {depot_create(), depot_create()};
    CHECK(t[0] != NULL && t[1] != NULL && t[0] != t[1] && depot_live() == 2);
    for (uint64_t bytes = 0; bytes <= SC_LOOKUP_MAX; bytes++) {
        CHECK(tcache_stack_of(t[0], bytes) == size_class_index(bytes) + 1);
    }
    test_other_arena(t[0], t[1]);
    for (int step = 0; step < 60000; step++) {
        struct tcache *mine = t[random_below(2)];
        if (out_count < 9000 && random_below(5) < 3) {
            take(mine, 1 + (uint32_t)random_below(TCACHE_STACKS - 1));
        } else if (out_count > 0) {
            give(mine, (uint32_t)random_below(out_count));
        }
        if (step % 10000 == 0) {
            refill_flush(mine);
            check_shape(mine);
        }
    }
    for (uint32_t i = 0; i < 200 * TCACHE_STACKS; i++) {
        refill_tick(t[1]);
    }
    test_swing(t[1], 1 + size_class_index(1024));
    test_swing(t[1], 1 + size_class_index(32768));
    test_decay(t[1]);
    while (out_count > 0) {
        give(t[0], out_count - 1);
    }
    test_wait(t[1]);
    check_shape(t[0]);
    depot_destroy(t[0]);
    depot_destroy(t[1]);
    for (uint32_t c = 0; c < SC_NBINS; c++) {
        struct bin_stats a, b;
        bin_read_stats(0, c, &a);
        bin_read_stats(1, c, &b);
        CHECK(a.regions_live + b.regions_live == 0);
    }
    struct large_stats large;
    large_read_stats(&large);
    CHECK(large.allocated > 0 && large.allocated == large.freed);
    CHECK(depot_live() == 0 && depot_create() == t[1] && depot_create() == t[0] && !counting(t[1]));
    test_model();
    return blocks_done("refill");
}
