/* rb_tree_test: all insertion orders of small trees with all removals after them, random histories, all against the slow model; then
 * many nodes: they come out in order, and the height stays within its bound. */
#include "rb_tree_model.h"
#include "platform/os_fake.h"

#define MANY (1U << 16)                 /* nodes, across a border of chunks */

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
    for (uint64_t nth = 1; nth <= 5; nth++) {
        os_fake_fail(OS_FAKE_METADATA, 1, 1);
        MODEL_CHECK(!rb_tree_grow_node(x));             /* the columns before the one that failed have grown */
        os_fake_fail(OS_FAKE_METADATA, 2, 100);
        MODEL_CHECK(rb_tree_grow_node(x) == (nth == 5));
        os_fake_fail(OS_FAKE_METADATA, 1, 0);
    }
    MODEL_CHECK(rb_tree_grow_node(x) && AT(rb_red, x) == 0);
    os_fake_fail(OS_FAKE_METADATA, 1, 1);
    MODEL_CHECK(!rb_tree_grow(x));
    MODEL_CHECK(rb_tree_grow(x) && AT(rb_root, x) == 0);
}

/* n nodes enter in every order, then leave in an order that goes with it. */
static void orders(uint32_t n)
{
    uint32_t count = 1;
    for (uint32_t i = 2; i <= n; i++) {
        count *= i;
    }
    for (uint32_t order = 0; order < count; order++) {
        uint32_t pick = order;
        model_reset();
        for (uint32_t m = n; m > 0; pick /= m, m--) {
            uint32_t nth = pick % m, i = 0;
            for (; model_in[i] != 0 || nth-- != 0; i++) {
            }
            model_toggle(i, 0, i * 7 + 1);
        }
        model_compare();
        pick = order * 31 % count;
        for (uint32_t m = n; m > 0; pick /= m, m--) {
            uint32_t nth = pick % m, i = 0;
            for (; model_in[i] == 0 || nth-- != 0; i++) {
            }
            model_toggle(i, 0, 0);
            model_compare();
        }
    }
}

/* Any one of n nodes leaves first, after they have entered in rising, falling and mixed order. */
static void first_removals(void)
{
    for (uint32_t n = 1; n <= NODES; n++) {
        for (uint32_t way = 0; way < 3; way++) {
            for (uint32_t gone = 0; gone < n; gone++) {
                model_reset();
                for (uint32_t i = 0; i < n; i++) {
                    model_toggle(i, 1, way == 0 ? i : way == 1 ? UINT64_MAX - i : (i * 29 + 5) % 53);
                }
                model_toggle(gone, 1, 0);
                model_compare();
            }
        }
    }
}

static void random_histories(void)
{
    static const uint64_t key_count[] = {16, 64, 1000, UINT64_MAX};
    for (uint32_t round = 0; round < 100; round++) {
        model_reset();
        for (uint32_t s = 0; s < 300; s++) {
            model_toggle((uint32_t)(random64() % NODES), (uint32_t)(random64() % TREES), ~(random64() % key_count[round % 4]));
            model_compare();
        }
    }
}

static uint32_t height(uint32_t x)
{
    if (x == 0) {
        return 0;
    }
    uint32_t l = height(AT(rb_left, x)), r = height(AT(rb_right, x));
    return 1 + (l > r ? l : r);
}

/* MANY nodes enter with keys made by (x * factor) % modulus, every third leaves, the others come out in order. */
static void many(uint64_t factor, uint64_t modulus)
{
    uint32_t x, entered = 0, left = 0;
    AT(rb_root, 1) = 0;
    for (x = 2; x < MANY + 2; x++) {
        MODEL_CHECK(rb_tree_grow_node(x));
        entered += rb_tree_insert(1, x, x * factor % modulus) == x;
    }
    MODEL_CHECK(entered > MANY / 2);
    MODEL_CHECK(height(AT(rb_root, 1)) <= 32);          /* 2 lg MANY */
    for (x = 2; x < MANY + 2; x += 3) {
        if (rb_tree_search(1, x * factor % modulus) == x) {
            rb_tree_remove(1, x);
            left++;
        }
    }
    uint64_t last_key = 0;
    bool     some = false;
    while ((x = rb_tree_first(1)) != 0) {
        MODEL_CHECK(x % 3 != 2);
        MODEL_CHECK(!some || last_key < AT(rb_key, x));
        last_key = AT(rb_key, x);
        some = true;
        rb_tree_remove(1, x);
        left++;
    }
    MODEL_CHECK(left == entered);
}

int main(void)
{
    uint64_t first_seed = seed;
    grow_fails();
    for (uint32_t n = 1; n <= 6; n++) {
        orders(n);
    }
    first_removals();
    random_histories();
    many(1, UINT64_MAX);                                /* rising */
    many(UINT64_MAX, UINT64_MAX / 2);                   /* mixed */
    many(0x9E3779B97F4A7C15UL, 1UL << 40);
    printf("ok rb_tree: %" PRIu64 " checks, seed %" PRIx64 "\n", model_checks, first_seed);
    return 0;
}
