/* arena_reset: see arena_reset.h. */
#include "blocks/arena_reset.h"

#include "blocks/bin_give.h"
#include "pages/pages.h"
#include "platform/live.h"

#include "math/size_class_align_lemmas.acsl"
#include "blocks/large_lemmas.acsl"
#include "blocks/arena_reset_lemmas.acsl"

/* ---- slabs ------------------------------------------------------------------------------------------------------- */

/* Takes slab e out of the bin's pairing heap, or makes it no longer the current one. */
/*@ requires bin:      b < BINS;
    requires lock:     BinLocked(b);
    requires ok:       BlocksOk;
    requires whole:    BinOk(b);
    requires slab:     BinSlab(b, e);
    assigns            CACHE_ASSIGNS_HEAPS, bin_current[b], bin_stats[b].slabs_nonfull;
    ensures  ok:       BlocksOk;
    ensures  whole:    BinOkBut(b, e);
    ensures  alone:    bin_current[b] != e && ph_own[e] == 0;
*/
static inline void reset_part(uint32_t b, uint32_t e)
{
    /*@ assert listed: BinListed(b, e) ==> ph_own[e] == BIN_HEAP(b); */
    /*@ assert not: !BinListed(b, e) ==> ph_own[e] == 0; */
    /*@ ghost bin_lemma_ok_but(b, e); */
    if (bin_current[b] == e) {
        bin_current[b] = 0;
        /*@ ghost bin_lemma_ok_but(b, e); */
    } else if (AT(slab_free_count, e) != 0) {
        bin_unlist(b, e);
    }
}

/* Makes all regions of slab e free. */
/*@ requires bin:      b < BINS;
    requires class:    szind == b % SC_NBINS;
    requires lock:     BinLocked(b);
    requires ok:       BlocksOk;
    requires whole:    BinOkBut(b, e);
    requires slab:     BinSlab(b, e);
    assigns            slab_bits[e].w[0 .. SLAB_WORDS - 1], slab_free_count[e], slab_class[e], slab_sum[e].upto[0 .. SLAB_WORDS],
                       block_state[0 .. ADDRESS_MAX - 1];
    ensures  ok:       BlocksOk;
    ensures  whole:    BinOkBut(b, e);
    ensures  empty:    slab_free_count[e] == slab_regions[slab_class[e]];
    ensures  gone:     \forall integer a; BlockSmall(a) ==> block_ext[a] != e;
    ensures  kept:     \forall integer a; \old(BlockOut(a)) && !(\old(BlockSmall(a)) && block_ext[a] == e) ==>
                       block_state[a] == \old(block_state[a]);
    ensures  none:     BlocksNoneNew{Pre,Post};
*/
static inline void reset_regions(uint32_t szind, uint32_t e) /*@ ghost (uint32_t b) */
{
    /*@ assert class: slab_class[e] == szind; */
    /*@ ghost reset_forget(e); */
    slab_init(e, szind);
    /*@ assert others: \forall integer x; ExtKind(x, KIND_SLAB) && x != e ==> SlabOk(x); */
    /*@ ghost bin_lemma_heap(); */
    /*@ ghost bin_lemma_ok_but(b, e); */
}

/* Ends all blocks of slab e, which leaves the bin. */
/*@ requires bin:      b < BINS;
    requires class:    szind == b % SC_NBINS;
    BIN_HELD(requires, b);
    requires slab:     BinSlab(b, e);
    assigns            BIN_ASSIGNS_OTHERS, lock_held[LOCK_PAGES], os_kept, os_gone, block_state[0 .. ADDRESS_MAX - 1];
    BIN_HELD(ensures, b);
    ensures  gone:     \forall integer a; BlockSmall(a) ==> block_ext[a] != e;
    ensures  kept:     \forall integer a; \old(BlockOut(a)) && !(\old(BlockSmall(a)) && block_ext[a] == e) ==>
                       block_state[a] == \old(block_state[a]);
    ensures  stays:    ResetStays{Pre,Post};
*/
static void reset_slab(uint32_t b, uint32_t szind, uint32_t e)
{
    /*@ assert class: slab_class[e] == szind; */
    /*@ ghost bin_lemma_room(e); */
    bin_count_in(b, slab_regions[szind] - AT(slab_free_count, e));
    /*@ ghost bin_lemma_ok(b); */
    live_clear_pages(AT(ext_page, e), AT(ext_npages, e));
    reset_part(b, e);
    reset_regions(szind, e) /*@ ghost (b) */;
    bin_drop(b, e);
}

