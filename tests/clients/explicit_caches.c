/* As a runtime with fibers does it: thread caches that the program makes, uses from one thread after the other, flushes and destroys. */
#include "client.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 3000U             /* of a class that nothing else here uses */
#define BIN_BYTES 3072U
#define BLOCKS 200U
#define CACHES 40U

static unsigned arena, bin;

static int find_bin(void)
{
    size_t   size = sizeof arena, bytes = 0, number = sizeof bytes;
    unsigned bins = 0;
    char     name[64];
    CHECK(mallctl("thread.arena", &arena, &size, NULL, 0) == 0 && mallctl("arenas.nbins", &bins, &size, NULL, 0) == 0);
    for (bin = 0; bin < bins && bytes != BIN_BYTES; bin++) {
        snprintf(name, sizeof name, "arenas.bin.%u.size", bin);
        CHECK(mallctl(name, &bytes, &number, NULL, 0) == 0);
    }
    bin -= 1;
    CHECK(bytes == BIN_BYTES);
    return 0;
}

/* Blocks of the class that are outside of their slabs: live, or in some cache. */
static size_t out(void)
{
    uint64_t epoch = 1;
    size_t   value = 0, size = sizeof value;
    char     name[64];
    snprintf(name, sizeof name, "stats.arenas.%u.bins.%u.curregs", arena, bin);
    (void)mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
    return mallctl(name, &value, &size, NULL, 0) == 0 ? value : SIZE_MAX;
}

static unsigned create(void)
{
    unsigned cache = UINT32_MAX;
    size_t   size = sizeof cache;
    return mallctl("tcache.create", &cache, &size, NULL, 0) == 0 && size == sizeof cache ? cache : UINT32_MAX;
}

static int flush(unsigned cache)
{
    return mallctl("tcache.flush", NULL, NULL, &cache, sizeof cache);
}

static int destroy(unsigned cache)
{
    return mallctl("tcache.destroy", NULL, NULL, &cache, sizeof cache);
}

static int lengths(void)
{
    unsigned    cache = 77;
    uint64_t    wide = 0;
    size_t      size = sizeof wide, mib[4], pieces = 4;
    const char *names[] = {"tcache.flush", "tcache.destroy"};
    CHECK(mallctl("tcache.create", &wide, &size, NULL, 0) == EINVAL && size == 0 && wide == 0);
    size = 1;
    CHECK(mallctl("tcache.create", &wide, &size, NULL, 0) == EINVAL && size == 0 && wide == 0);
    size = sizeof cache;
    CHECK(mallctl("tcache.create", NULL, &size, NULL, 0) == EINVAL && size == 0);
    size = sizeof cache;
    CHECK(mallctl("tcache.create", &cache, &size, &cache, sizeof cache) == EPERM && cache == 77);
    CHECK(mallctl("tcache.create", NULL, NULL, &cache, sizeof cache) == EPERM);
    cache = create();
    CHECK(cache != UINT32_MAX);
    for (int i = 0; i < 2; i++) {
        CHECK(mallctl(names[i], NULL, NULL, NULL, 0) == EINVAL);
        CHECK(mallctl(names[i], NULL, NULL, &cache, 1) == EINVAL && mallctl(names[i], NULL, NULL, &cache, 0) == EINVAL);
        CHECK(mallctl(names[i], NULL, NULL, &wide, sizeof wide) == EINVAL);
        CHECK(mallctl(names[i], &wide, &size, &cache, sizeof cache) == EPERM && mallctl(names[i], &wide, &size, NULL, 0) == EPERM);
    }
    CHECK(mallctlnametomib("tcache.destroy", mib, &pieces) == 0 && pieces == 2);
    CHECK(mallctlbymib(mib, pieces, NULL, NULL, &cache, sizeof cache) == 0);
    return 0;
}

/* A block goes into the cache that is named and into no other, and comes from there. */
static int own_blocks(unsigned a, unsigned b)
{
    char *p = mallocx(BYTES, MALLOCX_TCACHE(a)), *q = mallocx(BYTES, MALLOCX_TCACHE(b)), *r;
    CHECK(p != NULL && q != NULL && p != q && sallocx(p, MALLOCX_TCACHE(a)) == BIN_BYTES);
    memset(p, 1, BYTES);
    memset(q, 2, BYTES);
    dallocx(p, MALLOCX_TCACHE(a));
    sdallocx(q, BYTES, MALLOCX_TCACHE(b));
    CHECK((r = mallocx(BYTES, MALLOCX_TCACHE(b))) == q);
    dallocx(r, MALLOCX_TCACHE(b));
    CHECK((r = malloc(BYTES)) != p && r != q);
    free(r);
    CHECK((r = mallocx(BYTES, MALLOCX_TCACHE(a))) == p);
    dallocx(r, MALLOCX_TCACHE(b));                                          /* from one cache to the other */
    CHECK(mallocx(BYTES, MALLOCX_TCACHE(b)) == p && mallocx(BYTES, MALLOCX_TCACHE(b)) == q);
    dallocx(p, MALLOCX_TCACHE(a));
    dallocx(q, 0);
    CHECK((r = malloc(BYTES)) == q);
    free(r);
    return 0;
}

