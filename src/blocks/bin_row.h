/* bin_row: how a row of blocks goes back, each of which lies beside the one before it, all above it or all below it.
 *
 * A thread that frees blocks in the order in which it got them, or in the reverse order, leaves such rows in its stacks. Their bits lie
 * side by side in a word of the slab's bitmap, and are set at once.
 */
#ifndef QED_BLOCKS_BIN_ROW_H
#define QED_BLOCKS_BIN_ROW_H

#include "blocks/bin_give.h"

#include "blocks/bin_row.acsl"
#include "blocks/bin_row_lemmas.acsl"

/* Returns whether blocks[0 .. n - 1] seem to begin with a row: whether the fourth lies where it would in one. */
/*@ requires class:    szind < SC_NBINS;
    requires geometry: SlabGeometryOk;
    requires valid:    \valid_read(blocks + (0 .. n - 1));
    requires address:  RowAddresses(blocks, n);
    assigns            \nothing;
    ensures  seems:    \result <==> n > 3 && (blocks[3] == blocks[0] + 3 * slab_bytes[szind] || blocks[0] == blocks[3] + 3 * slab_bytes[szind]);
*/
static inline bool bin_row_seems(uint32_t szind, const uint64_t *blocks, uint32_t n)
{
    if (n <= 3) {
        return false;
    }
    uint64_t three = 3 * (uint64_t)slab_bytes[szind];
    return tag_distance(blocks[0], blocks[3]) == three || tag_distance(blocks[3], blocks[0]) == three;
}

/* Returns whether blocks[m .. m + 3] go on in the row, of which the next one would be that address. */
/*@ requires back:     RowBack(back, bytes, up);
    requires order:    m + 4 <= n;
    requires valid:    \valid_read(blocks + (0 .. n - 1));
    requires address:  RowAddresses(blocks, n);
    requires next:     m > 0 ==> next == RowNext(blocks[m - 1], back);
    assigns            \nothing;
    ensures  row:      \result ==> \forall integer i; m <= i < m + 4 && 0 < i ==> RowStep(blocks, i, bytes, up);
*/
static inline bool bin_row_four(const uint64_t *blocks, uint64_t m, uint64_t next, uint64_t back)
    /*@ ghost (uint32_t n, uint32_t bytes, int up) */
{
    uint64_t second = tag_distance(back, next);
    uint64_t third = tag_distance(back, second);
    uint64_t fourth = tag_distance(back, third);
    return blocks[m] == next && blocks[m + 1] == second && blocks[m + 2] == third && blocks[m + 3] == fourth;
}

/* Returns how many of the first n blocks are a row, as many as can be. `back` is the distance from a block of it to the one before it, modulo
 * 2^64. */
/*@ requires back:     RowBack(back, bytes, up);
    requires some:     0 < n;
    requires valid:    \valid_read(blocks + (0 .. n - 1));
    requires address:  RowAddresses(blocks, n);
    assigns            \nothing;
    ensures  range:    0 < \result <= n;
    ensures  row:      BlocksRow(blocks, \result, bytes, up);
    ensures  longest:  \result < n ==> !RowStep(blocks, \result, bytes, up);
*/
static inline uint32_t bin_row_length(const uint64_t *blocks, uint32_t n, uint64_t back) /*@ ghost (uint32_t bytes, int up) */
{
    uint64_t m = 0;
    uint64_t next = blocks[0];
    uint64_t end = n > 7 ? n - 7 : 0;
    /*@ loop invariant range:  0 <= m <= n;
        loop invariant first:  m == 0 ==> next == blocks[0];
        loop invariant next:   m > 0 ==> next == RowNext(blocks[m - 1], back);
        loop invariant row:    BlocksRow(blocks, m, bytes, up);
        loop assigns   m, next;
        loop variant   n - m;
    */
    while (m < end && bin_row_four(blocks, m, next, back) /*@ ghost (n, bytes, up) */ &&
           bin_row_four(blocks, m + 4, tag_distance(back, blocks[m + 3]), back) /*@ ghost (n, bytes, up) */) {
        next = tag_distance(back, blocks[m + 7]);
        m += 8;
    }
    /*@ loop invariant range:  0 <= m <= n;
        loop invariant first:  m == 0 ==> next == blocks[0];
        loop invariant next:   m > 0 ==> next == RowNext(blocks[m - 1], back);
        loop invariant row:    BlocksRow(blocks, m, bytes, up);
        loop assigns   m, next;
        loop variant   n - m;
    */
    while (m < n && blocks[m] == next) {
        next = tag_distance(back, next);
        m++;
    }
    return (uint32_t)m;
}

