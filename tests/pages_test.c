/* pages_test: checks the page cache together with its decay. Free pages go back to the OS on time, and pages that the
 * OS does not take stay. */
#include "blocks_boot.h"
#include "pages_model.h"

static uint64_t free_npages(void)
{
    struct pages_stats s;
    pages_read_stats(&s);
    CHECK(s.busy == 0);
    CHECK((s.active + s.dirty + s.muzzy + s.retained) == os_fake.mapped_npages);
    return s.dirty + s.muzzy;
}

static void test_curve(uint32_t cache, int64_t dirty_ms, int64_t muzzy_ms)
{
    bool     zeroed;
    uint32_t e[100];
    pages_trim();
    os_fake.clock_ms += 1000000;
    for (uint32_t i = 0; i < 100; i++) {
        e[i] = pages_alloc(cache, 100, 1, &zeroed);
        CHECK(e[i] != 0 && zeroed);
    }
    for (uint32_t i = 0; i < 100; i++) {
        pages_free(e[i]);
    }
    pages_decay();
    uint64_t left = free_npages();
    CHECK(left <= 10000);
    for (int64_t ms = 0; ms <= dirty_ms + muzzy_ms + 1000; ms += 97) {
        os_fake.clock_ms += 97;
        pages_decay();
        CHECK(free_npages() <= left);
        left = free_npages();
    }
    CHECK(left == 0);
}

static void test_never(void)
{
    bool zeroed;
    pages_free(pages_alloc(PAGE_CACHES - 1, 500, 1, &zeroed));
    os_fake.clock_ms += 10000000;
    pages_decay();
    CHECK(free_npages() == 500);
    CHECK(pages_trim() && free_npages() == 0 && !pages_trim());
}

static uint64_t muzzy_npages(void)
{
    struct pages_stats s;
    pages_read_stats(&s);
    return s.muzzy;
}

/* What becomes muzzy begins the muzzy stage then, and stays for its time. */
static void test_muzzy(void)
{
    bool zeroed;
    for (int64_t ms = -1; ms <= 1000; ms += 1001) {
        pages_trim();
        pages_set_decay(PAGE_CACHES - 1, 0, ms);
        pages_free(pages_alloc(PAGE_CACHES - 1, 500, 1, &zeroed));
        pages_decay();
        CHECK(muzzy_npages() == 500 && free_npages() == 500);
    }
    pages_set_decay(PAGE_CACHES - 1, 0, 1000);
    pages_trim();
    pages_free(pages_alloc(PAGE_CACHES - 1, 500, 1, &zeroed));
    for (int i = 0; i < 20; i++) {
        uint64_t before = (pages_decay(), muzzy_npages());
        os_fake.clock_ms += 100;
        pages_decay();
        CHECK(muzzy_npages() <= before && (i < 2 || i > 7 || (0 < muzzy_npages() && muzzy_npages() < 500)) && (i < 12 || muzzy_npages() == 0));
    }
    pages_set_decay(PAGE_CACHES - 1, -1, 0);
}

static void test_refused(void)
{
    bool zeroed;
    pages_free(pages_alloc(PAGE_CACHES - 1, 500, 1, &zeroed));
    os_fake_fail(OS_FAKE_PURGE, 1, 3);
    CHECK(!pages_trim() && free_npages() == 500);
    os_fake_reset();
    CHECK(pages_trim() && free_npages() == 0);
}

static void test_find_release(void)
{
    bool     zeroed;
    uint32_t e = pages_alloc(1, 10, 16, &zeroed);
    uint64_t page = AT(ext_page, e);
    CHECK(page % 16 == 0 && pages_find(page) == e && pages_find(page + 1) == 0 && pages_find(PAGE_COUNT_MAX) == 0);
    CHECK(pages_resize(e, 4) && pages_find(page) == e && AT(ext_npages, e) == 4 && pages_find(page + 4) == 0);
    CHECK(pages_resize(e, 10) && AT(ext_npages, e) == 10);
    CHECK(pages_release(page + 1).npages == 0 && pages_release(page).npages != 0 && pages_release(page).npages == 0 && pages_find(page) == 0);
}

