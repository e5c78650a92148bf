/* ring_test: every pair of operations on every small arrangement, melds undone by melds, and long random runs, all against
 * the model, a plain permutation. */
#include "ring_model.h"

static uint64_t seed = 0x51D6UL;

static uint32_t random_below(uint32_t n)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (uint32_t)(seed >> 33) % n;
}

/* All sequences of `left` operations on the ids 1 .. 4. */
static void test_all(uint32_t left)
{
    if (left == 0) {
        return;
    }
    for (uint32_t op = 1; op < 5; op++) {
        for (uint32_t a = 1; a < 5; a++) {
            for (uint32_t x = 1; x < (op == 4 ? 2 : 5); x++) {
                uint32_t saved[RING_IDS];
                memcpy(saved, ring_model_next, sizeof saved);
                ring_model_step(op, a, x);
                test_all(left - 1);
                memcpy(ring_model_next, saved, sizeof saved);
                for (uint32_t y = 1; y < 5; y++) {
                    AT(ring_after, y) = saved[y];
                    AT(ring_before, saved[y]) = y;
                }
            }
        }
    }
}

static void test_random(uint32_t steps)
{
    ring_model_reset();
    for (uint32_t s = 0; s < steps; s++) {
        uint32_t a = 1 + random_below(RING_IDS - 1), x = 1 + random_below(RING_IDS - 1);
        ring_model_step(random_below(5), a, x);
        if (s % 3 == 0) {               /* twice is nothing */
            uint32_t saved[RING_IDS];
            memcpy(saved, ring_model_next, sizeof saved);
            ring_model_step(1, a, x);
            ring_model_step(1, a, x);
            ring_model_expect(memcmp(saved, ring_model_next, sizeof saved) == 0, "meld twice", a, x);
        }
    }
}

int main(void)
{
    printf("seed %#lx\n", seed);
    ring_model_reset();
    for (uint32_t x = 1; x < 5; x++) {
        ring_model_step(0, x, 0);
    }
    test_all(3);
    test_random(100000);
    uint32_t far = TABLE_MAX - 1;       /* the last id there can be */
    ring_model_expect(ring_grow(far), "ring_grow", far, 0);
    ring_new(far);
    ring_model_expect(ring_next(far) == far && ring_prev(far) == far && ring_length(far, 9) == 1, "ring_new", far, 0);
    printf("ok ring: %lu checks\n", ring_model_checks);
    return 0;
}
