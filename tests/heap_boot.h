/* heap_boot: what the tests of the heap layer share: boot over the deterministic OS, checks that count, a fixed dice. */
#ifndef HEAP_BOOT_H
#define HEAP_BOOT_H

#include <stdio.h>
#include <stdlib.h>

#include "heap/arena.h"
#include "heap/bin.h"
#include "heap/large.h"
#include "heap/slab.h"
#include "heap/tcache_threads.h"
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

static inline void heap_boot(uint32_t arenas)
{
    os_fake_reset();
    size_class_boot();
    slab_boot();
    pages_boot(10000, 0);
    arena_boot(arenas);
    tcache_boot();
}

static inline int heap_done(const char *stem)
{
    printf("ok %s: %lu checks, seed 0x9E3779B97F4A7C15\n", stem, checks);
    return 0;
}

#endif
