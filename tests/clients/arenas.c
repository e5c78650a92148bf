/* As RocksDB's allocators and Folly do it: a program makes arenas, takes blocks from them by number, and one arena's pages are no other's. */
#include "client.h"

#include <pthread.h>
#include <stdlib.h>

#define MIB (1UL << 20)
#define BLOCKS 3000
#define FLAGS(arena) (MALLOCX_ARENA(arena) | MALLOCX_TCACHE_NONE)

static uint64_t number(const char *format, unsigned arena)
{
    char     name[64];
    uint64_t value = 0, epoch = 1;
    size_t   size = strstr(format, "nthreads") != NULL ? sizeof(unsigned) : sizeof value;
    snprintf(name, sizeof name, format, arena);
    (void)mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
    return mallctl(name, &value, &size, NULL, 0) == 0 ? value : UINT64_MAX;
}

static unsigned create(void)
{
    unsigned arena = 0;
    size_t   size = sizeof arena;
    return mallctl("arenas.create", &arena, &size, NULL, 0) == 0 ? arena : 0;
}

static unsigned arena_of(void *block)
{
    unsigned arena = 9999;
    size_t   size = sizeof arena;
    return mallctl("arenas.lookup", &arena, &size, &block, sizeof block) == 0 ? arena : 9999;
}

static int purge(unsigned arena)
{
    char name[64];
    snprintf(name, sizeof name, "arena.%u.purge", arena);
    return mallctl(name, NULL, NULL, NULL, 0);
}

/* Blocks of each kind come from the arena that is named, and their pages go back to it and to no other. */
static int own_pages(unsigned a, unsigned b)
{
    static void *block[BLOCKS];
    uint64_t     active = number("stats.arenas.%u.pactive", b);
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = mallocx(i % 10 == 0 ? 100000 : 200, FLAGS(a));
        CHECK(block[i] != NULL && arena_of(block[i]) == a);
        memset(block[i], i, i % 10 == 0 ? 100000 : 200);
    }
    CHECK(number("stats.arenas.%u.small.allocated", a) >= BLOCKS / 10 * 9 * 200);
    CHECK(number("stats.arenas.%u.large.allocated", a) >= BLOCKS / 10 * 100000);
    CHECK(number("stats.arenas.%u.pactive", a) * 4096 >= BLOCKS / 10 * 100000 + BLOCKS / 10 * 9 * 200);
    CHECK(number("stats.arenas.%u.pactive", b) == active && number("stats.arenas.%u.small.allocated", b) == 0);
    void *zero = mallocx(300000, FLAGS(a) | MALLOCX_ZERO | MALLOCX_ALIGN(65536));
    CHECK(zero != NULL && (uintptr_t)zero % 65536 == 0 && ((char *)zero)[0] == 0 && ((char *)zero)[299999] == 0 && arena_of(zero) == a);
    zero = rallocx(zero, 3 * MIB, FLAGS(a));
    CHECK(zero != NULL && arena_of(zero) == a);
    dallocx(zero, FLAGS(a));
    for (int i = 0; i < BLOCKS; i++) {
        CHECK(((unsigned char *)block[i])[199] == i % 256);
        dallocx(block[i], FLAGS(a));
    }
    CHECK(mallctl("thread.tcache.flush", NULL, NULL, NULL, 0) == 0);
    CHECK(number("stats.arenas.%u.large.allocated", a) == 0 && number("stats.arenas.%u.small.allocated", a) == 0);
    CHECK(number("stats.arenas.%u.pdirty", a) * 4096 >= BLOCKS / 10 * 100000 && number("stats.arenas.%u.pdirty", b) == 0);
    CHECK(purge(b) == 0 && number("stats.arenas.%u.pdirty", a) * 4096 >= BLOCKS / 10 * 100000);
    CHECK(purge(a) == 0 && number("stats.arenas.%u.pdirty", a) == 0);
    return 0;
}

