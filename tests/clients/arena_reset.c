/* As programs with arenas for requests or queries do it: all blocks of an arena end in one call, and an arena that is done gives its pages
 * back. */
#include "client.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define MIB (1UL << 20)
#define BLOCKS 2000
#define ROUNDS 1000
#define FLAGS(arena) (MALLOCX_ARENA(arena) | MALLOCX_TCACHE_NONE)

static uint64_t number(const char *format, unsigned arena)
{
    char     name[64];
    uint64_t value = 0, epoch = 1;
    size_t   size = strstr(format, "initialized") != NULL ? sizeof(bool) : strstr(format, "narenas") != NULL ? sizeof(unsigned) : sizeof value;
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

static int act(const char *format, unsigned arena)
{
    char name[64];
    snprintf(name, sizeof name, format, arena);
    return mallctl(name, NULL, NULL, NULL, 0);
}

/* Bytes of the process that are in memory, from /proc. */
static uint64_t resident(void)
{
    FILE    *f = fopen("/proc/self/statm", "r");
    uint64_t all = 0, pages = 0;
    if (f == NULL || fscanf(f, "%lu %lu", &all, &pages) != 2) {
        pages = 0;
    }
    if (f != NULL) {
        fclose(f);
    }
    return pages * 4096;
}

static size_t size_of(int i)
{
    return i % 100 == 0 ? 2 * MIB : i % 10 == 0 ? 60000 : (size_t)(8 + i % 4000);
}

static int fill(unsigned arena, char **block)
{
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = mallocx(size_of(i), FLAGS(arena));
        CHECK(block[i] != NULL);
        memset(block[i], i % 251 + 1, size_of(i));
    }
    return 0;
}

/* All blocks of the arena end, and no byte of another arena's block changes. */
static int reset(unsigned a, unsigned b)
{
    static char *mine[BLOCKS], *other[BLOCKS], *plain[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        plain[i] = malloc(size_of(i) / 10 + 1);
        CHECK(plain[i] != NULL);
        memset(plain[i], i % 251 + 1, size_of(i) / 10 + 1);
    }
    CHECK(fill(b, other) == 0);
    for (int turn = 0; turn < 5; turn++) {
        CHECK(fill(a, mine) == 0);
        for (int i = 1; i < BLOCKS; i += turn + 2) {
            dallocx(mine[i], FLAGS(a));
        }
        CHECK(number("stats.arenas.%u.small.allocated", a) > 0 && number("stats.arenas.%u.large.allocated", a) > 0);
        CHECK(act("arena.%u.reset", a) == 0);
        CHECK(number("stats.arenas.%u.small.allocated", a) == 0 && number("stats.arenas.%u.large.allocated", a) == 0);
        CHECK(number("stats.arenas.%u.pactive", a) == 0);
    }
    for (int i = 0; i < BLOCKS; i++) {
        for (size_t k = 0; k < size_of(i); k++) {
            CHECK((unsigned char)other[i][k] == i % 251 + 1);
        }
        for (size_t k = 0; k < size_of(i) / 10 + 1; k++) {
            CHECK((unsigned char)plain[i][k] == i % 251 + 1);
        }
        dallocx(other[i], FLAGS(b));
        free(plain[i]);
    }
    CHECK(act("arena.%u.reset", a) == 0 && number("arena.%u.initialized", a) == 1);
    return 0;
}

/* An arena's destroy gives all its pages back, and /proc says so. Its number names no arena then, and the next one gets it. */
static int destroy(unsigned a)
{
    static char *mine[BLOCKS];
    char        *p = NULL;
    CHECK(act("arena.%u.purge", a) == 0);
    uint64_t before = resident();
    CHECK(fill(a, mine) == 0);
    CHECK(resident() >= before + BLOCKS / 100 * 2 * MIB);
    CHECK(act("arena.%u.destroy", a) == 0);
    CHECK(resident() <= before + 2 * MIB);
    CHECK(number("arena.%u.initialized", a) == 0 && act("arena.%u.destroy", a) == EFAULT && act("arena.%u.reset", a) == EFAULT);
    p = malloc(100);
    CHECK(p != NULL);
    free(p);
    CHECK(create() == a && number("arena.%u.initialized", a) == 1);
    CHECK(fill(a, mine) == 0 && act("arena.%u.reset", a) == 0);
    return 0;
}

static pthread_barrier_t barrier;

/* Stays in the arena until it is told to leave. */
static void *join(void *result)
{
    unsigned a = *(unsigned *)result, automatic = 0;
    if (mallctl("thread.arena", NULL, NULL, &a, sizeof a) != 0) {
        return NULL;
    }
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return mallctl("thread.arena", NULL, NULL, &automatic, sizeof automatic) == 0 ? result : NULL;
}

static int errors(unsigned a)
{
    pthread_t thread;
    uint64_t  value = 0;
    size_t    size = sizeof value;
    void     *result = NULL;
    char      name[64];
    const char *call[] = {"arena.%u.reset", "arena.%u.destroy"};
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, call[i], a);
        CHECK(mallctl(name, &value, &size, NULL, 0) == EPERM && mallctl(name, NULL, NULL, &value, sizeof value) == EPERM);
        CHECK(act(call[i], 0) == EFAULT);
    }
    CHECK(number("arena.%u.initialized", a) == 1);
    CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0 && pthread_create(&thread, NULL, join, &a) == 0);
    pthread_barrier_wait(&barrier);
    CHECK(act("arena.%u.destroy", a) == EFAULT && number("arena.%u.initialized", a) == 1);
    pthread_barrier_wait(&barrier);
    CHECK(pthread_join(thread, &result) == 0 && result == &a);
    return 0;
}

/* Arenas come and go, and numbers do not run out. */
static int rounds(void)
{
    uint64_t narenas = number("arenas.narenas", 0);
    for (int i = 0; i < ROUNDS; i++) {
        unsigned a = create();
        CHECK(a != 0);
        for (int k = 0; k < 3; k++) {
            char *p = mallocx(k == 2 ? 300000 : (size_t)(8 + (i + k) % 20000), FLAGS(a));
            CHECK(p != NULL);
            p[0] = 1;
        }
        if (i % 100 == 99) {
            CHECK(act("arena.%u.reset", a) == 0);
        }
        CHECK(act("arena.%u.destroy", a) == 0);
    }
    CHECK(number("arenas.narenas", 0) <= narenas + 1);
    return 0;
}

int main(void)
{
    unsigned a = create(), b = create();
    CHECK(a != 0 && b != 0);
    if (reset(a, b) != 0 || destroy(a) != 0 || errors(a) != 0) {
        return 1;
    }
    CHECK(act("arena.%u.destroy", a) == 0 && act("arena.%u.destroy", b) == 0);
    if (rounds() != 0) {
        return 1;
    }
    printf("ok arena_reset\n");
    return 0;
}
