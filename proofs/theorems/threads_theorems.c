/* What other threads do between two steps of this one, and what stays as it is meanwhile (proofs/THREADS.md). They act where the contracts of
 * the `..._others` let them. Proven, never compiled into the library. */
#include "api/mallocx.h"
#include "blocks/arena.c"
#include "blocks/bin_slabs.h"
#include "tcache/depot_steps.h"

#include "api/thread_lemmas.acsl"
#include "blocks/blocks_lemmas.acsl"

/* ---- between calls ----------------------------------------------------------------------------------------------- */

/* Other threads make, join and leave arenas. */
/*@ requires ok:     MallocOk;
    assigns          ARENA_ASSIGNS;
    ensures  ok:     MallocOk;
*/
static void threads_theorem_arenas(void)
{
    arena_enter();
    arena_leave_lock();
}

/* The shape of the thread's cache is as it was, field by field. */
#define THREAD_SHAPE_KEPT                                                                                                \
    /@ assert floors:   \forall integer b; TCACHE_STACK(b) ==> thread_cache->floor[b] == \at(thread_cache->floor[b],Pre); @/     \
    /@ assert limits:   \forall integer b; TCACHE_STACK(b) ==> thread_cache->limit[b] == \at(thread_cache->limit[b],Pre); @/     \
    /@ assert leasts:   \forall integer b; TCACHE_STACK(b) ==> thread_cache->least[b] == \at(thread_cache->least[b],Pre); @/     \
    /@ assert mosts:    \forall integer b; TCACHE_STACK(b) ==> thread_cache->most[b] == \at(thread_cache->most[b],Pre); @/       \
    /@ assert rooms:    \forall integer b; TCACHE_STACK(b) ==> thread_cache->room[b] == \at(thread_cache->room[b],Pre); @/       \
    /@ assert magics:   \forall integer b; TCACHE_STACK(b) ==> thread_cache->magic[b] == \at(thread_cache->magic[b],Pre); @/     \
    /@ assert negateds: \forall integer b; TCACHE_STACK(b) ==> thread_cache->negated[b] == \at(thread_cache->negated[b],Pre); @/

/* Other threads make caches, use their own, and leave them. */
/*@ requires ok:     MallocOk;
    assigns          DEPOT_ASSIGNS_LISTS, lock_held[LOCK_DEPOT];
    ensures  ok:     MallocOk;
*/
static void threads_theorem_caches(void)
{
    depot_enter();
    depot_leave();
    /*@ ghost if (depot_mine == DEPOT_NONE) { THREAD_SHAPE_KEPT FORK_CACHE_KEPT } */
}

/* Other threads allocate and free. */
/*@ requires ok:     MallocOk;
    assigns          BIN_ASSIGNS_OTHERS;
    ensures  ok:     MallocOk;
*/
static void threads_theorem_heap(void)
{
    bin_others();
    /*@ ghost FORK_CACHE_KEPT */
}

/* All of that, which is what each function of the family begins with (malloc_others). What holds between this thread's calls holds on, and its
 * live blocks stay. Before boot no other thread has done anything. */
/*@ OTHERS_MEANWHILE; */
static void threads_theorem_others(void)
{
    if (thread_booted) {
        threads_theorem_arenas();
        threads_theorem_caches();
        threads_theorem_heap();
    }
}

/* ---- what is read without a lock --------------------------------------------------------------------------------- */

/* Where the extent of a block begins, and what the tag of the block's page is, follows from what belongs to the thread. */
/*@ ghost
  /@ requires ok:     BlocksOk;
     requires out:    BlockOut(a);
     assigns          \nothing;
     ensures  place:  BlockSmall(a) ==> ext_page[block_ext[a]] * PAGE == a - block_region[a] * slab_bytes[block_szind[a]];
     ensures  first:  BlockLarge(a) ==> ext_page[block_ext[a]] * PAGE == a;
     ensures  small:  BlockSmall(a) ==> radix_tag_of[a / PAGE] == TAG_OF(ext_page[block_ext[a]] * PAGE, block_szind[a]);
     ensures  large:  BlockLarge(a) ==> radix_tag_of[a / PAGE] ==
                          (block_szind[a] < SC_NBINS + LARGE_CACHED ? TAG_OF(a, block_szind[a]) : 0);
     ensures  used:   ExtUsed(block_ext[a]);
     ensures  leads:  radix_extent_of[ext_page[block_ext[a]]] == block_ext[a];
     ensures  page:   a / PAGE < PAGE_COUNT_MAX;
  @/
  static void threads_lemma_begin(uint64_t a)
  {
    blocks_lemma_out(a);
    if (block_szind[a] < SC_NBINS) {
      blocks_lemma_small(a);
    }
    /@ assert in: ExtIn(block_ext[a], ext_page[block_ext[a]]); @/
    /@ assert end: ExtEndAt(ext_page[block_ext[a]]); @/
  }
*/

/* The tag of a block's page. */
/*@ requires ok:     BlocksOk;
    requires out:    BlockOut(block);
    assigns          BIN_ASSIGNS_OTHERS;
    ensures  same:   \result;
*/
static bool threads_theorem_tag(uint64_t block)
{
    /*@ ghost threads_lemma_begin(block); */
    uint64_t tag = radix_tree_tag(block / PAGE);
    bin_others();
    /*@ ghost threads_lemma_begin(block); */
    /*@ assert begin: ext_page[block_ext[block]] == \at(ext_page[block_ext[block]],Pre); */
    /*@ assert tag: radix_tag_of[block / PAGE] == \at(radix_tag_of[block / PAGE],Pre); */
    return radix_tree_tag(block / PAGE) == tag;
}

