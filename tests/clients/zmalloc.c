/* As Redis does it (zmalloc.c, object.c, defrag.c): memory counted by usable sizes, INFO memory, MEMORY PURGE, how full the slabs are, and
 * blocks that defragmentation moves past the thread's cache. */
#include "client.h"

static size_t used_memory;

static void *zmalloc(size_t size)
{
    void *p = malloc(size);
    used_memory += malloc_usable_size(p);
    return p;
}

static void zfree(void *p)
{
    used_memory -= malloc_usable_size(p);
    free(p);
}

static int allocator_info(size_t *allocated, size_t *active, size_t *resident)
{
    uint64_t epoch = 1;
    size_t   size = sizeof epoch;
    *allocated = *active = *resident = 0;
    mallctl("epoch", &epoch, &size, &epoch, size);
    size = sizeof(size_t);
    return mallctl("stats.resident", resident, &size, NULL, 0) != 0 || mallctl("stats.active", active, &size, NULL, 0) != 0
           || mallctl("stats.allocated", allocated, &size, NULL, 0) != 0;
}

static int purge(void)
{
    char     name[32];
    unsigned narenas = 0;
    size_t   size = sizeof narenas;
    if (mallctl("arenas.narenas", &narenas, &size, NULL, 0) != 0) {
        return -1;
    }
    snprintf(name, sizeof name, "arena.%u.purge", narenas);
    return mallctl(name, NULL, 0, NULL, 0);
}

/* How many regions of the slabs of all arenas nobody uses: what defragmentation starts from. */
static int unused_regions(size_t *unused, size_t *used)
{
    unsigned nbins = 0;
    size_t   size = sizeof nbins;
    *unused = *used = 0;
    CHECK(mallctl("arenas.nbins", &nbins, &size, NULL, 0) == 0 && nbins > 0);
    for (unsigned j = 0; j < nbins; j++) {
        char     name[64];
        uint32_t nregs = 0;
        size_t   curregs = 0, curslabs = 0;
        snprintf(name, sizeof name, "arenas.bin.%u.nregs", j);
        size = sizeof nregs;
        CHECK(mallctl(name, &nregs, &size, NULL, 0) == 0 && nregs > 0);
        size = sizeof(size_t);
        snprintf(name, sizeof name, "stats.arenas.%d.bins.%u.curregs", MALLCTL_ARENAS_ALL, j);
        CHECK(mallctl(name, &curregs, &size, NULL, 0) == 0);
        snprintf(name, sizeof name, "stats.arenas.%d.bins.%u.curslabs", MALLCTL_ARENAS_ALL, j);
        CHECK(mallctl(name, &curslabs, &size, NULL, 0) == 0);
        CHECK(curregs <= curslabs * nregs);
        *unused += curslabs * nregs - curregs;
        *used += curregs;
    }
    return 0;
}

static void *key[20000];

int main(void)
{
    size_t allocated, active, resident, unused, used, before;
    bool   no = false;
    mallctl("background_thread", NULL, 0, &no, 1);
    CHECK(allocator_info(&before, &active, &resident) == 0);
    for (size_t i = 0; i < 20000; i++) {
        key[i] = zmalloc(10 + i % 500);
        memset(key[i], 'k', 10 + i % 500);
    }
    CHECK(allocator_info(&allocated, &active, &resident) == 0);
    CHECK(allocated >= before + used_memory && allocated <= active && active <= resident);
    CHECK(unused_regions(&unused, &used) == 0 && used >= 20000);
    for (size_t i = 0; i < 20000; i += 2) {
        zfree(key[i]);
    }
    mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    for (size_t i = 1; i < 20000; i += 2) {             /* moved, past the cache */
        size_t size = malloc_usable_size(key[i]);
        void  *moved = mallocx(size, MALLOCX_TCACHE_NONE);
        CHECK(moved != NULL);
        memcpy(moved, key[i], 10 + i % 500);
        dallocx(key[i], MALLOCX_TCACHE_NONE);
        CHECK(((char *)moved)[9 + i % 500] == 'k');
        key[i] = moved;
    }
    size_t none = 0, size = sizeof none;
    CHECK(mallctl("stats.arenas.0.small.resident", &none, &size, NULL, 0) == ENOENT && none == 0);
    for (size_t i = 1; i < 20000; i += 2) {
        zfree(key[i]);
    }
    CHECK(used_memory == 0 && purge() == 0);
    CHECK(allocator_info(&allocated, &active, &resident) == 0 && allocated <= active && active <= resident);
    printf("ok zmalloc\n");
    return 0;
}
