/* bin: fill, flush and the life of a slab. */
#include "heap/bin.h"

#include "pages/pages.h"
#include "platform/mutex.h"
#include "platform/trap.h"

/* Each on a cache line of its own. */
struct bin_lock {
    struct mutex mutex;
} __attribute__((aligned(64)));

static struct bin_lock bin_lock[BINS];

TABLE(uint16_t, slab_bin);
uint32_t bin_current[BINS];
struct bin_stats bin_stats[BINS];
uint32_t bin_arenas;

#include "bin.acsl"
#include "bin_lemmas.acsl"

void bin_boot(uint32_t arenas)
{
    bin_arenas = arenas;
}

bool extent_client_grow(uint32_t id)
{
    return slab_grow(id) && TABLE_GROW(slab_bin, id);
}

/* ---- lock and counters ------------------------------------------------------------------------------------------- */

/* What others did: this thread's blocks are as before, and all slabs of the bin whose lock it has come into its view. */
/*@ requires ok:       HeapOk;
    terminates         \true;
    exits              \false;
    assigns            BIN_ASSIGNS_OTHERS;
    ensures  ok:       HeapOk;
    ensures  bins:     \forall integer b; BinRange(b) && LockHeld(LOCK_BIN(b)) ==> BinOk(b);
    ensures  kept:     BinBlocksKept{Pre,Post};
    ensures  leaves:   RadixKept{Pre,Post};
*/
OTHERS_ACT(bin_others);

/*@ requires bin:      b < BINS;
    requires lock:     LocksFree(LOCK_BIN(0));
    requires ok:       HeapOk;
    terminates         \true;
    exits              \false;
    assigns            BIN_ASSIGNS_OTHERS, lock_held[LOCK_BIN(b)];
    ensures  lock:     BinLocked(b);
    ensures  ok:       HeapOk;
    ensures  bin:      BinOk(b);
    ensures  kept:     BinBlocksKept{Pre,Post};
    ensures  leaves:   RadixKept{Pre,Post};
*/
static inline void bin_acquire(uint32_t b)
{
    /*@ assert rank: LOCK_BIN(b) < LOCK_PAGES; */
    mutex_lock(&bin_lock[b].mutex) /*@ ghost (LOCK_BIN(b)) */;
    bin_others();
}

/*@ requires bin:      b < BINS;
    requires lock:     BinLocked(b);
    requires ok:       HeapOk;
    requires whole:    BinOk(b);
    terminates         \true;
    exits              \false;
    assigns            lock_held[LOCK_BIN(b)];
    ensures  lock:     LocksFree(LOCK_BIN(0));
*/
static inline void bin_release(uint32_t b)
{
    mutex_unlock(&bin_lock[b].mutex) /*@ ghost (LOCK_BIN(b)) */;
}

/* A counter that would not wrap around in centuries stops where it would. */
/*@ terminates         \true;
    exits              \false;
    assigns            \nothing;
    ensures  sum:      \result == \min(count + n, UINT64_MAX);
*/
static inline uint64_t bin_count(uint64_t count, uint32_t n)
{
    return count > UINT64_MAX - n ? UINT64_MAX : count + n;
}

/*@ terminates         \true;
    exits              \false;
    assigns            \nothing;
    ensures  rest:     \result == \max(count - n, 0);
*/
static inline uint64_t bin_uncount(uint64_t count, uint32_t n)
{
    return count < n ? 0 : count - n;
}

/* ---- slabs come and go ------------------------------------------------------------------------------------------- */

/* Pages for a slab: nobody's in this thread's view yet. */
/*@ requires bin:      b < BINS;
    requires lock:     BinLocked(b);
    requires class:    szind < SC_NBINS;
    requires ok:       HeapOk;
    requires whole:    BinOk(b);
    terminates         \true;
    exits              \false;
    assigns            PAGES_ASSIGNS;
    ensures  lock:     BinLocked(b);
    ensures  ok:       HeapOk;
    ensures  whole:    BinOk(b);
    ensures  new:      \result != 0 ==> CacheHas(\result, EXTENT_ACTIVE) && ext_kind[\result] == KIND_NONE;
    ensures  npages:   \result != 0 ==> ext_npages[\result] == slab_npages[szind];
    ensures  leaves:   RadixKept{Pre,Post};
*/
static uint32_t bin_pages(uint32_t szind) /*@ ghost (uint32_t b) */
{
    bool zeroed;
    /*@ ghost slab_lemma_below(0, slab_regions[szind], slab_bytes[szind]); */
    /*@ ghost bin_lemma_large(); */
    /*@ assert was: HeapSlabWords && HeapLargeWord && HeapLargeBlock && HeapLargeRest; */
    uint32_t e = pages_alloc(slab_npages[szind], 1, &zeroed);
    /*@ assert in: \forall integer p; 0 <= p < PAGE_COUNT_MAX && PagesHeld(ext_owner[p]) ==>
            ExtUsed{Pre}(ext_owner[p]) && ExtIn{Pre}(ext_owner[p], p); */
    /*@ assert owners: BinOwners{Pre,Here}; */
    /*@ assert words: BinWords{Pre,Here}; */
    /*@ assert large: \forall integer e; ExtKind(e, KIND_LARGE) ==> \at(ext_page[e],Pre) == ext_page[e]; */
    /*@ ghost bin_lemma_heap(); */
    /*@ ghost bin_lemma_ok(b); */
    return e;
}