/* The extent that begins where a block's does. */
/*@ requires ok:     BlocksOk;
    requires out:    BlockOut(block) && ext_page[block_ext[block]] == page;
    assigns          BIN_ASSIGNS_OTHERS;
    ensures  same:   \result;
*/
static bool threads_theorem_extent(uint64_t block, uint64_t page)
{
    /*@ ghost threads_lemma_begin(block); */
    uint32_t e = radix_tree_extent(page);
    bin_others();
    /*@ ghost threads_lemma_begin(block); */
    /*@ assert begin: ext_page[block_ext[block]] == page; */
    return radix_tree_extent(page) == e;
}

/* The leaf of a window, once there is one. */
/*@ requires ok:     BlocksOk;
    requires leaf:   window < RADIX_ROOTS && leaf != \null && radix_root[window] == leaf;
    assigns          BIN_ASSIGNS_OTHERS;
    ensures  same:   \result == leaf;
*/
static struct radix_leaf *threads_theorem_leaf(uint64_t window) /*@ ghost (struct radix_leaf *leaf) */
{
    bin_others();
    return radix_tree_leaf(window);
}

/* The bin of a small block's slab. */
/*@ requires ok:     BlocksOk;
    requires small:  BlockSmall(block) && block_ext[block] == e;
    assigns          BIN_ASSIGNS_OTHERS;
    ensures  same:   \result;
*/
static bool threads_theorem_bin(uint64_t block, uint32_t e)
{
    uint16_t bin = AT(slab_bin, e);
    bin_others();
    return AT(slab_bin, e) == bin;
}

/* The first page of a block's extent, and how many it has. */
/*@ requires ok:     BlocksOk;
    requires out:    BlockOut(block) && block_ext[block] == e;
    assigns          BIN_ASSIGNS_OTHERS;
    ensures  same:   \result;
*/
static bool threads_theorem_pages(uint64_t block, uint32_t e)
{
    uint64_t page = AT(ext_page, e);
    uint64_t npages = AT(ext_npages, e);
    bin_others();
    return AT(ext_page, e) == page && AT(ext_npages, e) == npages;
}

/* The state of a block's extent, which says of which page cache its pages are. */
/*@ requires ok:     BlocksOk;
    requires out:    BlockOut(block) && block_ext[block] == e;
    assigns          BIN_ASSIGNS_OTHERS;
    ensures  same:   \result;
*/
static bool threads_theorem_state(uint64_t block, uint32_t e)
{
    uint32_t state = AT(ext_state, e);
    bin_others();
    return AT(ext_state, e) == state;
}

/* ---- blocks that go from thread to thread ------------------------------------------------------------------------
 * A block is in the view of one thread. When the program passes it on, it leaves that view and enters the view of the thread that gets it. What
 * must be true of it for that is what was true of it there. */

/*@ // A block of that class in no view, of an extent that is in use.
    predicate PassedLarge{L}(integer a, integer e, integer szind) =
        CacheActive(e) && a == ext_page[e] * PAGE && SC_NBINS <= szind < SC_NSIZES && ext_npages[e] * PAGE == ScBytes(szind) &&
        radix_tag_of[ext_page[e]] == (szind < SC_NBINS + LARGE_CACHED ? TAG_OF(a, szind) : 0) &&
        PagesNoTags(ext_page[e] + 1, ext_page[e] + ext_npages[e]);
    predicate PassedSlab{L}(integer e, integer szind) =
        ExtUsed(e) && CacheActiveState(ext_state[e]) && slab_class[e] == szind && SlabOk(e) && ext_npages[e] == slab_npages[szind] &&
        slab_bin[e] < BINS && slab_bin[e] % SC_NBINS == szind &&
        \forall integer p; ExtIn(e, p) ==> SlabTag(radix_tag_of[p], ext_page[e], szind);
    predicate PassedSmall{L}(integer a, integer e, integer szind, integer r) =
        PassedSlab(e, szind) && r < slab_regions[szind] && SlabPlace(a, ext_page[e] * PAGE, slab_bytes[szind], r) && !SlabFree(e, r);
*/

/* A large block leaves the view. */
/*@ ghost
  /@ requires ok:     BlocksOk;
     requires block:  BlockLarge(a) && block_state[a] == BLOCK_LIVE && block_ext[a] == e;
     assigns          block_state[a], ext_kind[e];
     ensures  ok:     BlocksOk;
     ensures  gone:   block_state[a] == BLOCK_NONE && ext_kind[e] == KIND_NONE;
     ensures  passed: PassedLarge(a, e, block_szind[a]);
  @/
  static void threads_lemma_pass_large(uint64_t a, uint32_t e)
  {
      blocks_lemma_large(a);
      large_lemma_pages();
      /@ assert own: \forall integer p; ExtIn(e, p) ==> ext_owner[p] == e; @/
      /@ assert rest: PagesNoTags(ext_page[e] + 1, ext_page[e] + ext_npages[e]); @/
      block_state[a] = BLOCK_NONE;
      ext_kind[e] = KIND_NONE;
      /@ assert small: \forall integer b; BlockSmall(b) <==> BlockSmall{Pre}(b); @/
      /@ assert large: \forall integer b; BlockLarge(b) <==> BlockLarge{Pre}(b) && b != a; @/
      large_lemma_ok();
  }
*/