static int flags(unsigned a)
{
    for (int lg = 3; lg < 14; lg++) {
        for (size_t size = 1; size < 2000000; size = size * 3 + 1) {
            char *p = mallocx(size, MALLOCX_LG_ALIGN(lg) | MALLOCX_ZERO | MALLOCX_TCACHE(a));
            CHECK(p != NULL && (uintptr_t)p % (1UL << lg) == 0 && p[0] == 0 && p[size / 2] == 0 && p[size - 1] == 0);
            memset(p, 0xff, size);
            p = rallocx(p, size + size / 2 + 1, MALLOCX_LG_ALIGN(lg) | MALLOCX_TCACHE(a));
            CHECK(p != NULL && (uintptr_t)p % (1UL << lg) == 0 && (uint8_t)p[0] == 0xff && (uint8_t)p[size - 1] == 0xff);
            CHECK(xallocx(p, size + size / 2 + 1, 0, MALLOCX_LG_ALIGN(lg) | MALLOCX_TCACHE(a)) >= size);
            sdallocx(p, size + size / 2 + 1, MALLOCX_LG_ALIGN(lg) | MALLOCX_TCACHE(a));
        }
    }
    dallocx(rallocx(mallocx(1, MALLOCX_TCACHE(a)), 100000, MALLOCX_TCACHE(a)), MALLOCX_TCACHE(a));
    return 0;
}

static int fill(unsigned cache)
{
    static void *block[BLOCKS];
    for (unsigned i = 0; i < BLOCKS; i++) {
        CHECK((block[i] = mallocx(BYTES, MALLOCX_TCACHE(cache))) != NULL);
        memset(block[i], (int)i, BYTES);
    }
    for (unsigned i = 0; i < BLOCKS; i++) {
        CHECK(*(char *)block[i] == (char)i);
        dallocx(block[i], MALLOCX_TCACHE(cache));
    }
    return 0;
}

/* What a cache has is out of the slabs until it is flushed or destroyed, and another cache's flush leaves it alone. */
static int counts(unsigned a, unsigned b)
{
    CHECK(mallctl("thread.tcache.flush", NULL, NULL, NULL, 0) == 0 && flush(a) == 0 && flush(b) == 0);
    size_t before = out(), has;
    CHECK(fill(a) == 0);
    has = out();
    CHECK(has > before);
    CHECK(flush(b) == 0 && mallctl("thread.tcache.flush", NULL, NULL, NULL, 0) == 0 && out() == has);
    CHECK(flush(a) == 0 && out() == before);
    CHECK(fill(a) == 0 && out() > before && flush(a) == 0 && out() == before);
    CHECK(fill(b) == 0 && out() > before && destroy(b) == 0 && out() == before);
    CHECK(create() == b && out() == before && own_blocks(a, b) == 0);       /* the number comes again */
    CHECK(flush(a) == 0 && flush(b) == 0 && mallctl("thread.tcache.flush", NULL, NULL, NULL, 0) == 0 && out() == before);
    void *p = mallocx(BYTES, MALLOCX_TCACHE_NONE);                          /* past all caches */
    CHECK(p != NULL && out() == before + 1);
    dallocx(p, MALLOCX_TCACHE_NONE);
    CHECK(out() == before);
    p = mallocx(BYTES, MALLOCX_TCACHE_NONE);
    sdallocx(p, BYTES, MALLOCX_TCACHE_NONE);
    CHECK(out() == before);
    return 0;
}

static void *other(void *block)
{
    unsigned cache = *(unsigned *)block;
    char    *p = mallocx(BYTES, MALLOCX_TCACHE(cache));
    *(uintptr_t *)((char *)block + 8) = (uintptr_t)p;
    return p != NULL && fill(cache) == 0 ? block : NULL;
}

