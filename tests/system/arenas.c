/* Arenas that calls make: how many there can be, what their names and numbers say, and that threads, forks and other arenas leave their pages
 * alone. The program runs with narenas:2,dirty_decay_ms:-1, and again with an arena of oversize blocks. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jemalloc/jemalloc.h>

#include "emulated.h"

#define MIB (1UL << 20)

static int failures;

static void check(int good, const char *what)
{
    if (!good) {
        failures++;
        fprintf(stderr, "arenas: %s\n", what);
    }
}

static uint64_t number(const char *format, unsigned arena)
{
    char     name[64];
    uint64_t value = 0, epoch = 1;
    size_t   bytes = strstr(format, "narenas") != NULL ? sizeof(unsigned) : strstr(format, "initialized") != NULL ? sizeof(bool) : sizeof value;
    snprintf(name, sizeof name, format, arena);
    mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
    check(mallctl(name, &value, &bytes, NULL, 0) == 0, name);
    return value;
}

static int create(unsigned *arena)
{
    size_t bytes = sizeof *arena;
    return mallctl("arenas.create", arena, &bytes, NULL, 0);
}

static int name_of(unsigned arena, char *room, const char *name)
{
    char   control[64];
    size_t bytes = sizeof room;
    snprintf(control, sizeof control, "arena.%u.name", arena);
    return mallctl(control, room != NULL ? (void *)&room : NULL, room != NULL ? &bytes : NULL, name != NULL ? (void *)&name : NULL,
                   name != NULL ? sizeof name : 0);
}

static void check_names(unsigned a)
{
    char   name[32], wanted[32], control[64];
    char  *room = name;
    size_t bytes = 4;
    snprintf(wanted, sizeof wanted, "manual_%u", a);
    check(name_of(a, name, NULL) == 0 && strcmp(name, wanted) == 0, "an arena that is made has another name at first");
    check(name_of(0, name, NULL) == 0 && strcmp(name, "auto_0") == 0, "arena 0 has another name at first");
    check(name_of(a, name, "index") == 0 && strcmp(name, wanted) == 0, "a call that sets a name does not say the old one");
    check(name_of(a, name, NULL) == 0 && strcmp(name, "index") == 0, "no new name");
    check(name_of(a, NULL, "a name that is longer than thirty-one bytes") == 0 && name_of(a, name, NULL) == 0
              && strcmp(name, "a name that is longer than thir") == 0, "a longer name is not cut");
    snprintf(control, sizeof control, "arena.%u.name", a);
    check(mallctl(control, &room, &bytes, NULL, 0) == EINVAL && mallctl(control, NULL, NULL, &room, 4) == EINVAL, "another length is no error");
    room = NULL;
    bytes = sizeof room;
    check(mallctl(control, &room, &bytes, NULL, 0) == EINVAL && mallctl(control, NULL, NULL, &room, sizeof room) == EINVAL, "NULL is a name");
    check(name_of(4096, name, NULL) == EINVAL, "all arenas together have a name");
}

/* What an arena frees serves this arena again, and no other. */
static void check_pages(unsigned a, unsigned b)
{
    char *block = mallocx(8 * MIB, MALLOCX_ARENA(a));
    memset(block, 1, 8 * MIB);
    check(number("stats.arenas.%u.large.allocated", a) == 8 * MIB && number("stats.arenas.%u.pactive", a) * number("arenas.page", 0) == 8 * MIB,
          "8 MiB are not the arena's");
    dallocx(block, 0);
    uint64_t dirty = number("stats.arenas.%u.pdirty", a), mapped = number("stats.arenas.%u.mapped", a);
    check(dirty * number("arenas.page", 0) == 8 * MIB, "8 MiB are not free in the arena");
    char *other = mallocx(2 * MIB, MALLOCX_ARENA(b)), *any = mallocx(2 * MIB, 0);
    check(number("stats.arenas.%u.pdirty", a) == dirty, "another arena takes the pages of this one");
    char *again = mallocx(8 * MIB, MALLOCX_ARENA(a));
    check(again == block && number("stats.arenas.%u.mapped", a) == mapped, "the arena does not take its own pages again");
    dallocx(other, 0);
    dallocx(any, 0);
    check(number("stats.arenas.%u.pdirty", a) == 0, "an arena has got the pages of another one");
    dallocx(again, 0);
}

