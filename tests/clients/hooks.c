/* As programs do it that have memory of their own, such as memkind and HHVM: all pages of an arena come from their hooks, and they know at each
 * moment what is out. */
#include "client.h"

#include <stdlib.h>
#include <sys/mman.h>

#define BLOCKS 400
#define EXTENTS 4096

static struct { char *at; size_t bytes; } extents[EXTENTS];
static unsigned arena, allocs, dallocs, destroys, purges, splits, merges, strange;
static size_t   out_bytes;
static bool     keeps;                          /* whether dalloc refuses */
static bool     dirty;                          /* whether purges are refused */

static int find(const void *at)
{
    for (int i = 0; i < EXTENTS; i++) {
        if (extents[i].at == at) {
            return i;
        }
    }
    return -1;
}

static void *own_alloc(extent_hooks_t *hooks, void *address, size_t size, size_t alignment, bool *zero, bool *commit, unsigned from)
{
    (void)hooks;
    int i = find(NULL);
    if (address != NULL || i < 0 || alignment > 4096) {
        return NULL;
    }
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return NULL;
    }
    extents[i].at = p;
    extents[i].bytes = size;
    strange += from != arena;
    out_bytes += size;
    allocs++;
    *zero = *commit = true;
    return p;
}

/* Forgets an extent, which must be one that is out, whole. */
static void forget(void *address, size_t size, unsigned from)
{
    int i = find(address);
    if (i < 0 || extents[i].bytes != size || from != arena) {
        strange++;
        return;
    }
    munmap(address, size);
    extents[i].at = NULL;
    out_bytes -= size;
}

static bool own_dalloc(extent_hooks_t *hooks, void *address, size_t size, bool committed, unsigned from)
{
    (void)hooks, (void)committed;
    if (!keeps) {
        forget(address, size, from);
        dallocs++;
    }
    return keeps;
}

static void own_destroy(extent_hooks_t *hooks, void *address, size_t size, bool committed, unsigned from)
{
    (void)hooks, (void)committed;
    forget(address, size, from);
    destroys++;
}

static bool own_commit(extent_hooks_t *hooks, void *address, size_t size, size_t offset, size_t length, unsigned from)
{
    (void)hooks, (void)address, (void)size, (void)offset, (void)length, (void)from;
    return true;
}

static bool own_purge(extent_hooks_t *hooks, void *address, size_t size, size_t offset, size_t length, unsigned from)
{
    (void)hooks, (void)from, (void)size;
    purges++;
    return dirty || madvise((char *)address + offset, length, MADV_REMOVE) != 0;
}

static bool own_split(extent_hooks_t *hooks, void *address, size_t size, size_t size_a, size_t size_b, bool committed, unsigned from)
{
    (void)hooks, (void)committed, (void)from;
    int i = find(address), j = find(NULL);
    if (i < 0 || j < 0 || extents[i].bytes != size || size_a + size_b != size) {
        strange++;
        return true;
    }
    extents[i].bytes = size_a;
    extents[j].at = (char *)address + size_a;
    extents[j].bytes = size_b;
    splits++;
    return false;
}

static bool own_merge(extent_hooks_t *hooks, void *a, size_t size_a, void *b, size_t size_b, bool committed, unsigned from)
{
    (void)hooks, (void)committed, (void)from;
    int i = find(a), j = find(b);
    if (i < 0 || j < 0 || extents[i].bytes != size_a || extents[j].bytes != size_b || (char *)a + size_a != b) {
        strange++;
        return true;
    }
    extents[i].bytes += size_b;
    extents[j].at = NULL;
    merges++;
    return false;
}

static extent_hooks_t own = {own_alloc, own_dalloc, own_destroy, own_commit, own_commit, NULL, own_purge, own_split, own_merge};

static int inside(const char *p, size_t bytes)
{
    size_t n = 0;
    for (int i = 0; i < EXTENTS; i++) {
        n += extents[i].at != NULL && extents[i].at < p + bytes && p < extents[i].at + extents[i].bytes;
    }
    return n > 0;
}

static int act(const char *what)
{
    char name[64];
    snprintf(name, sizeof name, "arena.%u.%s", arena, what);
    return mallctl(name, NULL, NULL, NULL, 0);
}

/* Blocks of all sizes come and go, each in memory of the hooks. */
static int churn(void)
{
    static char  *block[BLOCKS];
    static size_t bytes[BLOCKS];
    uint64_t      random = 88172645463325252U;
    for (int i = 0; i < 20 * BLOCKS; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        int k = (int)(random % BLOCKS);
        if (block[k] != NULL) {
            CHECK(block[k][0] == (char)k && block[k][bytes[k] - 1] == (char)k);
            dallocx(block[k], MALLOCX_ARENA(arena) | MALLOCX_TCACHE_NONE);
        }
        bytes[k] = random % 16 == 0 ? 20000 + random / 1024 % 3000000 : 1 + random / 1024 % 5000;
        block[k] = mallocx(bytes[k], MALLOCX_ARENA(arena) | MALLOCX_TCACHE_NONE | MALLOCX_ZERO);
        CHECK(block[k] != NULL && inside(block[k], bytes[k]));
        CHECK(block[k][0] == 0 && block[k][bytes[k] / 2] == 0 && block[k][bytes[k] - 1] == 0);
        block[k][0] = block[k][bytes[k] - 1] = (char)k;
    }
    for (int k = 0; k < BLOCKS; k++) {
        dallocx(block[k], MALLOCX_ARENA(arena) | MALLOCX_TCACHE_NONE);
        block[k] = NULL;
    }
    return 0;
}

static int round_of(extent_hooks_t *hooks, bool refuses, bool purges_fail)
{
    size_t          size = sizeof arena;
    allocs = dallocs = destroys = splits = merges = 0;
    keeps = refuses;
    dirty = purges_fail;
    arena = 0;
    size_t before = out_bytes;
    CHECK(mallctl("arenas.create", &arena, &size, NULL, 0) == 0);
    char name[64];
    snprintf(name, sizeof name, "arena.%u.extent_hooks", arena);
    CHECK(mallctl(name, NULL, NULL, (void *)&hooks, sizeof(void *)) == 0);
    CHECK(churn() == 0 && allocs > 0 && splits > 0 && strange == 0);
    CHECK(act("purge") == 0);
    CHECK(refuses ? dallocs == 0 && out_bytes > 0 : dirty || dallocs > 0);
    size_t kept = out_bytes;
    CHECK(churn() == 0 && strange == 0);
    CHECK(!refuses || out_bytes <= 2 * kept);
    CHECK(act("destroy") == 0 && strange == 0);
    CHECK(out_bytes == before && (refuses ? destroys > 0 : dallocs > 0));
    return 0;
}

int main(void)
{
    CHECK(round_of(&own, false, false) == 0);
    CHECK(round_of(&own, true, false) == 0);
    CHECK(round_of(&own, false, true) == 0);
    CHECK(round_of(&own, true, true) == 0);
    extent_hooks_t without = own;                   /* they take pages at the end only */
    without.dalloc = NULL;
    CHECK(round_of(&without, true, false) == 0);
    CHECK(round_of(&without, true, true) == 0);
    printf("ok hooks\n");
    return 0;
}
