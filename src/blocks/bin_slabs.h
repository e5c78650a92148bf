/* bin_slabs: a bin's lock, its counters, and the life of its slabs. */
#ifndef QED_BLOCKS_BIN_SLABS_H
#define QED_BLOCKS_BIN_SLABS_H

#include "blocks/bin.h"
#include "pages/pages.h"
#include "platform/lock.h"

#include "blocks/bin_slabs_lemmas.acsl"

/* ---- lock and counters ------------------------------------------------------------------------------------------- */

/* Other threads have changed bins. This thread's blocks are as before, and all slabs of a bin whose lock it holds are in its view. */
/*@ requires ok:       BlocksOk;
    assigns            BIN_ASSIGNS_OTHERS;
    ensures  ok:       BlocksOk;
    ensures  bins:     \forall integer b; BinRange(b) && LockHeld(LOCK_BIN(b)) ==> BinOk(b);
    ensures  kept:     BinBlocksKept{Pre,Post};
    ensures  states:   BinStatesKept{Pre,Post};
    ensures  pages:    BlocksLargeKept{Pre,Post};
    ensures  leaves:   RadixKept{Pre,Post};
*/
OTHERS_ACT(bin_others);

/*@ requires bin:      b < BINS;
    requires lock:     LocksFree(LOCK_BIN(0));
    requires ok:       BlocksOk;
    assigns            BIN_ASSIGNS_OTHERS, lock_held[LOCK_BIN(b)];
    ensures  lock:     BinLocked(b);
    ensures  ok:       BlocksOk;
    ensures  bin:      BinOk(b);
    ensures  kept:     BinBlocksKept{Pre,Post};
    ensures  pages:    BlocksLargeKept{Pre,Post};
    ensures  leaves:   RadixKept{Pre,Post};
*/
static inline void bin_acquire(uint32_t b)
{
    /*@ assert rank: LOCK_BIN(b) < LOCK_PAGES; */
    lock_take(LOCK_BIN(b));
    bin_others();
}

/*@ requires bin:      b < BINS;
    BIN_HELD(requires, b);
    assigns            lock_held[LOCK_BIN(b)];
    ensures  lock:     LocksFree(LOCK_BIN(0));
*/
static inline void bin_release(uint32_t b)
{
    lock_give(LOCK_BIN(b));
}

/* A counter that would wrap around, after centuries, stops there instead. */
/*@ assigns            \nothing;
    ensures  sum:      \result == \min(count + n, UINT64_MAX);
*/
static inline uint64_t bin_count(uint64_t count, uint32_t n)
{
    return count > UINT64_MAX - n ? UINT64_MAX : count + n;
}

/*@ assigns            \nothing;
    ensures  rest:     \result == \max(count - n, 0);
*/
static inline uint64_t bin_uncount(uint64_t count, uint32_t n)
{
    return count < n ? 0 : count - n;
}

/* Counts blocks that the bin has handed out. */
/*@ requires bin:      b < BINS;
    requires lock:     LockHeld(LOCK_BIN(b));
    assigns            bin_stats[b].filled, bin_stats[b].regions_live, bin_stats[b].fills;
    ensures  filled:   bin_stats[b].filled == \min(\old(bin_stats[b].filled) + n, UINT64_MAX);
    ensures  live:     bin_stats[b].regions_live == \min(\old(bin_stats[b].regions_live) + n, UINT64_MAX);
    ensures  fills:    bin_stats[b].fills == \min(\old(bin_stats[b].fills) + (n > 0 ? 1 : 0), UINT64_MAX);
*/
static inline void bin_count_out(uint32_t b, uint32_t n)
{
    bin_stats[b].filled = bin_count(bin_stats[b].filled, n);
    bin_stats[b].regions_live = bin_count(bin_stats[b].regions_live, n);
    bin_stats[b].fills = bin_count(bin_stats[b].fills, n > 0 ? 1 : 0);
}

/* Counts blocks that the bin has taken back. */
/*@ requires bin:      b < BINS;
    requires lock:     LockHeld(LOCK_BIN(b));
    assigns            bin_stats[b].flushed, bin_stats[b].regions_live, bin_stats[b].flushes;
    ensures  flushed:  bin_stats[b].flushed == \min(\old(bin_stats[b].flushed) + n, UINT64_MAX);
    ensures  live:     bin_stats[b].regions_live == \max(\old(bin_stats[b].regions_live) - n, 0);
    ensures  flushes:  bin_stats[b].flushes == \min(\old(bin_stats[b].flushes) + 1, UINT64_MAX);
*/
static inline void bin_count_in(uint32_t b, uint32_t n)
{
    bin_stats[b].flushed = bin_count(bin_stats[b].flushed, n);
    bin_stats[b].regions_live = bin_uncount(bin_stats[b].regions_live, n);
    bin_stats[b].flushes = bin_count(bin_stats[b].flushes, 1);
}

