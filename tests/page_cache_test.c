/* page_cache_test: does every operation in random order and compares with the slow model. It asks for alignments,
 * takes the OS's memory and the memory for tables away at every point, and grows in a small address space. */
#include "page_cache_model.h"

#define LIVE_MAX 64U

static uint64_t seed = 0x9E3779B97F4A7C15UL;

static uint64_t random_below(uint64_t n)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (seed >> 33) % n;
}

static uint32_t live[LIVE_MAX];
static uint32_t live_count;

/* Mostly short runs, sometimes longer than a growth step. */
static uint64_t random_npages(void)
{
    return 1 + random_below(1UL << random_below(12));
}

static void step(void)
{
    uint32_t i = live_count == 0 ? 0 : (uint32_t)random_below(live_count);
    uint64_t n;
    uint32_t e;
    uint32_t kind = EXTENT_DIRTY + PAGE_CACHES * (uint32_t)random_below(2);
    model_cache = (uint32_t)random_below(PAGE_CACHES);
    switch (random_below(8)) {
    case 0:
    case 1:
    case 2:
        if (live_count < LIVE_MAX && (e = model_alloc(random_npages(), 1UL << (random_below(3) * random_below(5)))) != 0) {
            live[live_count++] = e;
        }
        break;
    case 3:
    case 4:
        if (live_count > 0) {
            model_free(live[i]);
            live[i] = live[--live_count];
        }
        break;
    case 5:
        if (live_count > 0) {
            model_expand(live[i], AT(ext_npages, live[i]) + random_npages());
        }
        break;
    case 6:
        if (live_count > 0 && (n = AT(ext_npages, live[i])) > 1) {
            model_shrink(live[i], 1 + random_below(n - 1));
        }
        break;
    default:
        e = model_take(kind, random_npages());
        if (e != 0) {
            uint32_t other = random_below(2) == 0 ? model_take(kind, random_npages()) : 0;
            model_give(e, kind + PAGE_CACHES * (uint32_t)random_below(2));
            if (other != 0) {
                model_give(other, EXTENT_RETAINED);
            }
        }
    }
}

static void free_all(void)
{
    while (live_count > 0) {
        model_free(live[--live_count]);
    }
}

/* Afterwards every page is retained. */
static void purge_all(void)
{
    for (model_cache = 0; model_cache < PAGE_CACHES; model_cache++) {
        for (uint32_t kind = EXTENT_DIRTY; kind <= EXTENT_MUZZY; kind += PAGE_CACHES) {
            for (uint32_t e; (e = model_take(kind, 100)) != 0;) {
                model_give(e, EXTENT_RETAINED);
            }
        }
        MODEL_CHECK(extent_npages_total[EXTENT_RETAINED + model_cache] == page_cache_mapped_npages[model_cache]);
    }
    model_cache = 0;
}

static void test_growth(void)
{
    uint64_t calls = os_fake.calls[OS_FAKE_MAP];
    uint64_t step_min = (1UL << 21) / PAGE;
    uint32_t e = model_alloc(1, 1);
    MODEL_CHECK(page_cache_mapped_npages[0] == step_min && os_fake.calls[OS_FAKE_MAP] == calls + 1);
    model_free(e);
    e = model_alloc(step_min, 1);                       /* does not fit beside the dirty page */
    model_free(e);
    e = model_alloc(2 * step_min + 1, 1);
    model_free(e);
    os_fake_fail(OS_FAKE_MAP, 1, 1);                    /* the step fails, less does not */
    e = model_alloc(page_cache_mapped_npages[0], 1);
    MODEL_CHECK(e == 0 || AT(ext_npages, e) != 0);
    if (e != 0) {
        model_free(e);
    }
    os_fake_fail(OS_FAKE_MAP, 1, 100);
    MODEL_CHECK(model_alloc(2 * page_cache_mapped_npages[0], 1) == 0);
    os_fake_fail(OS_FAKE_MAP, 1, 0);
    purge_all();
}

static void test_limits(void)
{
    bool zeroed;
    static const uint64_t huge[] = {PAGE_COUNT_MAX - 1, PAGE_COUNT_MAX, PAGE_COUNT_MAX + 1, UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) {
        MODEL_CHECK(model_alloc(huge[i], 1) == 0);
        MODEL_CHECK(page_cache_alloc(0, 1, huge[i], &zeroed) == 0 && !zeroed);
        for (size_t k = 0; k < sizeof huge / sizeof huge[0]; k++) {
            MODEL_CHECK(page_cache_alloc(0, huge[i], huge[k], &zeroed) == 0 && !zeroed);
        }
    }
    /* An address space with room for little: growth falls back to what is needed, and everything is served from it. */
    os_fake.mapped_npages_max = os_fake.mapped_npages + 10;
    uint32_t all = model_alloc(extent_npages_total[EXTENT_RETAINED], 1);
    uint32_t nine = model_alloc(9, 1);
    uint32_t one = model_alloc(1, 1);
    MODEL_CHECK(nine != 0 && one != 0 && model_alloc(1, 1) == 0);
    if (all != 0) {
        model_free(all);
    }
    model_free(nine);
    model_free(one);
    os_fake.mapped_npages_max = UINT64_MAX;
}

