/* bitmap_tree: a set of up to 32,768 indices. The least member from an index on is found by looking at a leaf, a few top words, and
 * another leaf.
 *
 * One array holds the words of a bitmap (the leaves) and after them the top words, whose bit k is set if and only if
 * leaf k is not zero. n is the number of leaves, so that the indices are 0 .. 64 n - 1. Zero words are the empty set.
 *
 * Invariant: TreeTop. The leaves alone say what is in the set. No function takes a lock, the owner of the words does.
 */
#ifndef QED_DS_BITMAP_TREE_H
#define QED_DS_BITMAP_TREE_H

#include <stdint.h>

#include "ds/bitmap.h"

#define BITMAP_TREE_LEAVES_MAX 512U
#define BITMAP_TREE_TOPS(n) ((n) / 64U + 1U)            /* a bit for each leaf, and one more at least, which stays clear */
#define BITMAP_TREE_WORDS(n) ((n) + BITMAP_TREE_TOPS(n))    /* words of a tree with n leaves */

#include "ds/bitmap_tree.acsl"
#include "ds/bitmap_tree_lemmas.acsl"

/* Puts index i into the set, if it is not in it yet. */
/*@ requires range:  0 <= i < 64 * n && n <= BITMAP_TREE_LEAVES_MAX;
    requires valid:  \valid(words + (0 .. BITMAP_TREE_WORDS(n) - 1));
    requires top:    TreeTop(words, n);
    assigns          words[i / 64], words[n + i / 64 / 64];
    ensures  in:     BitmapHas(words, i);
    ensures  others: BitmapSameBut{Pre, Post}(words, n, i);
    ensures  top:    TreeTop(words, n);
*/
static inline void bitmap_tree_set(uint64_t *words, uint32_t n, uint32_t i)
{
    bitmap_set(words, i) /*@ ghost (n) */;
    uint32_t leaf = i / 64, top = n + leaf / 64;
    words[top] = bitmap_word_set(words[top], leaf % 64);
    /*@ assert here:  TreeTopBit(words, n, leaf / 64, leaf % 64); */
    /*@ assert place: \forall integer t, b; 0 <= b < 64 && 64 * t + b == leaf ==> t == leaf / 64 && b == leaf % 64; */
    /*@ assert rest:  \forall integer t, b; 0 <= t < BITMAP_TREE_TOPS(n) && 0 <= b < 64 && 64 * t + b != leaf ==>
            TreeTopBit(words, n, t, b); */
}

/* Takes index i out of the set, if it is in it. */
/*@ requires range:  0 <= i < 64 * n && n <= BITMAP_TREE_LEAVES_MAX;
    requires valid:  \valid(words + (0 .. BITMAP_TREE_WORDS(n) - 1));
    requires top:    TreeTop(words, n);
    assigns          words[i / 64], words[n + i / 64 / 64];
    ensures  out:    !BitmapHas(words, i);
    ensures  others: BitmapSameBut{Pre, Post}(words, n, i);
    ensures  top:    TreeTop(words, n);
*/
static inline void bitmap_tree_unset(uint64_t *words, uint32_t n, uint32_t i)
{
    /*@ ghost bitmap_word_lemma_clear(); */
    bitmap_unset(words, i) /*@ ghost (n) */;
    if (words[i / 64] == 0) {
        uint32_t leaf = i / 64, top = n + leaf / 64;
        words[top] = bitmap_word_clear(words[top], leaf % 64);
        /*@ assert here:  TreeTopBit(words, n, leaf / 64, leaf % 64); */
        /*@ assert place: \forall integer t, b; 0 <= b < 64 && 64 * t + b == leaf ==> t == leaf / 64 && b == leaf % 64; */
        /*@ assert rest:  \forall integer t, b; 0 <= t < BITMAP_TREE_TOPS(n) && 0 <= b < 64 && 64 * t + b != leaf ==>
                TreeTopBit(words, n, t, b); */
        return;
    }
    /*@ ghost int b = bitmap_word_lemma_nonzero(words[i / 64]); */
    /*@ assert was:  BitmapHas(words, 64 * (i / 64) + b) && BitmapHas{Pre}(words, 64 * (i / 64) + b); */
    /*@ assert some: \at(words[\at(i, Here) / 64], Pre) != 0 && TreeTopBit(words, n, i / 64 / 64, i / 64 % 64); */
    /*@ assert place: \forall integer t, k; 0 <= k < 64 && 64 * t + k == i / 64 ==> t == i / 64 / 64 && k == i / 64 % 64; */
    /*@ assert rest:  \forall integer t, k; 0 <= t < BITMAP_TREE_TOPS(n) && 0 <= k < 64 && 64 * t + k != i / 64 ==>
            TreeTopBit(words, n, t, k); */
}

/* Returns the least leaf that is not below from and not zero, or n if there is none. */
/*@ requires range:  0 <= from <= n <= BITMAP_TREE_LEAVES_MAX;
    requires valid:  \valid_read(words + (0 .. BITMAP_TREE_WORDS(n) - 1));
    requires top:    TreeTop(words, n);
    assigns          \nothing;
    ensures  range:  from <= \result <= n;
    ensures  some:   \result < n ==> words[\result] != 0;
    ensures  none:   TreeNoLeaf(words, from, \result);
*/
static inline uint32_t bitmap_tree_leaf_from(const uint64_t *words, uint32_t n, uint32_t from)
{
    uint32_t t = from / 64, least = from % 64;
    uint64_t rest = words[n + t] >> least;
    /*@ ghost bitmap_word_lemma_rest(words[n + t], (int)least); */
    /*@ loop invariant range: from / 64 <= t < BITMAP_TREE_TOPS(n) && 0 <= least < 64 && from <= 64 * t + least <= n;
        loop invariant none:  TreeNoLeaf(words, from, 64 * t + least);
        loop invariant rest:  rest == words[n + t] >> least;
        loop assigns   t, least, rest;
        loop variant   BITMAP_TREE_TOPS(n) - t;
    */
    while (rest == 0) {
        /*@ ghost bitmap_word_lemma_rest(words[n + t], (int)least); */
        /*@ ghost bitmap_tree_lemma_top(words, n, t, least, t < n / 64 ? 64 : n % 64); */
        if (t == n / 64) {
            return n;
        }
        t++;
        least = 0;
        rest = words[n + t];
    }
    /*@ ghost bitmap_word_lemma_rest(words[n + t], (int)least); */
    uint32_t b = bits_lowest(rest);
    /*@ assert none: \forall integer j; least <= j < least + b ==> !tbit((uint64_t)rest, j - least); */
    /*@ assert leaf: TreeTopBit(words, n, t, least + b) && tbit(words[n + t], least + b); */
    /*@ ghost bitmap_tree_lemma_top(words, n, t, least, least + b); */
    return 64 * t + least + b;
}

/* Returns the least index of the set that is not below from, or 64 n if there is none. */
/*@ requires range:  0 <= from < 64 * n && n <= BITMAP_TREE_LEAVES_MAX;
    requires valid:  \valid_read(words + (0 .. BITMAP_TREE_WORDS(n) - 1));
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
    uint32_t next = bitmap_tree_leaf_from(words, n, k + 1);
    /*@ ghost bitmap_tree_lemma_leaves(words, k + 1, next); */
    if (next == n) {
        return 64 * n;
    }
    uint32_t b = bits_lowest(words[next]);
    /*@ ghost bitmap_tree_lemma_leaf(words, next, 0, b); */
    /*@ assert place: (64 * next + b) / 64 == next && (64 * next + b) % 64 == b; */
    return 64 * next + b;
}

#endif
