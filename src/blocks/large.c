/* large: extents become blocks and go back. */
#include "blocks/large.h"

#include "pages/pages.h"
#include "platform/atomic.h"
#include "platform/hints.h"

#include "math/size_class_align_lemmas.acsl"
#include "blocks/large_lemmas.acsl"

uint64_t large_oversize_npages = UINT64_MAX;
LONG_TABLE struct large_counters large_allocated;
LONG_TABLE struct large_counters large_freed;

/* ---- extents come and go ----------------------------------------------------------------------------------------- */

/* Returns the page cache for a block of npages that is asked of one. */
/*@ assigns            \nothing;
    ensures  cache:    \result == LargeCache(cache, npages);
    ensures  range:    cache < PAGE_CACHES ==> \result < PAGE_CACHES;
*/
static inline uint32_t large_cache(uint32_t cache, uint64_t npages)
{
    return cache == PAGES_SHARED && npages >= large_oversize_npages ? PAGES_OVERSIZE : cache;
}

/* Returns the class of a large block of npages. */
/*@ requires class:    SC_NBINS <= szind < SC_NSIZES;
    requires length:   npages * PAGE == ScBytes(szind);
    assigns            \nothing;
    ensures  class:    \result == szind;
*/
static inline uint32_t large_class(uint64_t npages) /*@ ghost (uint32_t szind) */
{
    /*@ ghost class_lemma_bounds(szind); */
    uint32_t i = size_class_index(npages * PAGE);
    /*@ ghost class_lemma_order(szind); */
    return i;
}

/*@ PAGES_FREE(requires);
    requires cache:    cache < PAGE_CACHES;
    requires some:     0 < npages;
    requires power:    IsPowerOfTwo(align_npages);
    requires zeroed:   \valid(zeroed);
    assigns            PAGES_ASSIGNS, *zeroed;
    PAGES_FREE(ensures);
    ensures  active:   \result != 0 ==> CacheActive(\result) && ext_npages[\result] == npages;
    ensures  cache:    \result != 0 ==> ext_state[\result] == EXTENT_ACTIVE + LargeCache(cache, npages);
    ensures  aligned:  \result != 0 ==> ext_page[\result] % align_npages == 0;
    ensures  zero:     \result != 0 && *zeroed ==> PagesZero(\result);
    ensures  new:      \result != 0 ==> ext_kind[\result] == KIND_NONE;
    ensures  no_tags:  \result != 0 ==> PagesNoTags(ext_page[\result], ext_page[\result] + npages);
    ensures  out:      \result == 0 ==> CacheOut(npages, align_npages);
*/
static uint32_t large_take(uint32_t cache, uint64_t npages, uint64_t align_npages, bool *zeroed)
{
    /*@ ghost large_lemma_pages(); */
    /*@ assert was: BlocksSlabTags && BlocksLargeBlock; */
    uint32_t e = pages_alloc(large_cache(cache, npages), npages, align_npages, zeroed);
    /*@ assert pages: LargePages{Pre,Here}; */
    /*@ assert places: \forall integer d; ExtKind(d, KIND_LARGE) ==> ext_page[d] * PAGE == \at(ext_page[d] * PAGE,Pre); */
    /*@ assert block: LargeBlocks{Pre,Here}; */
    /*@ assert block: BlocksLargeBlock; */
    /*@ assert owners: LargeOwners{Pre,Here}(0); */
    /*@ assert tags: LargeTags{Pre,Here}; */
    /*@ assert slabs: LargeSlabs{Pre,Here}; */
    /*@ ghost large_lemma_ok(); */
    return e;
}

