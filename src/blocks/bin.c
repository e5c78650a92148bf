/* bin: fills and flushes, and what a bin does around fork. */
#include "blocks/bin.h"

#include "blocks/bin_give.h"
#include "blocks/bin_row.h"
#include "blocks/bin_slabs.h"
#include "platform/hints.h"
#include "platform/trap.h"

LONG_TABLE uint32_t bin_current[BINS];
LONG_TABLE uint32_t bin_walk[BINS];
uint32_t bin_arenas;
uint32_t bin_shared = 1;
LONG_TABLE struct bin_stats bin_stats[BINS];

void bin_boot(uint32_t arenas)
{
    bin_arenas = arenas;
    bin_shared = arenas;
}

bool extent_client_grow(uint32_t id)
{
    return slab_grow(id);
}

/* ---- fill -------------------------------------------------------------------------------------------------------- */

/* Takes blocks from the current slab into the places before left, the lowest last. Returns the place of the first one. */
/*@ requires bin:      b < BINS;
    requires lock:     LockHeld(LOCK_BIN(b));
    requires class:    szind == b % SC_NBINS;
    requires ok:       BlocksOk;
    requires whole:    BinOk(b);
    requires room:     bin_current[b] != 0 && slab_free_count[bin_current[b]] != 0;
    requires left:     0 < left && first + left <= UINT32_MAX;
    requires valid:    \valid(blocks + (0 .. left - 1));
    assigns            BLOCKS_ASSIGNS_SLABS, BLOCKS_ASSIGNS_MODEL, blocks[0 .. left - 1];
    ensures  ok:       BlocksOk;
    ensures  whole:    BinOk(b);
    ensures  less:     \result < left;
    BLOCKS_CACHED(ensures, \result, left);
    ensures  from:     BinHas(b, blocks, \result, left);
    ensures  stay:     BinBlocksKept{Pre,Post};
    ensures  kept:     BlocksKept{Pre,Post};
    ensures  new:      BlocksNewIn{Pre,Post}(blocks, \result, left, first);
    ensures  were:     \forall integer i; \result <= i < left ==>
                       \at(block_state[\at(blocks[i],Post)],Pre) == BLOCK_NONE;
*/
static uint32_t bin_take(uint32_t b, uint64_t *blocks, uint32_t left) /*@ ghost (uint32_t szind, uint32_t first) */
{
    uint32_t e = bin_current[b];
    uint32_t room = AT(slab_free_count, e);
    uint32_t k = room < left ? room : left;
    /*@ assert used: ExtUsed(e); */
    slab_take_batch(e, AT(ext_page, e) * PAGE, &blocks[left - k], k);
    AT(slab_age, e) = SLAB_AGE_FIRST;
    /*@ assert others: \forall integer x; ExtKind(x, KIND_SLAB) && x != e ==> SlabSums(x); */
    /*@ ghost bin_claim(e, szind, blocks, left - k, k, first); */
    /*@ ghost bin_lemma_heap(); */
    /*@ ghost bin_lemma_ok(b); */
    return left - k;
}