/* Two page caches with the same times and different pages: each keeps as many as the curve allows for its own. */
static void test_apart(void)
{
    bool               zeroed;
    struct pages_stats few, many;
    os_fake.clock_ms += 1000000;
    for (uint32_t c = 0; c < 2; c++) {
        pages_set_decay(c, 10000, 0);
    }
    pages_decay();
    uint32_t a = pages_alloc(0, 10, 1, &zeroed), b = pages_alloc(1, 10000, 1, &zeroed);
    CHECK(AT(ext_state, a) == EXTENT_ACTIVE && AT(ext_state, b) == EXTENT_ACTIVE + 1);
    pages_free(a);
    pages_free(b);
    for (int epoch = 0; epoch < 100; epoch++) {             /* half of the time: half of the pages */
        os_fake.clock_ms += 50;
        pages_decay();
    }
    pages_read_cache(0, &few);
    pages_read_cache(1, &many);
    CHECK(few.dirty >= 4 && few.dirty <= 6 && many.dirty >= 4500 && many.dirty <= 5500);
    CHECK(few.active == 0 && few.busy == 0 && few.dirty + few.muzzy + few.retained == page_cache_mapped_npages[0]);
    CHECK(pages_purge(1) && !pages_purge(1));
    pages_read_cache(0, &few);
    pages_read_cache(1, &many);
    CHECK(few.dirty >= 4 && many.dirty == 0);
    CHECK(pages_trim() && free_npages() == 0);
}

/* A page cache has pages that are free and takes none of another one, even where the OS gives no more. */
static void test_own(void)
{
    bool zeroed;
    pages_free(pages_alloc(0, 60000, 1, &zeroed));
    os_fake_fail(OS_FAKE_MAP, 1, 100);
    CHECK(pages_alloc(1, 60000, 1, &zeroed) == 0);
    uint32_t e = pages_alloc(0, 60000, 1, &zeroed);
    CHECK(e != 0);
    pages_free(e);
    os_fake_reset();
    CHECK(pages_trim());
}

/* Where the OS gives no more, free pages of all kinds join, and make room for what none of them has room for alone. */
static void test_join(void)
{
    bool     zeroed;
    uint32_t all = pages_alloc(1, 3000, 1, &zeroed), part[2];
    uint64_t rest = os_fake.mapped_npages;
    CHECK(all != 0);
    pages_free(all);
    os_fake_fail(OS_FAKE_MAP, 1, 1000);
    CHECK(pages_trim());
    all = pages_alloc(1, 1000, 1, &zeroed);
    for (int i = 0; i < 2; i++) {
        part[i] = pages_alloc(1, 1000, 1, &zeroed);
        CHECK(all != 0 && part[i] != 0);
    }
    CHECK(AT(ext_page, part[0]) == AT(ext_page, all) + 1000 && AT(ext_page, part[1]) == AT(ext_page, all) + 2000);
    pages_free(all);
    CHECK(pages_purge(1));
    pages_free(part[0]);
    CHECK((part[0] = pages_alloc(1, 1990, 1, &zeroed)) != 0 && AT(ext_page, part[0]) + 2000 == AT(ext_page, part[1]));
    pages_free(part[0]);
    pages_free(part[1]);
    CHECK(os_fake.mapped_npages == rest);
    os_fake_reset();
    CHECK(pages_trim());
}

/* As many pages stay in memory as limit_dirty says, of all page caches together. Where the OS refuses, more stay. Past limit_soft fewer
 * stay. */
static void test_limits(void)
{
    bool     zeroed;
    uint32_t run[2 * 8];
    for (uint32_t c = 0; c < 2; c++) {
        pages_set_decay(c, -1, 0);
    }
    limit_set_pages(LIMIT_NONE, 150 * PAGE);
    for (uint32_t i = 0; i < 16; i++) {
        run[i] = pages_alloc(i % 2, 50, 1, &zeroed);
        CHECK(run[i] != 0);
    }
    for (uint32_t i = 0; i < 16; i++) {
        pages_free(run[i]);
        CHECK(free_npages() == (i < 3 ? (i + 1) * 50 : 150));
    }
    uint32_t e = pages_alloc(0, 400, 1, &zeroed);
    os_fake_fail(OS_FAKE_PURGE, 1, 100);
    pages_free(e);
    CHECK(free_npages() > 150);
    os_fake_reset();
    pages_decay();
    CHECK(free_npages() == 150);
    e = pages_alloc(1, 400, 1, &zeroed);
    CHECK(pages_resize(e, 100));
    pages_decay();
    CHECK(free_npages() == 150);
    CHECK(pages_release(AT(ext_page, e)).npages == 100 && free_npages() == 150);
    struct pages_stats now;
    pages_read_stats(&now);
    limit_mapped = (now.active + now.dirty + now.muzzy + now.retained) * PAGE;
    limit_set_pages((now.active + 70) * PAGE, LIMIT_NONE);
    pages_decay();
    CHECK(free_npages() == 70);
    limit_set_pages(0, LIMIT_NONE);
    pages_decay();
    CHECK(free_npages() == 0);
    limit_set_pages(LIMIT_NONE, LIMIT_NONE);
    limit_mapped = 0;
}

