/* Blocks of oversize_threshold and more have an arena of their own, with pages, statistics and decay times of its own. The program runs
 * with narenas:2,oversize_threshold:8388608,dirty_decay_ms:-1. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <jemalloc/jemalloc.h>

#define MIB (1UL << 20)

static int failures;

static void check(int good, const char *what)
{
    if (!good) {
        failures++;
        fprintf(stderr, "oversize: %s\n", what);
    }
}

static uint64_t number(const char *name)
{
    uint64_t value = 0, epoch = 1;
    size_t   bytes = sizeof value;
    mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
    check(mallctl(name, &value, &bytes, NULL, 0) == 0, name);
    return value;
}

static uint64_t bytes_of(const char *name)
{
    return number(name) * number("arenas.page");
}

static uint64_t resident_bytes(void)
{
    unsigned long size = 0, resident = 0;
    FILE         *f = fopen("/proc/self/statm", "r");
    check(f != NULL && fscanf(f, "%lu %lu", &size, &resident) == 2, "/proc/self/statm");
    fclose(f);
    return resident * (unsigned long)sysconf(_SC_PAGESIZE);
}

/* The arenas of threads are 0 and 1, that of the oversize blocks is 2. */
static void check_statistics(void)
{
    unsigned narenas = 0;
    size_t   bytes = sizeof narenas;
    mallctl("arenas.narenas", &narenas, &bytes, NULL, 0);
    check(narenas == 3 && number("opt.oversize_threshold") == 8 * MIB, "there are not two arenas and one");
    bool there = false;
    bytes = sizeof there;
    check(mallctl("arena.2.initialized", &there, &bytes, NULL, 0) == 0 && there, "arena 2 is not there");
    check(mallctl("arena.4.purge", NULL, NULL, NULL, 0) != 0, "there is an arena 4");
    uint64_t shared = number("stats.arenas.0.large.allocated");
    char    *small = mallocx(8 * MIB - 1 - MIB, 0), *exact = mallocx(8 * MIB, 0), *big = mallocx(16 * MIB, 0);
    check(bytes_of("stats.arenas.2.pactive") == 24 * MIB && number("stats.arenas.2.large.allocated") == 24 * MIB, "24 MiB are not arena 2's");
    check(number("stats.arenas.0.large.allocated") == shared + sallocx(small, 0), "arena 0 has not the block below the threshold alone");
    check(number("stats.arenas.0.pactive") + number("stats.arenas.1.pactive") + number("stats.arenas.2.pactive")
              == number("stats.arenas.4096.pactive"),
          "the arenas do not add up");
    memset(exact, 1, 8 * MIB);
    memset(big, 1, 16 * MIB);
    dallocx(exact, 0);
    dallocx(big, 0);
    dallocx(small, 0);
    check(bytes_of("stats.arenas.2.pactive") == 0 && bytes_of("stats.arenas.2.pdirty") == 24 * MIB, "24 MiB are not free and dirty in arena 2");
}

/* Its free pages serve its own blocks again, and no others. */
static void check_own(void)
{
    uint64_t mapped = number("stats.arenas.2.mapped");
    void    *block[24];
    for (int i = 0; i < 24; i++) {
        block[i] = mallocx(MIB, 0);
    }
    check(bytes_of("stats.arenas.2.pdirty") == 24 * MIB, "blocks of 1 MiB take pages of arena 2");
    void *big = mallocx(16 * MIB, 0);
    check(bytes_of("stats.arenas.2.pdirty") == 8 * MIB && number("stats.arenas.2.mapped") == mapped, "a block of 16 MiB takes other pages");
    dallocx(big, 0);
    for (int i = 0; i < 24; i++) {
        dallocx(block[i], 0);
    }
}

/* Its decay times are its own, and what is purged leaves the process. */
static void check_decay(void)
{
    ssize_t  at_once = 0;
    uint64_t resident = resident_bytes(), dirty = bytes_of("stats.arenas.0.pdirty");
    check(dirty > 0, "nothing is dirty in arena 0");
    check(mallctl("arena.2.dirty_decay_ms", NULL, NULL, &at_once, sizeof at_once) == 0, "the time of arena 2 cannot be set");
    check((int64_t)number("arena.2.dirty_decay_ms") == 0 && (int64_t)number("arena.0.dirty_decay_ms") == -1, "the time of arena 2 is arena 0's");
    check(bytes_of("stats.arenas.2.pdirty") == 0 && bytes_of("stats.arenas.0.pdirty") == dirty, "the decay of arena 2 is not its own");
    check(resident_bytes() + 23 * MIB < resident, "the pages of arena 2 have not left the process");
    char *big = mallocx(16 * MIB, 0);
    memset(big, 1, 16 * MIB);
    dallocx(big, 0);
    check(mallctl("arena.2.purge", NULL, NULL, NULL, 0) == 0, "arena 2 cannot be purged");
    check(bytes_of("stats.arenas.2.pdirty") == 0 && bytes_of("stats.arenas.0.pdirty") == dirty, "a purge of arena 2 purges another one");
}

/* A block that passes the threshold keeps its bytes. */
static void check_resize(void)
{
    char *p = mallocx(MIB, 0);
    memset(p, 7, MIB);
    for (size_t size = 2 * MIB; size <= 32 * MIB; size *= 2) {
        p = rallocx(p, size, 0);
        check(p != NULL && p[0] == 7 && p[MIB - 1] == 7, "a block that grows loses bytes");
    }
    p = rallocx(p, MIB, 0);
    check(p[0] == 7 && p[MIB - 1] == 7, "a block that shrinks loses bytes");
    dallocx(p, 0);
    check(number("stats.arenas.2.pactive") == 0, "a block is left in arena 2");
}

int main(void)
{
    check_statistics();
    check_own();
    check_decay();
    check_resize();
    printf("%s oversize\n", failures == 0 ? "ok" : "FAILED");
    return failures == 0 ? 0 : 1;
}