/* Gives a row of m blocks back, of which the lowest has bit low: sets their bits in w. Returns the new w. The program ends where one of the
 * regions is free already, and only there. */
/*@ requires bits:     0 < m && low + m <= 64;
    requires valid:    \valid_read(blocks + (0 .. m - 1));
    exits    twice:    \exists integer j; low <= j < low + m && tbit(w, j);
    assigns            \nothing;
    ensures  once:     \forall integer j; low <= j < low + m ==> !tbit(w, j);
    ensures  set:      \forall integer j; 0 <= j < 64 ==> (tbit(\result, j) <==> tbit(w, j) || low <= j < low + m);
*/
static inline uint64_t bin_row_set(uint64_t w, uint32_t low, uint32_t m, bool up, const uint64_t *blocks)
{
    uint64_t bits = bitmap_word_range(low, m);
    uint64_t twice = w & bits;
    /*@ ghost bitmap_word_lemma_two(w, bits); */
    /*@ assert both: \forall integer j; 0 <= j < 64 ==> (tbit(twice, j) <==> tbit(w, j) && low <= j < low + m); */
    if (twice != 0) {
        uint32_t j = bits_lowest(twice);
        /*@ assert twice: tbit(twice, j); */
        /*@ assert in: low <= j < low + m && tbit(w, j); */
        trap_misuse("free", "double free", blocks[up ? j - low : low + m - 1 - j]);
    }
    /*@ ghost bitmap_word_lemma_clear(); */
    /*@ assert none: \forall integer j; 0 <= j < 64 ==> !tbit(twice, j); */
    uint64_t v = w | bits;
    return v;
}

/* Gives the row back with which blocks[0 .. n - 1] begin. It ends where its word of the bitmap of slab e does. Returns how many they are. */
/*@ GIVES_BLOCKS;
*/
__attribute__((noinline)) static uint32_t bin_give_row(uint32_t szind, uint32_t e, const uint64_t *blocks, uint32_t n)
    /*@ ghost (uint32_t first) */
{
    /*@ assert slab: ExtKind(e, KIND_SLAB) && slab_class[e] == szind && ExtUsed(e); */
    uint64_t base = AT(ext_page, e) * PAGE;
    uint64_t bytes = slab_bytes[szind];
    /*@ ghost bin_lemma_slab(blocks[0], e, szind); */
    uint32_t r = bin_region(szind, base, tag_distance(base, blocks[0])) /*@ ghost (block_region[blocks[0]]) */;
    bool     up = n > 1 && blocks[0] < blocks[1];
    uint32_t behind = slab_regions[szind] - r;
    uint32_t above = behind < 64 - r % 64 ? behind : 64 - r % 64;
    uint32_t room = up ? above : r % 64 + 1;
    uint32_t m = bin_row_length(blocks, n < room ? n : room, up ? UINT64_MAX - bytes + 1 : bytes) /*@ ghost ((uint32_t)bytes, up) */;
    uint32_t low = up ? r : r + 1 - m;
    /*@ assert cached: BlocksCached(blocks, 0, m, szind); */
    /*@ ghost bin_lemma_row(blocks, e, szind, r, m, up); */
    uint64_t w = AT(slab_bits, e).w[low / 64];
    /*@ ghost bin_lemma_clear(e, low, m); */
    uint64_t v = bin_row_set(w, low % 64, m, up, blocks);
    /*@ ghost bitmap_word_lemma_range(w, v, low % 64, m); */
    /*@ ghost bin_row_free(blocks, m, szind, first); */
    /*@ assert out: \forall integer a; BlockSmall(a) && block_ext[a] == e ==> !(low <= block_region[a] < low + m); */
    /*@ assert taken: BinWordTaken(e, low / 64, v); */
    /*@ assert tail: BinWordTail(szind, low / 64, v); */
    slab_set_word(e, low / 64, v);
    AT(slab_free_count, e) += m;
    /*@ ghost bin_lemma_room(e); */
    /*@ ghost bin_lemma_heap(); */
    return m;
}

#endif
