/* bitmap_tree: a set of up to 4032 indices. The least member from an index on is found by looking at three words.
 *
 * One array holds the words of a bitmap (the leaves) and after them one top word, whose bit k is set if and only if
 * leaf k is not zero. n is the number of leaves, so that the indices are 0 .. 64 n - 1. Zero words are the empty set.
 *
 * Invariant: TreeTop. The leaves alone say what is in the set. No function takes a lock, the owner of the words does.
 */
#ifndef QED_DS_BITMAP_TREE_H
#define QED_DS_BITMAP_TREE_H

#include <stdint.h>

#include "ds/bitmap.h"

#define BITMAP_TREE_LEAVES_MAX 63U                      /* a bit each in the top word, which keeps one clear */
#define BITMAP_TREE_WORDS(n) ((n) + 1U)                 /* words of a tree with n leaves */

#include "ds/bitmap_tree.acsl"
#include "ds/bitmap_tree_lemmas.acsl"

/* Puts index i into the set, if it is not in it yet. */
/*@ requires range:  0 <= i < 64 * n && n <= BITMAP_TREE_LEAVES_MAX;
    requires valid:  \valid(words + (0 .. n));
    requires top:    TreeTop(words, n);
    assigns          words[i / 64], words[n];
    ensures  in:     BitmapHas(words, i);
    ensures  others: BitmapSameBut{Pre, Post}(words, n, i);
    ensures  top:    TreeTop(words, n);
*/
static inline void bitmap_tree_set(uint64_t *words, uint32_t n, uint32_t i)
{
    bitmap_set(words, i) /*@ ghost (n) */;
    words[n] = bitmap_word_set(words[n], i / 64);
}

/* Takes index i out of the set, if it is in it. */
/*@ requires range:  0 <= i < 64 * n && n <= BITMAP_TREE_LEAVES_MAX;
    requires valid:  \valid(words + (0 .. n));
    requires top:    TreeTop(words, n);
    assigns          words[i / 64], words[n];
    ensures  out:    !BitmapHas(words, i);
    ensures  others: BitmapSameBut{Pre, Post}(words, n, i);
    ensures  top:    TreeTop(words, n);
*/
static inline void bitmap_tree_unset(uint64_t *words, uint32_t n, uint32_t i)
{
    /*@ ghost bitmap_word_lemma_clear(); */
    bitmap_unset(words, i) /*@ ghost (n) */;
    if (words[i / 64] == 0) {
        words[n] = bitmap_word_clear(words[n], i / 64);
        return;
    }
    /*@ ghost int b = bitmap_word_lemma_nonzero(words[i / 64]); */
    /*@ assert was:  BitmapHas(words, 64 * (i / 64) + b) && BitmapHas{Pre}(words, 64 * (i / 64) + b); */
    /*@ assert some: \at(words[\at(i, Here) / 64], Pre) != 0 && TreeTopBit(words, n, i / 64); */
}

/* Returns the least index of the set that is not below from, or 64 n if there is none. */
/*@ requires range:  0 <= from < 64 * n && n <= BITMAP_TREE_LEAVES_MAX;
    requires valid:  \valid_read(words + (0 .. n));
    requires top:    TreeTop(words, n);
    assigns          \nothing;
    ensures  range:  from <= \result <= 64 * n;
    ensures  in:     \result < 64 * n ==> BitmapHas(words, \result);
    ensures  least:  BitmapNone(words, from, \result);
*/
static inline uint32_t bitmap_tree_first_from(const uint64_t *words, uint32_t n, uint32_t from)
{
    uint32_t k = from / 64;
    uint64_t rest = words[k] >> (from % 64);
    /*@ ghost bitmap_word_lemma_rest(words[k], (int)(from % 64)); */
    if (rest != 0) {
        uint32_t b = bits_lowest(rest);
        /*@ assert none: \forall integer j; from % 64 <= j < from % 64 + b ==> !tbit((uint64_t)rest, j - from % 64); */
        /*@ ghost bitmap_tree_lemma_leaf(words, k, from % 64, from % 64 + b); */
        return from + b;
    }
    /*@ ghost bitmap_tree_lemma_leaf(words, k, from % 64, 64); */
    uint64_t others = words[n] >> (k + 1);
    /*@ ghost bitmap_word_lemma_rest(words[n], (int)(k + 1)); */
    if (others == 0) {
        /*@ ghost bitmap_tree_lemma_leaves(words, n, k + 1, n); */
        return 64 * n;
    }
    uint32_t next = k + 1 + bits_lowest(others);
    /*@ assert none: \forall integer j; k + 1 <= j < next ==> !tbit((uint64_t)others, j - (k + 1)); */
    /*@ assert leaf: TreeTopBit(words, n, next); */
    /*@ ghost bitmap_tree_lemma_leaves(words, n, k + 1, next); */
    uint32_t b = bits_lowest(words[next]);
    /*@ ghost bitmap_tree_lemma_leaf(words, next, 0, b); */
    /*@ assert place: (64 * next + b) / 64 == next && (64 * next + b) % 64 == b; */
    return 64 * next + b;
}

#endif
