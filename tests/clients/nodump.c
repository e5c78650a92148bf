/* As RocksDB's no-dump allocator and Folly's do it: the hooks of an arena are the ones that it has, but that alloc keeps its pages out of core
 * dumps. */
#include "client.h"

#include <stdlib.h>
#include <sys/mman.h>

#define BLOCKS 200

static extent_alloc_t *original;
static unsigned        calls, arena;

static void *alloc(extent_hooks_t *hooks, void *address, size_t size, size_t alignment, bool *zero, bool *commit, unsigned from)
{
    void *p = original(hooks, address, size, alignment, zero, commit, from);
    if (p != NULL && from == arena) {
        calls++;
        madvise(p, size, MADV_DONTDUMP);
    }
    return p;
}

/* Returns whether the mapping of the address is kept out of dumps: "dd" among its flags. */
static int undumped(const void *address)
{
    char  line[512];
    int   inside = 0, found = 0;
    FILE *maps = fopen("/proc/self/smaps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
            inside = from <= (uintptr_t)address && (uintptr_t)address < to;
        } else if (inside && strncmp(line, "VmFlags:", 8) == 0) {
            found = strstr(line, " dd") != NULL;
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return found;
}

int main(void)
{
    static extent_hooks_t own;
    char            name[64];
    extent_hooks_t *hooks = NULL, *now = NULL, *set = &own;
    size_t          size = sizeof arena;
    CHECK(mallctl("arenas.create", &arena, &size, NULL, 0) == 0 && arena > 0);
    snprintf(name, sizeof name, "arena.%u.extent_hooks", arena);
    size = sizeof(void *);
    CHECK(mallctl(name, (void *)&hooks, &size, NULL, 0) == 0 && size == sizeof(void *) && hooks != NULL && hooks->alloc != NULL);
    own = *hooks;
    original = hooks->alloc;
    own.alloc = alloc;
    CHECK(mallctl(name, NULL, NULL, (void *)&set, sizeof(void *)) == 0);
    CHECK(mallctl(name, (void *)&now, &size, NULL, 0) == 0 && now == &own);
    unsigned cache = 0;
    size = sizeof cache;
    CHECK(mallctl("tcache.create", &cache, &size, NULL, 0) == 0);
    int   flags = MALLOCX_ARENA(arena) | MALLOCX_TCACHE(cache);
    void *block[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = mallocx(i % 8 == 0 ? 4000000 : 16384, flags);
        CHECK(block[i] != NULL);
        memset(block[i], i, 16384);
        CHECK(undumped(block[i]));
    }
    CHECK(calls > 0 && !undumped(malloc(16384)));
    block[0] = rallocx(block[0], 9000000, flags);
    CHECK(block[0] != NULL && undumped(block[0]) && undumped((char *)block[0] + 8999999));
    for (int i = 0; i < BLOCKS; i++) {
        dallocx(block[i], flags);
    }
    CHECK(mallctl("tcache.destroy", NULL, NULL, &cache, sizeof cache) == 0);
    snprintf(name, sizeof name, "arena.%u.destroy", arena);
    CHECK(mallctl(name, NULL, NULL, NULL, 0) == 0);
    puts("ok nodump");
    return 0;
}
