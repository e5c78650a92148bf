/* radix_tree_test: compares with the slow model. It makes each call at the borders of windows and of the address
 * space, sets all ranges of a zone, has the OS refuse a leaf, and does random operations. */
#include "radix_tree_model.h"

static uint64_t seed = 0x9E3779B97F4A7C15UL;

static uint64_t random64(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static void empty(void)
{
    model_reset();
    model_compare();
    for (uint64_t h = 0; h < RADIX_ROOTS; h++) {    /* every window, first and last page */
        MODEL_CHECK(radix_tree_leaf(h) == NULL);
        MODEL_CHECK(radix_tree_tag(h * RADIX_WINDOW_PAGES) == 0);
        MODEL_CHECK(radix_tree_extent(h * RADIX_WINDOW_PAGES + RADIX_WINDOW_PAGES - 1) == 0);
    }
}

/* Every range of every zone: exactly its windows get leaves, and exactly its pages change. */
static void ranges(void)
{
    for (uint32_t z = 0; z < ZONES; z++) {
        model_reset();
        for (uint32_t i = 0; i < ZONE_PAGES; i++) {
            for (uint32_t n = 0; n < ZONE_PAGES - i; n += 1 + n / 4) {
                model_reserve(z, i, n, 0);
                model_set_tags(z, i, n, random64());
                model_set_tag(z, i + n, random64());
                model_set_extent(z, i + n / 2, (uint32_t)random64());
                model_compare();
            }
        }
    }
}

/* Whole windows: the range ends with the last page of one, or begins with the first page of the next. */
static void windows(void)
{
    model_reset();
    MODEL_CHECK(radix_tree_reserve(RADIX_WINDOW_PAGES, RADIX_WINDOW_PAGES));
    MODEL_CHECK(radix_root[0] == NULL && radix_root[1] != NULL && radix_root[2] == NULL);
    MODEL_CHECK(radix_tree_reserve(RADIX_WINDOW_PAGES, RADIX_WINDOW_PAGES + 1));
    MODEL_CHECK(radix_root[2] != NULL && radix_root[3] == NULL);
    radix_tree_set_tags(RADIX_WINDOW_PAGES, RADIX_WINDOW_PAGES, 7);
    for (uint64_t i = 0; i < RADIX_WINDOW_PAGES; i++) {
        MODEL_CHECK(radix_tree_tag(RADIX_WINDOW_PAGES + i) == 7 && radix_tree_extent(RADIX_WINDOW_PAGES + i) == 0);
        MODEL_CHECK(radix_tree_tag(2 * RADIX_WINDOW_PAGES + i) == 0);
    }
    MODEL_CHECK(radix_tree_tag(RADIX_WINDOW_PAGES - 1) == 0);
}

static void out_of_memory(void)
{
    model_reset();
    MODEL_CHECK(!model_reserve(1, 0, ZONE_PAGES - 1, 1));           /* neither of two */
    model_compare();
    MODEL_CHECK(!model_reserve(1, 0, ZONE_PAGES - 1, 2));           /* only the first, in which nothing may be written */
    model_compare();
    MODEL_CHECK(!model_reserve(1, 0, ZONE_PAGES - 1, 3));           /* only the first, which is open */
    model_set_tags(1, 0, ZONE_PAGES / 2 - 1, UINT64_MAX);
    model_compare();
    MODEL_CHECK(model_reserve(1, 0, ZONE_PAGES / 2 - 1, 3));        /* what is there needs no memory, and is open already */
    MODEL_CHECK(!model_reserve(1, 0, ZONE_PAGES - 1, 5));
    MODEL_CHECK(model_reserve(1, 0, ZONE_PAGES - 1, 6));
    model_compare();
}

static void random_operations(void)
{
    for (uint32_t round = 0; round < 60; round++) {
        model_reset();
        for (uint32_t k = 0; k < 100; k++) {
            uint32_t z = (uint32_t)(random64() % ZONES), i = (uint32_t)(random64() % ZONE_PAGES);
            uint32_t n = (uint32_t)(random64() % ZONE_PAGES);
            switch (random64() % 4) {
            case 0: model_reserve(z, i, n, (uint32_t)(random64() % 4)); break;
            case 1: model_set_tag(z, i, random64()); break;
            case 2: model_set_extent(z, i, (uint32_t)random64()); break;
            default: model_set_tags(z, i, n, random64()); break;
            }
            model_compare();
        }
    }
}

int main(void)
{
    uint64_t first_seed = seed;
    empty();
    ranges();
    windows();
    out_of_memory();
    random_operations();
    printf("ok radix_tree: %" PRIu64 " checks, seed %" PRIx64 "\n", model_checks, first_seed);
    return 0;
}
