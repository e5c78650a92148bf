/* large: blocks of a whole extent each, page aligned. Small ones of them (cached large classes) pass through the thread
 * caches like small blocks: the radix word of their first page names their class, with the block as its only region. */
#ifndef QED_HEAP_LARGE_H
#define QED_HEAP_LARGE_H

#include <stdbool.h>
#include <stdint.h>

#include "heap/heap.h"

struct large_stats {
    uint64_t allocated;         /* blocks so far */
    uint64_t freed;             /* blocks so far */
};

extern uint64_t large_allocated;
extern uint64_t large_freed;

#include "large.acsl"

/* Address of a block of the class, LIVE, 0 if out of memory; cached says that its class has a bin in the thread caches. */
/*@ requires lock:     LocksFree(LOCK_PAGES);
    requires ok:       HeapOk;
    requires class:    SC_NBINS <= szind < SC_NSIZES;
    requires power:    IsPowerOfTwo(align_bytes);
    requires cached:   cached <==> LargeCached(szind);
    requires zeroed:   \valid(zeroed);
    terminates         \true;
    exits              \false;
    assigns            LARGE_ASSIGNS, large_allocated, *zeroed;
    ensures  lock:     LocksFree(LOCK_PAGES);
    ensures  ok:       HeapOk;
    ensures  block:    \result != 0 ==> BlockLarge(\result) && block_state[\result] == BLOCK_LIVE;
    ensures  class:    \result != 0 ==> block_szind[\result] == szind;
    ensures  new:      \result != 0 ==> \old(block_state[\result]) == BLOCK_NONE;
    ensures  aligned:  \result % PAGE == 0 && \result % align_bytes == 0;
    ensures  kept:     BlocksKept{Pre,Post};
    ensures  only:     \forall integer a; BlockOut(a) && a != \result ==> \old(BlockOut(a));
*/
uint64_t large_alloc(uint32_t szind, uint64_t align_bytes, bool cached, bool *zeroed);

/* false: no large block begins there, nothing changed. The address is in no slab: its page's word has said so. */
/*@ requires lock:     LocksFree(LOCK_PAGES);
    requires ok:       HeapOk;
    requires no_slab:  LargeNoSlab(block);
    terminates         \true;
    exits              \false;
    assigns            LARGE_ASSIGNS, large_freed;
    ensures  lock:     LocksFree(LOCK_PAGES);
    ensures  ok:       HeapOk;
    ensures  exact:    \result <==> \old(BlockLarge(block));
    ensures  gone:     !BlockLarge(block);
    ensures  none_out: \result ==> block_state[block] == BLOCK_NONE;
    ensures  kept:     \forall integer a; \old(BlockOut(a)) && a != block ==> BlockSame{Pre,Post}(a);
    ensures  none:     BlocksNoneNew{Pre,Post};
*/
bool large_free(uint64_t block);

/* Usable size, 0 if no large block begins there. */
/*@ requires lock:     LocksFree(LOCK_PAGES);
    requires ok:       HeapOk;
    requires no_slab:  LargeNoSlab(block);
    terminates         \true;
    exits              \false;
    assigns            LARGE_ASSIGNS;
    ensures  lock:     LocksFree(LOCK_PAGES);
    ensures  ok:       HeapOk;
    ensures  bytes:    BlockLarge(block) ==> \result == ScBytes(block_szind[block]);
    ensures  none:     !BlockLarge(block) ==> \result == 0;
    ensures  kept:     BlocksKept{Pre,Post} && BlocksNoneNew{Pre,Post};
*/
uint64_t large_bytes(uint64_t block);

/* The block gets another class in place; false: nothing changed. Its word changes while only its holder reads it. */
/*@ requires lock:     LocksFree(LOCK_PAGES);
    requires ok:       HeapOk;
    requires block:    BlockLarge(block);
    requires class:    SC_NBINS <= szind < SC_NSIZES;
    terminates         \true;
    exits              \false;
    assigns            LARGE_ASSIGNS;
    ensures  lock:     LocksFree(LOCK_PAGES);
    ensures  ok:       HeapOk;
    ensures  class:    block_szind[block] == (\result ? szind : \old(block_szind[block]));
    ensures  state:    block_state[block] == \old(block_state[block]);
    ensures  kept:     \forall integer a; \old(BlockOut(a)) && a != block ==> BlockSame{Pre,Post}(a);
    ensures  none:     BlocksNoneNew{Pre,Post};
*/
bool large_resize(uint64_t block, uint32_t szind);

/*@ requires stats:    \valid(stats);
    terminates         \true;
    exits              \false;
    assigns            *stats;
    ensures  stats:    stats->allocated == large_allocated && stats->freed == large_freed;
*/
void large_read_stats(struct large_stats *stats);

#endif