/* A large block enters the view. */
/*@ ghost
  /@ requires ok:     BlocksOk;
     requires passed: PassedLarge(a, e, szind) && ext_kind[e] == KIND_NONE && a < ADDRESS_MAX;
     assigns          block_state[a], block_szind[a], block_ext[a], ext_kind[e];
     ensures  ok:     BlocksOk;
     ensures  block:  BlockLarge(a) && block_state[a] == BLOCK_LIVE && block_szind[a] == szind;
     ensures  new:    \old(block_state[a]) == BLOCK_NONE;
     ensures  others: \forall integer b; b != a ==> BlockSame{Pre,Post}(b);
  @/
  static void threads_lemma_get_large(uint64_t a, uint32_t e, uint32_t szind)
  {
      uint64_t page = ext_page[e];
      if (block_state[a] != BLOCK_NONE) { blocks_lemma_out(a); }
      /@ assert in: ExtIn(e, page) && ext_owner[page] == e; @/
      large_lemma_pages();
      block_state[a] = BLOCK_LIVE;
      block_szind[a] = (uint8_t)szind;
      block_ext[a] = e;
      ext_kind[e] = KIND_LARGE;
      /@ assert slabs: \forall integer x; ExtKind(x, KIND_SLAB) <==> ExtKind{Pre}(x, KIND_SLAB); @/
      /@ assert small: \forall integer b; BlockSmall(b) ==> b != a && BlockSmall{Pre}(b) && BlockSame{Pre,Here}(b); @/
      /@ assert small: BlocksSmallExt; @/
      /@ assert small: BlocksSmallClass && BlocksSmallRegion; @/
      /@ assert place: BlocksSmallPlace; @/
      /@ assert taken: BlocksSmallTaken; @/
      /@ assert firsts: \forall integer b; BlockLarge(b) && b != a ==> b / PAGE != page && BlockLarge{Pre}(b) && BlockSame{Pre,Here}(b); @/
      /@ assert first: a / PAGE == page; @/
      /@ assert tag: BlocksLargeTag; @/
      /@ assert own: \forall integer p; 0 <= p < PAGE_COUNT_MAX && ext_owner[p] == e ==> ExtIn(e, p); @/
      /@ assert rest: BlocksLargeRest; @/
      large_lemma_ok();
  }
*/

/* A small block leaves the view. */
/*@ ghost
  /@ requires ok:     BlocksOk;
     requires block:  BlockSmall(a) && block_state[a] == BLOCK_LIVE && block_ext[a] == e;
     assigns          block_state[a];
     ensures  ok:     BlocksOk;
     ensures  gone:   block_state[a] == BLOCK_NONE;
     ensures  passed: PassedSmall(a, e, block_szind[a], block_region[a]);
  @/
  static void threads_lemma_pass_small(uint64_t a, uint32_t e)
  {
      blocks_lemma_small(a);
      /@ assert own: \forall integer p; ExtIn(e, p) ==> ext_owner[p] == e; @/
      /@ assert tags: \forall integer p; ExtIn(e, p) ==> SlabTag(radix_tag_of[p], ext_page[e], slab_class[e]); @/
      block_state[a] = BLOCK_NONE;
      /@ assert small: \forall integer b; BlockSmall(b) <==> BlockSmall{Pre}(b) && b != a; @/
      /@ assert large: \forall integer b; BlockLarge(b) <==> BlockLarge{Pre}(b); @/
      large_lemma_ok();
  }
*/

/* A small block enters the view, with its slab, if that is not there yet. */
/*@ ghost
  /@ requires ok:     BlocksOk;
     requires passed: PassedSmall(a, e, szind, r) && szind < SC_NBINS && a < ADDRESS_MAX;
     requires none:   block_state[a] == BLOCK_NONE;
     requires slab:   ext_kind[e] == KIND_NONE || ext_kind[e] == KIND_SLAB;
     assigns          block_state[a], block_szind[a], block_ext[a], block_region[a], ext_kind[e];
     ensures  ok:     BlocksOk;
     ensures  block:  BlockSmall(a) && block_state[a] == BLOCK_LIVE && block_szind[a] == szind;
     ensures  kind:   ext_kind[e] == KIND_SLAB;
     ensures  others: \forall integer b; b != a ==> BlockSame{Pre,Post}(b);
  @/
  static void threads_lemma_get_small(uint64_t a, uint32_t e, uint32_t szind, uint32_t r)
  {
      large_lemma_pages();
      /@ assert own: \forall integer p; 0 <= p < PAGE_COUNT_MAX && ext_owner[p] == e ==> ExtIn(e, p); @/
      block_state[a] = BLOCK_LIVE;
      block_szind[a] = (uint8_t)szind;
      block_ext[a] = e;
      block_region[a] = r;
      ext_kind[e] = KIND_SLAB;
      /@ assert slabs: \forall integer x; ExtKind(x, KIND_SLAB) <==> ExtKind{Pre}(x, KIND_SLAB) || x == e; @/
      /@ assert kinds: \forall integer x; ExtKind(x, KIND_LARGE) <==> ExtKind{Pre}(x, KIND_LARGE); @/
      /@ assert small: \forall integer b; BlockSmall(b) && b != a ==> BlockSmall{Pre}(b) && BlockSame{Pre,Here}(b); @/
      /@ assert large: \forall integer b; BlockLarge(b) ==> BlockLarge{Pre}(b) && BlockSame{Pre,Here}(b); @/
      /@ assert small: BlocksSmallExt; @/
      /@ assert small: BlocksSmallClass && BlocksSmallRegion; @/
      /@ assert mine: SlabPlace(a, ext_page[block_ext[a]] * PAGE, slab_bytes[block_szind[a]], block_region[a]); @/
      /@ assert places: \forall integer b; BlockSmall(b) && b != a ==> SlabPlace(b, ext_page[\at(block_ext[b],Pre)] * PAGE,
                         slab_bytes[\at(block_szind[b],Pre)], \at(block_region[b],Pre)); @/
      /@ assert exts: \forall integer b; BlockSmall(b) ==> block_ext[b] == (b == a ? e : \at(block_ext[b],Pre)) &&
                       block_szind[b] == (b == a ? szind : \at(block_szind[b],Pre)) &&
                       block_region[b] == (b == a ? r : \at(block_region[b],Pre)); @/
      /@ assert all: \forall integer b; BlockSmall(b) ==> SlabPlace(b, ext_page[b == a ? e : \at(block_ext[b],Pre)] * PAGE,
                       slab_bytes[b == a ? szind : \at(block_szind[b],Pre)], b == a ? r : \at(block_region[b],Pre)); @/
      /@ assert place: BlocksSmallPlace; @/
      /@ assert taken: BlocksSmallTaken; @/
      /@ assert tags: BlocksSlabTags; @/
      large_lemma_ok();
  }
*/