/* Moves n blocks to the front, over a gap that stayed open because memory is out. */
/*@ requires class:    szind < SC_NBINS;
    requires sum:      first + gap + n <= UINT32_MAX;
    requires valid:    \valid(blocks + (0 .. gap + n - 1));
    BLOCKS_CACHED(requires, gap, gap + n);
    assigns            blocks[0 .. n - 1], block_pos[0 .. ADDRESS_MAX - 1];
    BLOCKS_CACHED(ensures, 0, n);
    ensures  same:     \forall integer i; 0 <= i < n ==> blocks[i] == \old(blocks[i + gap]);
    ensures  moved:    \forall integer a; \old(BlockStands(blocks, a, gap, gap + n, first)) ==>
                       BlockStands(blocks, a, 0, n, first);
    ensures  others:   \forall integer a; !\old(BlockStands(blocks, a, gap, gap + n, first)) ==>
                       block_pos[a] == \old(block_pos[a]);
*/
static void bin_close_gap(uint64_t *blocks, uint32_t gap, uint32_t n) /*@ ghost (uint32_t szind, uint32_t first) */
{
    /*@ loop invariant range:  0 <= i <= n;
        loop invariant same:   \forall integer j; 0 <= j < i ==> blocks[j] == \at(blocks[j + gap],Pre);
        loop invariant rest:   \forall integer j; i <= j < gap + n ==> blocks[j] == \at(blocks[j],Pre);
        loop invariant places: BlocksAt(blocks, 0, i, first);
        loop invariant still:  \forall integer j; i + gap <= j < gap + n ==> block_pos[\at(blocks[j],Pre)] == first + j;
        loop invariant moved:  \forall integer a; BlockStands{Pre}(blocks, a, gap, gap + i, first) ==>
                               block_pos[a] == \at(block_pos[a],Pre) - gap;
        loop invariant others: \forall integer a; !BlockStands{Pre}(blocks, a, gap, gap + i, first) ==>
                               block_pos[a] == \at(block_pos[a],Pre);
        loop assigns   i, blocks[0 .. n - 1], block_pos[0 .. ADDRESS_MAX - 1];
        loop variant   n - i;
    */
    for (uint32_t i = 0; i < n; i++) {
        blocks[i] = blocks[i + gap];
        /*@ ghost block_pos[blocks[i]] = first + i; */
    }
}

/* Takes blocks from slab after slab into the places before n, while there is memory. Returns the place of the first one. */
/*@ requires bin:      b < BINS;
    requires class:    szind == b % SC_NBINS;
    BIN_HELD(requires, b);
    requires place:    first + n <= UINT32_MAX;
    requires valid:    \valid(blocks + (0 .. n - 1));
    assigns            BIN_ASSIGNS_OTHERS, lock_held[LOCK_PAGES], BLOCKS_ASSIGNS_MODEL, blocks[0 .. n - 1];
    BIN_HELD(ensures, b);
    ensures  most:     \result <= n;
    BLOCKS_CACHED(ensures, \result, n);
    ensures  from:     BinHas(b, blocks, \result, n);
    ensures  kept:     BlocksKept{Pre,Post};
    ensures  new:      BlocksNewIn{Pre,Post}(blocks, \result, n, first);
    ensures  were:     \forall integer i; \result <= i < n ==>
                       \at(block_state[\at(blocks[i],Post)],Pre) == BLOCK_NONE;
    ensures  out:      \result != 0 ==> MemoryOut(PAGE_COUNT_MAX);
*/
static inline uint32_t bin_take_all(uint32_t b, uint32_t szind, uint64_t *blocks, uint32_t n) /*@ ghost (uint32_t first) */
{
    uint32_t left = n;
    /*@ loop invariant left:   0 <= left <= n;
        BIN_HELD(loop invariant, b);
        BLOCKS_CACHED(loop invariant, left, n);
        loop invariant from:   BinHas(b, blocks, left, n);
        loop invariant kept:   BlocksKept{Pre,Here};
        loop invariant new:    BlocksNewIn{Pre,Here}(blocks, left, n, first);
        loop invariant were:   \forall integer i; left <= i < n ==>
                               \at(block_state[\at(blocks[i],Here)],Pre) == BLOCK_NONE;
        loop assigns   left, BIN_ASSIGNS_OTHERS, lock_held[LOCK_PAGES], BLOCKS_ASSIGNS_MODEL, blocks[0 .. n - 1];
        loop variant   left;
    */
    while (left > 0 && bin_ready(b, szind)) {
        /*@ assert nobodys: \forall integer a; 0 <= a < ADDRESS_MAX && block_state[a] == BLOCK_NONE ==>
                \at(block_state[a],Pre) == BLOCK_NONE; */
        left = bin_take(b, blocks, left) /*@ ghost (szind, first) */;
        /*@ assert these: \forall integer i; left <= i < \at(left,LoopCurrent) ==>
                \at(block_state[\at(blocks[i],Here)],Pre) == BLOCK_NONE; */
        /*@ assert those: \forall integer i; \at(left,LoopCurrent) <= i < n ==>
                blocks[i] == \at(blocks[i],LoopCurrent); */
        /*@ assert stay: \forall integer a;
                BlockOut{LoopCurrent}(a) && BlockStands{LoopCurrent}(blocks, a, \at(left,LoopCurrent), n, first) ==>
                BlockStands(blocks, a, left, n, first); */
        /*@ assert come: BlocksNewIn{LoopCurrent,Here}(blocks, left, n, first); */
    }
    return left;
}

