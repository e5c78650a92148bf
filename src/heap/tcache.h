/* tcache: the blocks that a thread has ready, one stack of addresses per cached size class.
 *
 * malloc pops and free pushes; only a miss goes to the bins and takes a lock. Everything the fast paths read sits in
 * this structure, so they need one load of the thread's pointer. Stacks share one array: stack b occupies the slots
 * floor[b] .. limit[b], top[b] is the slot of its last block, and slot[floor[b]] is always 0, which is how a pop sees
 * that the stack is empty without a second comparison. Bin 0 has no room and a bound of 0: every push to it is refused,
 * so a page that belongs to nobody needs no test of its own.
 *
 * Two caches that never hold a block stand in when a thread has none: tcache_unborn before its first slow path,
 * tcache_dead after its last (destructors of other keys may still allocate).
 */
#ifndef QED_HEAP_TCACHE_H
#define QED_HEAP_TCACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "ds/radix_tree.h"
#include "heap/word.h"
#include "math/divide.h"
#include "math/size_class.h"
#include "platform/config.h"
#include "platform/table.h"

#define TCACHE_LARGE_CLASSES 9U                                 /* large classes that are cached: 16 to 64 KiB by default */
#define TCACHE_BINS (1U + SC_NBINS + TCACHE_LARGE_CLASSES)      /* bin = size class index + 1 */
#define TCACHE_DEPTH_MAX 512U
#define TCACHE_SLOTS (TCACHE_BINS * (TCACHE_DEPTH_MAX + 1U))

struct tcache {
    uint32_t            top[TCACHE_BINS];
    uint32_t            limit[TCACHE_BINS];
    divide_magic_t      magic[TCACHE_BINS];                     /* reciprocal of the class */
    divide_magic_t      negated[TCACHE_BINS];                   /* the same, as divide_negate makes it */
    uint64_t            window_pages;                           /* RADIX_WINDOW_PAGES, or 0: no leaf yet */
    uint64_t            window;                                 /* where the window of the leaf begins */
    struct radix_leaf  *leaf;
    uint8_t             bin_of[SC_LOOKUP_MAX + 1];              /* bytes -> bin: a byte each saves two instructions */
    uint32_t            floor[TCACHE_BINS];
    uint16_t            fill[TCACHE_BINS];                      /* blocks to ask for at the next miss */
    bool                missed[TCACHE_BINS];                    /* since the last collection */
    uint32_t            arena;
    uint32_t            ticks;                                  /* slow events until the next collection */
    uint32_t            collect;                                /* bin whose turn it is */
    struct tcache      *next;                                   /* in the list of all caches */
    struct tcache      *next_idle;                              /* in the list of those without a thread */
    uint64_t            slot[TCACHE_SLOTS];
};

_Static_assert(TCACHE_BINS <= 256, "bin_of holds a bin in a byte");

extern struct tcache tcache_unborn;
extern struct tcache tcache_dead;

/* The block on top of the stack of that bin, 0 if it is empty. */
static inline uint64_t tcache_pop(struct tcache *t, uint64_t bin)
{
    uint64_t block = t->slot[ATOMIC_LOAD(t->top[bin])];
    if (block != 0) {
        t->top[bin] -= 1;
    }
    return block;
}

/* The bin of a request of at most SC_LOOKUP_MAX bytes. */
static inline uint64_t tcache_bin_of(const struct tcache *t, uint64_t bytes)
{
    return t->bin_of[bytes];
}

/* False when the slow path has to look: no block of a cached class begins there, the stack is full, the block is the
 * one freed last, or the address lies in another window than the one before. Then nothing has changed. */
static inline bool tcache_push(struct tcache *t, uint64_t block)
{
    uint64_t page = word_distance(t->window, block) / PAGE;
    if (page >= t->window_pages) {
        return false;
    }
    uint64_t bin = radix_leaf_high(t->leaf, page);
    uint32_t back = half_distance((uint32_t)(block % WORD_HALF), radix_leaf_low(t->leaf, page));
    if (divide_fraction_back(back, t->negated[bin]) >= t->magic[bin]) {
        return false;
    }
    uint64_t top = ATOMIC_LOAD(t->top[bin]);
    if (top >= t->limit[bin] || t->slot[top] == block) {
        return false;
    }
    t->slot[top + 1] = block;
    t->top[bin] += 1;
    return true;
}

void           tcache_boot(void);                               /* also fills the stand-ins */
struct tcache *tcache_create(void);                             /* NULL: out of memory */
void           tcache_destroy(struct tcache *t);                /* all its blocks go back to their bins */
uint64_t       tcache_refill(struct tcache *t, uint32_t bin);   /* a block, 0: out of memory; t may be a stand-in */
void           tcache_free_slow(struct tcache *t, uint64_t block, const char *call);   /* t may be a stand-in */
uint64_t       tcache_usable(uint64_t block, const char *call); /* bytes of the block; where none begins the caller is told */
void           tcache_tick(struct tcache *t);                   /* one slow event: now and then collects and decays */
void           tcache_flush(struct tcache *t);                  /* all stacks */
uint64_t       tcache_blocks(uint32_t bin);                     /* in all caches, approximate while threads run */
uint32_t       tcache_live(void);                               /* threads that have a cache now */

void tcache_prefork(void);
void tcache_postfork_parent(void);
void tcache_postfork_child(struct tcache *mine);

#endif
