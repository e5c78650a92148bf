/* bitmap_tree: see the header. nw and nm are the numbers of leaf and middle words; k, m number words of a level. */
#include "ds/bitmap_tree.h"

#define LEAVES_MAX BITMAP_WORDS(BITMAP_TREE_BITS_MAX)
#define TOP(nw) ((nw) + BITMAP_WORDS(nw))               /* place of the top word */

_Static_assert(TOP(LEAVES_MAX) + 1U == BITMAP_TREE_WORDS(BITMAP_TREE_BITS_MAX), "the top word is the last");

#include "bitmap_lemmas.acsl"
#include "bitmap_tree_lemmas.acsl"

/* Writes a summary word; the leaves' count stays. */
/*@ requires range:  0 < nw <= LEAVES_MAX && nw <= at <= TOP(nw);
    requires valid:  \valid(words + (0 .. TOP(nw)));
    terminates       \true;
    exits            \false;
    assigns          words[at];
    ensures  word:   words[at] == v;
    ensures  count:  BitmapFreeCount(words, nw) == \old(BitmapFreeCount(words, nw));
*/
static inline void tree_put(uint64_t *words, uint32_t at, uint64_t v) /*@ ghost (uint32_t nw) */
{
    words[at] = v;
    /*@ ghost
      /@ loop invariant range: 0 <= i <= nw;
         loop invariant count: BitmapFreeCount(words, i) == BitmapFreeCount{Pre}(words, i);
         loop assigns i;
         loop variant nw - i;
      @/
      for (uint32_t i = 0; i < nw; i++) {}
    */
}

/* Writes the middle word of leaf k. */
/*@ requires range:  0 <= k < nw <= LEAVES_MAX;
    requires valid:  \valid(words + (0 .. TOP(nw)));
    requires bit:    tbit(v, k % 64) <==> words[k] != 0;
    requires others: SameBitsBut(words[nw + k / 64], v, k % 64);
    requires middle: TreeMiddleBut(words, nw, k);
    requires top:    TreeTop(words, nw);
    terminates       \true;
    exits            \false;
    assigns          words[nw + k / 64];
    ensures  word:   words[nw + k / 64] == v;
    ensures  middle: TreeMiddle(words, nw);
    ensures  top:    TreeTopBut(words, nw, k / 64);
    ensures  count:  BitmapFreeCount(words, nw) == \old(BitmapFreeCount(words, nw));
*/
static inline void tree_put_middle(uint64_t *words, uint32_t nw, uint32_t k, uint64_t v)
{
    uint32_t m = k / 64;
    /*@ ghost uint32_t b = k % 64; */
    /*@ assert leaf: 64 * m + b == k; */
    tree_put(words, nw + m, v) /*@ ghost (nw) */;
    /*@ assert here:  \forall integer c; 0 <= c < 64 ==> TreeMiddleBit(words, nw, m, c); */
    /*@ assert there: \forall integer n, c; 0 <= n < BITMAP_WORDS(nw) && n != m && 0 <= c < 64 ==> TreeMiddleBit(words, nw, n, c); */
}

/* Writes the top word after a change of middle word m. */
/*@ requires range:  0 < nw <= LEAVES_MAX && 0 <= m < BITMAP_WORDS(nw);
    requires valid:  \valid(words + (0 .. TOP(nw)));
    requires bit:    tbit(v, m) <==> words[nw + m] != 0;
    requires others: SameBitsBut(words[TOP(nw)], v, m);
    requires middle: TreeMiddle(words, nw);
    requires top:    TreeTopBut(words, nw, m);
    terminates       \true;
    exits            \false;
    assigns          words[TOP(nw)];
    ensures  middle: TreeMiddle(words, nw);
    ensures  top:    TreeTop(words, nw);
    ensures  count:  BitmapFreeCount(words, nw) == \old(BitmapFreeCount(words, nw));
*/
static inline void tree_put_top(uint64_t *words, uint32_t nw, uint32_t m, uint64_t v)
{
    (void)m;
    tree_put(words, TOP(nw), v) /*@ ghost (nw) */;
    /*@ ghost
      /@ loop invariant range:  0 <= p <= BITMAP_WORDS(nw);
         loop invariant middle: \forall integer n, c; 0 <= n < p && 0 <= c < 64 ==> TreeMiddleBit(words, nw, n, c);
         loop assigns p;
         loop variant BITMAP_WORDS(nw) - p;
      @/
      for (uint32_t p = 0; p < BITMAP_WORDS(nw); p++) {
        /@ assert before: \forall integer c; 0 <= c < 64 ==> TreeMiddleBit{Pre}(words, nw, p, c); @/
        /@ assert word:   TreeSame{Pre, Here}(words, nw + p); @/
        /@ assert leaves: \forall integer c; 0 <= c < 64 && 64 * p + c < nw ==> TreeSame{Pre, Here}(words, 64 * p + c); @/
        /@ assert after:  \forall integer c; 0 <= c < 64 ==> TreeMiddleBit(words, nw, p, c); @/
      }
    */
}

