/* bin: the slabs of one size class in one arena, behind a lock.
 *
 * A slab is current (blocks are taken from it), or non-full and in the bin's heap by address, or full and in no list,
 * or empty and returned to the page cache. Taking goes from the current slab to the lowest non-full one to a new one.
 * A block is an address; whose slab it is follows from the radix tree, so any thread may return it.
 */
#ifndef QED_HEAP_BIN_H
#define QED_HEAP_BIN_H

#include <stdint.h>

#include "heap/heap.h"

extern uint32_t bin_arenas;      /* arenas in use */

/* Static memory is zero: no extent is in use, no block is out. Once, at start. */
/*@ requires cache:        PageCacheOk;
    requires geometry:     SlabGeometryOk;
    requires zero_kind:    \forall integer e; 0 <= e < TABLE_MAX ==> ext_kind[e] == KIND_NONE;
    requires zero_block:   \forall integer a; 0 <= a < ADDRESS_MAX ==> block_state[a] == BLOCK_NONE;
    requires zero_own:     \forall integer x; PhNode(x) ==> ph_own[x] == 0;
    requires zero_current: \forall integer b; BinRange(b) ==> bin_current[b] == 0;
    requires arenas:       1 <= arenas <= ARENAS_MAX;
    terminates             \true;
    exits                  \false;
    assigns                bin_arenas;
    ensures  ok:           HeapOk;
    ensures  bins:         \forall integer b; BinRange(b) ==> BinOk(b);
    ensures  arenas:       bin_arenas == arenas;
*/
void bin_boot(uint32_t arenas);

/* Fills blocks[] with blocks of the class, each once, lowest addresses last; how many: fewer than n if memory is out, and up to
 * 63 fewer if n is 128 or more, so that the next fill meets whole words of a bitmap. They stand in first .. first + n - 1. */
/*@ requires lock:     LocksFree(LOCK_BIN(0));
    requires ok:       HeapOk;
    requires arena:    arena < ARENAS_MAX;
    requires class:    szind < SC_NBINS;
    requires place:    first + n <= UINT32_MAX;
    requires valid:    \valid(blocks + (0 .. n - 1));
    terminates         \true;
    exits              \false;
    assigns            HEAP_ASSIGNS, blocks[0 .. n - 1];
    ensures  lock:     LocksFree(LOCK_BIN(0));
    ensures  ok:       HeapOk;
    ensures  most:     \result <= n;
    ensures  cached:   BlocksCached(blocks, 0, \result, szind);
    ensures  place:    BlocksAt(blocks, 0, \result, first);
    ensures  were:     \forall integer i; 0 <= i < \result ==>
                       \at(block_state[\at(blocks[i],Post)],Pre) == BLOCK_NONE;
    ensures  kept:     BlocksKept{Pre,Post};
    ensures  new:      BlocksNewAt{Pre,Post}(first, first + \result);
    ensures  stand:    \forall integer a; BlockOut(a) && !\old(BlockOut(a)) ==> blocks[block_pos[a] - first] == a;
*/
uint32_t bin_fill(uint32_t arena, uint32_t szind, uint64_t *blocks, uint32_t n) /*@ ghost (uint32_t first) */;

/* Takes blocks of the class back, each once; they stand in positions first .. first + n - 1. Reorders blocks[]. */
/*@ requires lock:     LocksFree(LOCK_BIN(0));
    requires ok:       HeapOk;
    requires class:    szind < SC_NBINS;
    requires place:    first + n <= UINT32_MAX;
    requires valid:    \valid(blocks + (0 .. n - 1));
    requires cached:   BlocksCached(blocks, 0, n, szind);
    requires places:   BlocksAt(blocks, 0, n, first);
    terminates         \true;
    exits              \false;
    assigns            HEAP_ASSIGNS, blocks[0 .. n - 1];
    ensures  lock:     LocksFree(LOCK_BIN(0));
    ensures  ok:       HeapOk;
    ensures  gone:     \forall integer i; 0 <= i < n ==>
                       block_state[\old(blocks[i])] == BLOCK_NONE;
    ensures  kept:     BlocksKeptBut{Pre,Post}(szind, first, first + n);
    ensures  none:     BlocksNoneNew{Pre,Post};
*/
void bin_flush(uint32_t szind, uint64_t *blocks, uint32_t n) /*@ ghost (uint32_t first) */;

/* What the bin counts, at one moment. */
/*@ requires lock:     LocksFree(LOCK_BIN(0));
    requires ok:       HeapOk;
    requires arena:    arena < ARENAS_MAX;
    requires class:    szind < SC_NBINS;
    requires valid:    \valid(stats);
    terminates         \true;
    exits              \false;
    assigns            HEAP_ASSIGNS_PAGES, HEAP_ASSIGNS_SLABS, *stats;
    ensures  lock:     LocksFree(LOCK_BIN(0));
    ensures  ok:       HeapOk;
    ensures  stats:    *stats == bin_stats[arena * SC_NBINS + szind];
*/
void bin_read_stats(uint32_t arena, uint32_t szind, struct bin_stats *stats);

/* Around fork: the locks of all bins in use are held from before to after it, in the parent and in the child. Nobody else
 * is in a bin then: each is whole. */
/*@ requires lock:     LocksFree(LOCK_BIN(0));
    requires arenas:   bin_arenas <= ARENAS_MAX;
    requires ok:       HeapOk;
    terminates         \true;
    exits              \false;
    assigns            HEAP_ASSIGNS_PAGES, HEAP_ASSIGNS_SLABS;
    ensures  held:     \forall integer k; LOCK_BIN(0) <= k < LOCK_BIN(bin_arenas * SC_NBINS) ==> LockHeld(k);
    ensures  free:     LocksFree(LOCK_BIN(bin_arenas * SC_NBINS));
    ensures  ok:       HeapOk;
    ensures  bins:     \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinOk(b);
*/
void bin_prefork(void);

/*@ requires held:     \forall integer k; LOCK_BIN(0) <= k < LOCK_BIN(bin_arenas * SC_NBINS) ==> LockHeld(k);
    requires free:     LocksFree(LOCK_BIN(bin_arenas * SC_NBINS));
    requires arenas:   bin_arenas <= ARENAS_MAX;
    requires ok:       HeapOk;
    requires bins:     \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinOk(b);
    terminates         \true;
    exits              \false;
    assigns            lock_held[LOCK_BIN(0) .. LOCK_BIN(BINS) - 1];
    ensures  lock:     LocksFree(LOCK_BIN(0));
*/
void bin_postfork_parent(void);

/*@ requires held:     \forall integer k; LOCK_BIN(0) <= k < LOCK_BIN(bin_arenas * SC_NBINS) ==> LockHeld(k);
    requires free:     LocksFree(LOCK_BIN(bin_arenas * SC_NBINS));
    requires arenas:   bin_arenas <= ARENAS_MAX;
    requires ok:       HeapOk;
    requires bins:     \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinOk(b);
    terminates         \true;
    exits              \false;
    assigns            lock_held[LOCK_BIN(0) .. LOCK_BIN(BINS) - 1];
    ensures  lock:     LocksFree(LOCK_BIN(0));
*/
void bin_postfork_child(void);

#endif