/* ---- slabs come and go ------------------------------------------------------------------------------------------- */

/* Returns an extent with the pages of a slab, from the page cache of the bin's arena, or 0 if memory is out. It is nobody's in this
 * thread's view yet. */
/*@ requires bin:      b < BINS;
    requires class:    szind < SC_NBINS;
    BIN_HELD(requires, b);
    assigns            PAGES_ASSIGNS;
    BIN_HELD(ensures, b);
    ensures  new:      \result != 0 ==> CacheHas(\result, EXTENT_ACTIVE + ArenaPages(b / SC_NBINS)) && ext_kind[\result] == KIND_NONE;
    ensures  npages:   \result != 0 ==> ext_npages[\result] == slab_npages[szind];
    ensures  out:      \result == 0 ==> MemoryOut(PAGE_COUNT_MAX);
    ensures  leaves:   RadixKept{Pre,Post};
*/
static inline uint32_t bin_pages(uint32_t b, uint32_t szind)
{
    bool zeroed;
    /*@ ghost slab_lemma_below(0, slab_regions[szind], slab_bytes[szind]); */
    /*@ ghost bin_lemma_large(); */
    /*@ assert was: BlocksSlabTags && BlocksLargeTag && BlocksLargeBlock && BlocksLargeRest; */
    uint32_t e = pages_alloc(arena_pages(b / SC_NBINS), slab_npages[szind], 1, &zeroed);
    /*@ assert kinds: BinKinds{Pre,Here}; */
    /*@ assert in: BinInside{Pre,Here}; */
    /*@ assert owners: BinOwners{Pre,Here}; */
    /*@ assert words: BinTags{Pre,Here}; */
    /*@ assert large: BinLarge{Pre,Here}; */
    /*@ ghost bin_lemma_heap(); */
    /*@ ghost bin_lemma_ok(b); */
    return e;
}

/* Makes e, which has the pages of a slab, the current slab of the bin, with all regions free. */
/*@ requires bin:      b < BINS;
    requires lock:     LockHeld(LOCK_BIN(b));
    requires class:    szind == b % SC_NBINS;
    requires ok:       BlocksOk;
    requires whole:    BinOk(b);
    requires used_up:  bin_current[b] != 0 ==> slab_free_count[bin_current[b]] == 0;
    requires has:      CacheActive(e) && ext_kind[e] == KIND_NONE;
    requires npages:   ext_npages[e] == slab_npages[szind];
    assigns            BIN_ASSIGNS_SLAB(e), ext_kind[e], bin_current[b], bin_stats[b].slabs, bin_stats[b].slabs_made,
                       radix_tag_of[ext_page[e] .. ext_page[e] + ext_npages[e] - 1], RADIX_LEAVES;
    ensures  ok:       BlocksOk;
    ensures  whole:    BinOk(b);
    ensures  current:  bin_current[b] == e && slab_free_count[e] != 0;
*/
static inline void bin_adopt(uint32_t b, uint32_t szind, uint32_t e)
{
    uint64_t page = AT(ext_page, e);
    uint64_t npages = slab_npages[szind];
    /*@ assert was: BlocksSlabSums && BlocksSlabCount && ExtOwn2; */
    AT(slab_bin, e) = (uint16_t)b;
    slab_init(e, szind);
    /*@ assert sums: BlocksSlabSums; */
    /*@ assert count: BlocksSlabCount; */
    /*@ assert own: \forall integer p; page <= p < page + npages ==> ext_owner[p] == e; */
    /*@ assert reserved: \forall integer p; page <= p < page + npages ==> RadixReserved(p); */
    radix_tree_set_tags(page, npages, tag_make(page * PAGE, szind));
    /*@ ghost ext_kind[e] = KIND_SLAB; */
    bin_current[b] = e;
    bin_stats[b].slabs = bin_count(bin_stats[b].slabs, 1);
    bin_stats[b].slabs_made = bin_count(bin_stats[b].slabs_made, 1);
    /*@ ghost bin_lemma_large(); */
    /*@ assert mine: \forall integer p; 0 <= p < PAGE_COUNT_MAX && ext_owner[p] == e ==>
            SlabTag(radix_tag_of[p], page, szind); */
    /*@ assert theirs: \forall integer p; 0 <= p < PAGE_COUNT_MAX && ext_owner[p] != e ==>
            radix_tag_of[p] == \at(radix_tag_of[p],Pre); */
    /*@ ghost bin_lemma_heap(); */
    /*@ ghost bin_lemma_ok(b); */
}