/* A page cache grows by as much as is set, or by what a request needs. */
static void test_growth(void)
{
    bool     zeroed;
    uint32_t cache = PAGE_CACHES - 1;
    CHECK(pages_growth(cache) == 0);
    uint64_t before = page_cache_mapped_npages[cache];
    CHECK(pages_unmap(cache, EXTENT_RETAINED, true) || before == 0);
    pages_set_growth(cache, 16);
    CHECK(pages_growth(cache) == 16 && pages_growth(0) == 0);
    before = page_cache_mapped_npages[cache];
    uint32_t a = pages_alloc(cache, 3, 1, &zeroed);
    CHECK(page_cache_mapped_npages[cache] == before + 16);
    uint32_t b = pages_alloc(cache, 100, 1, &zeroed);
    CHECK(page_cache_mapped_npages[cache] == before + 116);
    pages_set_growth(cache, 0);
    uint32_t d = pages_alloc(cache, 100, 1, &zeroed);
    CHECK(page_cache_mapped_npages[cache] >= before + 116 + ((2UL << 20) >> LG_PAGE));
    pages_free(a);
    pages_free(b);
    pages_free(d);
    CHECK(pages_trim());
}

/* Pages that are purged go back to hooks that take pages back. One extent that these refuse is retained, and they are asked again. */
static void test_hooks(void)
{
    bool     zeroed;
    uint32_t cache = PAGE_CACHES - 2;
    uint32_t e = pages_alloc(cache, 700, 1, &zeroed);
    uint64_t mapped = os_fake.mapped_npages, own = page_cache_mapped_npages[cache];
    CHECK(own >= 700);
    pages_free(e);
    os_fake.takes_back = true;
    os_fake_fail(OS_FAKE_UNMAP, 1, 1);
    CHECK(pages_purge(cache));
    CHECK(os_fake.mapped_npages == mapped && page_cache_mapped_npages[cache] == own);
    CHECK(extent_npages_total[EXTENT_RETAINED + cache] == own);
    pages_decay();
    CHECK(page_cache_mapped_npages[cache] == 0 && extent_npages_total[EXTENT_RETAINED + cache] == 0);
    os_fake.takes_back = false;
    e = pages_alloc(cache, 700, 1, &zeroed);
    CHECK(e != 0 && zeroed);
    pages_free(e);
    os_fake_fail(OS_FAKE_UNMAP, 1, 1);
    CHECK(pages_purge(cache) && pages_unmap(cache, EXTENT_RETAINED, true) && page_cache_mapped_npages[cache] == 0);
}

/* Where threads end, more dirty pages than twice those in use go back at once, and 8 MiB of them stay. */
static void test_shed(void)
{
    enum { N = 12 };
    uint32_t e[N];
    bool     zeroed;
    uint64_t least = (8UL << 20) >> LG_PAGE, before = extent_npages_total[EXTENT_ACTIVE];
    CHECK(pages_trim() || extent_npages_total[EXTENT_DIRTY] == 0);
    for (int i = 0; i < N; i++) {
        e[i] = pages_alloc(0, least / 2, 1, &zeroed);
        CHECK(e[i] != 0);
    }
    for (int i = 0; i < N / 2; i++) {
        pages_free(e[i]);
    }
    pages_shed();
    CHECK(extent_npages_total[EXTENT_DIRTY] == N / 2 * least / 2);
    for (int i = N / 2; i < N; i++) {
        pages_free(e[i]);
    }
    pages_set_decay(0, -1, 0);
    pages_shed();
    CHECK(extent_npages_total[EXTENT_DIRTY] == N * least / 2);
    pages_set_decay(0, 10000, 0);
    pages_shed();
    CHECK(extent_npages_total[EXTENT_DIRTY] == (before < N * least / 4 ? least : N * least / 2));
    CHECK(pages_trim());
}