/* ---- what a thread leaves to others ------------------------------------------------------------------------------
 * The pages of another thread's block are in use. What this thread does while it has the lock of the pages leaves them and their extent as they
 * are, unless it is done to that extent. slab_theorem_batch_of_free says that no region which is out is handed out. */

/* The extent is as it was. */
#define EXTENT_KEPT(e)                                                                                                   \
    /@ assert place: ext_page[e] == \at(ext_page[e],Pre) && ext_npages[e] == \at(ext_npages[e],Pre); @/                  \
    /@ assert state: ext_state[e] == \at(ext_state[e],Pre) && ph_own[e] == \at(ph_own[e],Pre); @/                        \
    /@ assert tags: \forall integer p; ExtIn(e, p) <==> ExtIn{Pre}(e, p); @/

/*@ // A block that is not in the view, which its class, extent and region describe.
    predicate Passed{L}(integer a) = 0 < a < ADDRESS_MAX && block_state[a] == BLOCK_NONE &&
        (block_szind[a] < SC_NBINS ? PassedSmall(a, block_ext[a], block_szind[a], block_region[a]) :
            PassedLarge(a, block_ext[a], block_szind[a]));
    predicate ExtsApart{L}(integer d, integer e) =
        ext_page[d] + ext_npages[d] <= ext_page[e] || ext_page[e] + ext_npages[e] <= ext_page[d];
*/

/* New pages are those of no block. */
/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires ok:     PageCacheOk && CacheZero && CacheGiven;
    requires run:    cache < PAGE_CACHES && 0 < npages && IsPowerOfTwo(align_npages) && \valid(zeroed);
    requires theirs: Passed(a);
    assigns          CACHE_ASSIGNS, CACHE_ASSIGNS_GROWTH, *zeroed;
    ensures  theirs: Passed(a);
    ensures  other:  \result != block_ext[a];
    ensures  apart:  \result != 0 ==> ExtsApart(\result, block_ext[a]);
*/
static uint32_t threads_theorem_take(uint32_t cache, uint64_t npages, uint64_t align_npages, bool *zeroed)
    /*@ ghost (uint64_t a) */
{
    uint32_t e = page_cache_alloc(cache, npages, align_npages, zeroed);
    /*@ assert was: ExtIn{Pre}(block_ext[a], \at(ext_page[block_ext[a]],Pre)); */
    /*@ ghost EXTENT_KEPT(block_ext[a]) */
    /*@ ghost if (e != 0 && e != block_ext[a]) { blocks_lemma_extents(e, block_ext[a]); } */
    return e;
}

/* Pages that go back are those of the extent that is given. */
/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires ok:     PageCacheOk && CacheZero && CacheGiven;
    requires active: CacheActive(e) && e != block_ext[a];
    requires theirs: Passed(a);
    assigns          CACHE_ASSIGNS;
    ensures  theirs: Passed(a);
*/
static void threads_theorem_give(uint32_t e) /*@ ghost (uint64_t a) */
{
    page_cache_free(e);
    /*@ ghost EXTENT_KEPT(block_ext[a]) */
}

/* An extent grows into free pages alone, and shrinks by its own. */
/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires ok:     PageCacheOk && CacheZero && CacheGiven;
    requires active: CacheActive(e) && e != block_ext[a];
    requires some:   0 < npages;
    requires theirs: Passed(a);
    assigns          CACHE_ASSIGNS, extent_count, os_refused;
    ensures  theirs: Passed(a);
    ensures  apart:  ExtsApart(e, block_ext[a]);
*/
static void threads_theorem_stretch(uint32_t e, uint64_t npages) /*@ ghost (uint64_t a) */
{
    if (npages > AT(ext_npages, e)) {
        (void)page_cache_expand(e, npages);
    } else if (npages < AT(ext_npages, e)) {
        (void)page_cache_shrink(e, npages);
    }
    /*@ ghost EXTENT_KEPT(block_ext[a]) */
    /*@ ghost blocks_lemma_extents(e, block_ext[a]); */
    /*@ assert theirs: Passed(a); */
}

/* A purge takes free pages, and what it makes of them afterwards concerns no others. */
/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires ok:     PageCacheOk && CacheZero && CacheGiven;
    requires cache:  cache < PAGE_CACHES && CacheOwn(state, cache) && 0 < npages_max;
    requires theirs: Passed(a);
    assigns          CACHE_ASSIGNS, extent_count, os_refused;
    ensures  theirs: Passed(a);
    ensures  other:  \result != block_ext[a];
*/
static uint32_t threads_theorem_purge(uint32_t cache, uint8_t state, uint64_t npages_max) /*@ ghost (uint64_t a) */
{
    uint32_t e = page_cache_take(cache, state, npages_max);
    /*@ ghost EXTENT_KEPT(block_ext[a]) */
    if (e != 0) {
        page_cache_give(e, state);
    }
    /*@ ghost EXTENT_KEPT(block_ext[a]) */
    return e;
}

/* Pages that go to the OS are those of an extent that a purge has taken. */
/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires ok:     PageCacheOk && CacheZero && CacheGiven;
    requires busy:   CacheBusy(e);
    requires theirs: Passed(a);
    assigns          CACHE_ASSIGNS, CACHE_ASSIGNS_GROWTH;
    ensures  theirs: Passed(a);
*/
static void threads_theorem_unmap(uint32_t e) /*@ ghost (uint64_t a) */
{
    (void)page_cache_unmap(e, true);
    /*@ ghost EXTENT_KEPT(block_ext[a]) */
}

/* ---- what follows for programs ----------------------------------------------------------------------------------- */

/*@ // Its extent is not in this thread's view, unless it is a slab of which the thread has other blocks.
    predicate PassedTo{L}(integer a) = Passed(a) &&
        (ext_kind[block_ext[a]] == KIND_NONE || (block_szind[a] < SC_NBINS && ext_kind[block_ext[a]] == KIND_SLAB));
*/

