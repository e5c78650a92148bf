/* bin_give: how a word of a slab's bitmap takes blocks back, in the small steps that the proof needs.
 *
 * The 64 regions whose bits are in one word lie side by side. So a block's distance from where they begin tells whether it is
 * one of them; one product then tells which, and whether a block begins there at all.
 */
#ifndef QED_HEAP_BIN_GIVE_H
#define QED_HEAP_BIN_GIVE_H

#include "heap/bin_steps.h"
#include "platform/trap.h"

#include "bin_lemmas.acsl"

/* Which of the regions of the class that begin at begin lies d bytes behind it. */
/*@ requires class:    szind < SC_NBINS;
    requires geometry: SlabGeometryOk;
    requires inside:   d < slab_npages[szind] * PAGE && begin + d < ADDRESS_MAX;
    requires place:    d == r * slab_bytes[szind];
    terminates         \true;
    exits              \false;
    assigns            \nothing;
    ensures  region:   \result == r;
*/
static inline uint32_t bin_region(uint32_t szind, uint64_t begin, uint64_t d) /*@ ghost (uint32_t r) */
{
    divide_magic_t magic = slab_magic[szind];
    /*@ ghost slab_lemma_region(d, slab_bytes[szind], magic, slab_regions[szind]); */
    uint64_t product = divide_product((uint32_t)d, magic);
    if (divide_low(product) >= magic) {
        trap_misuse("free", "double free", begin + d);
    }
    return divide_high(product);
}

/* Word i of slab e's bitmap, which the caller keeps, with bit j set for one more block. */
/*@ requires class:    szind < SC_NBINS;
    requires slab:     ExtKind(e, KIND_SLAB) && slab_class[e] == szind;
    requires block:    BlockSmall(block) && block_ext[block] == e && block_szind[block] == szind;
    requires region:   block_region[block] < slab_regions[szind] <= SLAB_REGIONS_MAX;
    requires bit:      block_region[block] / 64 == i && block_region[block] % 64 == j;
    requires taken:    BinWordTaken(e, i, w);
    requires tail:     BinWordTail(szind, i, w);
    requires s_place:  HeapSmallPlace;
    requires s_class:  HeapSmallClass;
    requires s_taken:  HeapSmallTaken;
    terminates         \true;
    exits              \false;
    assigns            block_state[block];
    ensures  taken:    BinWordTaken(e, i, \result);
    ensures  tail:     BinWordTail(szind, i, \result);
    ensures  count:    pop(\result, 64) == pop(w, 64) + 1;
    ensures  gone:     block_state[block] == BLOCK_NONE;
    ensures  s_taken:  HeapSmallTaken;
*/
static inline uint64_t bin_give(uint64_t w, uint32_t j, uint64_t block) /*@ ghost (uint32_t szind, uint32_t e, uint32_t i) */
{
    /*@ ghost bin_lemma_other(block); */
    if (bitmap_word_get(w, j)) {
        trap_misuse("free", "double free", block);
    }
    uint64_t v = bitmap_word_set(w, j);
    /*@ ghost bitmap_word_lemma_one(w, v, j, 64); */
    /*@ ghost block_state[block] = BLOCK_NONE; */
    return v;
}

