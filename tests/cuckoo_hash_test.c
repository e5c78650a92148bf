/* cuckoo_hash_test: random histories against the slow model, with words from few to all; keys that all want the same two buckets; and
 * how full a large hash table becomes. */
#include "cuckoo_hash_model.h"
#include "platform/os_fake.h"

#define MANY_LG 12U
#define MANY CUCKOO_CELLS(MANY_LG)

static uint64_t seed = 0x9E3779B97F4A7C15UL;

static uint64_t random64(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static void grow_fails(void)
{
    uint32_t x = 5 * (uint32_t)TABLE_FIRST;
    for (uint64_t nth = 1; nth <= 2; nth++) {
        os_fake_fail(OS_FAKE_METADATA, 1, 1);
        MODEL_CHECK(!cuckoo_hash_grow(x));
        os_fake_fail(OS_FAKE_METADATA, 2, 100);
        MODEL_CHECK(cuckoo_hash_grow(x) == (nth == 2));
        os_fake_fail(OS_FAKE_METADATA, 1, 0);
    }
    MODEL_CHECK(cuckoo_hash_grow(x));
}

static void random_histories(void)
{
    static const uint64_t words[] = {2, 5, 17, UINT64_MAX};
    for (uint32_t round = 0; round < 200; round++) {
        uint64_t n = words[round % 4];
        model_reset(round / 4 % 3);
        for (uint32_t s = 0; s < 300; s++) {
            uint32_t k = (uint32_t)(random64() % MAPS);
            if (random64() % 16 == 0) {
                model_resize(k, (uint32_t)(random64() % (LG_MOST + 1)), random64() % 4 != 0);
            } else {
                model_insert((uint32_t)(random64() % IDS), k, random64() % n, random64() % n);
            }
            model_compare();
        }
    }
}

/* The words of all keys are equal modulo the number of buckets: eight fit, the ninth is refused in every size, and nothing is lost. */
static void hostile(void)
{
    model_reset(0);
    for (uint64_t i = 0; i < 8; i++) {
        MODEL_CHECK(model_insert((uint32_t)i, 0, 3 + (i << 32), 5 + (i << 40)));
    }
    MODEL_CHECK(!model_insert(8, 0, 3 + (8UL << 32), 5));
    MODEL_CHECK(model_map[0].count == 8 && model_map[0].lg == LG_MOST);
    model_compare();
    MODEL_CHECK(!model_resize(0, 0, true));             /* one bucket holds four */
    MODEL_CHECK(model_map[0].nshrinkfails == 1);
    model_compare();
    for (uint32_t i = 0; i < 8; i++) {
        model_toggle(i, 0, 0, 0);
        model_compare();
    }
}

/* Fills a table until the first key finds no place, and empties it. Returns how many keys it had. */
static uint32_t fill(void)
{
    static uint32_t    cell[MANY];
    struct cuckoo_hash h;
    uint32_t           x = 2;
    memset(cell, 0, sizeof cell);
    cuckoo_hash_init(&h, cell, MANY_LG);
    for (;; x++) {
        uint64_t a = random64(), b = random64();
        if (!cuckoo_hash_grow(x) || !cuckoo_hash_insert(&h, x, a, b)) {
            break;
        }
    }
    uint32_t count = h.count;
    MODEL_CHECK(h.count == x - 2 && h.ninserts == h.count);
    MODEL_CHECK(h.nrelocs > 0);
    for (uint32_t y = 2; y < x; y++) {
        MODEL_CHECK(cuckoo_hash_search(&h, AT(cuckoo_a, y), AT(cuckoo_b, y)) == y);
    }
    for (uint32_t y = 2; y < x; y++) {
        cuckoo_hash_remove(&h, y);
        MODEL_CHECK(cuckoo_hash_search(&h, AT(cuckoo_a, y), AT(cuckoo_b, y)) == 0);
    }
    MODEL_CHECK(h.count == 0);
    return count;
}

/* When the first key finds no place, four cells of five are in use on average, and never fewer than half. */
static void how_full(void)
{
    uint64_t all = 0;
    for (uint32_t tables = 0; tables < 100; tables++) {
        uint32_t count = fill();
        MODEL_CHECK(count > MANY / 2);
        all += count;
    }
    MODEL_CHECK(all > 100UL * MANY / 5 * 4);
}

int main(void)
{
    uint64_t first_seed = seed;
    grow_fails();
    random_histories();
    hostile();
    how_full();
    printf("ok cuckoo_hash: %" PRIu64 " checks, seed %" PRIx64 "\n", model_checks, first_seed);
    return 0;
}