/* Leaf word k has become zero: clears its summary bits. */
/*@ requires range:  0 <= k < nw <= LEAVES_MAX;
    requires valid:  \valid(words + (0 .. TOP(nw)));
    requires zero:   words[k] == 0;
    requires shown:  words[nw + k / 64] != 0;
    requires middle: TreeMiddleBut(words, nw, k);
    requires top:    TreeTop(words, nw);
    terminates       \true;
    exits            \false;
    assigns          words[nw .. TOP(nw)];
    ensures  middle: TreeMiddle(words, nw);
    ensures  top:    TreeTop(words, nw);
    ensures  count:  BitmapFreeCount(words, nw) == \old(BitmapFreeCount(words, nw));
*/
static inline void tree_hide(uint64_t *words, uint32_t nw, uint32_t k)
{
    uint32_t m = k / 64;
    uint64_t v = bitmap_word_clear(words[nw + m], k % 64);
    tree_put_middle(words, nw, k, v);
    if (v == 0) {
        tree_put_top(words, nw, m, bitmap_word_clear(words[TOP(nw)], m));
    }
}

/* Leaf word k has ceased to be zero: sets its summary bits. */
/*@ requires range:  0 <= k < nw <= LEAVES_MAX;
    requires valid:  \valid(words + (0 .. TOP(nw)));
    requires some:   words[k] != 0;
    requires middle: TreeMiddleBut(words, nw, k);
    requires top:    TreeTop(words, nw);
    terminates       \true;
    exits            \false;
    assigns          words[nw .. TOP(nw)];
    ensures  middle: TreeMiddle(words, nw);
    ensures  top:    TreeTop(words, nw);
    ensures  count:  BitmapFreeCount(words, nw) == \old(BitmapFreeCount(words, nw));
*/
static inline void tree_show(uint64_t *words, uint32_t nw, uint32_t k)
{
    uint32_t m = k / 64;
    uint64_t old = words[nw + m];
    tree_put_middle(words, nw, k, bitmap_word_set(old, k % 64));
    if (old == 0) {
        tree_put_top(words, nw, m, bitmap_word_set(words[TOP(nw)], m));
    }
}

/* The first middle word at or after m that is not zero, or their number if there is none. */
/*@ requires range:  0 < nw <= LEAVES_MAX && 0 <= m <= BITMAP_WORDS(nw);
    requires valid:  \valid_read(words + (0 .. TOP(nw)));
    requires top:    TreeTop(words, nw);
    terminates       \true;
    exits            \false;
    assigns          \nothing;
    ensures  range:  m <= \result <= BITMAP_WORDS(nw);
    ensures  some:   \result < BITMAP_WORDS(nw) ==> words[nw + \result] != 0;
    ensures  first:  \forall integer at; nw + m <= at < nw + \result ==> words[at] == 0;
*/
static inline uint32_t tree_next_middle(const uint64_t *words, uint32_t nw, uint32_t m)
{
    if (m == BITMAP_WORDS(nw)) {
        return m;
    }
    uint32_t next = bitmap_word_first_from(words[TOP(nw)], m);
    next = next == 64 ? BITMAP_WORDS(nw) : next;
    /*@ ghost bitmap_tree_lemma_zero_middles(words, nw, m, next); */
    return next;
}