/* A number that names no arena changes nothing. */
static void check_numbers(unsigned a)
{
    unsigned next = (unsigned)number("arenas.narenas", 0);
    uint64_t active = number("stats.arenas.%u.pactive", 4096), mine = number("stats.arenas.%u.pactive", a);
    char    *p = mallocx(MIB, MALLOCX_ARENA(next)), *q = mallocx(MIB, MALLOCX_ARENA(4094));
    check(p != NULL && q != NULL && number("stats.arenas.%u.pactive", 4096) == active + 2 * MIB / number("arenas.page", 0)
              && number("stats.arenas.%u.pactive", a) == mine, "a number of no arena does not give an ordinary block");
    dallocx(p, 0);
    dallocx(q, 0);
    check(mallctl("thread.arena", NULL, NULL, &next, sizeof next) == EFAULT, "a thread joins an arena that is not there");
    check(mallocx(SIZE_MAX / 2 + 2, MALLOCX_ARENA(a)) == NULL && errno == ENOMEM, "too large a block is no error");
}

/* The child finds the arena as the parent left it. */
static void check_fork(unsigned a)
{
    char *block = mallocx(100, MALLOCX_ARENA(a) | MALLOCX_TCACHE_NONE);
    pid_t child = fork();
    if (child == 0) {
        char *p = mallocx(100, MALLOCX_ARENA(a)), *q = mallocx(MIB, MALLOCX_ARENA(a));
        dallocx(block, 0);
        _exit(p != NULL && q != NULL && p != block && create(&a) == 0 ? 0 : 1);
    }
    int status = 1;
    check(waitpid(child, &status, 0) == child && status == 0, "the child has no whole arena");
    dallocx(block, 0);
}

/* Threads take blocks from one arena, and others give them back, while statistics are read and arenas made. */
static char *_Atomic slot[64];

static void *work(void *arena)
{
    unsigned a = *(unsigned *)arena;
    for (int i = 0; i < 20000; i++) {
        size_t bytes = i % 50 == 0 ? 300000 : (size_t)(i % 2000);
        char  *p = mallocx(bytes, (i % 3 == 0 ? 0 : MALLOCX_ARENA(a)) | (i % 5 == 0 ? MALLOCX_ZERO : 0));
        if (p == NULL || (i % 5 == 0 && bytes > 0 && p[bytes - 1] != 0)) {
            return NULL;
        }
        memset(p, i, bytes);
        char *old = __atomic_exchange_n((char **)&slot[i % 64], p, __ATOMIC_ACQ_REL);
        if (old != NULL) {
            dallocx(old, 0);
        }
    }
    mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    return arena;
}

static void check_threads(unsigned a)
{
    pthread_t thread[4];
    void     *result;
    for (int i = 0; i < 4; i++) {
        check(pthread_create(&thread[i], NULL, work, &a) == 0, "no thread");
    }
    for (int i = 0; i < 4; i++) {
        check(pthread_join(thread[i], &result) == 0 && result == &a, "a thread has got no block, or one that is not zero");
    }
    for (int i = 0; i < 64; i++) {
        dallocx(slot[i], 0);
    }
    mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    check(number("stats.arenas.%u.small.allocated", a) == 0 && number("stats.arenas.%u.large.allocated", a) == 0,
          "a block is left in the arena");
}

static int act(const char *format, unsigned arena)
{
    char name[64];
    snprintf(name, sizeof name, format, arena);
    return mallctl(name, NULL, NULL, NULL, 0);
}

/* Bytes that the process has mapped, and those of them that are in memory, from /proc. */
static void pages(uint64_t *mapped, uint64_t *resident)
{
    FILE *f = fopen("/proc/self/statm", "r");
    check(f != NULL && fscanf(f, "%lu %lu", mapped, resident) == 2, "/proc does not say what the process has");
    *mapped *= (uint64_t)sysconf(_SC_PAGESIZE);
    *resident *= (uint64_t)sysconf(_SC_PAGESIZE);
    f != NULL ? fclose(f) : 0;
}

static pthread_barrier_t barrier;
static char             *given[2];

/* Frees blocks of the arena, which the thread's cache keeps, and gives them back when it is told to. */
static void *keep(void *unused)
{
    dallocx(given[0], 0);
    dallocx(given[1], 0);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    pthread_barrier_wait(&barrier);
    return unused;
}