/* Makes the ACTIVE extent e a LIVE block of the class. Returns its address. */
/*@ requires ok:       BlocksOk;
    requires active:   CacheActive(e) && ext_kind[e] == KIND_NONE;
    requires class:    SC_NBINS <= szind < SC_NSIZES;
    requires length:   ext_npages[e] * PAGE == ScBytes(szind);
    requires no_tags:  PagesNoTags(ext_page[e], ext_page[e] + ext_npages[e]);
    requires cached:   cached <==> LargeCached(szind);
    assigns            ext_kind[e], BLOCKS_ASSIGNS_MODEL, radix_tag_of[ext_page[e]], RADIX_LEAVES;
    ensures  ok:       BlocksOk;
    ensures  place:    \result == ext_page[e] * PAGE && \result != 0;
    ensures  block:    BlockLarge(\result) && block_state[\result] == BLOCK_LIVE && block_szind[\result] == szind;
    ensures  extent:   block_ext[\result] == e && ext_state[e] == \old(ext_state[e]);
    ensures  new:      \old(block_state[ext_page[e] * PAGE]) == BLOCK_NONE;
    ensures  others:   \forall integer a; a != \result ==> BlockSame{Pre,Post}(a);
*/
static uint64_t large_begin(uint32_t e, uint32_t szind, bool cached)
{
    uint64_t page = AT(ext_page, e);
    uint64_t block = page * PAGE;
    /*@ ghost if (block_state[block] != BLOCK_NONE) { blocks_lemma_out(block); } */
    /*@ assert in: ExtIn(e, page) && ext_owner[page] == e; */
    /*@ ghost large_lemma_pages(); */
    if (cached) {
        radix_tree_set_tag(page, tag_make(block, szind));
    }
    /*@ ghost block_state[block] = BLOCK_LIVE; */
    /*@ ghost block_szind[block] = (uint8_t)szind; */
    /*@ ghost block_ext[block] = e; */
    /*@ ghost ext_kind[e] = KIND_LARGE; */
    /*@ assert slabs: \forall integer x; ExtKind(x, KIND_SLAB) <==> ExtKind{Pre}(x, KIND_SLAB); */
    /*@ assert small: \forall integer a; BlockSmall(a) ==> a != block && BlockSmall{Pre}(a) && BlockSame{Pre,Here}(a); */
    /*@ assert small: BlocksSmallExt; */
    /*@ assert small: BlocksSmallClass && BlocksSmallRegion; */
    /*@ assert place: \forall integer a; BlockSmall(a) ==> SlabPlace(a, ext_page[\at(block_ext[a],Pre)] * PAGE,
                      slab_bytes[\at(block_szind[a],Pre)], block_region[a]); */
    /*@ assert place: BlocksSmallPlace; */
    /*@ assert small: BlocksSmallTaken; */
    /*@ assert firsts: \forall integer a; BlockLarge(a) && a != block ==> a / PAGE != page && BlockLarge{Pre}(a) && BlockSame{Pre,Here}(a); */
    /*@ assert first: block / PAGE == page; */
    /*@ assert tag: BlocksLargeTag; */
    /*@ ghost large_lemma_ok(); */
    return block;
}

/* Returns the extent of the large block that begins there, or 0 if none does. */
/*@ PAGES_FREE(requires);
    requires no_slab:  LargeNoSlab(block);
    assigns            PAGES_ASSIGNS;
    PAGES_FREE(ensures);
    ensures  found:    BlockLarge(block) ==> \result == block_ext[block];
    ensures  none:     !BlockLarge(block) ==> \result == 0;
*/
static uint32_t large_find(uint64_t block)
{
    if (block % PAGE != 0) {
        return 0;
    }
    /*@ ghost large_lemma_pages(); */
    /*@ assert was: BlocksLargeBlock; */
    uint32_t e = pages_find(block / PAGE);
    /*@ assert owners: LargeOwners{Pre,Here}(0); */
    /*@ assert pages: LargePages{Pre,Here}; */
    /*@ assert block: LargeBlocks{Pre,Here}; */
    /*@ assert block: BlocksLargeBlock; */
    /*@ ghost large_lemma_ok(); */
    /*@ ghost large_lemma_first(); */
    /*@ assert mine: BlockLarge(block) ==> ExtKind(block_ext[block], KIND_LARGE) && ext_page[block_ext[block]] == block / PAGE; */
    /*@ assert kind: e != 0 ==> ExtKind(e, KIND_LARGE) && ext_page[e] * PAGE == block; */
    return e;
}