/* Ends the blocks of extent e, if it is a slab of the arena. */
/*@ BINS_FREE(requires);
    requires arena:    0 < arena && ArenaOwnRange(arena);
    requires id:       0 < e < TABLE_MAX;
    assigns            BLOCKS_ASSIGNS;
    BINS_FREE(ensures);
    ensures  gone:     \forall integer a; ResetSmall(arena, a) ==> block_ext[a] != e;
    ensures  kept:     ResetKept{Pre,Post}(arena);
    ensures  stays:    ResetStays{Pre,Post};
*/
static void reset_if_slab(uint32_t arena, uint32_t e)
{
    uint32_t b = AT(slab_bin, e);
    if (b / SC_NBINS != arena) {
        return;
    }
    bin_acquire(b);
    if (AT(slab_bin, e) == b) {             /* it may have left the bin before the lock was taken */
        reset_slab(b, b % SC_NBINS, e);
    }
    bin_release(b);
}

/* ---- large blocks ------------------------------------------------------------------------------------------------ */

/* Returns the pages of extent e, if they are of that page cache, and somebody has them. */
/*@ PAGES_FREE(requires);
    requires id:       0 < e < TABLE_MAX;
    requires cache:    cache < PAGE_CACHES;
    assigns            PAGES_ASSIGNS;
    PAGES_FREE(ensures);
    ensures  is:       \result.npages != 0 ==> ExtUsed(e) && ext_state[e] == EXTENT_ACTIVE + cache;
    ensures  pages:    \result.npages != 0 ==> \result.page == ext_page[e] && \result.npages == ext_npages[e];
    ensures  none:     \result.npages == 0 ==> !ExtUsed(e) || ext_state[e] != EXTENT_ACTIVE + cache;
    ensures  last:     \forall integer x; ExtUsed(x) ==> x <= \result.last;
    ensures  stays:    BlocksLargeKept{Pre,Post};
*/
static struct pages_extent reset_look(uint32_t cache, uint32_t e)
{
    /*@ ghost large_lemma_pages(); */
    /*@ assert was: BlocksLargeBlock; */
    struct pages_extent x = pages_look(cache, e);
    /*@ assert owners: LargeOwners{Pre,Here}(0); */
    /*@ assert pages: LargePages{Pre,Here}; */
    /*@ assert places: \forall integer e; ExtKind(e, KIND_LARGE) ==> ext_page[e] * PAGE == \at(ext_page[e] * PAGE,Pre); */
    /*@ assert block: LargeBlocks{Pre,Here}; */
    /*@ assert block: BlocksLargeBlock; */
    /*@ ghost large_lemma_ok(); */
    return x;
}

/* Tells whether a large block begins on the page, the first one of npages that somebody has. The tag names its class. The longest blocks have
 * no tag, and neither has a slab that comes or leaves at this moment, which is shorter. */
/*@ requires pages:    0 < npages && page + npages <= PAGE_COUNT_MAX;
    requires radix:    RadixOk;
    assigns            \nothing;
    ensures  tag:      0 < radix_tag_of[page] / TAG_HALF <= SC_NBINS ==> !\result;
    ensures  cached:   radix_tag_of[page] / TAG_HALF > SC_NBINS ==> \result;
    ensures  long:     radix_tag_of[page] == 0 && npages * PAGE >= ScBytes(SC_NBINS + LARGE_CACHED) ==> \result;
*/
static bool reset_is_large(uint64_t page, uint64_t npages)
{
    uint64_t tag = radix_tree_tag(page);
    return tag_stack(tag) > SC_NBINS || (tag_stack(tag) == 0 && npages * PAGE >= size_class_bytes(SC_NBINS + LARGE_CACHED));
}

