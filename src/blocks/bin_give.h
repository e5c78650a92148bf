/* bin_give: how a word of a slab's bitmap takes blocks back.
 *
 * The 64 regions whose bits are in one word lie side by side. So a block's distance from the first of them tells whether it is
 * one of them. One product then tells which, and whether a block begins there at all.
 */
#ifndef QED_BLOCKS_BIN_GIVE_H
#define QED_BLOCKS_BIN_GIVE_H

#include "blocks/bin_slabs.h"
#include "platform/trap.h"

/* The regions that have their bits in one word of a slab's bitmap. */
struct bin_word {
    uint64_t begin;                             /* address of the first of them */
    uint64_t room;                              /* bytes in which they lie: fewer than 64 regions at the end of the slab */
    uint32_t i;                                 /* the word's place in the bitmap */
};

#include "blocks/bin_give.acsl"
#include "blocks/bin_lemmas.acsl"

/* Returns the word that has the bit of region r of the slab that begins at base. */
/*@ requires class:    szind < SC_NBINS;
    requires geometry: SlabGeometryOk;
    requires base:     base < ADDRESS_MAX;
    requires length:   length == slab_npages[szind] * PAGE;
    requires region:   r < slab_regions[szind];
    assigns            \nothing;
    ensures  word:     \result.i == r / 64;
    ensures  begin:    \result.begin == base + \result.i * (64 * slab_bytes[szind]);
    ensures  room:     \result.room == \min(64 * slab_bytes[szind], length - \result.i * (64 * slab_bytes[szind]));
*/
static inline struct bin_word bin_word_of(uint32_t szind, uint64_t base, uint64_t length, uint32_t r)
{
    uint32_t i = r / 64;
    uint64_t span = 64 * (uint64_t)slab_bytes[szind];
    /*@ ghost
        slab_lemma_scale(r + 1UL, slab_regions[szind], slab_bytes[szind]);
        bin_lemma_word(r * (uint64_t)slab_bytes[szind], r, slab_bytes[szind], i);
    */
    uint64_t before = i * span;
    return (struct bin_word){.begin = base + before, .room = length - before < span ? length - before : span, .i = i};
}

/* Returns the number of the region that begins d bytes behind begin, where regions of the class begin. The program ends where none begins
 * there, and only there. */
/*@ requires class:    szind < SC_NBINS;
    requires geometry: SlabGeometryOk;
    requires inside:   d < slab_npages[szind] * PAGE && begin + d < ADDRESS_MAX;
    exits    none:     \forall integer k; d != k * slab_bytes[szind];
    exits    not:      d != r * slab_bytes[szind];
    assigns            \nothing;
    ensures  begins:   d == \result * slab_bytes[szind];
    ensures  region:   d == r * slab_bytes[szind] ==> \result == r;
*/
static inline uint32_t bin_region(uint32_t szind, uint64_t begin, uint64_t d) /*@ ghost (uint32_t r) */
{
    divide_magic_t magic = slab_magic[szind];
    /*@ ghost bin_lemma_begins(d, slab_bytes[szind], magic, slab_regions[szind]); */
    uint64_t product = divide_product((uint32_t)d, magic);
    if (divide_low(product) >= magic) {
        trap_misuse("free", "double free", begin + d);
    }
    return divide_high(product);
}

/* Gives one block back: sets bit j of w, which the caller keeps in the place of word i of slab e's bitmap. Returns the new w. The program
 * ends where the region is free already, and only there. */
/*@ requires class:    szind < SC_NBINS;
    requires slab:     ExtKind(e, KIND_SLAB) && slab_class[e] == szind;
    requires bit:      j < 64;
    requires block:    !tbit(w, j) ==> BlockSmall(block) && block_ext[block] == e && block_szind[block] == szind;
    requires region:   !tbit(w, j) ==> block_region[block] < slab_regions[szind] <= SLAB_REGIONS_MAX;
    requires place:    !tbit(w, j) ==> block_region[block] / 64 == i && block_region[block] % 64 == j;
    requires taken:    BinWordTaken(e, i, w);
    requires tail:     BinWordTail(szind, i, w);
    requires s_place:  BlocksSmallPlace;
    requires s_class:  BlocksSmallClass;
    requires s_taken:  BlocksSmallTaken;
    exits    twice:    tbit(w, j);
    exits    same:     block_state[block] == \old(block_state[block]);
    assigns            block_state[block];
    ensures  once:     !tbit(w, j);
    ensures  set:      tbit(\result, j);
    ensures  taken:    BinWordTaken(e, i, \result);
    ensures  tail:     BinWordTail(szind, i, \result);
    ensures  count:    pop(\result, 64) == pop(w, 64) + 1;
    ensures  gone:     block_state[block] == BLOCK_NONE;
    ensures  s_taken:  BlocksSmallTaken;
*/
static inline uint64_t bin_give(uint64_t w, uint32_t j, uint64_t block) /*@ ghost (uint32_t szind, uint32_t e, uint32_t i) */
{
    if (bitmap_word_get(w, j)) {
        trap_misuse("free", "double free", block);
    }
    /*@ ghost bin_lemma_other(block); */
    uint64_t v = bitmap_word_set(w, j);
    /*@ ghost bitmap_word_lemma_one(w, v, j, 64); */
    /*@ ghost block_state[block] = BLOCK_NONE; */
    return v;
}