/* Returns how many of n blocks to take. A slab that is taken from front to back then ends at the beginning of a word of its bitmap, so
 * that the next fill meets whole words. */
/*@ requires bin:      b < BINS;
    requires lock:     LockHeld(LOCK_BIN(b));
    requires ok:       BlocksOk;
    requires whole:    BinOk(b);
    assigns            \nothing;
    ensures  most:     \result <= n;
    ensures  some:     n > 0 ==> \result > 0;
*/
static inline uint32_t bin_whole_words(uint32_t b, uint32_t n)
{
    uint32_t e = bin_current[b];
    uint32_t room = e != 0 ? AT(slab_free_count, e) : 0;
    uint32_t over = n >= 128 && room > n ? (room - n) % 64 : 0;
    return over == 0 ? n : n - (64 - over);
}

uint32_t bin_fill(uint32_t arena, uint32_t szind, uint64_t *blocks, uint32_t n) /*@ ghost (uint32_t first) */
{
    uint32_t b = arena * SC_NBINS + szind;
    bin_acquire(b);
    n = bin_whole_words(b, n);
    uint32_t left = bin_take_all(b, szind, blocks, n) /*@ ghost (first) */;
    bin_count_out(b, n - left);
    bin_release(b);
    /*@ assert stand: \forall integer a; BlockOut(a) && !BlockOut{Pre}(a) ==> blocks[block_pos[a] - first] == a; */
    if (left > 0) {
        /*@ assert others: \forall integer a; BlockOut{Pre}(a) ==> !BlockStands(blocks, a, left, n, first); */
        bin_close_gap(blocks, left, n - left) /*@ ghost (szind, first) */;
        /*@ assert new: BlocksNewIn{Pre,Here}(blocks, 0, n - left, first); */
        /*@ assert were: \forall integer i; 0 <= i < n - left ==> \at(block_state[\at(blocks[i],Here)],Pre) == BLOCK_NONE; */
        /*@ assert stand: \forall integer a; BlockOut(a) && !BlockOut{Pre}(a) ==> blocks[block_pos[a] - first] == a; */
    }
    return n - left;
}

/* ---- flush ------------------------------------------------------------------------------------------------------- */

/* Returns the slab of a cached block. The slab cannot leave while the block is cached. The trap is for a program that freed the block
 * twice. */
/*@ requires ok:       BlocksOk;
    requires block:    BlockSmall(block) && block_szind[block] == szind;
    assigns            \nothing;
    ensures  slab:     \result == block_ext[block];
*/
static inline uint32_t bin_slab_of(uint32_t szind, uint64_t block)
{
    /*@ ghost blocks_lemma_small(block); */
    /*@ ghost bin_lemma_first(block_ext[block]); */
    /*@ assert reserved: RadixReserved(block / PAGE); */
    uint64_t                 page = block / PAGE;
    const struct radix_leaf *leaf = radix_tree_leaf_of(page);
    uint32_t                 stack = radix_leaf_high(leaf, page % RADIX_WINDOW_PAGES) /*@ ghost (page / RADIX_WINDOW_PAGES) */;
    uint32_t                 low = radix_leaf_low(leaf, page % RADIX_WINDOW_PAGES) /*@ ghost (page / RADIX_WINDOW_PAGES) */;
    /*@ assert page: page / RADIX_WINDOW_PAGES * RADIX_WINDOW_PAGES + page % RADIX_WINDOW_PAGES == page; */
    /*@ assert high: stack == szind + 1; */
    /*@ assert low: low % TAG_HALF == ext_page[block_ext[block]] * PAGE % TAG_HALF; */
    if (stack != szind + 1) {
        trap_misuse("free", "double free", block);
    }
    /*@ assert length: block - ext_page[block_ext[block]] * PAGE < SLAB_BYTES_MAX; */
    uint64_t base = block - tag_offset(low, block);
    /*@ assert base: base == ext_page[block_ext[block]] * PAGE; */
    uint64_t first = base / PAGE;
    /*@ assert first: first == ext_page[block_ext[block]]; */
    /*@ assert reserved: RadixReserved(first); */
    /*@ assert again: first / RADIX_WINDOW_PAGES * RADIX_WINDOW_PAGES + first % RADIX_WINDOW_PAGES == first; */
    return radix_leaf_extent(radix_tree_leaf_of(first), first % RADIX_WINDOW_PAGES) /*@ ghost (first / RADIX_WINDOW_PAGES) */;
}