/* More than 16 MiB of dirty pages wait, if they are more than a quarter of those in use, and may go some day. */
static void test_wait(void)
{
    bool     zeroed;
    uint64_t least = (16UL << 20) >> LG_PAGE, active = extent_npages_total[EXTENT_ACTIVE];
    CHECK((pages_trim() || extent_npages_total[EXTENT_DIRTY] == 0) && active < 4 * least && !pages_decay());
    uint32_t more = pages_alloc(PAGES_SHARED, 4 * (least + 1) - active, 1, &zeroed), few = pages_alloc(PAGES_SHARED, least, 1, &zeroed);
    uint32_t one = pages_alloc(PAGES_SHARED, 1, 1, &zeroed);
    CHECK(more != 0 && few != 0 && one != 0);
    pages_free(few);
    CHECK(extent_npages_total[EXTENT_DIRTY] == least && !pages_decay());
    pages_free(one);
    CHECK(extent_npages_total[EXTENT_DIRTY] == least + 1 && !pages_decay());
    pages_free(more);
    CHECK(pages_decay());
    pages_set_decay(PAGES_SHARED, -1, 0);
    CHECK(!pages_decay());
    pages_set_decay(PAGES_SHARED, 10000, 0);
    CHECK(pages_decay() && pages_trim() && !pages_decay());
}

static uint64_t dirty_npages(uint32_t cache)
{
    return extent_npages_total[EXTENT_DIRTY + cache];
}

/* Dirty pages go where others would come into memory above the mark, unless the run fits in them, or dirty pages stay for ever. */
static void test_mark(uint32_t cache, int64_t dirty_ms)
{
    enum { RUNS = 64, EACH = 64, HALF = RUNS / 2 * EACH };
    uint32_t run[RUNS];
    bool     zeroed;
    CHECK(pages_trim() || free_npages() == 0);
    CHECK(pages_unmap(cache, EXTENT_RETAINED, true));
    pages_set_decay(cache, dirty_ms, 0);
    uint64_t active = extent_npages_total[EXTENT_ACTIVE + cache];
    for (uint32_t i = 0; i < RUNS; i++) {
        run[i] = pages_alloc(cache, EACH, 1, &zeroed);
    }
    for (uint32_t i = 1; i < RUNS; i += 2) {
        pages_free(run[i]);
    }
    active += HALF;
    CHECK(dirty_npages(cache) == HALF);
    uint32_t a = pages_alloc(cache, 200, 1, &zeroed);
    CHECK(zeroed && dirty_npages(cache) == (dirty_ms < 0 ? HALF : HALF - 200));
    uint32_t b = pages_alloc(cache, 10, 1, &zeroed);
    CHECK(!zeroed && dirty_npages(cache) == (dirty_ms < 0 ? HALF : HALF - 200) - 10);
    active += 210;
    CHECK(dirty_ms < 0 || pages_mark[cache] == active - 210 + HALF + (200 > PAGES_LONG && active - 210 > HALF ? 8 * 200 : 100));
    uint64_t room = dirty_ms < 0 ? 300 : pages_mark[cache] - (active + dirty_npages(cache));    /* what may come for nothing now */
    uint32_t c = pages_alloc(cache, 300, 1, &zeroed);
    CHECK(zeroed && dirty_npages(cache) == (dirty_ms < 0 ? HALF - 10 : HALF - 210 - (room < 300 ? 300 - room : 0)));
    active += 300;
    uint64_t spare = active / PAGES_SPARE_SHARE + PAGES_SPARE, left = dirty_npages(cache);
    uint64_t mark = pages_mark[cache] < active + left ? active + left : pages_mark[cache];
    uint32_t d = pages_alloc(cache, 10000, 1, &zeroed);
    CHECK(zeroed && dirty_npages(cache) == (dirty_ms < 0 || left < spare ? left : spare));
    CHECK(dirty_ms < 0 || left < spare || (left < active && pages_mark[cache] == mark + 8 * (left - spare)));
    CHECK(extent_npages_total[EXTENT_MUZZY + cache] == 0);
    for (uint32_t i = 0; i < RUNS; i += 2) {
        pages_free(run[i]);
    }
    pages_free(a);
    pages_free(b);
    pages_free(c);
    pages_free(d);
    CHECK(pages_trim());
}

static uint64_t purge_calls(void)
{
    return os_fake.calls[OS_FAKE_PURGE] + os_fake.calls[OS_FAKE_PURGE_LAZY];
}