/* Ends the block of extent e, which somebody has, if it is a large one. */
/*@ BINS_FREE(requires);
    requires used:     ExtUsed(e) && page == ext_page[e] && npages == ext_npages[e];
    assigns            LARGE_ASSIGNS, large_freed;
    BINS_FREE(ensures);
    ensures  gone:     \forall integer a; BlockLarge(a) ==> block_ext[a] != e;
    ensures  kept:     \forall integer a; \old(BlockOut(a)) && !(\old(BlockLarge(a)) && \old(block_ext[a]) == e) ==> BlockSame{Pre,Post}(a);
    ensures  stays:    ResetStays{Pre,Post};
*/
static void reset_large(uint64_t page, uint64_t npages) /*@ ghost (uint32_t e) */
{
    uint64_t block = page * PAGE;
    /*@ ghost reset_lemma_extent(e); */
    /*@ assert first: block / PAGE == page; */
    if (!reset_is_large(page, npages)) {
        return;
    }
    /*@ assert no_slab: LargeNoSlab(block); */
    /*@ ghost if (block_state[block] != BLOCK_NONE) { blocks_lemma_out(block); } */
    /*@ assert mine: BlockOut(block) ==> BlockLarge(block) && block_ext[block] == e; */
    if (live_asked()) {
        (void)live_clear(block);
    }
    (void)large_free(block);
}

/* Ends the block of extent e, if it is a large one and its pages are of that page cache. Returns the last id that there is. */
/*@ BINS_FREE(requires);
    requires cache:    cache < PAGE_CACHES;
    requires id:       0 < e < TABLE_MAX;
    assigns            LARGE_ASSIGNS, large_freed;
    BINS_FREE(ensures);
    ensures  gone:     \forall integer a; ResetLarge(cache, a) ==> block_ext[a] != e;
    ensures  kept:     \forall integer a; \old(BlockOut(a)) && !\old(ResetLarge(cache, a)) ==> BlockSame{Pre,Post}(a);
    ensures  stays:    ResetStays{Pre,Post};
    ensures  last:     \forall integer a; BlockOut(a) ==> block_ext[a] <= \result;
*/
static uint32_t reset_if_large(uint32_t cache, uint32_t e)
{
    struct pages_extent x = reset_look(cache, e);
    /*@ assert used: \forall integer a; BlockOut(a) ==> ExtUsed(block_ext[a]) && block_ext[a] <= x.last; */
    /*@ assert same: \forall integer a; BlockLarge(a) ==> (ResetLarge(cache, a) <==> ResetLarge{Pre}(cache, a)); */
    if (x.npages != 0) {
        reset_large(x.page, x.npages) /*@ ghost (e) */;
    }
    return x.last;
}

/* ---- the interface ----------------------------------------------------------------------------------------------- */

void arena_reset(uint32_t arena)
{
    uint32_t last = 1;
    /*@ loop invariant range: 1 <= e <= TABLE_MAX;
        BINS_FREE(loop invariant);
        loop invariant gone:  ResetFrom(arena, e);
        loop invariant kept:  ResetKept{Pre,Here}(arena);
        loop invariant stays: ResetStays{Pre,Here};
        loop invariant last:  e <= last || \forall integer a; BlockOut(a) ==> block_ext[a] < e;
        loop assigns   e, last, BLOCKS_ASSIGNS, large_freed;
        loop variant   TABLE_MAX - e;
    */
    for (uint32_t e = 1; e < TABLE_MAX && e <= last; e++) {
        last = reset_if_large(arena_pages(arena), e);
        if (e <= last) {
            reset_if_slab(arena, e);
        }
    }
}