/* Gives blocks[0] and those behind it back, up to the first that does not lie in slab e. Returns how many they are. */
/*@ GIVES_BLOCKS;
*/
__attribute__((noinline)) static uint32_t bin_give_run(uint32_t szind, uint32_t e, const uint64_t *blocks, uint32_t n)
    /*@ ghost (uint32_t first) */
{
    /*@ assert slab: ExtKind(e, KIND_SLAB) && slab_class[e] == szind && ExtUsed(e); */
    uint64_t base = AT(ext_page, e) * PAGE;
    uint64_t length = slab_npages[szind] * PAGE;
    uint64_t off = tag_distance(base, blocks[0]);
    /*@ ghost bin_lemma_slab(blocks[0], e, szind); */
    uint32_t k = 0;
    /*@ loop invariant range:   0 <= k < n;
        loop invariant off:     off == (base <= blocks[k] ? blocks[k] - base : blocks[k] - base + UINT64_MAX + 1);
        loop invariant in:      off < length;
        SLAB_BITS(loop invariant, e);
        loop invariant total:   slab_sum[e].upto[SLAB_WORDS] == \at(slab_sum[e].upto[SLAB_WORDS],Pre) + k;
        BLOCKS_SMALL(loop invariant);
        loop invariant gone:    \forall integer a; BlockStands(blocks, a, 0, k, first) ==> block_state[a] == BLOCK_NONE;
        loop invariant cached:  BlocksCached(blocks, k, n, szind);
        loop invariant kept:    BlocksKeptBut{Pre,Here}(szind, first, first + k);
        loop invariant none:    BlocksNoneNew{Pre,Here};
        loop assigns   k, off, slab_bits[e].w[0 .. SLAB_WORDS - 1], slab_sum[e].upto[0 .. SLAB_WORDS],
                       block_state[0 .. ADDRESS_MAX - 1];
        loop variant   n - k;
    */
    do {
        /*@ ghost bin_lemma_slab(blocks[k], e, szind); */
        /*@ assert place: off == block_region[blocks[k]] * slab_bytes[szind]; */
        uint32_t r = bin_region(szind, base, off) /*@ ghost (block_region[blocks[k]]) */;
        struct bin_word at = bin_word_of(szind, base, length, r);
        k = bin_give_word(szind, e, at, r % 64, blocks, k, n) /*@ ghost (first) */;
        /*@ assert gone: \forall integer a; BlockStands(blocks, a, 0, k, first) ==>
                BlockStands(blocks, a, 0, \at(k,LoopCurrent), first) || BlockStands(blocks, a, \at(k,LoopCurrent), k, first); */
        /*@ assert kept: BlocksKeptBut{Pre,Here}(szind, first, first + k); */
        off = k < n ? tag_distance(base, blocks[k]) : UINT64_MAX;
    } while (off < length);
    AT(slab_free_count, e) += k;
    /*@ ghost bin_lemma_room(e); */
    /*@ ghost bin_lemma_heap(); */
    return k;
}

/* Gives blocks[0] and those behind it back, up to the first that does not lie in slab e, or, where they seem to be a row, to the end of the
 * row. Returns how many they are. */
