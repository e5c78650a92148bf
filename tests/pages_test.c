/* pages_test: the page cache with its decay: what is free goes back to the OS on time, what the OS refuses stays. */
#include "heap_boot.h"

static uint64_t free_npages(void)
{
    struct pages_stats s;
    pages_read_stats(&s);
    CHECK(s.npages[EXTENT_BUSY] == 0);
    CHECK((s.npages[EXTENT_ACTIVE] + s.npages[EXTENT_DIRTY] + s.npages[EXTENT_MUZZY] + s.npages[EXTENT_RETAINED]) == os_fake.mapped_npages);
    return s.npages[EXTENT_DIRTY] + s.npages[EXTENT_MUZZY];
}

static void test_curve(int64_t dirty_ms, int64_t muzzy_ms)
{
    bool     zeroed;
    uint32_t e[100];
    pages_trim();
    os_fake.clock_ms += 1000000;
    for (uint32_t i = 0; i < 100; i++) {
        e[i] = pages_alloc(100, 1, &zeroed);
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
    pages_free(pages_alloc(500, 1, &zeroed));
    os_fake.clock_ms += 10000000;
    pages_decay();
    CHECK(free_npages() == 500);
    CHECK(pages_trim() && free_npages() == 0 && !pages_trim());
}

static void test_refused(void)
{
    bool zeroed;
    pages_free(pages_alloc(500, 1, &zeroed));
    os_fake_fail(OS_FAKE_PURGE, 1, 3);
    CHECK(!pages_trim() && free_npages() == 500);
    os_fake_reset();
    CHECK(pages_trim() && free_npages() == 0);
}

static void test_find_release(void)
{
    bool     zeroed;
    uint32_t e = pages_alloc(10, 16, &zeroed);
    uint64_t page = AT(ext_page, e);
    CHECK(page % 16 == 0 && pages_find(page) == e && pages_find(page + 1) == 0 && pages_find(PAGE_COUNT_MAX) == 0);
    CHECK(pages_resize(e, 4) && pages_find(page) == e && AT(ext_npages, e) == 4 && pages_find(page + 4) == 0);
    CHECK(pages_resize(e, 10) && AT(ext_npages, e) == 10);
    CHECK(!pages_release(page + 1) && pages_release(page) && !pages_release(page) && pages_find(page) == 0);
}

int main(void)
{
    static const int64_t ms[][2] = {{10000, 0}, {500, 500}, {0, 1000}};
    os_fake_reset();
    size_class_boot();
    pages_boot(-1, 0);
    test_never();
    test_refused();
    test_find_release();
    for (uint32_t i = 0; i < sizeof ms / sizeof ms[0]; i++) {
        pages_set_decay(ms[i][0], ms[i][1]);
        test_curve(ms[i][0], ms[i][1]);
    }
    return heap_done("pages");
}
