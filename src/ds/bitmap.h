/* bitmap: a set of free indices over words that the caller owns; the flat variant, for a few words.
 *
 * The terms are jemalloc's: an index is set (taken) or unset (free), and sfu and ffu look for the first unset one. In
 * memory a free index is a set bit, so that a search is a test against zero and a count of trailing zeroes. Bits past
 * the last index are clear: they are never found. For larger sets see bitmap_tree.
 *
 * Invariant: BitmapTail. The number of free indices is BitmapFreeCount; every contract says how it changes.
 * No function takes a lock; the words' owner does.
 */
#ifndef QED_DS_BITMAP_H
#define QED_DS_BITMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "ds/bitmap_word.h"

#define BITMAP_BITS_MAX 16777216U                       /* keeps index arithmetic within 32 bits */
#define BITMAP_WORDS_MAX (BITMAP_BITS_MAX / 64U)
#define BITMAP_WORDS(nbits) (((nbits) + 63U) / 64U)     /* words that nbits indices need */

_Static_assert(BITMAP_WORD_BITS == 64U, "the macros above count words of 64 bits");

#include "bitmap.acsl"

/* The only write to an initialized bitmap: one word, and the books on the n words are kept. */
/*@ requires range:  w < n <= BITMAP_WORDS_MAX;
    requires valid:  \valid(words + (0 .. n - 1));
    terminates       \true;
    exits            \false;
    assigns          words[w];
    ensures  word:   words[w] == v;
    ensures  count:  BitmapFreeCount(words, n) == \old(BitmapFreeCount(words, n)) + pop(v, 64) - \old(pop(words[w], 64));
*/
static inline void bitmap_put(uint64_t *words, uint32_t w, uint64_t v) /*@ ghost (uint32_t n) */
{
    words[w] = v;
    /*@ ghost
      /@ loop invariant range: 0 <= i <= n;
         loop invariant below: i <= w ==> BitmapFreeCount(words, i) == BitmapFreeCount{Pre}(words, i);
         loop invariant above: i > w ==> BitmapFreeCount(words, i)
                                 == BitmapFreeCount{Pre}(words, i) + pop(v, 64) - pop(\at(words[w], Pre), 64);
         loop assigns i;
         loop variant n - i;
      @/
      for (uint32_t i = 0; i < n; i++) {}
    */
}

/* Makes every index free. */
/*@ requires range:  0 < nbits <= BITMAP_BITS_MAX;
    requires valid:  \valid(words + (0 .. BITMAP_WORDS(nbits) - 1));
    terminates       \true;
    exits            \false;
    assigns          words[0 .. BITMAP_WORDS(nbits) - 1];
    ensures  free:   \forall integer i; 0 <= i < nbits ==> BitmapFree(words, i);
    ensures  tail:   BitmapTail(words, nbits);
    ensures  count:  BitmapFreeCount(words, BITMAP_WORDS(nbits)) == nbits;
*/
void bitmap_init(uint64_t *words, uint32_t nbits);

/* True if index i is taken. */
/*@ requires valid:  \valid_read(words + i / 64);
    terminates       \true;
    exits            \false;
    assigns          \nothing;
    ensures  set:    \result <==> !BitmapFree(words, i);
*/
static inline bool bitmap_get(const uint64_t *words, uint32_t i)
{
    return !bitmap_word_get(words[i / 64], i % 64);
}

/* Takes the free index i. */
/*@ requires range:  0 <= i < nbits <= BITMAP_BITS_MAX;
    requires valid:  \valid(words + (0 .. BITMAP_WORDS(nbits) - 1));
    requires free:   BitmapFree(words, i);
    requires tail:   BitmapTail(words, nbits);
    terminates       \true;
    exits            \false;
    assigns          words[i / 64];
    ensures  taken:  !BitmapFree(words, i);
    ensures  others: BitmapSameBut{Pre, Post}(words, nbits, i);
    ensures  tail:   BitmapTail(words, nbits);
    ensures  count:  BitmapFreeCount(words, BITMAP_WORDS(nbits)) == \old(BitmapFreeCount(words, BITMAP_WORDS(nbits))) - 1;
*/
static inline void bitmap_set(uint64_t *words, uint32_t nbits, uint32_t i)
{
    uint64_t old = words[i / 64];
    uint64_t v = bitmap_word_clear(old, i % 64);
    (void)nbits;
    /*@ ghost bitmap_word_lemma_one(v, old, (int)(i % 64), 64); */
    bitmap_put(words, i / 64, v) /*@ ghost (BITMAP_WORDS(nbits)) */;
}