/*@ GIVES_BLOCKS;
*/
static inline uint32_t bin_give_next(uint32_t szind, uint32_t e, const uint64_t *blocks, uint32_t n, bool row)
    /*@ ghost (uint32_t first) */
{
    return row ? bin_give_row(szind, e, blocks, n) /*@ ghost (first) */ : bin_give_run(szind, e, blocks, n) /*@ ghost (first) */;
}

/* Gives blocks[i] and those behind it back, up to the first that does not lie in slab e of the bin, or to the end of a row. Returns how many
 * they are. */
/*@ requires bin:      b < BINS;
    requires class:    szind == b % SC_NBINS;
    BIN_HELD(requires, b);
    requires order:    kept <= i < n && first + n <= UINT32_MAX;
    requires valid:    \valid_read(blocks + (0 .. n - 1));
    requires cached:   BlocksCached(blocks, 0, kept, szind) && BlocksCached(blocks, i, n, szind);
    requires places:   BlocksAt(blocks, 0, kept, first) && BlocksAt(blocks, i, n, first);
    requires slab:     block_ext[blocks[i]] == e && slab_bin[e] == b;
    assigns            slab_bits[e].w[0 .. SLAB_WORDS - 1], slab_sum[e].upto[0 .. SLAB_WORDS], slab_free_count[e],
                       block_state[0 .. ADDRESS_MAX - 1], PAGES_ASSIGNS, ext_kind[e], slab_bin[e], bin_stats[b].slabs,
                       bin_stats[b].slabs_nonfull, bin_walk[b];
    BIN_HELD(ensures, b);
    ensures  some:     0 < \result <= n - i;
    ensures  front:    BlocksCached(blocks, 0, kept, szind);
    ensures  rest:     BlocksCached(blocks, i + \result, n, szind);
    ensures  gone:     \forall integer a; BlockStands(blocks, a, i, n, first) ==>
                       block_state[a] == BLOCK_NONE || BlockStands(blocks, a, i + \result, n, first);
    ensures  kept:     BlocksKeptBut{Pre,Post}(szind, first + i, first + i + \result);
    ensures  none:     BlocksNoneNew{Pre,Post};
*/
__attribute__((always_inline)) static inline uint32_t bin_return(uint32_t b, uint32_t szind, uint32_t e, const uint64_t *blocks,
                                                                 uint32_t i, uint32_t n, bool row)
    /*@ ghost (uint32_t kept, uint32_t first) */
{
    uint32_t was = AT(slab_free_count, e);
    /*@ assert slab: BinSlab(b, e); */
    /*@ assert listed: BinListed(b, e) ==> ph_own[e] == BIN_HEAP(b); */
    /*@ assert not: !BinListed(b, e) ==> ph_own[e] == 0; */
    /*@ ghost bin_lemma_rest(blocks, szind, i, n, first); */
    uint32_t k = bin_give_next(szind, e, &blocks[i], n - i, row) /*@ ghost (first + i) */;
    /*@ ghost bin_lemma_stand(blocks, i, k, first); */
    /*@ ghost bin_lemma_ok_but(b, e); */
    bin_settle(b, szind, e, was);
    return k;
}

