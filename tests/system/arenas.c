/* Arenas that calls make: how many there can be, what their names and numbers say, and that threads, forks and other arenas leave their pages
 * alone. The program runs with narenas:2,dirty_decay_ms:-1, and again with an arena of oversize blocks. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jemalloc/jemalloc.h>

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

int main(void)
{
    unsigned a = 0, b = 0, made = 2, last = 0, before = (unsigned)number("arenas.narenas", 0);
    size_t   bytes = sizeof a;
    extent_hooks_t hooks = {0}, *pointer = &hooks, *none = NULL;
    check(mallctl("arenas.create", &a, &bytes, &pointer, sizeof(void *)) == EFAULT, "hooks are taken");
    check(number("arenas.narenas", 0) == before && !number("arena.%u.initialized", before), "refused hooks leave an arena");
    check(mallctl("arenas.create", &a, &bytes, &none, sizeof(void *)) == 0 && a == before, "no hooks are not taken");
    check(create(&b) == 0 && b == before + 1, "the next arena has another number");
    check(number("arena.%u.initialized", a) && number("arena.%u.initialized", b), "an arena that is made is not there");
    check_names(a);
    check_pages(a, b);
    check_numbers(a);
    check_fork(a);
    check_threads(a);
    int result;
    while ((result = create(&last)) == 0) {
        made++;
    }
    printf("arenas: %u can be made\n", made);
    check(result == EAGAIN && made >= 4 && number("arenas.narenas", 0) == before + made, "the bound is not EAGAIN");
    char *p = mallocx(100, MALLOCX_ARENA(last)), *q = mallocx(100, MALLOCX_ARENA(before + made - 1));
    check(p != NULL && q != NULL, "the last arena has no block");
    dallocx(p, 0);
    dallocx(q, 0);
    printf("%s arenas\n", failures == 0 ? "ok" : "FAILED");
    return failures == 0 ? 0 : 1;
}