/* The thread passes a block on. Its cache and its other blocks stay. */
/*@ ghost
  /@ requires ok:     MallocOk;
     requires live:   BlockLive(a);
     assigns          block_state[a], ext_kind[0 .. TABLE_MAX - 1];
     ensures  ok:     MallocOk;
     ensures  passed: PassedTo(a);
     ensures  kinds:  \forall integer e; ext_kind[e] == \old(ext_kind[e]) || ext_kind[e] == KIND_NONE;
     ENSURES_LIVE_KEPT(a, 0);
  @/
  static void threads_lemma_pass(uint64_t a)
  {
      /@ assert were: TcacheOthers(thread_cache, TCACHE_STACKS); @/
      blocks_lemma_out(a);
      uint32_t e = block_ext[a];
      if (block_szind[a] < SC_NBINS) { threads_lemma_pass_small(a, e); } else { threads_lemma_pass_large(a, e); }
      /@ assert are: TcacheOthers(thread_cache, TCACHE_STACKS); @/
      stack_lemma_kept(thread_cache);
  }
*/

/* The thread gets a block. Its cache and its other blocks stay, and lie apart from it. */
/*@ ghost
  /@ requires ok:     MallocOk;
     requires passed: PassedTo(a);
     assigns          block_state[a], block_szind[a], block_ext[a], block_region[a], ext_kind[0 .. TABLE_MAX - 1];
     ensures  ok:     MallocOk;
     ensures  live:   BlockLive(a) && block_szind[a] == \old(block_szind[a]);
     ensures  alone:  BlockAlone(a);
     ensures  kinds:  \forall integer e; e != \old(block_ext[a]) ==> ext_kind[e] == \old(ext_kind[e]);
     ensures  kind:   block_szind[a] < SC_NBINS ==> ext_kind[\old(block_ext[a])] == KIND_SLAB;
     ENSURES_LIVE_KEPT(0, a);
  @/
  static void threads_lemma_get(uint64_t a)
  {
      /@ assert were: TcacheOthers(thread_cache, TCACHE_STACKS); @/
      uint32_t e = block_ext[a];
      uint32_t szind = block_szind[a];
      if (szind < SC_NBINS) { threads_lemma_get_small(a, e, szind, block_region[a]); } else { threads_lemma_get_large(a, e, szind); }
      /@ assert are: TcacheOthers(thread_cache, TCACHE_STACKS); @/
      stack_lemma_kept(thread_cache);
      blocks_lemma_disjoint(a);
  }
*/

/* The producer: what malloc gives can be passed on. The thread's other blocks, and their bytes, stay. */
/*@ requires ok:     MallocOk;
    requires calm:   modes_xmalloc == 0;
    assigns          MALLOC_ASSIGNS, errno;
    ensures  ok:     MallocOk;
    ensures  passed: \result != NULL ==> PassedTo(ADDR(\result));
    ENSURES_LIVE_KEPT(0, 0);
    ensures  contents: ContentsKeptBut{Pre,Post}(0);
    ensures  outside: BytesKeptOutside{Pre,Post}(0, ADDR(\result));
*/
static void *threads_theorem_producer(size_t n)
{
    void *p = qed_malloc(n);
    /*@ ghost if (p != NULL) { threads_lemma_pass(ADDR(p)); } */
    return p;
}

/* The consumer: what a thread has got can be freed there. Its other blocks, and their bytes, stay. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0;
    requires passed: PassedTo(ADDR(p));
    assigns          MALLOC_ASSIGNS, errno;
    ensures  ok:     MallocOk;
    ensures  gone:   !BlockLive(ADDR(p));
    ENSURES_LIVE_KEPT(0, 0);
    ensures  contents: ContentsKeptBut{Pre,Post}(0);
    ensures  outside: BytesKeptOutside{Pre,Post}(ADDR(p), 0);
*/
static void threads_theorem_consumer(void *p)
{
    /*@ ghost threads_lemma_get(ADDR(p)); */
    qed_free(p);
}

/* ---- which thread has which block --------------------------------------------------------------------------------
 * Each block that a program has belongs to one thread, which block_owner names by a number, or it is on its way between two threads. 0 stands
 * for no block. The view of a thread has the thread's own blocks. Of all others it is known that they could enter it (PassedTo). */
/*@ ghost uint32_t block_owner[ADDRESS_MAX]; */

#define OWNER_SENT UINT32_MAX       /* a thread has sent the block, and none has received it */

/*@ predicate Owned{L}(integer a) = 0 < a < ADDRESS_MAX && block_owner[a] != 0;
    predicate OwnedNot{L}(integer a) = 0 < a < ADDRESS_MAX && block_owner[a] == 0;
    predicate OwnersMine{L}(integer me) = \forall integer a; 0 < a < ADDRESS_MAX ==> (block_owner[a] == me <==> BlockLive(a));
    predicate OwnersTheirs{L}(integer me) = \forall integer a; Owned(a) && block_owner[a] != me ==> PassedTo(a);
    predicate OwnersOk{L}(integer me) = 0 < me < OWNER_SENT && OwnersMine(me) && OwnersTheirs(me);

    // The blocks of all threads are in one view.
    predicate OwnersAll{L} = \forall integer a; 0 < a < ADDRESS_MAX ==> (block_owner[a] != 0 <==> BlockLive(a));

    // Of all blocks but two, each is with the thread that it was with.
    predicate OwnersKeptBut{K,L}(integer x, integer y) = \forall integer a; a != x && a != y && 0 < a < ADDRESS_MAX ==>
        \at(block_owner[a],L) == \at(block_owner[a],K);
    // The blocks of all threads, but one block, hold what they held.
    predicate OwnedBytesKeptBut{K,L}(integer x) = \forall integer a; Owned{K}(a) && a != x ==> BytesKept{K,L}(a);
*/