/* Gives rows of blocks of the bin back, up to the first block that is in none. Returns how many blocks they are. */
/*@ requires bin:      b < BINS;
    requires class:    szind == b % SC_NBINS;
    BIN_HELD(requires, b);
    requires some:     0 < n && first + n <= UINT32_MAX;
    requires valid:    \valid_read(blocks + (0 .. n - 1));
    BLOCKS_CACHED(requires, 0, n);
    requires lead:     slab_bin[block_ext[blocks[0]]] == b;
    assigns            BIN_ASSIGNS_FLUSH;
    BIN_HELD(ensures, b);
    ensures  some:     0 < \result <= n;
    BLOCKS_CACHED(ensures, \result, n);
    ensures  left:     BlocksLeft{Pre,Post}(blocks, n, 0, \result, first);
    ensures  kept:     BlocksKeptBut{Pre,Post}(szind, first, first + n);
    ensures  none:     BlocksNoneNew{Pre,Post};
*/
__attribute__((noinline)) static uint32_t bin_flush_rows(uint32_t b, uint32_t szind, const uint64_t *blocks, uint32_t n)
    /*@ ghost (uint32_t first) */
{
    uint32_t e = bin_slab_of(szind, blocks[0]);
    uint32_t i = 0;
    uint32_t k;
    /*@ loop invariant range:  0 <= i < n;
        loop invariant slab:   e == block_ext[blocks[i]] && slab_bin[e] == b;
        BIN_HELD(loop invariant, b);
        loop invariant rest:   BlocksCached(blocks, i, n, szind);
        loop invariant r_at:   BlocksAt(blocks, i, n, first);
        loop invariant left:   BlocksLeft{Pre,Here}(blocks, n, 0, i, first);
        loop invariant kept:   BlocksKeptBut{Pre,Here}(szind, first, first + n);
        loop invariant none:   BlocksNoneNew{Pre,Here};
        loop assigns   i, k, e, BIN_ASSIGNS_FLUSH;
        loop variant   n - i;
    */
    do {
        k = bin_return(b, szind, e, blocks, i, n, true) /*@ ghost (0, first) */;
        i += k;
        /*@ assert moved: \forall integer a; 0 <= a < ADDRESS_MAX &&
                BlockLeft{LoopCurrent}(blocks, a, n, 0, \at(i,LoopCurrent), first) ==> BlockLeft(blocks, a, n, 0, i, first); */
        /*@ assert left: BlocksLeft{Pre,Here}(blocks, n, 0, i, first); */
        /*@ assert none: BlocksNoneNew{Pre,Here}; */
        /*@ assert kept: BlocksKeptBut{Pre,Here}(szind, first, first + n); */
        e = i < n ? bin_slab_of(szind, blocks[i]) : 0;
    } while (k > 1 && i < n && AT(slab_bin, e) == b);
    return i;
}

/* Moves blocks[i] to the front, behind the ones that are kept. */
/*@ requires order:    kept <= i < n && first + n <= UINT32_MAX;
    requires valid:    \valid(blocks + (0 .. n - 1));
    requires cached:   BlocksCached(blocks, 0, kept, szind) && BlocksCached(blocks, i, n, szind);
    requires places:   BlocksAt(blocks, 0, kept, first) && BlocksAt(blocks, i, n, first);
    assigns            blocks[kept], block_pos[blocks[i]];
    ensures  moved:    blocks[kept] == \old(blocks[i]) && block_pos[blocks[kept]] == first + kept;
    ensures  kept:     BlocksCached(blocks, 0, kept + 1, szind);
    ensures  rest:     BlocksCached(blocks, i + 1, n, szind);
    ensures  k_places: BlocksAt(blocks, 0, kept + 1, first);
    ensures  r_places: BlocksAt(blocks, i + 1, n, first);
    ensures  k_stand:  \forall integer a; \old(BlockStands(blocks, a, 0, kept, first)) ==>
                       BlockStands(blocks, a, 0, kept + 1, first);
    ensures  r_stand:  \forall integer a; \old(BlockStands(blocks, a, i, n, first)) ==>
                       BlockStands(blocks, a, 0, kept + 1, first) || BlockStands(blocks, a, i + 1, n, first);
*/
static inline void bin_keep(uint64_t *blocks, uint32_t kept, uint32_t i) /*@ ghost (uint32_t szind, uint32_t n, uint32_t first) */
{
    blocks[kept] = blocks[i];
    /*@ ghost block_pos[blocks[kept]] = first + kept; */
}