/* The first leaf word at or after k that is not zero, or nw if there is none. */
/*@ requires range:  0 <= k <= nw <= LEAVES_MAX && 0 < nw;
    requires valid:  \valid_read(words + (0 .. TOP(nw)));
    requires middle: TreeMiddle(words, nw);
    requires top:    TreeTop(words, nw);
    terminates       \true;
    exits            \false;
    assigns          \nothing;
    ensures  range:  k <= \result <= nw;
    ensures  some:   \result < nw ==> words[\result] != 0;
    ensures  first:  \forall integer q; k <= q < \result ==> words[q] == 0;
*/
static uint32_t tree_next_leaf(const uint64_t *words, uint32_t nw, uint32_t k)
{
    if (k == nw) {
        return nw;
    }
    uint32_t m = k / 64;
    uint32_t b = bitmap_word_first_from(words[nw + m], k % 64);
    /*@ ghost bitmap_lemma_none_free(words + nw, m, k % 64, b); */
    if (b == 64) {
        uint32_t next = tree_next_middle(words, nw, m + 1);
        /*@ ghost bitmap_lemma_zero_words(words + nw, m + 1, next); */
        if (next == BITMAP_WORDS(nw)) {
            /*@ ghost bitmap_tree_lemma_zero_leaves(words, nw, k, nw); */
            return nw;
        }
        m = next;
        b = bits_lowest(words[nw + m]);
        /*@ ghost bitmap_lemma_none_free(words + nw, m, 0, b); */
    }
    /*@ assert bit: TreeMiddleBit(words, nw, m, b); */
    /*@ ghost bitmap_tree_lemma_zero_leaves(words, nw, k, 64 * m + b); */
    return 64 * m + b;
}

void bitmap_tree_init(uint64_t *words, uint32_t nbits)
{
    const uint32_t nw = BITMAP_WORDS(nbits);
    bitmap_init(words + nw, nw);
    words[TOP(nw)] = bitmap_word_mask(BITMAP_WORDS(nw));
    bitmap_init(words, nbits);
    /*@ ghost bitmap_word_lemma_clear(); */
    /*@ assert leaves:  \forall integer k; 0 <= k < nw ==> BitmapFree(words, 64 * k) && words[k] != 0; */
    /*@ assert middles: \forall integer m; 0 <= m < BITMAP_WORDS(nw) ==> BitmapFree(words + nw, 64 * m) && words[nw + m] != 0; */
    /*@ ghost bitmap_tree_lemma_fresh_middle(words, nw); */
    /*@ ghost bitmap_tree_lemma_fresh_top(words, nw); */
}

void bitmap_tree_set(uint64_t *words, uint32_t nbits, uint32_t i)
{
    const uint32_t nw = BITMAP_WORDS(nbits);
    /*@ ghost uint32_t k = i / 64; */
    /*@ ghost bitmap_word_lemma_clear(); */
    /*@ assert leaf: 64 * (k / 64) + k % 64 == k; */
    /*@ assert some: words[k] != 0 && TreeMiddleBit(words, nw, k / 64, k % 64); */
    bitmap_set(words, nbits, i);
    /*@ ghost
      /@ loop invariant range:  0 <= p <= BITMAP_WORDS(nw);
         loop invariant middle: \forall integer n, c; 0 <= n < p && 0 <= c < 64 && 64 * n + c != k ==> TreeMiddleBit(words, nw, n, c);
         loop assigns p;
         loop variant BITMAP_WORDS(nw) - p;
      @/
      for (uint32_t p = 0; p < BITMAP_WORDS(nw); p++) {
        /@ assert before: \forall integer c; 0 <= c < 64 ==> TreeMiddleBit{Pre}(words, nw, p, c); @/
        /@ assert word:   TreeSame{Pre, Here}(words, nw + p); @/
        /@ assert leaves: \forall integer c; 0 <= c < 64 && 64 * p + c < nw && 64 * p + c != k ==> TreeSame{Pre, Here}(words, 64 * p + c); @/
        /@ assert after:  \forall integer c; 0 <= c < 64 && 64 * p + c != k ==> TreeMiddleBit(words, nw, p, c); @/
      }
    */
    if (words[i / 64] != 0) {
        /*@ assert one:  \forall integer n, c; 0 <= c < 64 && 64 * n + c == k ==> n == k / 64 && c == k % 64; */
        /*@ assert know: TreeMiddleBit(words, nw, k / 64, k % 64); */
        /*@ assert same: TreeMiddle(words, nw); */
        return;
    }
    tree_hide(words, nw, i / 64);
}