/* Blocks that another thread's cache has do not end: it would hand them out. The cache of the thread that calls gives them back. */
static void check_caches(unsigned a)
{
    static const size_t size[] = {100, 100000};
    pthread_t           thread;
    char               *mine[2];
    check(pthread_barrier_init(&barrier, NULL, 2) == 0, "no barrier");
    for (int only = 0; only < 3; only++) {
        for (int i = 0; i < 2; i++) {
            given[i] = only != 2 - i ? mallocx(size[i], MALLOCX_ARENA(a)) : NULL;
            mine[i] = mallocx(size[i], MALLOCX_ARENA(a));
        }
        char *live = mallocx(100, MALLOCX_ARENA(a));
        memset(live, 7, 100);
        for (int i = 0; i < 2; i++) {
            dallocx(mine[i], 0);
            given[i] = given[i] != NULL ? given[i] : malloc(size[i]);
        }
        check(pthread_create(&thread, NULL, keep, NULL) == 0, "no thread");
        pthread_barrier_wait(&barrier);
        check(act("arena.%u.reset", a) == EAGAIN && act("arena.%u.destroy", a) == EAGAIN, "blocks end that another thread's cache has");
        check(number("arena.%u.initialized", a) == 1 && live[0] == 7 && live[99] == 7, "a refused call has changed something");
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        check(act("arena.%u.reset", a) == 0 && number("stats.arenas.%u.pactive", a) == 0, "an arena is not reset");
        check(pthread_join(thread, NULL) == 0, "a thread does not end");
    }
}

/* The pages of an arena that is destroyed are gone, with their addresses, and nobody meets its number before the next arena has it. */
static void check_destroy(unsigned a)
{
    uint64_t mapped, resident, mapped_now = 0, resident_now = 0;
    unsigned again = 0;
    char    *p;
    for (int turn = 0; turn < 3; turn++) {              /* at first the allocator's own tables grow */
        check(act("arena.%u.destroy", a) == 0 && create(&again) == 0 && again == a, "the number of a destroyed arena is lost");
        pages(&mapped, &resident);
        for (size_t bytes = 8; bytes < 16 * MIB; bytes += bytes / 2) {
            for (int i = 0; i < 10; i++) {
                p = mallocx(bytes, MALLOCX_ARENA(a));
                check(p != NULL, "no block");
                memset(p, 1, bytes);
            }
        }
        check(mlock(p, 64 << 10) == 0, "no pages are locked");      /* Linux purges no such pages */
        pages(&mapped_now, &resident_now);
        check(mapped_now > mapped + 300 * MIB && (emulated() || resident_now > resident + 300 * MIB), "the blocks are not in memory");
        check(act("arena.%u.destroy", a) == 0, "an arena is not destroyed");
        pages(&mapped_now, &resident_now);
        check(turn == 0 || emulated() || (mapped_now == mapped && resident_now < resident + MIB / 4), "a destroyed arena keeps pages");
        check(turn == 2 || (create(&again) == 0 && again == a), "the number of a destroyed arena is lost");
    }
    check(!number("arena.%u.initialized", a) && number("stats.arenas.%u.mapped", a) == 0, "a destroyed arena is there");
    p = mallocx(MIB, MALLOCX_ARENA(a));
    check(p != NULL && number("stats.arenas.%u.mapped", a) == 0, "a destroyed arena has a block");
    dallocx(p, 0);
    check(mallctl("thread.arena", NULL, NULL, &a, sizeof a) == EFAULT, "a thread joins a destroyed arena");
    check(act("arena.%u.destroy", a) == EFAULT && act("arena.%u.reset", a) == EFAULT && act("arena.%u.reset", 0) == EFAULT
              && act("arena.%u.destroy", 4096) == EFAULT, "an arena ends that was not made");
    check(create(&again) == 0 && again == a, "the number of a destroyed arena is lost");
}

