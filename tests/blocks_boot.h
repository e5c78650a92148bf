/* blocks_boot: what the tests of the heap share. It boots over the deterministic OS, counts checks, and throws dice
 * that are always the same. */
#ifndef HEAP_BOOT_H
#define HEAP_BOOT_H

#include <stdio.h>
#include <stdlib.h>

#include "blocks/arena.h"
#include "blocks/bin.h"
#include "blocks/large.h"
#include "blocks/slab.h"
#include "tcache/depot.h"
#include "tcache/overflow.h"
#include "tcache/refill.h"
#include "math/size_class.h"
#include "pages/pages.h"
#include "platform/os_fake.h"

static unsigned long checks;
static uint64_t      seed = 0x9E3779B97F4A7C15UL;

#define CHECK(condition)                                                     \
    do {                                                                     \
        checks++;                                                            \
        if (!(condition)) {                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);  \
            exit(1);                                                         \
        }                                                                    \
    } while (0)

static inline uint64_t random_below(uint64_t n)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (seed >> 33) % n;
}

static inline void blocks_boot(uint32_t arenas)
{
    os_fake_reset();
    size_class_boot();
    slab_boot();
    pages_boot(10000, 0);
    arena_boot(arenas, false);
    depot_boot();
}

static inline int blocks_done(const char *stem)
{
    printf("ok %s: %lu checks, seed 0x9E3779B97F4A7C15\n", stem, checks);
    return 0;
}

#endif
