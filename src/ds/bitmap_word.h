/* bitmap_word: operations on one 64-bit word of a bitmap.
 *
 * They take the word and return the new word, so that a caller keeps it in a register while it takes many bits.
 * bits_lowest (platform/bits.h) finds the lowest set bit. Lemmas on counts are in spec/ds/bitmap_word_lemmas.acsl.
 */
#ifndef QED_DS_BITMAP_WORD_H
#define QED_DS_BITMAP_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/bits.h"

#include "ds/bitmap_word.acsl"
#include "ds/bitmap_word_lemmas.acsl"

#define BITMAP_WORD_BITS 64U

/*@ requires range: i < 64;
    assigns         \nothing;
    ensures  bit:   \result <==> tbit(w, i);
*/
static inline bool bitmap_word_get(uint64_t w, uint32_t i)
{
    return ((w >> i) & 1) != 0;
}

/*@ requires range:  i < 64;
    assigns          \nothing;
    ensures  set:    tbit(\result, i);
    ensures  others: SameBitsBut(w, \result, i);
    ensures  some:   \result != 0;
*/
static inline uint64_t bitmap_word_set(uint64_t w, uint32_t i)
{
    /*@ ghost bitmap_word_lemma_shift((int)i); */
    return w | (1UL << i);
}

/*@ requires range:  i < 64;
    assigns          \nothing;
    ensures  clear:  !tbit(\result, i);
    ensures  others: SameBitsBut(w, \result, i);
*/
static inline uint64_t bitmap_word_clear(uint64_t w, uint32_t i)
{
    /*@ ghost bitmap_word_lemma_shift((int)i); */
    return w & ~(1UL << i);
}

/* Returns the word whose n lowest bits are set. */
/*@ requires range: n <= 64;
    assigns         \nothing;
    ensures  mask:  IsMask(\result, n);
*/
static inline uint64_t bitmap_word_mask(uint32_t n)
{
    if (n == 0) {
        return 0;
    }
    /*@ ghost bitmap_word_lemma_ones_shifted(64 - (int)n); */
    return UINT64_MAX >> (64U - n);
}

/* Returns the word whose bits first .. first + n - 1 are set. */
/*@ requires range: first + n <= 64;
    assigns         \nothing;
    ensures  bits:  \forall integer j; 0 <= j < 64 ==> (tbit(\result, j) <==> first <= j < first + n);
*/
static inline uint64_t bitmap_word_range(uint32_t first, uint32_t n)
{
    uint64_t below = bitmap_word_mask(first);
    uint64_t all = bitmap_word_mask(first + n);
    /*@ ghost bitmap_word_lemma_two(all, below); */
    return all ^ below;
}

#endif