/* Gives the blocks at k and behind back that have their bits in word i of slab e, up to the first that has not: its place. */
/*@ requires class:    szind < SC_NBINS;
    requires owner:    ExtOwn1 && ExtRange && ExtState;
    requires active:   PagesHeldActive;
    requires geometry: SlabGeometryOk;
    requires s_len:    HeapSlabLength;
    requires slab:     ExtKind(e, KIND_SLAB) && slab_class[e] == szind;
    requires base:     base == ext_page[e] * PAGE && length == slab_npages[szind] * PAGE;
    requires order:    k < n && first + n <= UINT32_MAX;
    requires valid:    \valid_read(blocks + (0 .. n - 1));
    requires cached:   BlocksCached(blocks, k, n, szind);
    requires places:   BlocksAt(blocks, 0, n, first);
    requires word:     block_ext[blocks[k]] == e && block_region[blocks[k]] / 64 == i;
    requires sums:     SlabSums(e);
    requires bound:    SlabSumsBound(e);
    requires tail:     SlabTail(e);
    requires s_ext:    HeapSmallExt;
    requires s_class:  HeapSmallClass;
    requires s_reg:    HeapSmallRegion;
    requires s_place:  HeapSmallPlace;
    requires s_taken:  HeapSmallTaken;
    terminates         \true;
    exits              \false;
    assigns            slab_bits[e].w[0 .. SLAB_WORDS - 1], slab_sum[e].upto[0 .. SLAB_WORDS],
                       block_state[0 .. ADDRESS_MAX - 1];
    ensures  more:     k < \result <= n;
    ensures  sums:     SlabSums(e);
    ensures  bound:    SlabSumsBound(e);
    ensures  tail:     SlabTail(e);
    ensures  total:    slab_sum[e].upto[SLAB_WORDS] == \old(slab_sum[e].upto[SLAB_WORDS]) + \result - k;
    ensures  s_ext:    HeapSmallExt;
    ensures  s_class:  HeapSmallClass;
    ensures  s_reg:    HeapSmallRegion;
    ensures  s_place:  HeapSmallPlace;
    ensures  s_taken:  HeapSmallTaken;
    ensures  cached:   BlocksCached(blocks, \result, n, szind);
    ensures  gone:     \forall integer a; BlockStands(blocks, a, k, \result, first) ==> block_state[a] == BLOCK_NONE;
    ensures  kept:     BlocksKeptBut{Pre,Post}(szind, first + k, first + \result);
    ensures  none:     BlocksNoneNew{Pre,Post};
*/
static inline uint32_t bin_give_word(uint32_t szind, uint32_t e, uint32_t i, uint64_t base, uint64_t length,
    const uint64_t *blocks, uint32_t k, uint32_t n) /*@ ghost (uint32_t first) */
{
    uint64_t span = 64 * (uint64_t)slab_bytes[szind];
    /*@ ghost bin_lemma_slab(blocks[k], e, szind); */
    /*@ ghost bin_lemma_word(blocks[k] - base, block_region[blocks[k]], slab_bytes[szind], i); */
    uint64_t before = i * span;
    uint64_t begin = base + before;
    uint64_t room = length - before < span ? length - before : span;
    uint64_t w = AT(slab_bits, e).w[i];
    uint64_t d = word_distance(begin, blocks[k]);
    /*@ ghost bin_lemma_in_word(blocks[k], e, szind, i, begin, room, d); */
    /*@ loop invariant range:   \at(k,Pre) <= k < n;
        loop invariant d:       d == (begin <= blocks[k] ? blocks[k] - begin : blocks[k] - begin + UINT64_MAX + 1);
        loop invariant in:      d < room;
        loop invariant taken:   BinWordTaken(e, i, w);
        loop invariant unused:  BinWordTail(szind, i, w);
        loop invariant count:   pop(w, 64) == pop(slab_bits[e].w[i], 64) + k - \at(k,Pre);
        loop invariant s_ext:   HeapSmallExt;
        loop invariant s_class: HeapSmallClass;
        loop invariant s_reg:   HeapSmallRegion;
        loop invariant s_place: HeapSmallPlace;
        loop invariant s_taken: HeapSmallTaken;
        loop invariant cached:  BlocksCached(blocks, k, n, szind);
        loop invariant gone:    \forall integer a; BlockStands(blocks, a, \at(k,Pre), k, first) ==> block_state[a] == BLOCK_NONE;
        loop invariant kept:    BlocksKeptBut{Pre,Here}(szind, first + \at(k,Pre), first + k);
        loop invariant none:    BlocksNoneNew{Pre,Here};
        loop assigns   k, d, w, block_state[0 .. ADDRESS_MAX - 1];
        loop variant   n - k;
    */
    do {
        /*@ ghost bin_lemma_in_word(blocks[k], e, szind, i, begin, room, d); */
        /*@ assert this: \at(block_state[\at(blocks[k],Here)],Pre) == BLOCK_CACHED && block_szind[blocks[k]] == szind &&
                block_pos[blocks[k]] == first + k; */
        /*@ assert others: \forall integer j; k < j < n ==> blocks[j] != blocks[k]; */
        uint32_t j = bin_region(szind, begin, d) /*@ ghost (block_region[blocks[k]] % 64) */;
        w = bin_give(w, j, begin + d) /*@ ghost (szind, e, i) */;
        /*@ assert last: \forall integer a; BlockStands(blocks, a, \at(k,Pre), k + 1, first) ==>
                BlockStands(blocks, a, \at(k,Pre), k, first) || a == blocks[k]; */
        /*@ assert kept: BlocksKeptBut{Pre,Here}(szind, first + \at(k,Pre), first + k + 1); */
        k++;
        d = k < n ? word_distance(begin, blocks[k]) : UINT64_MAX;
    } while (d < room);
    slab_set_word(e, i, w);
    return k;
}

#endif