/* Another thread finds what this one has left in the cache, and ends before it. */
static int threads(unsigned a)
{
    pthread_t thread;
    char      words[16];
    void     *p = mallocx(BYTES, MALLOCX_TCACHE(a)), *result = NULL;
    memcpy(words, &a, sizeof a);
    dallocx(p, MALLOCX_TCACHE(a));
    CHECK(pthread_create(&thread, NULL, other, words) == 0 && pthread_join(thread, &result) == 0 && result == (void *)words);
    CHECK(memcmp(words + 8, &p, sizeof p) == 0);
    dallocx(p, MALLOCX_TCACHE(a));
    CHECK(mallocx(BYTES, MALLOCX_TCACHE(a)) == p);
    dallocx(p, MALLOCX_TCACHE(a));
    return 0;
}

static int child(unsigned a)
{
    int   status = 1;
    void *p = mallocx(BYTES, MALLOCX_TCACHE(a));
    dallocx(p, MALLOCX_TCACHE(a));
    pid_t pid = fork();
    if (pid == 0) {
        bool good = mallocx(BYTES, MALLOCX_TCACHE(a)) == p && fill(a) == 0 && flush(a) == 0;
        _exit(good && destroy(a) == 0 && create() == a && fill(a) == 0 ? 0 : 1);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(mallocx(BYTES, MALLOCX_TCACHE(a)) == p);
    dallocx(p, MALLOCX_TCACHE(a));
    return 0;
}

/* Both an arena and a cache: what the cache does not have comes from that arena. */
static int of_arena(void)
{
    unsigned made = 0, is = 0, cache = create();
    size_t   size = sizeof made;
    CHECK(cache != UINT32_MAX && mallctl("arenas.create", &made, &size, NULL, 0) == 0);
    for (int i = 0; i < 3; i++) {
        void *p = mallocx(BYTES, MALLOCX_ARENA(made) | MALLOCX_TCACHE(cache));
        CHECK(p != NULL && mallctl("arenas.lookup", &is, &size, &p, sizeof p) == 0 && is == made);
        dallocx(p, MALLOCX_TCACHE(cache));
        CHECK(mallocx(BYTES, MALLOCX_ARENA(made) | MALLOCX_TCACHE(cache)) == p);
        dallocx(p, MALLOCX_ARENA(made) | MALLOCX_TCACHE(cache));
        CHECK(i != 1 || flush(cache) == 0);
    }
    CHECK(destroy(cache) == 0);
    return 0;
}

static int many(void)
{
    unsigned cache[CACHES];
    for (unsigned i = 0; i < CACHES; i++) {
        CHECK((cache[i] = create()) != UINT32_MAX);
        for (unsigned k = 0; k < i; k++) {
            CHECK(cache[k] != cache[i]);
        }
        CHECK(fill(cache[i]) == 0);
    }
    for (unsigned i = 0; i < CACHES; i++) {
        CHECK(destroy(cache[i]) == 0);
    }
    return 0;
}

/* The calls count for the thread that makes them. */
static int thread_counts(unsigned a)
{
    uint64_t before = 0, after = 0, given = 0, given_after = 0;
    size_t   size = sizeof before;
    CHECK(mallctl("thread.allocated", &before, &size, NULL, 0) == 0 && mallctl("thread.deallocated", &given, &size, NULL, 0) == 0);
    void *p = mallocx(BYTES, MALLOCX_TCACHE(a));
    CHECK(mallctl("thread.allocated", &after, &size, NULL, 0) == 0 && after == before + BIN_BYTES);
    dallocx(p, MALLOCX_TCACHE(a));
    CHECK(mallctl("thread.deallocated", &given_after, &size, NULL, 0) == 0 && given_after == given + BIN_BYTES);
    CHECK(mallocx(BYTES, MALLOCX_TCACHE(a)) == p);
    dallocx(p, MALLOCX_TCACHE_NONE);
    CHECK(mallctl("thread.deallocated", &given_after, &size, NULL, 0) == 0 && given_after == given + 2 * BIN_BYTES);
    return 0;
}

int main(void)
{
    unsigned a, b;
    CHECK(find_bin() == 0 && lengths() == 0);
    a = create();
    b = create();
    CHECK(a != UINT32_MAX && b != UINT32_MAX && a != b);
    CHECK(own_blocks(a, b) == 0 && flags(a) == 0 && counts(a, b) == 0 && threads(a) == 0 && child(a) == 0);
    CHECK(of_arena() == 0 && many() == 0 && own_blocks(a, b) == 0);
    bool off = false, was = false;
    size_t size = sizeof was;
    CHECK(thread_counts(a) == 0);
    CHECK(mallctl("thread.tcache.enabled", &was, &size, &off, sizeof off) == 0 && was);
    CHECK(fill(a) == 0 && flags(b) == 0 && flush(a) == 0);                   /* a thread without a cache of its own */
    CHECK(destroy(b) == 0 && destroy(a) == 0);
    printf("ok explicit_caches\n");
    return 0;
}