/* The blocks of all other threads enter the view. */
/*@ ghost
  /@ requires ok:     MallocOk;
     requires owners: OwnersOk(me);
     assigns          block_state[0 .. ADDRESS_MAX - 1], block_szind[0 .. ADDRESS_MAX - 1], block_ext[0 .. ADDRESS_MAX - 1],
                      block_region[0 .. ADDRESS_MAX - 1], ext_kind[0 .. TABLE_MAX - 1];
     ensures  ok:     MallocOk;
     ensures  all:    OwnersAll;
     ensures  sizes:  \forall integer a; Owned(a) ==> block_szind[a] == \old(block_szind[a]);
  @/
  static void threads_lemma_gather(uint32_t me)
  {
      /@ loop invariant range:  1 <= i <= ADDRESS_MAX;
         loop invariant ok:     MallocOk;
         loop invariant have:   \forall integer a; 0 < a < i ==> (block_owner[a] != 0 <==> BlockLive(a));
         loop invariant mine:   \forall integer a; i <= a < ADDRESS_MAX ==> (block_owner[a] == me <==> BlockLive(a));
         loop invariant theirs: \forall integer a; i <= a && Owned(a) && block_owner[a] != me ==> PassedTo(a);
         loop invariant sizes:  \forall integer a; Owned(a) ==> block_szind[a] == \at(block_szind[a],Pre);
         loop assigns   i, block_state[0 .. ADDRESS_MAX - 1], block_szind[0 .. ADDRESS_MAX - 1], block_ext[0 .. ADDRESS_MAX - 1],
                        block_region[0 .. ADDRESS_MAX - 1], ext_kind[0 .. TABLE_MAX - 1];
         loop variant   ADDRESS_MAX - i;
      @/
      for (uint64_t i = 1; i < ADDRESS_MAX; i++) {
          if (block_owner[i] != 0 && block_owner[i] != me) {
              uint32_t e = block_ext[i];
              threads_lemma_get(i);
              /@ assert passed: \forall integer a; i < a && Owned(a) && block_owner[a] != me ==> Passed(a); @/
              /@ assert theirs: \forall integer a; i < a && Owned(a) && block_owner[a] != me && block_ext[a] != e ==> PassedTo(a); @/
          }
      }
  }
*/

/* The blocks of all other threads leave the view. */
/*@ ghost
  /@ requires ok:     MallocOk;
     requires all:    OwnersAll && 0 < me < OWNER_SENT;
     assigns          block_state[0 .. ADDRESS_MAX - 1], ext_kind[0 .. TABLE_MAX - 1];
     ensures  ok:     MallocOk;
     ensures  owners: OwnersOk(me);
  @/
  static void threads_lemma_scatter(uint32_t me)
  {
      /@ loop invariant range:  1 <= i <= ADDRESS_MAX;
         loop invariant ok:     MallocOk;
         loop invariant have:   \forall integer a; i <= a < ADDRESS_MAX ==> (block_owner[a] != 0 <==> BlockLive(a));
         loop invariant mine:   \forall integer a; 0 < a < i ==> (block_owner[a] == me <==> BlockLive(a));
         loop invariant theirs: \forall integer a; a < i && Owned(a) && block_owner[a] != me ==> PassedTo(a);
         loop assigns   i, block_state[0 .. ADDRESS_MAX - 1], ext_kind[0 .. TABLE_MAX - 1];
         loop variant   ADDRESS_MAX - i;
      @/
      for (uint64_t i = 1; i < ADDRESS_MAX; i++) {
          if (block_owner[i] != 0 && block_owner[i] != me) {
              threads_lemma_pass(i);
          }
      }
  }
*/

/* Two blocks do not overlap, whichever threads have them. */
/*@ ghost
  /@ requires ok:     MallocOk;
     requires owners: OwnersOk(me);
     requires owned:  Owned(a) && Owned(b) && a != b;
     assigns          block_state[0 .. ADDRESS_MAX - 1], block_szind[0 .. ADDRESS_MAX - 1], block_ext[0 .. ADDRESS_MAX - 1],
                      block_region[0 .. ADDRESS_MAX - 1], ext_kind[0 .. TABLE_MAX - 1];
     ensures  ok:     MallocOk;
     ensures  owners: OwnersOk(me);
     ensures  apart:  BlocksApart{Pre}(a, b);
  @/
  static void threads_lemma_apart(uint32_t me, uint64_t a, uint64_t b)
  {
      threads_lemma_gather(me);
      blocks_lemma_disjoint(a);
      threads_lemma_scatter(me);
  }
*/

/* A thread sends a block away. */
/*@ ghost
  /@ requires ok:     MallocOk;
     requires owners: OwnersOk(me);
     requires mine:   Owned(a) && block_owner[a] == me;
     assigns          block_state[a], ext_kind[0 .. TABLE_MAX - 1], block_owner[a];
     ensures  ok:     MallocOk;
     ensures  owners: OwnersOk(me);
     ensures  sent:   block_owner[a] == OWNER_SENT;
  @/
  static void threads_lemma_send(uint32_t me, uint64_t a)
  {
      threads_lemma_pass(a);
      block_owner[a] = OWNER_SENT;
  }
*/

/* A thread gets a block that another one has sent. */
/*@ ghost
  /@ requires ok:     MallocOk;
     requires owners: OwnersOk(me);
     requires sent:   0 < a < ADDRESS_MAX && block_owner[a] == OWNER_SENT;
     assigns          block_state[a], block_szind[a], block_ext[a], block_region[a], ext_kind[0 .. TABLE_MAX - 1], block_owner[a];
     ensures  ok:     MallocOk;
     ensures  owners: OwnersOk(me);
     ensures  mine:   block_owner[a] == me && block_szind[a] == \old(block_szind[a]);
  @/
  static void threads_lemma_receive(uint32_t me, uint64_t a)
  {
      uint32_t e = block_ext[a];
      /@ assert alike: \forall integer b; Owned(b) && b != a && block_owner[b] != me && block_ext[b] == e ==>
             block_szind[b] < SC_NBINS && block_szind[a] < SC_NBINS; @/
      threads_lemma_get(a);
      block_owner[a] = me;
      /@ assert passed: \forall integer b; Owned(b) && block_owner[b] != me ==> Passed(b); @/
      /@ assert theirs: \forall integer b; Owned(b) && block_owner[b] != me && block_ext[b] != e ==> PassedTo(b); @/
      /@ assert same: \forall integer b; Owned(b) && block_owner[b] != me && block_ext[b] == e ==> PassedTo(b); @/
  }
*/