/* Gives the block of extent e npages where it is. Returns false if it has as many as before. */
/*@ PAGES_FREE(requires);
    requires large:    ExtKind(e, KIND_LARGE);
    requires some:     0 < npages;
    assigns            PAGES_ASSIGNS;
    ensures  lock:     LocksFree(LOCK_PAGES);
    ensures  but:      LargeOkBut(ext_page[e] * PAGE);
    ensures  page:     ext_page[e] == \old(ext_page[e]);
    ensures  length:   ext_npages[e] == (\result ? npages : \old(ext_npages[e]));
*/
static bool large_stretch(uint32_t e, uint64_t npages)
{
    /*@ ghost large_lemma_pages(); */
    /*@ assert own: \forall integer p; ExtIn(e, p) ==> ext_owner[p] == e; */
    /*@ assert was: BlocksLargeBlock; */
    bool done = pages_resize(e, npages);
    /*@ assert pages: LargePages{Pre,Here}; */
    /*@ assert block: LargeBlocks{Pre,Here}; */
    /*@ assert block: BlocksLargeBlock; */
    /*@ assert owners: LargeOwners{Pre,Here}(e); */
    /*@ ghost large_lemma_but(ext_page[e] * PAGE); */
    return done;
}

/* Gives the class to the block of extent e, which has the length of that class. */
/*@ requires large:    ExtKind(e, KIND_LARGE);
    requires ok:       LargeOkBut(ext_page[e] * PAGE);
    requires class:    SC_NBINS <= szind < SC_NSIZES;
    requires length:   ext_npages[e] * PAGE == ScBytes(szind);
    assigns            block_szind[ext_page[e] * PAGE], radix_tag_of[ext_page[e]], RADIX_LEAVES;
    ensures  ok:       BlocksOk;
    ensures  class:    block_szind[ext_page[e] * PAGE] == szind;
*/
static void large_become(uint32_t e, uint32_t szind)
{
    uint64_t page = AT(ext_page, e);
    uint64_t block = page * PAGE;
    /*@ assert block: BlockLarge(block) && block_ext[block] == e; */
    /*@ assert in: ExtIn(e, page) && ext_owner[page] == e; */
    radix_tree_set_tag(page, szind < SC_NBINS + LARGE_CACHED ? tag_make(block, szind) : 0);
    /*@ ghost block_szind[block] = (uint8_t)szind; */
    /*@ assert small: \forall integer a; BlockSmall(a) <==> BlockSmall{Pre}(a); */
    /*@ assert large: \forall integer a; BlockLarge(a) <==> BlockLarge{Pre}(a); */
    /*@ assert firsts: \forall integer a; BlockLarge(a) && a != block ==> a / PAGE != page && block_szind[a] == \at(block_szind[a],Pre); */
    /*@ assert others: \forall integer a; BlockLarge(a) && a != block ==> radix_tag_of[a / PAGE] ==
                       (block_szind[a] < SC_NBINS + LARGE_CACHED ? TAG_OF(a, block_szind[a]) : 0); */
    /*@ assert first: block / PAGE == page; */
    /*@ ghost large_lemma_ok(); */
}

/* Takes the block that begins at that page, and has extent mine, out of the model and its tag out of the radix tree. Where no large
 * block begins, mine is 0. */