/* Gives back the blocks of the first one's bin, under its lock. Moves the others to the front. Returns how many these are. */
/*@ BINS_FREE(requires);
    requires class:    szind < SC_NBINS;
    requires some:     0 < n && first + n <= UINT32_MAX;
    requires valid:    \valid(blocks + (0 .. n - 1));
    BLOCKS_CACHED(requires, 0, n);
    assigns            BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS, block_state[0 .. ADDRESS_MAX - 1],
                       block_pos[0 .. ADDRESS_MAX - 1], blocks[0 .. n - 1];
    BINS_FREE(ensures);
    ensures  less:     \result < n;
    BLOCKS_CACHED(ensures, 0, \result);
    ensures  left:     BlocksLeft{Pre,Post}(blocks, n, \result, n, first);
    ensures  kept:     BlocksKeptBut{Pre,Post}(szind, first, first + n);
    ensures  none:     BlocksNoneNew{Pre,Post};
*/
static uint32_t bin_flush_pass(uint32_t szind, uint64_t *blocks, uint32_t n) /*@ ghost (uint32_t first) */
{
    uint32_t lead = bin_slab_of(szind, blocks[0]);
    uint32_t b = AT(slab_bin, lead);
    uint32_t kept = 0;
    /*@ assert class: b < BINS && szind == b % SC_NBINS; */
    bin_acquire(b);
    uint32_t i = bin_row_seems(szind, blocks, n) ? bin_flush_rows(b, szind, blocks, n) /*@ ghost (first) */ : 0;
    /*@ loop invariant range:  0 <= kept <= i <= n;
        loop invariant less:   i > 0 ==> kept < i;
        loop invariant lead:   i == 0 ==> slab_bin[block_ext[blocks[0]]] == b;
        BIN_HELD(loop invariant, b);
        loop invariant front:  BlocksCached(blocks, 0, kept, szind);
        loop invariant rest:   BlocksCached(blocks, i, n, szind);
        loop invariant f_at:   BlocksAt(blocks, 0, kept, first);
        loop invariant r_at:   BlocksAt(blocks, i, n, first);
        loop invariant left:   BlocksLeft{Pre,Here}(blocks, n, kept, i, first);
        loop invariant kept:   BlocksKeptBut{Pre,Here}(szind, first, first + n);
        loop invariant none:   BlocksNoneNew{Pre,Here};
        loop assigns   kept, i, PAGES_ASSIGNS, ext_kind[0 .. TABLE_MAX - 1], BLOCKS_ASSIGNS_SLABS,
                       block_state[0 .. ADDRESS_MAX - 1], block_pos[0 .. ADDRESS_MAX - 1], blocks[0 .. n - 1];
        loop variant   n - i;
    */
    while (i < n) {
        uint32_t e = bin_slab_of(szind, blocks[i]);
        if (AT(slab_bin, e) == b) {
            i += bin_return(b, szind, e, blocks, i, n, false) /*@ ghost (kept, first) */;
            /*@ assert moved: \forall integer a; 0 <= a < ADDRESS_MAX &&
                    BlockLeft{LoopCurrent}(blocks, a, n, \at(kept,LoopCurrent), \at(i,LoopCurrent), first) ==>
                    BlockLeft(blocks, a, n, kept, i, first); */
            /*@ assert left: BlocksLeft{Pre,Here}(blocks, n, kept, i, first); */
            /*@ assert none: BlocksNoneNew{Pre,Here}; */
            /*@ assert kept: BlocksKeptBut{Pre,Here}(szind, first, first + n); */
        } else {
            bin_keep(blocks, kept, i) /*@ ghost (szind, n, first) */;
            kept++;
            i++;
            /*@ assert moved: \forall integer a; 0 <= a < ADDRESS_MAX &&
                    BlockLeft{LoopCurrent}(blocks, a, n, \at(kept,LoopCurrent), \at(i,LoopCurrent), first) ==>
                    BlockLeft(blocks, a, n, kept, i, first); */
            /*@ assert left: BlocksLeft{Pre,Here}(blocks, n, kept, i, first); */
            /*@ assert none: BlocksNoneNew{Pre,Here}; */
            /*@ assert kept: BlocksKeptBut{Pre,Here}(szind, first, first + n); */
        }
    }
    bin_count_in(b, n - kept);
    bin_release(b);
    return kept;
}

