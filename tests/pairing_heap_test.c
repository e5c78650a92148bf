/* pairing_heap_test: compares with the slow model. It does all short histories of few nodes, all orders in which nodes
 * of small heaps with equal keys can be removed, and random histories. Then it takes many nodes, which come out in
 * order, with work that stays within a multiple of n log n. */
#include "pairing_heap_model.h"
#include "platform/os_fake.h"

#define MANY (1U << 15)                 /* nodes, across a border of chunks */

static uint64_t seed = 0x9E3779B97F4A7C15UL;

static uint64_t random64(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* Every call of the OS that growing needs fails once. */
static void grow_fails(void)
{
    uint32_t x = 5 * (uint32_t)TABLE_FIRST;
    for (uint64_t nth = 1; nth <= 4; nth++) {
        os_fake_fail(OS_FAKE_METADATA, 1, 1);
        MODEL_CHECK(!pairing_heap_grow(x));             /* the columns before the one that failed have grown */
        os_fake_fail(OS_FAKE_METADATA, 2, 100);
        MODEL_CHECK(pairing_heap_grow(x) == (nth == 4));
        os_fake_fail(OS_FAKE_METADATA, 1, 0);
    }
    MODEL_CHECK(pairing_heap_grow(x) && AT(ph_child, x) == 0);
}

/* Every history of 5 steps, each one of 3 nodes entering one of 2 heaps with one of 2 keys, or leaving. */
static void histories(void)
{
    const uint32_t choices = 3 * 2 * 2, steps = 5;
    uint32_t       count = 1;
    for (uint32_t s = 0; s < steps; s++) {
        count *= choices;
    }
    for (uint32_t history = 0; history < count; history++) {
        uint32_t rest = history;
        model_reset();
        for (uint32_t s = 0; s < steps; s++, rest /= choices) {
            uint32_t step = rest % choices;
            model_toggle(step % 3 * (NODES / 3), step / 3 % 2, step / 6);
            model_compare();
        }
    }
}

/* Heaps of 1 to 5 nodes with keys 0 to 2 in every combination, emptied in every order. */
static void removals(uint32_t n)
{
    uint32_t keys = 1, orders = 1;
    for (uint32_t i = 0; i < n; i++) {
        keys *= 3;
        orders *= i + 1;
    }
    for (uint32_t k = 0; k < keys; k++) {
        for (uint32_t order = 0; order < orders; order++) {
            uint32_t left = k, pick = order;
            model_reset();
            for (uint32_t i = 0; i < n; i++, left /= 3) {
                model_toggle(i * 4 % NODES, 0, left % 3);
            }
            model_compare();
            for (uint32_t m = n; m > 0; pick /= m, m--) {
                uint32_t nth = pick % m, i = 0;
                for (; model_in[i] == 0 || nth-- != 0; i++) {
                }
                model_toggle(i, 0, 0);
                model_compare();
            }
        }
    }
}

static void random_histories(void)
{
    static const uint64_t key_count[] = {1, 2, 16, UINT64_MAX};
    for (uint32_t round = 0; round < 400; round++) {
        model_reset();
        for (uint32_t s = 0; s < 200; s++) {
            uint32_t k = (uint32_t)(random64() % HEAPS);
            if (random64() % 4 == 0) {
                model_pop(k);
            } else {
                model_toggle((uint32_t)(random64() % NODES), k, ~(random64() % key_count[round % 4]));
            }
            model_compare();
        }
        for (uint32_t k = 0; k < HEAPS; k++) {
            while (model_pop(k)) {
                model_compare();
            }
        }
    }
}

/* The children of x: what a removal has to look at. */
static uint64_t work(uint32_t x)
{
    uint64_t n = 1;
    for (uint32_t c = AT(ph_child, x); c != 0; c = AT(ph_next, c)) {
        n++;
    }
    return n;
}

/* MANY nodes enter with keys made by (x * factor) % modulus, every third leaves, the others come out in order. */
static void many(uint64_t factor, uint64_t modulus)
{
    uint64_t total = 0, last_key = 0;
    uint32_t last = 0, left = MANY, x;
    memset(ph_root, 0, sizeof ph_root);
    for (x = 2; x < MANY + 2; x++) {
        MODEL_CHECK(pairing_heap_grow(x));
        pairing_heap_insert(1, x, x * factor % modulus);
    }
    for (x = 2; x < MANY + 2; x += 3, left--) {
        total += work(x);
        pairing_heap_remove(1, x);
    }
    while ((x = pairing_heap_first(1)) != 0) {
        MODEL_CHECK(x % 3 != 2);
        MODEL_CHECK(last_key < AT(ph_key, x) || (last_key == AT(ph_key, x) && last < x));
        last_key = AT(ph_key, x);
        last = x;
        left--;
        total += work(x);
        pairing_heap_remove(1, x);
    }
    MODEL_CHECK(left == 0);
    MODEL_CHECK(total <= 2 * MANY * 15UL);              /* 15 = log2 MANY */
}

int main(void)
{
    uint64_t first_seed = seed;
    grow_fails();
    histories();
    for (uint32_t n = 1; n <= 5; n++) {
        removals(n);
    }
    random_histories();
    many(0, 1);                                         /* all equal */
    many(1, UINT64_MAX);                                /* rising */
    many(UINT64_MAX, UINT64_MAX / 2);                   /* mixed */
    many(0x9E3779B97F4A7C15UL, 1UL << 40);
    many(0x9E3779B97F4A7C15UL, 97);
    printf("ok pairing_heap: %" PRIu64 " checks, seed %" PRIx64 "\n", model_checks, first_seed);
    return 0;
}