/*@ requires ok:       BlocksOk;
    requires page:     page < PAGE_COUNT_MAX;
    requires no_slab:  LargeNoSlab(page * PAGE);
    requires some:     BlockLarge(page * PAGE) ==> mine == block_ext[page * PAGE] && mine != 0;
    requires none:     !BlockLarge(page * PAGE) ==> mine == 0;
    assigns            radix_tag_of[page], RADIX_LEAVES, block_state[page * PAGE];
    ensures  without:  LargeOkWithout(mine);
    ensures  tag:      radix_tag_of[page] == 0;
    ensures  state:    block_state[page * PAGE] == (mine != 0 ? BLOCK_NONE : \old(block_state[page * PAGE]));
*/
static void large_forget(uint64_t page) /*@ ghost (uint32_t mine) */
{
    /*@ ghost large_lemma_pages(); */
    /*@ assert no_slab: page * PAGE / PAGE == page && ext_kind[ext_owner[page]] != KIND_SLAB; */
    if (radix_tree_tag(page) != 0) {
        radix_tree_set_tag(page, 0);
    }
    /*@ ghost if (mine != 0) { block_state[page * PAGE] = BLOCK_NONE; } */
    /*@ assert small: \forall integer a; BlockSmall(a) <==> BlockSmall{Pre}(a); */
    /*@ assert large: \forall integer a; BlockLarge(a) <==> BlockLarge{Pre}(a) && a != page * PAGE; */
    /*@ ghost large_lemma_without(mine); */
}

/* Gives extent mine back, which begins at that page and has no block any more. Returns what it was, with no pages if mine is 0, which means
 * that no extent of a large block begins there. */
/*@ requires lock:     LocksFree(LOCK_PAGES);
    requires without:  LargeOkWithout(mine);
    requires first:    LargeFirst;
    requires mine:     mine != 0 ==> ExtKind(mine, KIND_LARGE) && ext_page[mine] == page;
    requires owner:    mine != 0 ==> \forall integer p; ExtIn(mine, p) ==> ext_owner[p] == mine;
    requires no_tags:  mine != 0 ==> PagesNoTags(ext_page[mine], ext_page[mine] + ext_npages[mine]);
    requires others:   \forall integer e; PagesHeld(e) && e != mine ==> ext_page[e] != page;
    requires only:     \forall integer a; BlockLarge(a) ==> block_ext[a] != mine;
    assigns            PAGES_ASSIGNS, ext_kind[mine];
    PAGES_FREE(ensures);
    ensures  done:     \result.npages != 0 <==> mine != 0;
    ensures  length:   mine != 0 ==> \result.npages == \old(ext_npages[mine]);
    ensures  cache:    \result.cache < PAGE_CACHES;
    ensures  pages:    BlocksLargeKept{Pre,Post};
*/
static struct pages_run large_release(uint64_t page) /*@ ghost (uint32_t mine) */
{
    /*@ assert was: LargeBlockBut(mine); */
    struct pages_run freed = pages_release(page) /*@ ghost (mine) */;
    /*@ assert held: \forall integer e; PagesHeld(e) ==> e != mine && ext_kind[e] == \at(ext_kind[e],Pre); */
    /*@ assert pages: LargePages{Pre,Here}; */
    /*@ assert owners: LargeOwners{Pre,Here}(0); */
    /*@ assert large: \forall integer e; ExtKind(e, KIND_LARGE) ==> ExtKind{Pre}(e, KIND_LARGE) && e != mine &&
                      ext_page[e] == \at(ext_page[e],Pre); */
    /*@ assert block: LargeBlocks{Pre,Here}; */
    /*@ ghost large_lemma_ok(); */
    return freed;
}

/* Counts a block that comes from the page cache. */
/*@ requires cache:    cache < PAGE_CACHES;
    requires class:    SC_NBINS <= szind < SC_NSIZES;
    assigns            large_allocated;
    ensures  counted:  LargeNext(\old(large_allocated.of[LARGE_COUNTER(cache, szind)]), large_allocated.of[LARGE_COUNTER(cache, szind)]);
    ensures  all:      LargeNext(\old(large_allocated.all), large_allocated.all);
*/
static inline void large_count_in(uint32_t cache, uint32_t szind)
{
    ATOMIC_ADD(large_allocated.of[LARGE_COUNTER(cache, szind)], 1);
    ATOMIC_ADD(large_allocated.all, 1);
}

/* Counts a block that goes back to the page cache. */
/*@ requires cache:    cache < PAGE_CACHES;
    requires class:    SC_NBINS <= szind < SC_NSIZES;
    assigns            large_freed;
    ensures  counted:  LargeNext(\old(large_freed.of[LARGE_COUNTER(cache, szind)]), large_freed.of[LARGE_COUNTER(cache, szind)]);
    ensures  all:      LargeNext(\old(large_freed.all), large_freed.all);
*/
static inline void large_count_out(uint32_t cache, uint32_t szind)
{
    ATOMIC_ADD(large_freed.of[LARGE_COUNTER(cache, szind)], 1);
    ATOMIC_ADD(large_freed.all, 1);
}

