/* large: blocks of a whole extent each, page aligned. The shorter ones, of the cached large classes, pass through the thread caches
 * like small blocks: the tag of their first page names their class, as if the extent were a slab with the block as its only region. */
#ifndef QED_BLOCKS_LARGE_H
#define QED_BLOCKS_LARGE_H

#include <stdbool.h>
#include <stdint.h>

#include "blocks/blocks.h"

#define LARGE_CLASSES (SC_NSIZES - SC_NBINS)
#define LARGE_COUNTERS (PAGE_CACHES * LARGE_CLASSES)
#define LARGE_COUNTER(cache, szind) ((cache) * LARGE_CLASSES + ((szind) - SC_NBINS))

struct large_stats {
    uint64_t allocated;         /* blocks so far */
    uint64_t freed;             /* blocks so far */
};

/* Blocks so far. A block that changes its class where it is counts as one that has gone and one that has come. */
struct large_counters {
    uint64_t all;
    uint64_t of[LARGE_COUNTERS];        /* of each page cache and class */
};

extern uint64_t large_oversize_npages;     /* blocks of so many pages and more have a page cache of their own */
extern struct large_counters large_allocated;
extern struct large_counters large_freed;

#include "blocks/large.acsl"

/* Returns the address of a block of the class, which is LIVE, or 0 if memory is out. Its pages are of that page cache, but an oversize
 * block has its own instead of the shared one. Says in *zeroed whether its pages read as zero. cached says that its class has a stack in
 * the thread caches. */
/*@ PAGES_FREE(requires);
    requires cache:    cache < PAGE_CACHES;
    requires class:    SC_NBINS <= szind < SC_NSIZES;
    requires power:    IsPowerOfTwo(align_bytes);
    requires cached:   cached <==> LargeCached(szind);
    requires zeroed:   \valid(zeroed);
    assigns            LARGE_ASSIGNS, large_allocated, *zeroed;
    PAGES_FREE(ensures);
    ensures  block:    \result != 0 ==> BlockLarge(\result) && block_state[\result] == BLOCK_LIVE;
    ensures  class:    \result != 0 ==> block_szind[\result] == szind;
    ensures  new:      \result != 0 ==> \old(block_state[\result]) == BLOCK_NONE;
    ensures  cache:    \result != 0 ==> ext_state[block_ext[\result]] == EXTENT_ACTIVE + LargeCache(cache, ScBytes(szind) / PAGE);
    ensures  aligned:  \result % PAGE == 0 && \result % align_bytes == 0;
    ensures  zero:     LargeZero(\result, szind, *zeroed);
    ensures  kept:     BlocksKept{Pre,Post};
    ensures  only:     \forall integer a; BlockOut(a) && a != \result ==> \old(BlockOut(a));
    ensures  out:      \result == 0 ==> NoBlock(szind, align_bytes);
    ensures  counted:  \result != 0 ==>
                       LargeNext(\old(large_allocated.of[LARGE_COUNTER(LargeCache(cache, ScBytes(szind) / PAGE), szind)]),
                                 large_allocated.of[LARGE_COUNTER(LargeCache(cache, ScBytes(szind) / PAGE), szind)]);
*/
uint64_t large_alloc(uint32_t cache, uint32_t szind, uint64_t align_bytes, bool cached, bool *zeroed);

/* Gives the block back. Returns false, and changes nothing, if no large block begins there. The address is in no slab, for its
 * page's tag has said so. */
/*@ PAGES_FREE(requires);
    requires no_slab:  LargeNoSlab(block);
    assigns            LARGE_ASSIGNS, large_freed;
    PAGES_FREE(ensures);
    ensures  exact:    \result <==> \old(BlockLarge(block));
    ensures  gone:     !BlockLarge(block);
    ensures  none_out: \result ==> block_state[block] == BLOCK_NONE;
    ensures  kept:     \forall integer a; \old(BlockOut(a)) && a != block ==> BlockSame{Pre,Post}(a);
    ensures  none:     BlocksNoneNew{Pre,Post};
    ensures  pages:    BlocksLargeKept{Pre,Post};
*/
bool large_free(uint64_t block);

/* Returns the usable size of the block, or 0 if no large block begins there. */
/*@ PAGES_FREE(requires);
    requires no_slab:  LargeNoSlab(block);
    assigns            LARGE_ASSIGNS;
    PAGES_FREE(ensures);
    ensures  bytes:    BlockLarge(block) ==> \result == ScBytes(block_szind[block]);
    ensures  none:     !BlockLarge(block) ==> \result == 0;
    ensures  kept:     BlocksKept{Pre,Post} && BlocksNoneNew{Pre,Post};
*/
uint64_t large_bytes(uint64_t block);

/* Gives the block another class where it is. Returns false, and changes nothing, if it has no room to grow. Its tag changes while only
 * the thread that holds the block reads it. */
/*@ PAGES_FREE(requires);
    requires block:    BlockLarge(block);
    requires class:    SC_NBINS <= szind < SC_NSIZES;
    assigns            LARGE_ASSIGNS, large_allocated, large_freed;
    PAGES_FREE(ensures);
    ensures  class:    block_szind[block] == (\result ? szind : \old(block_szind[block]));
    ensures  state:    block_state[block] == \old(block_state[block]);
    ensures  kept:     \forall integer a; \old(BlockOut(a)) && a != block ==> BlockSame{Pre,Post}(a);
    ensures  none:     BlocksNoneNew{Pre,Post};
*/
bool large_resize(uint64_t block, uint32_t szind);

/* Blocks of that many bytes and more get their pages from the page cache PAGES_OVERSIZE, or no blocks do if that is 0. Called once, at
 * boot. */
/*@ assigns            large_oversize_npages;
    ensures  none:     oversize_bytes == 0 ==> large_oversize_npages == UINT64_MAX;
    ensures  least:    oversize_bytes != 0 ==>
                           (large_oversize_npages - 1) * PAGE < oversize_bytes <= large_oversize_npages * PAGE;
*/
void large_boot(uint64_t oversize_bytes);

/* Reads the counters of one class in one page cache. */
/*@ requires stats:    \valid(stats);
    requires cache:    cache < PAGE_CACHES;
    requires class:    SC_NBINS <= szind < SC_NSIZES;
    assigns            *stats;
    ensures  stats:    stats->allocated == large_allocated.of[LARGE_COUNTER(cache, szind)] &&
                       stats->freed == large_freed.of[LARGE_COUNTER(cache, szind)];
*/
void large_read_class(uint32_t cache, uint32_t szind, struct large_stats *stats);

/* Reads the counters of all classes and page caches. */
/*@ requires stats:    \valid(stats);
    assigns            *stats;
    ensures  stats:    stats->allocated == large_allocated.all && stats->freed == large_freed.all;
*/
void large_read_stats(struct large_stats *stats);

#endif