void bin_flush(uint32_t szind, uint64_t *blocks, uint32_t n) /*@ ghost (uint32_t first) */
{
    /*@ assert stand: \forall integer i; 0 <= i < n ==> BlockStands(blocks, blocks[i], 0, n, first); */
    /*@ ghost uint32_t all = n; */
    /*@ loop invariant range:  0 <= n <= all;
        BINS_FREE(loop invariant);
        BLOCKS_CACHED(loop invariant, 0, n);
        loop invariant left:   BlocksLeft{Pre,Here}(blocks, all, n, all, first);
        loop invariant kept:   BlocksKeptBut{Pre,Here}(szind, first, first + all);
        loop invariant none:   BlocksNoneNew{Pre,Here};
        loop assigns   n, BLOCKS_ASSIGNS, blocks[0 .. all - 1];
        loop variant   n;
    */
    while (n > 0) {
        n = bin_flush_pass(szind, blocks, n) /*@ ghost (first) */;
    }
    /*@ assert gone: \forall integer a; BlockStands{Pre}(blocks, a, 0, all, first) ==> block_state[a] == BLOCK_NONE; */
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

/*@ requires bin:      b < BINS;
    requires lock:     LockHeld(LOCK_BIN(b));
    requires valid:    \valid(stats);
    assigns            *stats;
    ensures  stats:    *stats == bin_stats[b];
*/
static inline void bin_copy_stats(uint32_t b, struct bin_stats *stats)
{
    *stats = bin_stats[b];
}

void bin_read_stats(uint32_t arena, uint32_t szind, struct bin_stats *stats)
{
    uint32_t b = arena * SC_NBINS + szind;
    bin_acquire(b);
    bin_copy_stats(b, stats);
    bin_release(b);
}

void bin_prefork(void)
{
    /*@ loop invariant range: 0 <= b <= bin_arenas * SC_NBINS;
        loop invariant held:  \forall integer k; LOCK_BIN(0) <= k < LOCK_BIN(b) ==> LockHeld(k);
        loop invariant free:  LocksFree(LOCK_BIN(b));
        loop invariant ok:    BlocksOk;
        loop invariant bins:  \forall integer c; 0 <= c < b ==> BinOk(c);
        loop invariant kept:  BinBlocksKept{Pre,Here};
        loop assigns   b, BIN_ASSIGNS_OTHERS, lock_held[LOCK_BIN(0) .. LOCK_BIN(BINS) - 1];
        loop variant   bin_arenas * SC_NBINS - b;
    */
    for (uint32_t b = 0; b < bin_arenas * SC_NBINS; b++) {
        lock_take(LOCK_BIN(b));
        bin_others();
        /*@ assert range: b < BINS; */
        /*@ assert ranks: \forall integer k; LOCK_BIN(0) <= k <= LOCK_BIN(b) ==> LockHeld(k); */
        /*@ assert held: \forall integer c; 0 <= c <= b ==> LockHeld(LOCK_BIN(c)); */
    }
}

void bin_postfork_parent(void)
{
    /*@ loop invariant range: 0 <= b <= bin_arenas * SC_NBINS;
        loop invariant held:  \forall integer k; LOCK_BIN(0) <= k < LOCK_BIN(b) ==> LockHeld(k);
        loop invariant free:  LocksFree(LOCK_BIN(b));
        loop assigns   b, lock_held[LOCK_BIN(0) .. LOCK_BIN(BINS) - 1];
        loop variant   b;
    */
    for (uint32_t b = bin_arenas * SC_NBINS; b > 0; b--) {
        lock_give(LOCK_BIN(b - 1));
    }
}

void bin_postfork_child(void)
{
    /*@ loop invariant range: 0 <= b <= bin_arenas * SC_NBINS;
        loop invariant held:  \forall integer k; LOCK_BIN(b) <= k < LOCK_BIN(bin_arenas * SC_NBINS) ==> LockHeld(k);
        loop invariant free:  \forall integer k; LOCK_BIN(0) <= k < LOCK_BIN(b) ==> lock_held[k] == 0;
        loop invariant above: LocksFree(LOCK_BIN(bin_arenas * SC_NBINS));
        loop assigns   b, lock_held[LOCK_BIN(0) .. LOCK_BIN(BINS) - 1];
        loop variant   bin_arenas * SC_NBINS - b;
    */
    for (uint32_t b = 0; b < bin_arenas * SC_NBINS; b++) {
        lock_reset(LOCK_BIN(b));
    }
}