/* ---- the interface ----------------------------------------------------------------------------------------------- */

uint64_t large_alloc(uint32_t cache, uint32_t szind, uint64_t align_bytes, bool cached, bool *zeroed)
{
    uint64_t npages = size_class_bytes(szind) / PAGE;
    /*@ ghost uint64_t times = large_lemma_align(align_bytes); */
    /*@ assert none: 0 % align_bytes == 0; */
    uint64_t align_npages = align_bytes <= PAGE ? 1 : align_bytes / PAGE;
    uint32_t e = large_take(cache, npages, align_npages, zeroed);
    if (e == 0) {
        return 0;
    }
    uint64_t block = large_begin(e, szind, cached);
    /*@ ghost large_lemma_aligned(ext_page[e], align_npages, align_bytes, times); */
    /*@ assert aligned: block % align_bytes == 0; */
    large_count_in(large_cache(cache, npages), szind);
    return block;
}

bool large_free(uint64_t block)
{
    uint64_t page = block / PAGE;
    if (block % PAGE != 0 || page >= PAGE_COUNT_MAX) {
        /*@ assert none: !BlockLarge(block); */
        return false;
    }
    /*@ ghost large_lemma_pages(); */
    /*@ ghost uint32_t mine = large_lemma_mine(block); */
    /*@ assert exact: page * PAGE == block && (mine != 0 <==> BlockLarge(block)); */
    /*@ ghost uint32_t szind = block_szind[block]; */
    /*@ assert class: mine != 0 ==> SC_NBINS <= szind < SC_NSIZES && ext_npages[mine] * PAGE == ScBytes(szind); */
    large_forget(page) /*@ ghost (mine) */;
    /*@ assert gone: !BlockLarge(block); */
    struct pages_run run = large_release(page) /*@ ghost (mine) */;
    if (run.npages == 0) {
        return false;
    }
    large_count_out(run.cache, large_class(run.npages) /*@ ghost (szind) */);
    return true;
}

uint64_t large_bytes(uint64_t block)
{
    uint32_t e = large_find(block);
    return e == 0 ? 0 : AT(ext_npages, e) * PAGE;
}

bool large_resize(uint64_t block, uint32_t szind)
{
    /*@ ghost uint32_t before = block_szind[block]; */
    uint64_t npages = size_class_bytes(szind) / PAGE;
    uint32_t e = large_find(block);
    uint64_t was = e == 0 ? 0 : AT(ext_npages, e);
    if (e == 0 || !large_stretch(e, npages)) {
        /*@ ghost large_lemma_whole(block); */
        return false;
    }
    large_become(e, szind);
    uint32_t cache = AT(ext_state, e) - (uint32_t)EXTENT_ACTIVE;
    large_count_out(cache, large_class(was) /*@ ghost (before) */);
    large_count_in(cache, szind);
    return true;
}

void large_boot(uint64_t oversize_bytes)
{
    large_oversize_npages = oversize_bytes == 0 ? UINT64_MAX : oversize_bytes / PAGE + (oversize_bytes % PAGE != 0 ? 1 : 0);
}

/* What has gone is read first, so that it is not more than what has come. */
void large_read_class(uint32_t cache, uint32_t szind, struct large_stats *stats)
{
    stats->freed = ATOMIC_LOAD_ACQUIRE(large_freed.of[LARGE_COUNTER(cache, szind)]);
    stats->allocated = ATOMIC_LOAD(large_allocated.of[LARGE_COUNTER(cache, szind)]);
}

void large_read_stats(struct large_stats *stats)
{
    stats->freed = ATOMIC_LOAD_ACQUIRE(large_freed.all);
    stats->allocated = ATOMIC_LOAD(large_allocated.all);
}