/* Gives blocks[k], which has bit j of its word, and those behind it back, up to the first that has its bit in another word. Returns the place
 * of that one, or n. */
/*@ requires class:    szind < SC_NBINS;
    requires lock:     LockHeld(LOCK_BIN(slab_bin[e]));
    requires pages:    SlabsOnPages;
    requires slab:     ExtKind(e, KIND_SLAB) && slab_class[e] == szind;
    requires word:     BinWordAt(at, e, szind);
    requires order:    k < n && first + n <= UINT32_MAX;
    requires valid:    \valid_read(blocks + (0 .. n - 1));
    BLOCKS_CACHED(requires, k, n);
    requires one:      block_ext[blocks[k]] == e && block_region[blocks[k]] == 64 * at.i + j && j < 64;
    SLAB_BITS(requires, e);
    BLOCKS_SMALL(requires);
    assigns            slab_bits[e].w[0 .. SLAB_WORDS - 1], slab_sum[e].upto[0 .. SLAB_WORDS],
                       block_state[0 .. ADDRESS_MAX - 1];
    ensures  more:     k < \result <= n;
    SLAB_BITS(ensures, e);
    ensures  total:    slab_sum[e].upto[SLAB_WORDS] == \old(slab_sum[e].upto[SLAB_WORDS]) + \result - k;
    BLOCKS_SMALL(ensures);
    ensures  cached:   BlocksCached(blocks, \result, n, szind);
    ensures  gone:     \forall integer a; BlockStands(blocks, a, k, \result, first) ==> block_state[a] == BLOCK_NONE;
    ensures  kept:     BlocksKeptBut{Pre,Post}(szind, first + k, first + \result);
    ensures  none:     BlocksNoneNew{Pre,Post};
*/
static inline uint32_t bin_give_word(uint32_t szind, uint32_t e, struct bin_word at, uint32_t j, const uint64_t *blocks,
    uint32_t k, uint32_t n) /*@ ghost (uint32_t first) */
{
    uint64_t w = AT(slab_bits, e).w[at.i];
    /*@ loop invariant range:   \at(k,Pre) <= k < n;
        loop invariant bit:     block_ext[blocks[k]] == e && block_region[blocks[k]] == 64 * at.i + j && j < 64;
        loop invariant taken:   BinWordTaken(e, at.i, w);
        loop invariant unused:  BinWordTail(szind, at.i, w);
        loop invariant count:   pop(w, 64) == pop(slab_bits[e].w[at.i], 64) + k - \at(k,Pre);
        BLOCKS_SMALL(loop invariant);
        loop invariant cached:  BlocksCached(blocks, k, n, szind);
        loop invariant gone:    \forall integer a; BlockStands(blocks, a, \at(k,Pre), k, first) ==> block_state[a] == BLOCK_NONE;
        loop invariant kept:    BlocksKeptBut{Pre,Here}(szind, first + \at(k,Pre), first + k);
        loop invariant none:    BlocksNoneNew{Pre,Here};
        loop assigns   k, j, w, block_state[0 .. ADDRESS_MAX - 1];
        loop variant   n - k;
    */
    for (;;) {
        /*@ assert this: \at(block_state[\at(blocks[k],Here)],Pre) == BLOCK_CACHED && block_szind[blocks[k]] == szind &&
                block_pos[blocks[k]] == first + k; */
        /*@ assert others: \forall integer q; k < q < n ==> blocks[q] != blocks[k]; */
        /*@ assert taken: !tbit(w, j); */
        w = bin_give(w, j, blocks[k]) /*@ ghost (szind, e, at.i) */;
        /*@ assert one: \forall integer a; BlockStands(blocks, a, k, k + 1, first) ==> a == blocks[k]; */
        /*@ assert last: \forall integer a; BlockStands(blocks, a, \at(k,Pre), k + 1, first) ==>
                BlockStands(blocks, a, \at(k,Pre), k, first) || a == blocks[k]; */
        /*@ assert kept: BlocksKeptBut{Pre,Here}(szind, first + \at(k,Pre), first + k + 1); */
        k++;
        uint64_t d = k < n ? tag_distance(at.begin, blocks[k]) : UINT64_MAX;
        if (d >= at.room) {
            break;
        }
        /*@ ghost bin_lemma_in_word(blocks[k], e, szind, at, d); */
        j = bin_region(szind, at.begin, d) /*@ ghost (block_region[blocks[k]] % 64) */;
    }
    slab_set_word(e, at.i, w);
    return k;
}

#endif