/* The next visit for holes does not begin with slab e, which is about to leave. */
/*@ requires bin:      b < BINS;
    requires lock:     LockHeld(LOCK_BIN(b));
    requires walk:     BinWalk(b);
    assigns            bin_walk[b];
    ensures  walk:     BinWalk(b);
    ensures  other:    e != 0 ==> bin_walk[b] != e;
*/
static inline void bin_leave_walk(uint32_t b, uint32_t e)
{
    if (bin_walk[b] == e) {
        bin_walk[b] = 0;
    }
}

/* Gives the pages of slab e back, which is empty, not current, and in no pairing heap. */
/*@ requires bin:      b < BINS;
    requires lock:     BinLocked(b);
    requires ok:       BlocksOk;
    requires whole:    BinOkBut(b, e);
    requires slab:     BinSlab(b, e) && bin_current[b] != e && ph_own[e] == 0;
    requires empty:    slab_free_count[e] == slab_regions[slab_class[e]];
    assigns            PAGES_ASSIGNS, ext_kind[e], slab_bin[e], bin_stats[b].slabs, bin_walk[b];
    BIN_HELD(ensures, b);
    ensures  gone:     ext_kind[e] == KIND_NONE;
    ensures  pages:    BlocksLargeKept{Pre,Post};
    ensures  leaves:   RadixKept{Pre,Post};
*/
static inline void bin_drop(uint32_t b, uint32_t e)
{
    bin_leave_walk(b, e);
    /*@ ghost bin_lemma_empty(e); */
    /*@ assert nobody: \forall integer a; BlockSmall(a) ==> block_ext[a] != e; */
    /*@ ghost bin_lemma_large(); */
    /*@ assert was: BlocksSlabTags && BlocksLargeTag && BlocksLargeBlock && BlocksLargeRest && ExtOwn1; */
    /*@ assert own: \forall integer p; ext_page[e] <= p < ext_page[e] + ext_npages[e] ==> ext_owner[p] == e; */
    /*@ assert reserved: \forall integer p; ext_page[e] <= p < ext_page[e] + ext_npages[e] ==> RadixReserved(p); */
    radix_tree_set_tags(AT(ext_page, e), AT(ext_npages, e), 0);
    /*@ assert theirs: \forall integer p; 0 <= p < PAGE_COUNT_MAX && ext_owner[p] != e ==>
            radix_tag_of[p] == \at(radix_tag_of[p],Pre); */
    bin_stats[b].slabs = bin_uncount(bin_stats[b].slabs, 1);
    AT(slab_bin, e) = 0;
    pages_free(e);
    /*@ assert kinds: BinKinds{Pre,Here}; */
    /*@ assert in: BinInside{Pre,Here}; */
    /*@ assert owners: BinOwners{Pre,Here}; */
    /*@ assert words: BinTags{Pre,Here}; */
    /*@ assert large: BinLarge{Pre,Here}; */
    /*@ ghost bin_lemma_heap(); */
    /*@ ghost bin_lemma_ok(b); */
}

/* Puts slab e, which was full, into the bin's pairing heap. */
/*@ requires bin:      b < BINS;
    requires lock:     LockHeld(LOCK_BIN(b));
    requires ok:       BlocksOk;
    requires whole:    BinOkBut(b, e);
    requires slab:     BinSlab(b, e) && bin_current[b] != e && ph_own[e] == 0;
    requires part:     0 < slab_free_count[e] < slab_regions[slab_class[e]];
    assigns            CACHE_ASSIGNS_HEAPS, bin_stats[b].slabs_nonfull;
    ensures  ok:       BlocksOk;
    ensures  whole:    BinOk(b);
    ensures  counted:  bin_stats[b].slabs_nonfull == \min(\old(bin_stats[b].slabs_nonfull) + 1, UINT64_MAX);
*/
static inline void bin_list(uint32_t b, uint32_t e)
{
    /*@ assert some: CacheBitsSome; */
    pairing_heap_insert(BIN_HEAP(b), e, AT(ext_page, e));
    bin_stats[b].slabs_nonfull = bin_count(bin_stats[b].slabs_nonfull, 1);
    /*@ assert cache: BinCacheKept{Pre,Here}; */
    /*@ ghost bin_lemma_cache(); */
    /*@ ghost bin_lemma_heap(); */
    /*@ ghost bin_lemma_ok(b); */
}