void bitmap_tree_unset(uint64_t *words, uint32_t nbits, uint32_t i)
{
    const uint32_t nw = BITMAP_WORDS(nbits);
    const bool hidden = words[i / 64] == 0;
    /*@ ghost uint32_t k = i / 64; */
    /*@ ghost bitmap_word_lemma_clear(); */
    /*@ assert leaf: 64 * (k / 64) + k % 64 == k; */
    /*@ assert was:  TreeMiddleBit(words, nw, k / 64, k % 64); */
    bitmap_unset(words, nbits, i);
    /*@ ghost bitmap_word_lemma_clear(); */
    /*@ assert some: words[k] != 0; */
    /*@ ghost
      /@ loop invariant range:  0 <= p <= BITMAP_WORDS(nw);
         loop invariant middle: \forall integer n, c; 0 <= n < p && 0 <= c < 64 && 64 * n + c != k ==> TreeMiddleBit(words, nw, n, c);
         loop assigns p;
         loop variant BITMAP_WORDS(nw) - p;
      @/
      for (uint32_t p = 0; p < BITMAP_WORDS(nw); p++) {
        /@ assert before: \forall integer c; 0 <= c < 64 ==> TreeMiddleBit{Pre}(words, nw, p, c); @/
        /@ assert word:   TreeSame{Pre, Here}(words, nw + p); @/
        /@ assert leaves: \forall integer c; 0 <= c < 64 && 64 * p + c < nw && 64 * p + c != k ==> TreeSame{Pre, Here}(words, 64 * p + c); @/
        /@ assert after:  \forall integer c; 0 <= c < 64 && 64 * p + c != k ==> TreeMiddleBit(words, nw, p, c); @/
      }
    */
    if (!hidden) {
        /*@ assert one:  \forall integer n, c; 0 <= c < 64 && 64 * n + c == k ==> n == k / 64 && c == k % 64; */
        /*@ assert know: TreeMiddleBit(words, nw, k / 64, k % 64); */
        /*@ assert same: TreeMiddle(words, nw); */
        return;
    }
    tree_show(words, nw, i / 64);
}

uint32_t bitmap_tree_ffu(const uint64_t *words, uint32_t nbits, uint32_t from)
{
    if (from == nbits) {
        return nbits;
    }
    const uint32_t nw = BITMAP_WORDS(nbits);
    uint32_t k = from / 64;
    uint32_t b = bitmap_word_first_from(words[k], from % 64);
    /*@ ghost bitmap_lemma_none_free(words, k, from % 64, b); */
    if (b == 64) {
        uint32_t next = tree_next_leaf(words, nw, k + 1);
        /*@ ghost bitmap_lemma_zero_words(words, k + 1, next); */
        if (next == nw) {
            return nbits;
        }
        k = next;
        b = bits_lowest(words[k]);
        /*@ ghost bitmap_lemma_none_free(words, k, 0, b); */
    }
    /*@ ghost bitmap_lemma_free(words, k, b); */
    return 64 * k + b;
}

uint32_t bitmap_tree_sfu(uint64_t *words, uint32_t nbits)
{
    uint32_t i = bitmap_tree_ffu(words, nbits, 0);
    if (i < nbits) {
        bitmap_tree_set(words, nbits, i);
    }
    return i;
}

bool bitmap_tree_full(const uint64_t *words, uint32_t nbits)
{
    const uint32_t nw = BITMAP_WORDS(nbits);
    const bool full = words[TOP(nw)] == 0;
    /*@ ghost bitmap_word_lemma_clear(); */
    /*@ ghost
      if (full) {
        bitmap_tree_lemma_zero_middles(words, nw, 0, BITMAP_WORDS(nw));
        bitmap_lemma_zero_words(words + nw, 0, BITMAP_WORDS(nw));
        bitmap_tree_lemma_zero_leaves(words, nw, 0, nw);
        bitmap_lemma_zero_words(words, 0, nw);
        bitmap_lemma_none(words, nw);
      } else {
        uint32_t m = (uint32_t)bitmap_word_lemma_nonzero(words[TOP(nw)]);
        /@ assert top:  TreeTopBit(words, nw, m); @/
        uint32_t b = (uint32_t)bitmap_word_lemma_nonzero(words[nw + m]);
        uint32_t k = 64 * m + b;
        /@ assert bit:  TreeMiddleBit(words, nw, m, b); @/
        /@ assert leaf: words[k] != 0; @/
        bitmap_lemma_free(words, k, (uint32_t)bitmap_word_lemma_nonzero(words[k]));
        bitmap_lemma_some(words, k, nw);
      }
    */
    return full;
}