/* Makes e, which has the pages of a slab, the current slab of the bin, with all regions free. */
/*@ requires bin:      b < BINS;
    requires class:    szind == b % SC_NBINS;
    requires ok:       HeapOk;
    requires whole:    BinOk(b);
    requires used_up:  bin_current[b] != 0 ==> slab_free_count[bin_current[b]] == 0;
    requires has:      CacheHas(e, EXTENT_ACTIVE) && ext_kind[e] == KIND_NONE;
    requires npages:   ext_npages[e] == slab_npages[szind];
    terminates         \true;
    exits              \false;
    assigns            BIN_ASSIGNS_SLAB(e), ext_kind[e], bin_current[b], bin_stats[b].slabs,
                       radix_word_of[ext_page[e] .. ext_page[e] + ext_npages[e] - 1], RADIX_LEAVES;
    ensures  ok:       HeapOk;
    ensures  whole:    BinOk(b);
    ensures  current:  bin_current[b] == e && slab_free_count[e] != 0;
*/
static void bin_adopt(uint32_t b, uint32_t szind, uint32_t e)
{
    uint64_t page = AT(ext_page, e);
    uint64_t npages = slab_npages[szind];
    slab_init(e, szind);
    AT(slab_bin, e) = (uint16_t)b;
    radix_tree_set_words(page, npages, word_make(page * PAGE, szind));
    /*@ ghost ext_kind[e] = KIND_SLAB; */
    bin_current[b] = e;
    bin_stats[b].slabs = bin_count(bin_stats[b].slabs, 1);
    /*@ ghost bin_lemma_large(); */
    /*@ assert mine: \forall integer p; 0 <= p < PAGE_COUNT_MAX && ext_owner[p] == e ==>
            SlabWord(radix_word_of[p], page, szind); */
    /*@ assert theirs: \forall integer p; 0 <= p < PAGE_COUNT_MAX && ext_owner[p] != e ==>
            radix_word_of[p] == \at(radix_word_of[p],Pre); */
    /*@ ghost bin_lemma_heap(); */
    /*@ ghost bin_lemma_ok(b); */
}

/* Gives the pages of empty slab e, which is not current and in no heap, back. */
/*@ requires bin:      b < BINS;
    requires lock:     BinLocked(b);
    requires ok:       HeapOk;
    requires whole:    BinOkBut(b, e);
    requires slab:     BinSlab(b, e) && bin_current[b] != e && ph_own[e] == 0;
    requires empty:    slab_free_count[e] == slab_regions[slab_class[e]];
    terminates         \true;
    exits              \false;
    assigns            PAGES_ASSIGNS, ext_kind[e], bin_stats[b].slabs;
    ensures  lock:     BinLocked(b);
    ensures  ok:       HeapOk;
    ensures  whole:    BinOk(b);
    ensures  leaves:   RadixKept{Pre,Post};
*/
static void bin_drop(uint32_t b, uint32_t e)
{
    /*@ ghost bin_lemma_empty(e); */
    /*@ assert nobody: \forall integer a; BlockSmall(a) ==> block_ext[a] != e; */
    /*@ ghost bin_lemma_large(); */
    /*@ assert was: HeapSlabWords && HeapLargeWord && HeapLargeBlock && HeapLargeRest && ExtOwn1; */
    radix_tree_set_words(AT(ext_page, e), AT(ext_npages, e), 0);
    /*@ assert theirs: \forall integer p; 0 <= p < PAGE_COUNT_MAX && ext_owner[p] != e ==>
            radix_word_of[p] == \at(radix_word_of[p],Pre); */
    bin_stats[b].slabs = bin_uncount(bin_stats[b].slabs, 1);
    pages_free(e);
    /*@ assert in: \forall integer p; 0 <= p < PAGE_COUNT_MAX && PagesHeld(ext_owner[p]) ==>
            ExtUsed{Pre}(ext_owner[p]) && ExtIn{Pre}(ext_owner[p], p); */
    /*@ assert owners: BinOwners{Pre,Here}; */
    /*@ assert words: BinWords{Pre,Here}; */
    /*@ assert large: \forall integer e; ExtKind(e, KIND_LARGE) ==> \at(ext_page[e],Pre) == ext_page[e]; */
    /*@ ghost bin_lemma_heap(); */
    /*@ ghost bin_lemma_ok(b); */
}