/*@ requires bin:      b < BINS;
    requires lock:     LockHeld(LOCK_BIN(b));
    requires ok:       BlocksOk;
    requires whole:    BinOkBut(b, e);
    requires slab:     BinSlab(b, e) && ph_own[e] == BIN_HEAP(b);
    assigns            CACHE_ASSIGNS_HEAPS, bin_stats[b].slabs_nonfull;
    ensures  ok:       BlocksOk;
    ensures  whole:    BinOkBut(b, e);
    ensures  gone:     ph_own[e] == 0;
    ensures  counted:  bin_stats[b].slabs_nonfull == \max(\old(bin_stats[b].slabs_nonfull) - 1, 0);
*/
static inline void bin_unlist(uint32_t b, uint32_t e)
{
    /*@ assert some: CacheBitsSome; */
    pairing_heap_remove(BIN_HEAP(b), e);
    bin_stats[b].slabs_nonfull = bin_uncount(bin_stats[b].slabs_nonfull, 1);
    /*@ assert cache: BinCacheKept{Pre,Here}; */
    /*@ ghost bin_lemma_cache(); */
    /*@ ghost bin_lemma_heap(); */
}

/* Makes a slab with a free region current. Returns false if the bin has none and the OS has no memory. */
/*@ requires bin:      b < BINS;
    requires class:    szind == b % SC_NBINS;
    BIN_HELD(requires, b);
    requires used_up:  bin_current[b] != 0 ==> slab_free_count[bin_current[b]] == 0;
    assigns            BIN_ASSIGNS_OTHERS, lock_held[LOCK_PAGES];
    BIN_HELD(ensures, b);
    ensures  room:     \result ==> bin_current[b] != 0 && slab_free_count[bin_current[b]] != 0;
    ensures  stay:     BinBlocksKept{Pre,Post};
    ensures  out:      !\result ==> MemoryOut(PAGE_COUNT_MAX);
    ensures  leaves:   RadixKept{Pre,Post};
*/
static inline bool bin_pick(uint32_t b, uint32_t szind)
{
    uint32_t e = pairing_heap_first(BIN_HEAP(b));
    if (e != 0) {
        bin_unlist(b, e);
        bin_current[b] = e;
        bin_stats[b].slabs_again = bin_count(bin_stats[b].slabs_again, 1);
        /*@ ghost bin_lemma_ok(b); */
        return true;
    }
    e = bin_pages(b, szind);
    if (e != 0) {
        bin_adopt(b, szind, e);
    }
    return e != 0;
}

/* Returns whether the current slab has a free region, after another one has become current if need be. */
/*@ requires bin:      b < BINS;
    requires class:    szind == b % SC_NBINS;
    BIN_HELD(requires, b);
    assigns            BIN_ASSIGNS_OTHERS, lock_held[LOCK_PAGES];
    BIN_HELD(ensures, b);
    ensures  room:     \result ==> bin_current[b] != 0 && slab_free_count[bin_current[b]] != 0;
    ensures  stay:     BinBlocksKept{Pre,Post};
    ensures  out:      !\result ==> MemoryOut(PAGE_COUNT_MAX);
    ensures  leaves:   RadixKept{Pre,Post};
*/
static inline bool bin_ready(uint32_t b, uint32_t szind)
{
    uint32_t e = bin_current[b];
    return (e != 0 && AT(slab_free_count, e) != 0) || bin_pick(b, szind);
}

/* Puts slab e, which had `was` free regions and has more now, where it belongs. It may be non-full now, or empty and leave. */
/*@ requires bin:      b < BINS;
    requires lock:     BinLocked(b);
    requires class:    szind == b % SC_NBINS;
    requires ok:       BlocksOk;
    requires whole:    BinOkBut(b, e);
    requires slab:     BinSlab(b, e);
    requires more:     was < slab_free_count[e] <= slab_regions[szind];
    requires heap:     ph_own[e] == (bin_current[b] != e && was != 0 ? BIN_HEAP(b) : 0);
    assigns            PAGES_ASSIGNS, ext_kind[e], slab_bin[e], bin_stats[b].slabs, bin_stats[b].slabs_nonfull, bin_walk[b];
    BIN_HELD(ensures, b);
    ensures  leaves:   RadixKept{Pre,Post};
*/
static inline void bin_settle(uint32_t b, uint32_t szind, uint32_t e, uint32_t was)
{
    /*@ ghost
        if (e == bin_current[b] || (was != 0 && slab_free_count[e] < slab_regions[szind])) {
            bin_lemma_ok(b);
        }
    */
    if (e == bin_current[b]) {
        return;
    }
    if (AT(slab_free_count, e) == slab_regions[szind]) {
        if (was != 0) {
            bin_unlist(b, e);
        }
        bin_drop(b, e);
    } else if (was == 0) {
        bin_list(b, e);
    }
}

#endif
