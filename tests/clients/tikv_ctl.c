/* As tikv-jemalloc-ctl does it: each name becomes an index of names once, of a fixed length, and is read by that from then on. */
#include "client.h"

static int read_by_mib(const char *name, size_t pieces, void *value, size_t size)
{
    size_t mib[8], count = pieces, got = size;
    int    result = mallctlnametomib(name, mib, &count);
    if (result != 0) {
        return result;
    }
    CHECK(count == pieces);
    result = mallctlbymib(mib, count, value, &got, NULL, 0);
    CHECK(result != 0 || got == size);
    return result;
}

static int advance(void)
{
    uint64_t epoch = 1, old = 0;
    size_t   mib[1], count = 1, size = sizeof old;
    CHECK(mallctlnametomib("epoch", mib, &count) == 0 && count == 1);
    return mallctlbymib(mib, 1, &old, &size, &epoch, sizeof epoch) == 0 && old > 0 ? 0 : 1;
}

int main(void)
{
    const char *text = NULL;
    bool        yes = true, fill = false, prof = false;
    unsigned    narenas = 0;
    size_t      max_threads = 0, before = 0, after = 0, value;
    uint64_t    epoch = 0;
    CHECK(read_by_mib("version", 1, &text, sizeof text) == 0 && text != NULL && strncmp(text, "5.", 2) == 0);
    CHECK(read_by_mib("config.malloc_conf", 2, &text, sizeof text) == 0 && text != NULL);
    CHECK(read_by_mib("arenas.narenas", 2, &narenas, sizeof narenas) == 0 && narenas > 0);
    CHECK(read_by_mib("background_thread", 1, &yes, sizeof yes) == 0 && !yes);
    CHECK(read_by_mib("max_background_threads", 1, &max_threads, sizeof max_threads) == 0);
    CHECK(read_by_mib("config.fill", 2, &fill, sizeof fill) == 0 && read_by_mib("config.prof", 2, &prof, sizeof prof) == 0);
    CHECK(read_by_mib("opt.abort", 2, &yes, sizeof yes) == 0 && !yes);
    CHECK(read_by_mib("opt.dss", 2, &text, sizeof text) == 0 && strlen(text) > 0);
    CHECK(read_by_mib("opt.narenas", 2, &narenas, sizeof narenas) == 0 && narenas > 0);
    CHECK(read_by_mib("opt.junk", 2, &text, sizeof text) == (fill ? 0 : ENOENT));
    CHECK(read_by_mib("opt.zero", 2, &yes, sizeof yes) == (fill ? 0 : ENOENT));
    CHECK(read_by_mib("opt.tcache", 2, &yes, sizeof yes) == 0 && yes);
    CHECK(read_by_mib("opt.tcache_max", 2, &value, sizeof value) == 0 && value >= 4096);
    CHECK(read_by_mib("opt.background_thread", 2, &yes, sizeof yes) == 0);
    CHECK(read_by_mib("opt.prof", 2, &yes, sizeof yes) == (prof ? 0 : ENOENT));
    CHECK(read_by_mib("epoch", 1, &epoch, sizeof epoch) == 0 && epoch > 0);
    static const char *const stats[] = {"stats.allocated", "stats.active", "stats.metadata", "stats.resident", "stats.mapped", "stats.retained"};
    CHECK(advance() == 0 && read_by_mib("stats.allocated", 2, &before, sizeof before) == 0);
    char *block = mallocx(10 << 20, MALLOCX_ZERO);
    CHECK(block != NULL && block[10 << 19] == 0);
    CHECK(read_by_mib("stats.allocated", 2, &after, sizeof after) == 0 && after == before);
    CHECK(advance() == 0 && read_by_mib("stats.allocated", 2, &after, sizeof after) == 0 && after >= before + (10 << 20));
    for (size_t i = 0; i < sizeof stats / sizeof *stats; i++) {
        CHECK(read_by_mib(stats[i], 2, &value, sizeof value) == 0);
    }
    sdallocx(block, 10 << 20, 0);
    /* GlobalAlloc: layouts with an alignment. */
    for (size_t align = 1; align <= 1 << 16; align *= 2) {
        int   flags = align <= 16 ? 0 : MALLOCX_ALIGN(align);
        char *p = mallocx(align + 100, flags);
        CHECK(p != NULL && (uintptr_t)p % (align <= 16 ? 1 : align) == 0);
        memset(p, 5, align + 100);
        p = rallocx(p, 3 * align + 1000, flags);
        CHECK(p != NULL && (uintptr_t)p % (align <= 16 ? 1 : align) == 0 && p[align + 99] == 5);
        CHECK(xallocx(p, 3 * align + 1000, 0, flags) >= 3 * align + 1000 && nallocx(3 * align + 1000, flags) == sallocx(p, flags));
        sdallocx(p, 3 * align + 1000, flags);
    }
    printf("ok tikv_ctl\n");
    return 0;
}