/* Each purge counts under the decay whose pages it purges: its system calls, of which a refused lazy one has a second behind it, and the
 * pages that went. */
static void count_purges(uint32_t cache, uint32_t refused)
{
    bool                 zeroed;
    struct pages_details before, after;
    CHECK(pages_trim() || free_npages() == 0);
    pages_set_decay(cache, 1000, 1000);
    pages_free(pages_alloc(cache, 300, 1, &zeroed));
    uint64_t kept = free_npages(), calls = purge_calls(), counted = 0;
    pages_read_details(&before);
    os_fake_fail(OS_FAKE_PURGE_LAZY, 1, refused);
    for (int i = 0; i < 16; i++) {
        os_fake.clock_ms += 500;
        pages_decay();
    }
    pages_read_details(&after);
    CHECK(kept >= 300 && free_npages() == 0);
    for (uint32_t d = 0; d < DECAY_COUNT; d++) {
        uint64_t sweeps = after.purges.sweeps[d] - before.purges.sweeps[d];
        uint64_t of_decay = after.purges.calls[d] - before.purges.calls[d], npages = after.purges.npages[d] - before.purges.npages[d];
        if (d == DECAY_DIRTY + cache) {
            CHECK(npages == kept && 0 < sweeps && sweeps + refused <= of_decay);
        } else if (d == DECAY_MUZZY + cache) {
            CHECK(npages <= kept && npages + 300 >= kept && sweeps <= of_decay && (sweeps > 0) == (npages > 0));
        } else {
            CHECK(sweeps == 0 && of_decay == 0 && npages == 0);
        }
        counted += of_decay;
    }
    CHECK(counted == purge_calls() - calls);
    os_fake_reset();
}

static void test_purges_count(void)
{
    for (uint32_t refused = 0; refused < 2; refused++) {
        count_purges(0, refused);
        count_purges(PAGE_CACHES - 1, refused);
    }
}

/* Everything mixed, an OS that refuses now and then, through the model. */
static void test_model(void)
{
    static const int64_t ms[] = {1000, 0, -1, 60};
    for (int round = 0; round < 20; round++) {
        pages_model_controls();
        os_fake_fail((enum os_fake_call)random_below(OS_FAKE_CALLS), 1 + random_below(20), random_below(3));
        bool os_works = os_fake.fail_count[OS_FAKE_PURGE] + os_fake.fail_count[OS_FAKE_PURGE_LAZY] == 0;
        pages_model_set_decay(ms[random_below(4)], ms[random_below(4)]);
        pages_model_set_limit(round % 3 == 0 ? random_below(1000) * PAGE : LIMIT_NONE);
        for (int step = 0; step < 500; step++) {
            uint32_t some = pages_model.count, i = (uint32_t)random_below(some + 1) % (some + (some == 0));
            uint64_t npages = 1 + (random_below(64) << random_below(3) * 2);
            switch (random_below(8)) {
            case 0: case 1: case 2: pages_model_alloc(npages, 1UL << random_below(10), (uint8_t)step); break;
            case 3: case 4: some > 0 ? pages_model_free(i, step % 2 == 0) : (void)0; break;
            case 5: some > 0 ? pages_model_resize(i, npages) : (void)0; break;
            case 6: some > 0 ? pages_model_find(i, npages) : (void)0; break;
            default: step % 16 == 0 ? pages_model_decay(os_works) : step % 16 == 8 ? pages_model_trim(os_works) : (void)0;
            }
            (void)pages_model_compare(EXTENT_DIRTY);
            checks++;
        }
        pages_model_finish();
    }
}

int main(void)
{
    static const int64_t ms[][2] = {{10000, 0}, {500, 500}, {0, 1000}};
    os_fake_reset();
    size_class_boot();
    pages_boot(-1, 0);
    test_never();
    test_muzzy();
    test_refused();
    test_join();
    test_find_release();
    for (uint32_t i = 0; i < sizeof ms / sizeof ms[0]; i++) {
        uint32_t cache = i % PAGE_CACHES;
        pages_set_decay(cache, ms[i][0], ms[i][1]);
        test_curve(cache, ms[i][0], ms[i][1]);
    }
    test_apart();
    test_own();
    test_limits();
    test_growth();
    test_hooks();
    test_shed();
    test_wait();
    test_mark(PAGE_CACHES - 1, 1000000);
    test_mark(0, 0);
    test_mark(1, -1);
    test_purges_count();
    test_model();
    return blocks_done("pages");
}
