/* tcache_threads: the shape of a cache, and its life with threads: made, left, claimed again. */
#include <stddef.h>

#include "heap/arena.h"
#include "heap/tcache.h"
#include "pages/base.h"
#include "platform/mutex.h"

#define TCACHE_BYTES 65536UL            /* a stack holds about this much, within the two depths below */
#define TCACHE_DEPTH_MIN 16UL
#define TCACHE_LARGE_BYTES 131072UL     /* the same for large classes */

struct tcache tcache_unborn;
struct tcache tcache_dead;

static struct mutex   tcache_lock = MUTEX_INIT;     /* guards the lists and base; rank below the bins' */
static struct tcache *tcache_list;                  /* every cache that was ever made */
static struct tcache *tcache_idle;                  /* those that threads have left */
static uint32_t       tcache_live_count;

/* ---- shape ------------------------------------------------------------------------------------------------------ */

static uint32_t tcache_depth(uint32_t bin)
{
    uint64_t bytes = size_class_bytes(bin - 1);
    uint64_t most = bin <= SC_NBINS ? TCACHE_BYTES / bytes : TCACHE_LARGE_BYTES / bytes;
    uint64_t least = bin <= SC_NBINS ? TCACHE_DEPTH_MIN : 1;
    return (uint32_t)(most < least ? least : most > TCACHE_DEPTH_MAX ? TCACHE_DEPTH_MAX : most);
}

static void tcache_shape(struct tcache *t, bool room)
{
    uint32_t floor = 0;
    for (uint64_t bytes = 0; bytes <= SC_LOOKUP_MAX; bytes++) {
        t->bin_of[bytes] = (uint8_t)(size_class_lookup(bytes) + 1);
    }
    for (uint32_t b = 0; b < TCACHE_BINS; b++) {
        t->floor[b] = floor;
        t->top[b] = floor;
        t->limit[b] = floor;
        t->fill[b] = TCACHE_FILL_FIRST;
        if (b > 0 && room) {
            t->limit[b] = floor + tcache_depth(b);
            t->magic[b] = divide_magic((uint32_t)size_class_bytes(b - 1));
            t->negated[b] = word_negate(t->magic[b]);
        }
        floor = room ? t->limit[b] + 1 : 0;
    }
}

void tcache_boot(void)
{
    tcache_shape(&tcache_unborn, false);
    tcache_shape(&tcache_dead, false);
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

/* A cache that a thread has left, or a new one. */
static struct tcache *tcache_claim(void)
{
    struct tcache *t = tcache_idle;
    if (t != NULL) {
        tcache_idle = t->next_idle;
        for (uint32_t b = 0; b < TCACHE_BINS; b++) {
            t->fill[b] = TCACHE_FILL_FIRST;
        }
        return t;
    }
    t = (struct tcache *)base_alloc(sizeof *t, 64);
    if (t != NULL) {
        tcache_shape(t, true);
        t->next = tcache_list;
        tcache_list = t;
    }
    return t;
}

struct tcache *tcache_create(void)
{
    mutex_lock(&tcache_lock);
    struct tcache *t = tcache_claim();
    tcache_live_count += t != NULL ? 1 : 0;
    mutex_unlock(&tcache_lock);
    if (t != NULL) {
        t->arena = (uint16_t)arena_join();
    }
    return t;
}

void tcache_destroy(struct tcache *t)
{
    tcache_flush(t);
    arena_leave(t->arena);
    mutex_lock(&tcache_lock);
    t->next_idle = tcache_idle;
    tcache_idle = t;
    tcache_live_count -= 1;
    mutex_unlock(&tcache_lock);
}

uint32_t tcache_live(void)
{
    mutex_lock(&tcache_lock);
    uint32_t n = tcache_live_count;
    mutex_unlock(&tcache_lock);
    return n;
}

uint64_t tcache_blocks(uint32_t bin)
{
    uint64_t n = 0;
    mutex_lock(&tcache_lock);
    for (const struct tcache *t = tcache_list; t != NULL; t = t->next) {
        n += __atomic_load_n(&t->top[bin], __ATOMIC_RELAXED) - t->floor[bin];
    }
    mutex_unlock(&tcache_lock);
    return n;
}

void tcache_prefork(void)
{
    mutex_lock(&tcache_lock);
}

void tcache_postfork_parent(void)
{
    mutex_unlock(&tcache_lock);
}

/* The other threads do not exist in the child. Their stacks may have been in the middle of a change, so the blocks in
 * them stay where they are; the caches are never claimed again. */
void tcache_postfork_child(struct tcache *mine)
{
    mutex_reset(&tcache_lock);
    tcache_live_count = mine == &tcache_unborn || mine == &tcache_dead ? 0 : 1;
}
