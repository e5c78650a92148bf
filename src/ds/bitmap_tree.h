/* bitmap_tree: a set of free indices, found through two levels of summary words; for up to 2^18 indices.
 *
 * The same operations and meaning as the flat bitmap, over one array: the flat bitmap's words (leaves), then a middle
 * word per 64 leaves, then one top word. A summary bit is set if and only if the word under it is not zero, so every
 * operation touches at most two words per level. Smaller sets also have three levels: a level fewer would save one
 * load and cost a case in every proof.
 *
 * Invariant: BitmapTail of the leaves, TreeMiddle, TreeTop. What is free, and how many, is said by the leaves alone.
 * No function takes a lock; the words' owner does.
 */
#ifndef QED_DS_BITMAP_TREE_H
#define QED_DS_BITMAP_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "ds/bitmap.h"

#define BITMAP_TREE_BITS_MAX 262144U                    /* 64 * 64 * 64: one top word */

/* Words that a tree over nbits indices needs. */
#define BITMAP_TREE_WORDS(nbits) (BITMAP_WORDS(nbits) + BITMAP_WORDS(BITMAP_WORDS(nbits)) + 1U)

_Static_assert(BITMAP_WORDS(BITMAP_WORDS(BITMAP_TREE_BITS_MAX)) == 64U, "the middle words have a bit each in one word");
_Static_assert(BITMAP_TREE_BITS_MAX <= BITMAP_BITS_MAX, "the leaves are a flat bitmap");

#include "bitmap_tree.acsl"

/* Makes every index free. */
/*@ requires range:  0 < nbits <= BITMAP_TREE_BITS_MAX;
    requires valid:  \valid(words + (0 .. BITMAP_TREE_WORDS(nbits) - 1));
    terminates       \true;
    exits            \false;
    assigns          words[0 .. BITMAP_TREE_WORDS(nbits) - 1];
    ensures  free:   \forall integer i; 0 <= i < nbits ==> BitmapFree(words, i);
    ensures  tail:   BitmapTail(words, nbits);
    ensures  middle: TreeMiddle(words, BITMAP_WORDS(nbits));
    ensures  top:    TreeTop(words, BITMAP_WORDS(nbits));
    ensures  count:  BitmapFreeCount(words, BITMAP_WORDS(nbits)) == nbits;
*/
void bitmap_tree_init(uint64_t *words, uint32_t nbits);

/* True if index i is taken. */
/*@ requires valid:  \valid_read(words + i / 64);
    terminates       \true;
    exits            \false;
    assigns          \nothing;
    ensures  set:    \result <==> !BitmapFree(words, i);
*/
static inline bool bitmap_tree_get(const uint64_t *words, uint32_t i)
{
    return bitmap_get(words, i);
}

/* Takes the free index i. */
/*@ requires range:  0 <= i < nbits <= BITMAP_TREE_BITS_MAX;
    requires valid:  \valid(words + (0 .. BITMAP_TREE_WORDS(nbits) - 1));
    requires free:   BitmapFree(words, i);
    requires tail:   BitmapTail(words, nbits);
    requires middle: TreeMiddle(words, BITMAP_WORDS(nbits));
    requires top:    TreeTop(words, BITMAP_WORDS(nbits));
    terminates       \true;
    exits            \false;
    assigns          words[0 .. BITMAP_TREE_WORDS(nbits) - 1];
    ensures  taken:  !BitmapFree(words, i);
    ensures  others: BitmapSameBut{Pre, Post}(words, nbits, i);
    ensures  tail:   BitmapTail(words, nbits);
    ensures  middle: TreeMiddle(words, BITMAP_WORDS(nbits));
    ensures  top:    TreeTop(words, BITMAP_WORDS(nbits));
    ensures  count:  BitmapFreeCount(words, BITMAP_WORDS(nbits)) == \old(BitmapFreeCount(words, BITMAP_WORDS(nbits))) - 1;
*/
void bitmap_tree_set(uint64_t *words, uint32_t nbits, uint32_t i);