/* e, whose free regions have changed from none or to all, goes to the bin's heap or leaves it. */
/*@ requires bin:      b < BINS;
    requires ok:       HeapOk;
    requires whole:    BinOkBut(b, e);
    requires slab:     BinSlab(b, e) && bin_current[b] != e && ph_own[e] == 0;
    requires part:     0 < slab_free_count[e] < slab_regions[slab_class[e]];
    terminates         \true;
    exits              \false;
    assigns            CACHE_ASSIGNS_HEAPS;
    ensures  ok:       HeapOk;
    ensures  whole:    BinOk(b);
*/
static void bin_list(uint32_t b, uint32_t e)
{
    pairing_heap_insert(BIN_HEAP(b), e, AT(ext_page, e));
    /*@ ghost bin_lemma_cache(); */
    /*@ ghost bin_lemma_heap(); */
    /*@ ghost bin_lemma_ok(b); */
}

/*@ requires bin:      b < BINS;
    requires ok:       HeapOk;
    requires whole:    BinOkBut(b, e);
    requires slab:     BinSlab(b, e) && ph_own[e] == BIN_HEAP(b);
    terminates         \true;
    exits              \false;
    assigns            CACHE_ASSIGNS_HEAPS;
    ensures  ok:       HeapOk;
    ensures  whole:    BinOkBut(b, e);
    ensures  gone:     ph_own[e] == 0;
*/
static void bin_unlist(uint32_t b, uint32_t e)
{
    pairing_heap_remove(BIN_HEAP(b), e);
    /*@ ghost bin_lemma_cache(); */
    /*@ ghost bin_lemma_heap(); */
}

/* Makes a slab with a free region current: false if there is none and the OS has no memory. */
/*@ requires bin:      b < BINS;
    requires lock:     BinLocked(b);
    requires class:    szind == b % SC_NBINS;
    requires ok:       HeapOk;
    requires whole:    BinOk(b);
    requires used_up:  bin_current[b] != 0 ==> slab_free_count[bin_current[b]] == 0;
    terminates         \true;
    exits              \false;
    assigns            BIN_ASSIGNS_OTHERS, lock_held[LOCK_PAGES];
    ensures  lock:     BinLocked(b);
    ensures  ok:       HeapOk;
    ensures  whole:    BinOk(b);
    ensures  room:     \result ==> bin_current[b] != 0 && slab_free_count[bin_current[b]] != 0;
    ensures  leaves:   RadixKept{Pre,Post};
*/
static bool bin_pick(uint32_t b, uint32_t szind)
{
    uint32_t heap = BIN_HEAP(b);
    uint32_t e = pairing_heap_first(heap);
    if (e != 0) {
        pairing_heap_remove(heap, e);
        bin_current[b] = e;
        /*@ ghost bin_lemma_cache(); */
        /*@ ghost bin_lemma_heap(); */
        /*@ ghost bin_lemma_ok(b); */
        return true;
    }
    e = bin_pages(szind) /*@ ghost (b) */;
    if (e != 0) {
        bin_adopt(b, szind, e);
    }
    return e != 0;
}

/* Whether the bin has a current slab with a free region, or gets one. */
/*@ requires bin:      b < BINS;
    requires lock:     BinLocked(b);
    requires class:    szind == b % SC_NBINS;
    requires ok:       HeapOk;
    requires whole:    BinOk(b);
    terminates         \true;
    exits              \false;
    assigns            BIN_ASSIGNS_OTHERS, lock_held[LOCK_PAGES];
    ensures  lock:     BinLocked(b);
    ensures  ok:       HeapOk;
    ensures  whole:    BinOk(b);
    ensures  room:     \result ==> bin_current[b] != 0 && slab_free_count[bin_current[b]] != 0;
    ensures  leaves:   RadixKept{Pre,Post};
*/
static bool bin_ready(uint32_t b, uint32_t szind)
{
    uint32_t e = bin_current[b];
    return (e != 0 && AT(slab_free_count, e) != 0) || bin_pick(b, szind);
}