/* ---- what a call does to the blocks of all threads ---------------------------------------------------------------
 * Each call of the family is one of a group: it gives a block, takes one, moves one, or leaves all of them where they are. The number `call`
 * says which function of the group it is. The settings that end the program are off. An explicit cache that is not there ends it, too. */

/* What a call is given, and what holds after it. */
#define REQUIRES_OWNERS requires ok: MallocOk; requires owners: OwnersOk(me)
#define ENSURES_OWNERS ensures ok: MallocOk; ensures owners: OwnersOk(me)
#define OWNERS_ASSIGNS MALLOC_ASSIGNS, errno, block_owner[0 .. ADDRESS_MAX - 1]
/* The thread has the block. */
#define REQUIRES_MINE(block) requires mine: Owned(block) && block_owner[block] == me
/* No thread has the block any more. All threads keep the others. */
#define ENSURES_NOBODYS(block)                                                                                           \
    ENSURES_OWNERS; ensures gone: block_owner[block] == 0; ensures rest: OwnersKeptBut{Pre,Post}(block, 0);                \
    ensures bytes: OwnedBytesKeptBut{Pre,Post}(block)
/* The block, if there is one, is one that no thread had. The thread has it now. */
#define ENSURES_MINE(there_is, block) \
    ensures new: there_is ==> OwnedNot{Pre}(block) && block_owner[block] == me

/* A call that gives a block. */
/*@ requires ok:     MallocOk;
    requires calm:   modes_xmalloc == 0;
    exits    cache:  FlagsExplicit(flags);
    assigns          MALLOC_ASSIGNS, errno;
    ensures  ok:     MallocOk;
    ENSURES_NEW_BLOCK;
*/
static void *call_malloc(int call, size_t size, size_t other, int flags)
{
    void *p;
    switch (call) {
    case 0: p = qed_malloc(size); break;
    case 1: p = qed_calloc(other, size); break;
    case 2: p = qed_aligned_alloc(other, size); break;
    case 3: p = qed_memalign(other, size); break;
    case 4: p = qed_valloc(size); break;
    case 5: p = qed_pvalloc(size); break;
    default: p = qed_mallocx(size, flags);
    }
    return p;
}

/* It gives a block that no thread has. All threads keep theirs, with what they hold. */
/*@ REQUIRES_OWNERS;
    requires calm:   modes_xmalloc == 0;
    exits    cache:  FlagsExplicit(flags);
    assigns          OWNERS_ASSIGNS;
    ENSURES_OWNERS;
    ENSURES_MINE(\result != NULL, ADDR(\result));
    ensures  rest:   OwnersKeptBut{Pre,Post}(ADDR(\result), 0);
    ensures  bytes:  OwnedBytesKeptBut{Pre,Post}(0);
*/
static void *threads_theorem_malloc(int call, size_t size, size_t other, int flags) /*@ ghost (uint32_t me) */
{
    /*@ ghost threads_lemma_gather(me); */
    void *p = call_malloc(call, size, other, flags);
    /*@ ghost if (p != NULL) { block_owner[ADDR(p)] = me; } */
    /*@ ghost threads_lemma_scatter(me); */
    return p;
}

/* posix_memalign does the same, and writes its result, wherever the program wants it. */
/*@ REQUIRES_OWNERS;
    requires calm:   modes_xmalloc == 0;
    requires valid:  \valid(to) && ThreadOutside(to);
    assigns          OWNERS_ASSIGNS, *to;
    ENSURES_OWNERS;
    ENSURES_MINE(\result == 0, ADDR(*to));
    ensures  rest:   OwnersKeptBut{Pre,Post}(\result == 0 ? ADDR(*to) : 0, 0);
    ensures  bytes:  \forall integer a, i; Owned{Pre}(a) && a <= i < a + BlockBytes{Pre}(a) &&
                     !(ADDR(to) <= i < ADDR(to) + sizeof(void *)) ==> user_mem[i] == \old(user_mem[i]);
*/
static int threads_theorem_posix_memalign(void **to, size_t align, size_t size) /*@ ghost (uint32_t me) */
{
    /*@ ghost threads_lemma_gather(me); */
    int error = qed_posix_memalign(to, align, size);
    /*@ ghost if (error == 0) { block_owner[ADDR(*to)] = me; } */
    /*@ ghost threads_lemma_scatter(me); */
    return error;
}

/* A call that takes a block. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0;
    requires live:   BlockLive(ADDR(p));
    requires sized:  call == 1 || call == 3 ==> BlockOf(ADDR(p), call == 1 ? size : FlagsSize(size, flags));
    requires align:  call == 3 ==> ADDR(p) % FlagsAlign(flags) == 0;
    requires power:  call == 2 ==> IsPowerOfTwo(align) && ADDR(p) % align == 0 && BlockOf(ADDR(p), AlignedSize(align, size));
    exits    cache:  FlagsExplicit(flags);
    assigns          MALLOC_ASSIGNS, errno;
    ensures  ok:     MallocOk;
    ensures  gone:   !BlockLive(ADDR(p));
    ENSURES_REST_KEPT(ADDR(p), 0);
*/
static void call_free(int call, void *p, size_t align, size_t size, int flags)
{
    switch (call) {
    case 0: qed_free(p); break;
    case 1: qed_free_sized(p, size); break;
    case 2: qed_free_aligned_sized(p, align, size); break;
    case 3: qed_sdallocx(p, size, flags); break;
    default: qed_dallocx(p, flags);
    }
}