static int own_times(unsigned a, unsigned b)
{
    ssize_t never = -1, others = 0;
    char    name[64];
    size_t  size = sizeof others;
    snprintf(name, sizeof name, "arena.%u.dirty_decay_ms", a);
    CHECK(mallctl(name, NULL, NULL, &never, sizeof never) == 0 && (ssize_t)number("arena.%u.dirty_decay_ms", a) == -1);
    CHECK(mallctl("arenas.dirty_decay_ms", &others, &size, NULL, 0) == 0 && others != -1);
    CHECK((ssize_t)number("arena.%u.dirty_decay_ms", b) == others && (ssize_t)number("arena.%u.dirty_decay_ms", 0) == others);
    return 0;
}

/* How much an arena maps at a time is the size of a class, and one arena's own. */
static int own_growth(unsigned a, unsigned b)
{
    size_t before = number("arena.%u.retain_grow_limit", b), bytes = 70000, least = 1;
    char   name[64];
    snprintf(name, sizeof name, "arena.%u.retain_grow_limit", a);
    CHECK(before == nallocx((size_t)7 << 60, 0) && mallctl(name, NULL, NULL, &least, sizeof least) == EFAULT);
    CHECK(mallctl(name, NULL, NULL, &bytes, sizeof bytes) == 0 && number("arena.%u.retain_grow_limit", a) == 65536);
    CHECK(number("arena.%u.retain_grow_limit", b) == before);
    CHECK(mallctl(name, NULL, NULL, &before, sizeof before) == 0 && number("arena.%u.retain_grow_limit", a) == before);
    return 0;
}

/* A thread may join one, and no other thread does by itself. */
static void *work(void *result)
{
    unsigned a = *(unsigned *)result, is = 77;
    size_t   size = sizeof is;
    if (mallctl("thread.arena", &is, &size, &a, sizeof a) != 0 || is == a) {
        return NULL;
    }
    void *small = malloc(500), *large = malloc(MIB);
    bool  good = small != NULL && large != NULL && arena_of(small) == a && arena_of(large) == a && number("stats.arenas.%u.nthreads", a) == 1;
    free(small);
    free(large);
    return good ? result : NULL;
}

static void *idle(void *result)
{
    free(malloc(500));
    return result;
}

static int threads(unsigned a, unsigned b)
{
    pthread_t thread[40];
    void     *result = NULL;
    CHECK(pthread_create(&thread[0], NULL, work, &a) == 0 && pthread_join(thread[0], &result) == 0 && result == &a);
    for (int i = 0; i < 40; i++) {
        CHECK(pthread_create(&thread[i], NULL, idle, &a) == 0);
    }
    CHECK(number("stats.arenas.%u.nthreads", a) == 0 && number("stats.arenas.%u.nthreads", b) == 0);
    for (int i = 0; i < 40; i++) {
        CHECK(pthread_join(thread[i], &result) == 0);
    }
    return 0;
}

int main(void)
{
    unsigned none = 0, before = 0, after = 0;
    size_t   size = sizeof before;
    CHECK(mallctl("arenas.narenas", &before, &size, NULL, 0) == 0);
    size = sizeof none;
    CHECK(mallctl("arenas.create", NULL, &size, NULL, 0) == EINVAL && size == 0);
    size = 1;
    CHECK(mallctl("arenas.create", &none, &size, NULL, 0) == EINVAL && size == 0);
    size = sizeof none;
    CHECK(mallctl("arenas.create", &none, &size, &none, sizeof none) == EINVAL);
    unsigned a = create(), b = create();
    size = sizeof after;
    CHECK(a == before && b == before + 1 && mallctl("arenas.narenas", &after, &size, NULL, 0) == 0 && after == before + 2);
    if (own_pages(a, b) != 0 || own_times(a, b) != 0 || own_growth(a, b) != 0 || threads(a, b) != 0) {
        return 1;
    }
    printf("ok arenas\n");
    return 0;
}
