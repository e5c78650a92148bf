/* decay_test: one cohort of pages goes down the whole curve, for many intervals. Times and page counts at their limits
 * follow, and then random schedules of all decays against the model, with clocks that jump and run backwards. */
#include "decay_model.h"

static uint64_t seed = 0x5DECA7UL;

static uint64_t random_below(uint64_t n)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (seed >> 20) % n;
}

/* Pages that come at once and are purged as told: they leave on the curve, and the last one after exactly ms. */
static void test_curve(int64_t ms, uint64_t npages, uint64_t step_ms)
{
    uint64_t now = 1000;
    decay_model_boot();
    decay_model_set(1, ms);
    uint64_t left = decay_model_advance(1, now, npages);
    decay_model_expect(left == npages, "new pages count in full", 1, left, npages);
    while (now < 1000 + (uint64_t)ms) {
        decay_model_expect(now + step_ms >= 1000 + (uint64_t)ms || npages < 1000000 || left > 0, "too early", 1, left, 1);
        now += step_ms;
        uint64_t next = decay_model_advance(1, now, left);
        decay_model_expect(next <= left, "rose", 1, next, left);
        left = next;
        decay_model_compare();
    }
    decay_model_expect(left == 0, "left after the interval", 1, left, 0);
}

static void test_boundaries(void)
{
    static const uint64_t times[] = {0, 1, 199, 200, 201, DECAY_TIME_MS_MAX - 1, DECAY_TIME_MS_MAX,
                                     DECAY_TIME_MS_MAX + 1, UINT64_MAX};
    static const uint64_t pages[] = {0, 1, (1UL << 35) - 1, 1UL << 35, DECAY_NPAGES_MAX};
    static const int64_t  intervals[] = {INT64_MIN, -1, 0, 1, 2, 199, 200, 201, 10000, 1L << 40, INT64_MAX};
    for (uint32_t i = 0; i < sizeof intervals / sizeof intervals[0]; i++) {
        for (uint32_t p = 0; p < sizeof pages / sizeof pages[0]; p++) {
            for (uint32_t t = 0; t < sizeof times / sizeof times[0]; t++) {
                for (uint32_t u = 0; u < sizeof times / sizeof times[0]; u++) {
                    decay_model_set(0, intervals[i]);
                    decay_model_advance(0, times[t], pages[p]);
                    decay_model_advance(0, times[u], pages[p]);
                    decay_model_advance(0, times[u], pages[p] / 2);
                    decay_model_compare();
                }
            }
        }
    }
}

/* The largest counts in every epoch: the sums stay within 64 bits although nobody purges. */
static void test_full(void)
{
    decay_model_set(0, 200);
    for (uint64_t now = 1; now < 1000; now++) {
        decay_model_advance(0, now, now % 3 == 0 ? 0 : DECAY_NPAGES_MAX);
        decay_model_compare();
    }
}

static void test_random(uint32_t steps)
{
    uint64_t now = 0, npages[DECAY_COUNT] = {0};
    decay_model_boot();
    for (uint32_t s = 0; s < steps; s++) {
        uint32_t w = (uint32_t)random_below(DECAY_COUNT);
        uint64_t kind = random_below(100);
        if (kind < 2) {
            decay_model_set(w, (int64_t)random_below(1UL << random_below(16)) - 1);
        } else if (kind < 4) {
            now -= random_below(now + 1);
        } else if (kind < 6) {
            now += random_below(1UL << random_below(40));
        } else {
            now += random_below(1UL << random_below(9));
        }
        npages[w] += random_below(1UL << random_below(30));
        npages[w] -= random_below(npages[w] + 1) / (1 + random_below(4));
        npages[w] = npages[w] < DECAY_NPAGES_MAX ? npages[w] : DECAY_NPAGES_MAX;
        uint64_t may_stay = decay_model_advance(w, now, npages[w]);
        if (random_below(8) != 0) {             /* else the purge failed */
            npages[w] = may_stay;
        }
        decay_model_compare();
    }
}

int main(void)
{
    printf("seed %#lx\n", seed);
    decay_model_boot();
    static const int64_t intervals[] = {1, 2, 7, 199, 200, 201, 1000, 10000};
    for (uint32_t i = 0; i < sizeof intervals / sizeof intervals[0]; i++) {
        for (uint64_t npages = 1; npages < DECAY_NPAGES_MAX; npages *= 1023) {
            test_curve(intervals[i], npages, 1);
            test_curve(intervals[i], npages, 13);
        }
    }
    test_boundaries();
    test_full();
    test_random(100000);
    printf("ok decay: %lu checks\n", decay_model_checks);
    return 0;
}