/* Gives back the taken index i. */
/*@ requires range:  0 <= i < nbits <= BITMAP_BITS_MAX;
    requires valid:  \valid(words + (0 .. BITMAP_WORDS(nbits) - 1));
    requires taken:  !BitmapFree(words, i);
    requires tail:   BitmapTail(words, nbits);
    terminates       \true;
    exits            \false;
    assigns          words[i / 64];
    ensures  free:   BitmapFree(words, i);
    ensures  others: BitmapSameBut{Pre, Post}(words, nbits, i);
    ensures  tail:   BitmapTail(words, nbits);
    ensures  count:  BitmapFreeCount(words, BITMAP_WORDS(nbits)) == \old(BitmapFreeCount(words, BITMAP_WORDS(nbits))) + 1;
*/
static inline void bitmap_unset(uint64_t *words, uint32_t nbits, uint32_t i)
{
    uint64_t old = words[i / 64];
    uint64_t v = bitmap_word_set(old, i % 64);
    (void)nbits;
    /*@ ghost bitmap_word_lemma_one(old, v, (int)(i % 64), 64); */
    bitmap_put(words, i / 64, v) /*@ ghost (BITMAP_WORDS(nbits)) */;
}

/* The first free index at or after from, or nbits if there is none. */
/*@ requires range:  0 < nbits <= BITMAP_BITS_MAX;
    requires from:   0 <= from <= nbits;
    requires valid:  \valid_read(words + (0 .. BITMAP_WORDS(nbits) - 1));
    requires tail:   BitmapTail(words, nbits);
    terminates       \true;
    exits            \false;
    assigns          \nothing;
    ensures  range:  from <= \result <= nbits;
    ensures  free:   \result < nbits ==> BitmapFree(words, \result);
    ensures  first:  BitmapNoneFree(words, from, \result);
*/
uint32_t bitmap_ffu(const uint64_t *words, uint32_t nbits, uint32_t from);

/* Takes the first free index; nbits if there is none. */
/*@ requires range:  0 < nbits <= BITMAP_BITS_MAX;
    requires valid:  \valid(words + (0 .. BITMAP_WORDS(nbits) - 1));
    requires tail:   BitmapTail(words, nbits);
    terminates       \true;
    exits            \false;
    assigns          words[0 .. BITMAP_WORDS(nbits) - 1];
    ensures  range:  0 <= \result <= nbits;
    ensures  free:   \result < nbits ==> BitmapFree{Pre}(words, \result);
    ensures  taken:  \result < nbits ==> !BitmapFree(words, \result);
    ensures  first:  BitmapNoneFree{Pre}(words, 0, \result);
    ensures  others: BitmapSameBut{Pre, Post}(words, nbits, \result);
    ensures  tail:   BitmapTail(words, nbits);
    ensures  count:  \result < nbits ==>
      BitmapFreeCount(words, BITMAP_WORDS(nbits)) == \old(BitmapFreeCount(words, BITMAP_WORDS(nbits))) - 1;
    ensures  same:   \result == nbits ==>
      (\forall integer w; 0 <= w < BITMAP_WORDS(nbits) ==> words[w] == \old(words[w]));
*/
uint32_t bitmap_sfu(uint64_t *words, uint32_t nbits);

/* True if no index is free. */
/*@ requires range:  0 < nbits <= BITMAP_BITS_MAX;
    requires valid:  \valid_read(words + (0 .. BITMAP_WORDS(nbits) - 1));
    requires tail:   BitmapTail(words, nbits);
    terminates       \true;
    exits            \false;
    assigns          \nothing;
    ensures  full:   \result <==> BitmapNoneFree(words, 0, nbits);
    ensures  count:  \result <==> BitmapFreeCount(words, BITMAP_WORDS(nbits)) == 0;
*/
bool bitmap_full(const uint64_t *words, uint32_t nbits);

#endif
