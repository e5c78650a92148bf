/* bitmap: a set of indices, in words that the caller owns. Bit i % 64 of word i / 64 is set if index i is in the set.
 *
 * Zero words are the empty set. n is the number of words, so that the indices are 0 .. 64 n - 1. To search in a set is
 * the work of bitmap_tree. No function takes a lock, the owner of the words does.
 */
#ifndef QED_DS_BITMAP_H
#define QED_DS_BITMAP_H

#include <stdint.h>

#include "ds/bitmap_word.h"

#define BITMAP_BITS_MAX 16777216U                       /* keeps index arithmetic within 32 bits */
#define BITMAP_WORDS(nbits) (((nbits) + 63U) / 64U)     /* words that nbits indices need */

_Static_assert(BITMAP_WORD_BITS == 64U, "the macro above counts words of 64 bits");

#include "ds/bitmap.acsl"

/* Puts index i into the set, if it is not in it yet. */
/*@ requires range:  0 <= i < 64 * n <= BITMAP_BITS_MAX;
    requires valid:  \valid(words + (0 .. n - 1));
    assigns          words[i / 64];
    ensures  in:     BitmapHas(words, i);
    ensures  others: BitmapSameBut{Pre, Post}(words, n, i);
    ensures  some:   words[i / 64] != 0;
*/
static inline void bitmap_set(uint64_t *words, uint32_t i) /*@ ghost (uint32_t n) */
{
    words[i / 64] = bitmap_word_set(words[i / 64], i % 64);
}

/* Takes index i out of the set, if it is in it. */
/*@ requires range:  0 <= i < 64 * n <= BITMAP_BITS_MAX;
    requires valid:  \valid(words + (0 .. n - 1));
    assigns          words[i / 64];
    ensures  out:    !BitmapHas(words, i);
    ensures  others: BitmapSameBut{Pre, Post}(words, n, i);
*/
static inline void bitmap_unset(uint64_t *words, uint32_t i) /*@ ghost (uint32_t n) */
{
    words[i / 64] = bitmap_word_clear(words[i / 64], i % 64);
}

#endif