/* Slab e, which had `was` free regions, has more now: it may become non-full, or empty and leave. */
/*@ requires bin:      b < BINS;
    requires lock:     BinLocked(b);
    requires class:    szind == b % SC_NBINS;
    requires ok:       HeapOk;
    requires whole:    BinOkBut(b, e);
    requires slab:     BinSlab(b, e);
    requires more:     was < slab_free_count[e] <= slab_regions[szind];
    requires heap:     ph_own[e] == (bin_current[b] != e && was != 0 ? BIN_HEAP(b) : 0);
    terminates         \true;
    exits              \false;
    assigns            PAGES_ASSIGNS, ext_kind[e], bin_stats[b].slabs;
    ensures  lock:     BinLocked(b);
    ensures  ok:       HeapOk;
    ensures  whole:    BinOk(b);
    ensures  leaves:   RadixKept{Pre,Post};
*/
static void bin_settle(uint32_t b, uint32_t szind, uint32_t e, uint32_t was)
{
    if (e == bin_current[b]) {
        /*@ ghost bin_lemma_ok(b); */
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

/* ---- fill -------------------------------------------------------------------------------------------------------- */

/* Takes blocks from the current slab into the places before left, the lowest last; where they begin. */
/*@ requires bin:      b < BINS;
    requires class:    szind == b % SC_NBINS;
    requires ok:       HeapOk;
    requires whole:    BinOk(b);
    requires room:     bin_current[b] != 0 && slab_free_count[bin_current[b]] != 0;
    requires left:     0 < left && first + left <= UINT32_MAX;
    requires valid:    \valid(blocks + (0 .. left - 1));
    terminates         \true;
    exits              \false;
    assigns            HEAP_ASSIGNS_SLABS, HEAP_ASSIGNS_BLOCKS, blocks[0 .. left - 1];
    ensures  ok:       HeapOk;
    ensures  whole:    BinOk(b);
    ensures  less:     \result < left;
    ensures  cached:   BlocksCached(blocks, \result, left, szind);
    ensures  places:   BlocksAt(blocks, \result, left, first);
    ensures  kept:     BlocksKept{Pre,Post};
    ensures  new:      BlocksNewAt{Pre,Post}(first + \result, first + left);
    ensures  were:     \forall integer i; \result <= i < left ==>
                       \at(block_state[\at(blocks[i],Post)],Pre) == BLOCK_NONE;
*/
static uint32_t bin_take(uint32_t b, uint64_t *blocks, uint32_t left) /*@ ghost (uint32_t szind, uint32_t first) */
{
    uint32_t e = bin_current[b];
    uint32_t room = AT(slab_free_count, e);
    uint32_t k = room < left ? room : left;
    slab_take_batch(e, AT(ext_page, e) * PAGE, &blocks[left - k], k);
    /*@ ghost bin_claim(e, szind, &blocks[left - k], k, first + left - k); */
    /*@ ghost bin_lemma_heap(); */
    /*@ ghost bin_lemma_ok(b); */
    return left - k;
}

/* Memory is out: closes the gap of `gap` places before n blocks. */
/*@ requires ok:       HeapOk;
    requires class:    szind < SC_NBINS;
    requires sum:      first + gap + n <= UINT32_MAX;
    requires valid:    \valid(blocks + (0 .. gap + n - 1));
    requires cached:   BlocksCached(blocks, gap, gap + n, szind);
    requires places:   BlocksAt(blocks, gap, gap + n, first);
    terminates         \true;
    exits              \false;
    assigns            blocks[0 .. n - 1], block_pos[0 .. ADDRESS_MAX - 1];
    ensures  ok:       HeapOk;
    ensures  cached:   BlocksCached(blocks, 0, n, szind);
    ensures  places:   BlocksAt(blocks, 0, n, first);
    ensures  same:     \forall integer i; 0 <= i < n ==> blocks[i] == \old(blocks[i + gap]);
    ensures  moved:    \forall integer a; 0 <= a < ADDRESS_MAX && !(BlockOut(a) && first + gap <= \old(block_pos[a]) < first + gap + n) ==>
                       block_pos[a] == \old(block_pos[a]);
*/
static void bin_close_gap(uint64_t *blocks, uint32_t gap, uint32_t n) /*@ ghost (uint32_t szind, uint32_t first) */
{
    for (uint32_t i = 0; i < n; i++) {
        blocks[i] = blocks[i + gap];
        /*@ ghost block_pos[blocks[i]] = first + i; */
    }
}

uint32_t bin_fill(uint32_t arena, uint32_t szind, uint64_t *blocks, uint32_t n) /*@ ghost (uint32_t first) */
{
    uint32_t b = arena * SC_NBINS + szind;
    uint32_t left = n;
    bin_acquire(b);
    /*@ loop invariant left:   0 <= left <= n;
        loop invariant lock:   BinLocked(b);
        loop invariant ok:     HeapOk;
        loop invariant whole:  BinOk(b);
        loop invariant cached: BlocksCached(blocks, left, n, szind);
        loop invariant places: BlocksAt(blocks, left, n, first);
        loop invariant kept:   BlocksKept{Pre,Here};
        loop invariant new:    BlocksNewAt{Pre,Here}(first + left, first + n);
        loop invariant were:   \forall integer i; left <= i < n ==>
                               \at(block_state[\at(blocks[i],Here)],Pre) == BLOCK_NONE;
        loop assigns   left, BIN_ASSIGNS_OTHERS, lock_held[LOCK_PAGES], HEAP_ASSIGNS_BLOCKS, blocks[0 .. n - 1];
        loop variant   left;
    */
    while (left > 0 && bin_ready(b, szind)) {
        left = bin_take(b, blocks, left) /*@ ghost (szind, first) */;
    }
    bin_stats[b].filled = bin_count(bin_stats[b].filled, n - left);
    bin_stats[b].regions_live = bin_count(bin_stats[b].regions_live, n - left);
    bin_release(b);
    if (left > 0) {
        bin_close_gap(blocks, left, n - left) /*@ ghost (szind, first) */;
    }
    return n - left;
}

/* ---- flush ------------------------------------------------------------------------------------------------------- */

/* The slab of a block that is in a cache: it cannot leave. The trap is for a program that freed the block twice. */
/*@ requires ok:       HeapOk;
    requires block:    BlockSmall(block) && block_szind[block] == szind;
    terminates         \true;
    exits              \false;
    assigns            \nothing;
    ensures  slab:     \result == block_ext[block];
*/
static inline uint32_t bin_slab_of(uint32_t szind, uint64_t block)
{
    /*@ ghost heap_lemma_small(block); */
    uint64_t word = radix_tree_word(block / PAGE);
    if (word_bin(word) != szind + 1) {
        trap_misuse("free", "double free", block);
    }
    return radix_tree_extent((block - word_offset(word, block)) / PAGE);
}

/* Gives one block back to its slab; the count is left to bin_give_run. */
/*@ requires class:    szind < SC_NBINS;
    requires geometry: SlabGeometryOk;
    requires slab:     ExtKind(e, KIND_SLAB) && slab_class[e] == szind;
    requires base:     base == ext_page[e] * PAGE;
    requires block:    BlockSmall(base + off) && block_ext[base + off] == e && block_szind[base + off] == szind;
    requires inside:   off < slab_npages[szind] * PAGE;
    requires sums:     SlabSums(e);
    requires bound:    SlabSumsBound(e);
    requires tail:     SlabTail(e);
    requires s_class:  HeapSmallClass;
    requires s_reg:    HeapSmallRegion;
    requires s_place:  HeapSmallPlace;
    requires s_taken:  HeapSmallTaken;
    terminates         \true;
    exits              \false;
    assigns            slab_bits[e].w[0 .. SLAB_WORDS - 1], slab_sum[e].upto[0 .. SLAB_WORDS], block_state[base + off];
    ensures  sums:     SlabSums(e);
    ensures  bound:    SlabSumsBound(e);
    ensures  tail:     SlabTail(e);
    ensures  total:    slab_sum[e].upto[SLAB_WORDS] == \old(slab_sum[e].upto[SLAB_WORDS]) + 1;
    ensures  gone:     block_state[base + off] == BLOCK_NONE;
    ensures  s_taken:  HeapSmallTaken;
*/
static inline void bin_give(uint32_t szind, uint32_t e, uint64_t base, uint64_t off)
{
    uint32_t region = slab_region_at(szind, off);
    if (region * slab_bytes[szind] != off || !slab_give(e, region)) {
        trap_misuse("free", "double free", base + off);
    }
    /*@ ghost block_state[base + off] = BLOCK_NONE; */
}

/* Gives the blocks at the front back that lie in slab e, up to the first that does not: how many. */
/*@ requires ok:       HeapOk;
    requires class:    szind < SC_NBINS;
    requires some:     0 < n && first + n <= UINT32_MAX;
    requires valid:    \valid_read(blocks + (0 .. n - 1));
    requires cached:   BlocksCached(blocks, 0, n, szind);
    requires places:   BlocksAt(blocks, 0, n, first);
    requires slab:     block_ext[blocks[0]] == e;
    terminates         \true;
    exits              \false;
    assigns            slab_bits[e].w[0 .. SLAB_WORDS - 1], slab_sum[e].upto[0 .. SLAB_WORDS], slab_free_count[e],
                       block_state[0 .. ADDRESS_MAX - 1];
    ensures  ok:       HeapOk;
    ensures  some:     0 < \result <= n;
    ensures  count:    slab_free_count[e] == \old(slab_free_count[e]) + \result;
    ensures  most:     slab_free_count[e] <= slab_regions[szind];
    ensures  gone:     \forall integer i; 0 <= i < \result ==> block_state[blocks[i]] == BLOCK_NONE;
    ensures  kept:     BlocksKeptBut{Pre,Post}(szind, first, first + \result);
    ensures  none:     BlocksNoneNew{Pre,Post};
*/
__attribute__((noinline)) static uint32_t bin_give_run(uint32_t szind, uint32_t e, const uint64_t *blocks, uint32_t n)
    /*@ ghost (uint32_t first) */
{
    uint64_t base = AT(ext_page, e) * PAGE;
    uint64_t length = slab_npages[szind] * PAGE;
    uint64_t off = word_distance(base, blocks[0]);
    uint32_t k = 0;
    while (off < length) {
        bin_give(szind, e, base, off);
        k++;
        off = k < n ? word_distance(base, blocks[k]) : UINT64_MAX;
    }
    AT(slab_free_count, e) += k;
    return k;
}

/* Gives back the blocks of the first one's bin, under its lock; the others move to the front: how many. */
static uint32_t bin_flush_pass(uint32_t szind, uint64_t *blocks, uint32_t n) /*@ ghost (uint32_t first) */
{
    uint32_t lead = bin_slab_of(szind, blocks[0]);
    uint32_t b = AT(slab_bin, lead);
    uint32_t kept = 0;
    uint32_t i = 0;
    bin_acquire(b);
    while (i < n) {
        uint32_t e = bin_slab_of(szind, blocks[i]);
        if (AT(slab_bin, e) == b) {
            uint32_t was = AT(slab_free_count, e);
            i += bin_give_run(szind, e, &blocks[i], n - i) /*@ ghost (first + i) */;
            bin_settle(b, szind, e, was);
        } else {
            blocks[kept] = blocks[i];
            /*@ ghost block_pos[blocks[kept]] = first + kept; */
            kept++;
            i++;
        }
    }
    bin_stats[b].flushed = bin_count(bin_stats[b].flushed, n - kept);
    bin_stats[b].regions_live = bin_uncount(bin_stats[b].regions_live, n - kept);
    bin_release(b);
    return kept;
}

void bin_flush(uint32_t szind, uint64_t *blocks, uint32_t n) /*@ ghost (uint32_t first) */
{
    while (n > 0) {
        n = bin_flush_pass(szind, blocks, n) /*@ ghost (first) */;
    }
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

void bin_read_stats(uint32_t arena, uint32_t szind, struct bin_stats *stats)
{
    uint32_t b = arena * SC_NBINS + szind;
    bin_acquire(b);
    *stats = bin_stats[b];
    bin_release(b);
}

void bin_prefork(void)
{
    for (uint32_t b = 0; b < bin_arenas * SC_NBINS; b++) {
        mutex_lock(&bin_lock[b].mutex) /*@ ghost (LOCK_BIN(b)) */;
    }
}

void bin_postfork_parent(void)
{
    for (uint32_t b = bin_arenas * SC_NBINS; b > 0; b--) {
        mutex_unlock(&bin_lock[b - 1].mutex) /*@ ghost (LOCK_BIN(b - 1)) */;
    }
}

void bin_postfork_child(void)
{
    for (uint32_t b = 0; b < bin_arenas * SC_NBINS; b++) {
        mutex_reset(&bin_lock[b].mutex) /*@ ghost (LOCK_BIN(b)) */;
    }
}
