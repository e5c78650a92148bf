/* As Arrow's memory pool does it: every block aligned to 64 bytes, decay times set for the arenas that there are and will be, unused
 * memory released, statistics. */
#include "client.h"

#define ALIGN 64

static int set_decay(ssize_t ms)
{
    unsigned narenas = 0;
    size_t   size = sizeof narenas;
    CHECK(mallctl("arenas.dirty_decay_ms", NULL, NULL, &ms, sizeof ms) == 0
          && mallctl("arenas.muzzy_decay_ms", NULL, NULL, &ms, sizeof ms) == 0);
    CHECK(mallctl("arenas.narenas", &narenas, &size, NULL, 0) == 0);
    for (unsigned i = 0; i < narenas; i++) {
        char name[64];
        bool initialized = false;
        size = sizeof initialized;
        snprintf(name, sizeof name, "arena.%u.initialized", i);
        CHECK(mallctl(name, &initialized, &size, NULL, 0) == 0);
        snprintf(name, sizeof name, "arena.%u.dirty_decay_ms", i);
        CHECK(!initialized || mallctl(name, NULL, NULL, &ms, sizeof ms) == 0);
    }
    return 0;
}

static int stat_of(const char *name, size_t *value)
{
    uint64_t epoch = 1;
    size_t   size = sizeof *value;
    return mallctl("epoch", NULL, NULL, &epoch, sizeof epoch) != 0 || mallctl(name, value, &size, NULL, 0) != 0;
}

int main(void)
{
    size_t allocated, active, resident, mapped, retained, metadata;
    CHECK(set_decay(1000) == 0);
    char *p = mallocx(1000, MALLOCX_ALIGN(ALIGN));
    CHECK(p != NULL && (uintptr_t)p % ALIGN == 0);
    memset(p, 3, 1000);
    for (size_t size = 1000; size < 100 << 20; size *= 3) {
        p = rallocx(p, size * 3, MALLOCX_ALIGN(ALIGN));
        CHECK(p != NULL && (uintptr_t)p % ALIGN == 0 && p[0] == 3 && p[size - 1] == 3);
        memset(p, 3, size * 3);
    }
    CHECK(stat_of("stats.allocated", &allocated) == 0 && stat_of("stats.active", &active) == 0 && stat_of("stats.metadata", &metadata) == 0);
    CHECK(stat_of("stats.resident", &resident) == 0 && stat_of("stats.mapped", &mapped) == 0 && stat_of("stats.retained", &retained) == 0);
    CHECK(allocated >= 100 << 20 && allocated <= active && active <= resident && active <= mapped && metadata > 0);
    dallocx(p, MALLOCX_ALIGN(ALIGN));
    CHECK(mallctl("arena.4096.purge", NULL, NULL, NULL, 0) == 0);
    CHECK(stat_of("stats.resident", &allocated) == 0 && allocated < resident - (100 << 20));
    CHECK(set_decay(0) == 0);
    printf("ok arrow\n");
    return 0;
}
