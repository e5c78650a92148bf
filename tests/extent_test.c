/* extent_test: compares with the slow model. It does every operation on each extent of every layout of a few pages. It
 * takes the OS's memory away at each point of the first growth, makes more ids than one chunk of a table holds and the
 * last id that there is, and does random operations at the borders of the radix tree and of the address space. */
#include "extent_model.h"

#define SMALL 6U

static uint64_t seed = 0x9E3779B97F4A7C15UL;

static uint64_t random64(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* Digit i of the layout: 0 page i is nobody's, 1 an extent starts there, 2 the same in another state, 3 it goes on. */
static void build(uint32_t z, uint32_t layout)
{
    uint8_t digit[SMALL + 1] = {0};
    for (uint32_t i = 0; i < SMALL; i++, layout /= 4) {
        digit[i] = layout % 4;
    }
    for (uint32_t i = 0, n; i < SMALL; i += n) {
        n = 1;
        while (digit[i + n] == 3) {
            n++;
        }
        if (digit[i] != 0) {
            model_create(z, i, n - 1, digit[i] == 2 ? EXTENT_DIRTY : EXTENT_ACTIVE, 0);
        }
    }
}

static void layouts(uint32_t z)
{
    for (uint32_t layout = 0; layout < 1U << (2 * SMALL); layout++) {
        for (uint32_t k = 0; k < SMALL * (SMALL + 2); k++) {
            uint32_t i = k % SMALL, op = k / SMALL, digit = layout >> 2 * i & 3;
            if (digit == 0 || (digit == 3 && i > 0)) {
                continue;                                       /* no extent starts there */
            }
            model_reset();
            build(z, layout);
            switch (op) {
            case SMALL: model_merge(z, i); break;
            case SMALL + 1: model_set_state(z, i, EXTENT_MUZZY); break;
            default: model_split(z, i, op); break;
            }
            model_compare();
        }
    }
}

static void out_of_memory(void)
{
    bool done = false;
    for (uint32_t fails = 1; !done; fails++) {                  /* each column in turn */
        model_reset();
        done = model_reserve(1, fails);
        MODEL_CHECK(done || (extent_count == 0 && list_first(EXT_UNUSED_LIST) == 0));
        MODEL_CHECK(!done || fails == 5);
        model_compare();
        MODEL_CHECK(model_reserve(2, 0) && extent_count == 2);
    }
    os_fake_fail(OS_FAKE_METADATA, 1, 1);
    MODEL_CHECK(!extent_reserve_pages(zone_page[1], 1));
    MODEL_CHECK(extent_reserve_pages(zone_page[1], ZONE_PAGES));
    model_compare();
}

static void many(void)
{
    uint32_t n = 3 * TABLE_FIRST / 2;
    uint64_t page = zone_page[2];
    model_reset();
    MODEL_CHECK(extent_reserve_pages(page, 2 * (uint64_t)n));
    for (uint32_t k = 0; k < n; k++) {
        MODEL_CHECK(extent_reserve(1));
        MODEL_CHECK(extent_create(page + 2 * k, 2, EXTENT_RETAINED) == k + 1);
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t e = extent_at(page + 2 * k);
        MODEL_CHECK(e == k + 1 && extent_at(page + 2 * k + 1) == 0);
        MODEL_CHECK(extent_next(e) == (k + 1 < n ? k + 2 : 0) && extent_prev(e) == k);
    }
    MODEL_CHECK(extent_npages_total[EXTENT_RETAINED] == 2 * (uint64_t)n);
    for (uint32_t e = 2; e <= n; e++) {
        extent_merge(1, e);
    }
    MODEL_CHECK(AT(ext_npages, 1) == 2 * (uint64_t)n && extent_next(1) == 0 && list_first(EXT_UNUSED_LIST) == n);
    for (uint32_t e = n; e >= 2; e--) {                         /* the id given back last is taken first */
        MODEL_CHECK(extent_split(1, 2) == e);
        extent_merge(1, e);
        MODEL_CHECK(list_pop(EXT_UNUSED_LIST) == e);
    }
    MODEL_CHECK(list_first(EXT_UNUSED_LIST) == 0 && extent_count == n);
}

static void last_id(void)
{
    model_reset();
    extent_count = TABLE_MAX - 2;
    MODEL_CHECK(extent_reserve(1) && list_first(EXT_UNUSED_LIST) == TABLE_MAX - 1 && extent_count == TABLE_MAX - 1);
    MODEL_CHECK(!extent_reserve(2) && list_first(EXT_UNUSED_LIST) == TABLE_MAX - 1 && extent_count == TABLE_MAX - 1);
    MODEL_CHECK(extent_reserve_pages(1, 1) && extent_create(1, 1, EXTENT_ACTIVE) == TABLE_MAX - 1);
    MODEL_CHECK(!extent_reserve(1) && extent_at(1) == TABLE_MAX - 1 && extent_reserve(0));
}

static void random_operations(void)
{
    for (uint32_t round = 0; round < 100; round++) {
        model_reset();
        for (uint32_t k = 0; k < 200; k++) {
            uint64_t r = random64();
            model_step((uint8_t)r, (uint8_t)(r >> 8), (uint8_t)((r >> 16) % 8), (uint8_t)((r >> 24) % 2));
            model_compare();
        }
    }
}

int main(void)
{
    uint64_t first_seed = seed;
    layouts(0);
    layouts(2);
    layouts(3);
    out_of_memory();
    many();
    last_id();
    random_operations();
    printf("ok extent: %" PRIu64 " checks, seed %" PRIx64 "\n", model_checks, first_seed);
    return 0;
}