/* It takes one block from this thread. All threads keep the others. */
/*@ REQUIRES_OWNERS;
    requires calm:   live_on == 0;
    REQUIRES_MINE(ADDR(p));
    requires sized:  call == 1 || call == 3 ==> BlockOf(ADDR(p), call == 1 ? size : FlagsSize(size, flags));
    requires align:  call == 3 ==> ADDR(p) % FlagsAlign(flags) == 0;
    requires power:  call == 2 ==> IsPowerOfTwo(align) && ADDR(p) % align == 0 && BlockOf(ADDR(p), AlignedSize(align, size));
    exits    cache:  FlagsExplicit(flags);
    assigns          OWNERS_ASSIGNS;
    ENSURES_NOBODYS(ADDR(p));
*/
static void threads_theorem_free(int call, void *p, size_t align, size_t size, int flags) /*@ ghost (uint32_t me) */
{
    /*@ ghost threads_lemma_gather(me); */
    call_free(call, p, align, size, flags);
    /*@ ghost block_owner[ADDR(p)] = 0; */
    /*@ ghost threads_lemma_scatter(me); */
}

/* A block that another thread has sent is received and freed here. All threads keep the others. */
/*@ REQUIRES_OWNERS;
    requires calm:   live_on == 0;
    requires sent:   0 < ADDR(p) < ADDRESS_MAX && block_owner[ADDR(p)] == OWNER_SENT;
    assigns          OWNERS_ASSIGNS;
    ENSURES_NOBODYS(ADDR(p));
*/
static void threads_theorem_free_sent(void *p) /*@ ghost (uint32_t me) */
{
    /*@ ghost threads_lemma_receive(me, ADDR(p)); */
    threads_theorem_free(0, p, 0, 0, 0) /*@ ghost (me) */;
}

/* A call that moves a block. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0 && modes_xmalloc == 0 && modes_realloc_zero != MODES_REALLOC_ENDS;
    requires valid:  BlockOrNull(ADDR(p));
    exits    cache:  FlagsExplicit(flags);
    assigns          MALLOC_ASSIGNS, errno, realloc_zero_count;
    ensures  ok:     MallocOk;
    ENSURES_BLOCK(\result != NULL, ADDR(\result));
    ensures  new:    ADDR(\result) != ADDR(p) ==> !BlockLive{Pre}(ADDR(\result));
    ensures  gone:   ADDR(\result) != ADDR(p) && \result != NULL ==> !BlockLive(ADDR(p));
    ENSURES_REST_KEPT(ADDR(p), ADDR(\result));
*/
static void *call_realloc(int call, void *p, size_t size, size_t other, int flags)
{
    void *q;
    switch (call) {
    case 0: q = qed_realloc(p, size); break;
    case 1: q = qed_reallocarray(p, other, size); break;
    default: q = qed_rallocx(p, size, flags);
    }
    return q;
}

/* It gives a block that no thread has and takes the old one, or gives the old one. Where it fails, it takes the old one or leaves it. All
 * threads keep the others. */
/*@ REQUIRES_OWNERS;
    requires calm:   live_on == 0 && modes_xmalloc == 0 && modes_realloc_zero != MODES_REALLOC_ENDS;
    requires mine:   p == NULL || (Owned(ADDR(p)) && block_owner[ADDR(p)] == me);
    exits    cache:  FlagsExplicit(flags);
    assigns          OWNERS_ASSIGNS, realloc_zero_count;
    ENSURES_OWNERS;
    ENSURES_MINE(\result != NULL && \result != p, ADDR(\result));
    ensures  same:   \result != NULL && \result == p ==> block_owner[ADDR(p)] == me;
    ensures  old:    p != NULL && \result != p ==> block_owner[ADDR(p)] == 0 || (\result == NULL && block_owner[ADDR(p)] == me);
    ensures  rest:   OwnersKeptBut{Pre,Post}(ADDR(p), ADDR(\result));
    ensures  bytes:  OwnedBytesKeptBut{Pre,Post}(ADDR(p));
*/
static void *threads_theorem_realloc(int call, void *p, size_t size, size_t other, int flags) /*@ ghost (uint32_t me) */
{
    /*@ ghost threads_lemma_gather(me); */
    void *q = call_realloc(call, p, size, other, flags);
    /*@ ghost if (p != NULL && block_state[ADDR(p)] != BLOCK_LIVE) { block_owner[ADDR(p)] = 0; } */
    /*@ ghost if (q != NULL) { block_owner[ADDR(q)] = me; } */
    /*@ ghost threads_lemma_scatter(me); */
    return q;
}

/* A call that leaves all blocks where they are. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0;
    requires live:   BlockLive(ADDR(p));
    assigns          MALLOC_ASSIGNS, errno;
    ensures  ok:     MallocOk;
    ensures  live:   BlockLive(ADDR(p)) && \result == BlockBytes(ADDR(p));
    ENSURES_REST_KEPT(ADDR(p), ADDR(p));
*/
static size_t call_usable_size(int call, void *p, size_t size, size_t extra, int flags)
{
    size_t bytes;
    switch (call) {
    case 0: bytes = qed_malloc_usable_size(p); break;
    case 1: bytes = qed_sallocx(p, flags); break;
    default: bytes = qed_xallocx(p, size, extra, flags);
    }
    return bytes;
}

/* All threads keep all blocks, and all other blocks hold what they held. */
/*@ REQUIRES_OWNERS;
    requires calm:   live_on == 0;
    REQUIRES_MINE(ADDR(p));
    assigns          OWNERS_ASSIGNS;
    ENSURES_OWNERS;
    ensures  rest:   OwnersKeptBut{Pre,Post}(0, 0);
    ensures  bytes:  OwnedBytesKeptBut{Pre,Post}(ADDR(p));
*/
static size_t threads_theorem_usable_size(int call, void *p, size_t size, size_t extra, int flags) /*@ ghost (uint32_t me) */
{
    /*@ ghost threads_lemma_gather(me); */
    size_t bytes = call_usable_size(call, p, size, extra, flags);
    /*@ ghost threads_lemma_scatter(me); */
    return bytes;
}