static void test_alignment(void)
{
    for (uint64_t align = 1; align <= 4096; align *= 2) {
        for (uint64_t n = 1; n <= 9; n += 4) {
            uint32_t a = model_alloc(n, align);
            uint32_t b = model_alloc(n, align);
            MODEL_CHECK(a != 0 && b != 0);
            model_free(a);
            uint64_t mapped = page_cache_mapped_npages[0];
            a = model_alloc(n, align);                  /* the same run serves again */
            MODEL_CHECK(a != 0 && mapped == page_cache_mapped_npages[0]);
            model_free(b);
            model_free(a);
        }
    }
    purge_all();
}

/* Muzzy pages are reused before retained ones, and not called zero; a neighbour that is just long enough suffices. */
static void test_exact(void)
{
    uint32_t a = model_alloc(4, 1);
    uint32_t b = model_alloc(4, 1);
    MODEL_CHECK(AT(ext_page, b) == AT(ext_page, a) + 4);
    model_free(b);
    MODEL_CHECK(!model_expand(a, 9) && model_expand(a, 8));
    model_free(a);
    a = model_take(EXTENT_DIRTY, 100);
    MODEL_CHECK(AT(ext_npages, a) == 8);
    model_give(a, EXTENT_MUZZY);
    b = model_alloc(3, 1);
    MODEL_CHECK(b != 0 && extent_npages_total[EXTENT_MUZZY] == 5);
    model_free(b);
    purge_all();
}

/* When the OS gives no more than is asked for, an aligned run asks for enough wherever the pages come to lie. */
static void test_exact_growth(void)
{
    uint64_t all = extent_npages_total[EXTENT_RETAINED];
    uint64_t mapped = os_fake.mapped_npages;
    static uint32_t hoard[1024];
    uint32_t count = 0;
    for (uint64_t n = all; n > 0;) {                    /* takes everything, longest runs first */
        os_fake_fail(OS_FAKE_MAP, 1, 1000);
        uint32_t e = model_alloc(n, 1);
        os_fake_fail(OS_FAKE_MAP, 1, 0);
        if (e == 0) {
            n--;
        } else {
            hoard[count++] = e;
            n = n < extent_npages_total[EXTENT_RETAINED] ? n : extent_npages_total[EXTENT_RETAINED];
        }
    }
    for (uint64_t align = 2; align <= 64; align *= 2) {
        os_fake.gap_npages = align == 2 ? 1 : align / 2 + 1;
        os_fake.mapped_npages_max = os_fake.mapped_npages + 5 + align - 2;
        MODEL_CHECK(model_alloc(5, align) == 0);
        os_fake.mapped_npages_max++;
        uint32_t e = model_alloc(5, align);
        MODEL_CHECK(e != 0);
        uint64_t rest = extent_npages_total[EXTENT_RETAINED];
        while (rest > 0 && (hoard[count] = model_alloc(1, 1)) != 0) {
            count++;
            rest--;
        }
        hoard[count++] = e;
    }
    while (count > 0) {
        model_free(hoard[--count]);
    }
    os_fake.mapped_npages_max = UINT64_MAX;
    os_fake.gap_npages = 0;
    MODEL_CHECK(mapped <= os_fake.mapped_npages);
    purge_all();
}

/* Every operation with the nth table growth failing. */
static void test_metadata_failures(void)
{
    for (uint64_t nth = 1; nth <= 3; nth++) {
        os_fake_fail(OS_FAKE_METADATA, nth, 1000000);
        for (uint32_t i = 0; i < 300; i++) {
            step();
        }
        os_fake_fail(OS_FAKE_METADATA, 1, 0);
        free_all();
    }
    purge_all();
}

int main(void)
{
    uint64_t first_seed = seed;
    os_fake_fail(OS_FAKE_METADATA, 1, 1000000);         /* before anything exists */
    page_cache_boot();
    MODEL_CHECK(model_alloc(1, 1) == 0);
    os_fake_reset();
    test_growth();
    test_limits();
    test_alignment();
    test_exact();
    test_exact_growth();
    test_metadata_failures();
    for (uint32_t round = 0; round < 8; round++) {
        os_fake.gap_npages = round % 3;
        os_fake.upwards = round % 2 == 1;
        for (uint32_t i = 0; i < 1500; i++) {
            os_fake_fail(OS_FAKE_MAP, 1, round >= 4 && random_below(2) == 0 ? 1000 : 0);
            step();
        }
        free_all();
        if (round % 2 == 0) {
            purge_all();
        }
    }
    printf("ok page_cache: %llu checks (seed %llx)\n", (unsigned long long)model_checks, (unsigned long long)first_seed);
    return 0;
}
