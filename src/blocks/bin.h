/* bin: the slabs of one size class in one arena, behind a lock.
 *
 * A slab is current (blocks are taken from it), or non-full and in the bin's pairing heap by address, or full and in no heap, or
 * empty and returned to the page cache. Blocks come from the current slab, then from the lowest non-full one, then from a new one.
 * A block is an address. The radix tree tells whose slab it is from, so any thread may return it.
 */
#ifndef QED_BLOCKS_BIN_H
#define QED_BLOCKS_BIN_H

#include <stdint.h>

#include "blocks/blocks.h"

struct bin_stats {
    uint64_t regions_live;                      /* regions outside their slab: live or in a thread cache */
    uint64_t slabs;                             /* slabs that exist now */
    uint64_t filled;                            /* regions handed out so far */
    uint64_t flushed;                           /* regions taken back so far */
    uint64_t fills;                             /* times the bin has handed out regions, one or more at a time */
    uint64_t flushes;                           /* times it has taken regions back */
    uint64_t slabs_made;                        /* slabs so far */
    uint64_t slabs_again;                       /* times a non-full slab has become current again */
    uint64_t slabs_nonfull;                     /* slabs in the pairing heap now */
};

/* Where the round over the holes of all bins with the same page cache is (holes.h). Threads write it without a lock, and any value is right. */
struct holes_round {
    uint64_t place;                             /* HOLES_BIN * the bin that is next, from their first one, and how often it may be visited yet */
    uint64_t begun_ms;                          /* when the round began */
};

extern uint32_t bin_arenas;                     /* arenas that there have been so far. It grows under the arenas' lock. */
extern uint32_t bin_shared;                     /* the first so many share a page cache, and each of the others has its own */
extern uint32_t bin_current[BINS];              /* slab that blocks are taken from, 0 = none */
extern uint32_t bin_walk[BINS];                 /* slab that the next visit for holes begins with, 0 = the first one */
extern struct bin_stats bin_stats[BINS];
extern struct holes_round holes_round[PAGE_CACHES];
/*@ ghost extern int holes_asked; */            /* 1 once this thread has asked the OS to take pages of holes */

#include "blocks/bin.acsl"

/* Returns the number of the arena's page cache. Numbers beyond those of page caches share one too, and no arena has them. */
/*@ assigns           \nothing;
    ensures  is:       \result == ArenaPages(arena);
    ensures  range:    \result < PAGE_CACHES;
*/
static inline uint32_t arena_pages(uint32_t arena)
{
    return arena < bin_shared || arena - bin_shared >= ARENAS_OWN ? PAGES_SHARED : arena - bin_shared + PAGES_OVERSIZE;
}

/* Says how many arenas share a page cache. Is called once, at boot, when static memory is zero: no extent is in use, no block is out. */
/*@ REQUIRES_NO_BLOCKS;
    requires arenas:       1 <= arenas <= ARENAS_MAX;
    assigns                bin_arenas, bin_shared;
    ensures  ok:           BlocksOk;
    ensures  bins:         \forall integer b; BinRange(b) ==> BinOk(b);
    ensures  arenas:       bin_arenas == arenas && bin_shared == arenas;
*/
void bin_boot(uint32_t arenas);

/* Fills blocks[] with blocks of the class, each once, lowest addresses last. Returns how many they are: fewer than n if memory is
 * out, and up to 63 fewer if n is 128 or more, so that the next fill meets whole words of a bitmap. Block i stands in position
 * first + i. */
/*@ BINS_FREE(requires);
    requires arena:    arena < ARENAS_MAX;
    requires class:    szind < SC_NBINS;
    requires place:    first + n <= UINT32_MAX;
    requires valid:    \valid(blocks + (0 .. n - 1));
    assigns            BLOCKS_ASSIGNS, blocks[0 .. n - 1];
    BINS_FREE(ensures);
    ensures  most:     \result <= n;
    ensures  cached:   BlocksCached(blocks, 0, \result, szind);
    ensures  place:    BlocksAt(blocks, 0, \result, first);
    ensures  from:     BinHas(arena * SC_NBINS + szind, blocks, 0, \result);
    ensures  were:     \forall integer i; 0 <= i < \result ==>
                       \at(block_state[\at(blocks[i],Post)],Pre) == BLOCK_NONE;
    ensures  kept:     BlocksKept{Pre,Post};
    ensures  new:      BlocksNewAt{Pre,Post}(first, first + \result);
    ensures  stand:    \forall integer a; BlockOut(a) && !\old(BlockOut(a)) ==> blocks[block_pos[a] - first] == a;
    ensures  out:      \result == 0 && n != 0 ==> MemoryOut(PAGE_COUNT_MAX);
*/
uint32_t bin_fill(uint32_t arena, uint32_t szind, uint64_t *blocks, uint32_t n) /*@ ghost (uint32_t first) */;

/* Takes blocks of the class back, each once. Changes the order of blocks[]. */
/*@ BINS_FREE(requires);
    requires class:    szind < SC_NBINS;
    requires place:    first + n <= UINT32_MAX;
    requires valid:    \valid(blocks + (0 .. n - 1));
    BLOCKS_CACHED(requires, 0, n);
    assigns            BLOCKS_ASSIGNS, blocks[0 .. n - 1];
    BINS_FREE(ensures);
    ensures  gone:     \forall integer i; 0 <= i < n ==>
                       block_state[\old(blocks[i])] == BLOCK_NONE;
    ensures  kept:     BlocksKeptBut{Pre,Post}(szind, first, first + n);
    ensures  none:     BlocksNoneNew{Pre,Post};
*/
void bin_flush(uint32_t szind, uint64_t *blocks, uint32_t n) /*@ ghost (uint32_t first) */;

/* Copies the counters of the bin, all as they are at one moment. */
/*@ BINS_FREE(requires);
    requires arena:    arena < ARENAS_MAX;
    requires class:    szind < SC_NBINS;
    requires valid:    \valid(stats);
    assigns            BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS, *stats;
    BINS_FREE(ensures);
    ensures  stats:    *stats == bin_stats[arena * SC_NBINS + szind];
*/
void bin_read_stats(uint32_t arena, uint32_t szind, struct bin_stats *stats);

/* Takes the locks of all bins in use before fork. They are held until after it, in the parent and in the child. No other thread is in
 * a bin then, so that each is whole. */
/*@ requires lock:     LocksFree(LOCK_BIN(0));
    requires arenas:   bin_arenas <= ARENAS_MAX;
    requires ok:       BlocksOk;
    assigns            BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS;
    BINS_HELD(ensures);
*/
void bin_prefork(void);

/*@ BINS_HELD(requires);
    requires arenas:   bin_arenas <= ARENAS_MAX;
    assigns            lock_held[LOCK_BIN(0) .. LOCK_BIN(BINS) - 1];
    ensures  lock:     LocksFree(LOCK_BIN(0));
*/
void bin_postfork_parent(void);

/*@ BINS_HELD(requires);
    requires arenas:   bin_arenas <= ARENAS_MAX;
    assigns            lock_held[LOCK_BIN(0) .. LOCK_BIN(BINS) - 1];
    ensures  lock:     LocksFree(LOCK_BIN(0));
*/
void bin_postfork_child(void);

#endif