/* A thread that has joined an arena takes its blocks there after a reset too, and keeps the arena from being destroyed. */
static void check_own(unsigned a)
{
    unsigned home = 0;
    size_t   bytes = sizeof home;
    check(mallctl("thread.arena", &home, &bytes, &a, sizeof a) == 0, "the thread does not join");
    for (int i = 0; i < 100; i++) {
        free(malloc(100));
        check(malloc(200) != NULL && act("arena.%u.reset", a) == 0, "a thread does not reset its own arena");
    }
    char *p = malloc(100);
    memset(p, 1, 100);
    check(act("arena.%u.destroy", a) == EFAULT && p[99] == 1 && number("arena.%u.initialized", a) == 1, "an arena with a thread is destroyed");
    check(mallctl("thread.arena", NULL, NULL, &home, sizeof home) == 0 && act("arena.%u.destroy", a) == 0, "an arena that was left stays");
    check(create(&home) == 0 && home == a, "the number of a destroyed arena is lost");
}

/* What an arena maps for a block is little more than the block, where that is set. The next arena of the same number has no limit. */
static void check_growth(unsigned a)
{
    char   name[64];
    size_t most = 128 << 10;
    snprintf(name, sizeof name, "arena.%u.retain_grow_limit", a);
    for (int limited = 1; limited >= 0; limited--) {
        check(!limited || mallctl(name, NULL, NULL, &most, sizeof most) == 0, "the growth of an arena cannot be limited");
        char    *p = mallocx(300000, MALLOCX_ARENA(a) | MALLOCX_TCACHE_NONE);
        uint64_t has = number("stats.arenas.%u.pactive", a) * number("arenas.page", 0) + number("stats.arenas.%u.retained", a);
        check(p != NULL && 300000 <= has && (has < 300000 + (128 << 10)) == limited, "an arena does not grow by what is set");
        check(act("arena.%u.destroy", a) == 0 && create(&a) == 0, "an arena does not come again");
    }
}

/* Arenas come and go for ever. */
static void check_rounds(void)
{
    uint64_t before[2] = {0}, now[2], narenas = number("arenas.narenas", 0);
    for (int i = 0; i < 10000; i++) {
        unsigned a = 0;
        check(create(&a) == 0, "no arena");
        for (size_t k = 0; k < 3; k++) {
            char *p = mallocx(k == 2 ? 300000 : 8 + ((size_t)i + k) % 20000, MALLOCX_ARENA(a));
            check(p != NULL, "no block");
            p[0] = 1;
        }
        check(act("arena.%u.destroy", a) == 0, "an arena is not destroyed");
        i == 1000 ? pages(&before[0], &before[1]) : (void)0;
    }
    pages(&now[0], &now[1]);
    check(number("arenas.narenas", 0) == narenas + 1, "arenas are lost");
    check(emulated() || (now[0] <= before[0] && now[1] <= before[1] + MIB / 4), "each arena costs memory");
}

int main(void)
{
    unsigned a = 0, b = 0, made = 2, last = 0, before = (unsigned)number("arenas.narenas", 0);
    size_t   bytes = sizeof a;
    extent_hooks_t hooks = {0}, *pointer = &hooks, *none = NULL;
    check(mallctl("arenas.create", &a, &bytes, &pointer, sizeof(void *)) == EINVAL, "hooks without alloc are taken");
    check(number("arenas.narenas", 0) == before && !number("arena.%u.initialized", before), "refused hooks leave an arena");
    check(mallctl("arenas.create", &a, &bytes, &none, sizeof(void *)) == 0 && a == before, "no hooks are not taken");
    check(create(&b) == 0 && b == before + 1, "the next arena has another number");
    check(number("arena.%u.initialized", a) && number("arena.%u.initialized", b), "an arena that is made is not there");
    check_names(a);
    check_pages(a, b);
    check_numbers(a);
    check_fork(a);
    check_threads(a);
    check_caches(a);
    check_destroy(a);
    check_own(a);
    check_growth(a);
    check_rounds();
    int result;
    while ((result = create(&last)) == 0) {
        made++;
    }
    printf("arenas: %u can be made\n", made);
    check(result == EAGAIN && made >= 30 && number("arenas.narenas", 0) == before + made, "the bound is not EAGAIN");
    char *p = mallocx(100, MALLOCX_ARENA(last)), *q = mallocx(100, MALLOCX_ARENA(before + made - 1));
    check(p != NULL && q != NULL, "the last arena has no block");
    dallocx(p, 0);
    dallocx(q, 0);
    printf("%s arenas\n", failures == 0 ? "ok" : "FAILED");
    return failures == 0 ? 0 : 1;
}