/* Gives back the taken index i. */
/*@ requires range:  0 <= i < nbits <= BITMAP_TREE_BITS_MAX;
    requires valid:  \valid(words + (0 .. BITMAP_TREE_WORDS(nbits) - 1));
    requires taken:  !BitmapFree(words, i);
    requires tail:   BitmapTail(words, nbits);
    requires middle: TreeMiddle(words, BITMAP_WORDS(nbits));
    requires top:    TreeTop(words, BITMAP_WORDS(nbits));
    terminates       \true;
    exits            \false;
    assigns          words[0 .. BITMAP_TREE_WORDS(nbits) - 1];
    ensures  free:   BitmapFree(words, i);
    ensures  others: BitmapSameBut{Pre, Post}(words, nbits, i);
    ensures  tail:   BitmapTail(words, nbits);
    ensures  middle: TreeMiddle(words, BITMAP_WORDS(nbits));
    ensures  top:    TreeTop(words, BITMAP_WORDS(nbits));
    ensures  count:  BitmapFreeCount(words, BITMAP_WORDS(nbits)) == \old(BitmapFreeCount(words, BITMAP_WORDS(nbits))) + 1;
*/
void bitmap_tree_unset(uint64_t *words, uint32_t nbits, uint32_t i);

/* The first free index at or after from, or nbits if there is none. */
/*@ requires range:  0 < nbits <= BITMAP_TREE_BITS_MAX;
    requires from:   0 <= from <= nbits;
    requires valid:  \valid_read(words + (0 .. BITMAP_TREE_WORDS(nbits) - 1));
    requires tail:   BitmapTail(words, nbits);
    requires middle: TreeMiddle(words, BITMAP_WORDS(nbits));
    requires top:    TreeTop(words, BITMAP_WORDS(nbits));
    terminates       \true;
    exits            \false;
    assigns          \nothing;
    ensures  range:  from <= \result <= nbits;
    ensures  free:   \result < nbits ==> BitmapFree(words, \result);
    ensures  first:  BitmapNoneFree(words, from, \result);
*/
uint32_t bitmap_tree_ffu(const uint64_t *words, uint32_t nbits, uint32_t from);

/* Takes the first free index; nbits if there is none. */
/*@ requires range:  0 < nbits <= BITMAP_TREE_BITS_MAX;
    requires valid:  \valid(words + (0 .. BITMAP_TREE_WORDS(nbits) - 1));
    requires tail:   BitmapTail(words, nbits);
    requires middle: TreeMiddle(words, BITMAP_WORDS(nbits));
    requires top:    TreeTop(words, BITMAP_WORDS(nbits));
    terminates       \true;
    exits            \false;
    assigns          words[0 .. BITMAP_TREE_WORDS(nbits) - 1];
    ensures  range:  0 <= \result <= nbits;
    ensures  free:   \result < nbits ==> BitmapFree{Pre}(words, \result);
    ensures  taken:  \result < nbits ==> !BitmapFree(words, \result);
    ensures  first:  BitmapNoneFree{Pre}(words, 0, \result);
    ensures  others: BitmapSameBut{Pre, Post}(words, nbits, \result);
    ensures  tail:   BitmapTail(words, nbits);
    ensures  middle: TreeMiddle(words, BITMAP_WORDS(nbits));
    ensures  top:    TreeTop(words, BITMAP_WORDS(nbits));
    ensures  count:  \result < nbits ==>
      BitmapFreeCount(words, BITMAP_WORDS(nbits)) == \old(BitmapFreeCount(words, BITMAP_WORDS(nbits))) - 1;
    ensures  same:   \result == nbits ==>
      (\forall integer w; 0 <= w < BITMAP_TREE_WORDS(nbits) ==> words[w] == \old(words[w]));
*/
uint32_t bitmap_tree_sfu(uint64_t *words, uint32_t nbits);

/* True if no index is free. */
/*@ requires range:  0 < nbits <= BITMAP_TREE_BITS_MAX;
    requires valid:  \valid_read(words + (0 .. BITMAP_TREE_WORDS(nbits) - 1));
    requires tail:   BitmapTail(words, nbits);
    requires middle: TreeMiddle(words, BITMAP_WORDS(nbits));
    requires top:    TreeTop(words, BITMAP_WORDS(nbits));
    terminates       \true;
    exits            \false;
    assigns          \nothing;
    ensures  full:   \result <==> BitmapNoneFree(words, 0, nbits);
    ensures  count:  \result <==> BitmapFreeCount(words, BITMAP_WORDS(nbits)) == 0;
*/
bool bitmap_tree_full(const uint64_t *words, uint32_t nbits);

#endif
