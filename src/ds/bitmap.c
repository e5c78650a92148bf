/* bitmap: see the header. */
#include "ds/bitmap.h"

#include "bitmap_lemmas.acsl"

void bitmap_init(uint64_t *words, uint32_t nbits)
{
    const uint64_t ones = bitmap_word_mask(64);
    const uint32_t whole = nbits / 64;
    /*@ ghost bitmap_word_lemma_mask(ones, 64); */
    /*@ loop invariant range: 0 <= w <= whole;
        loop invariant ones:  \forall integer i; 0 <= i < w ==> words[i] == ones;
        loop invariant count: BitmapFreeCount(words, w) == 64 * w;
        loop assigns w, words[0 .. whole - 1];
        loop variant whole - w;
    */
    for (uint32_t w = 0; w < whole; w++) {
        bitmap_put(words, w, ones) /*@ ghost (w + 1) */;
    }
    if (nbits % 64 != 0) {
        uint64_t rest = bitmap_word_mask(nbits % 64);
        /*@ ghost bitmap_word_lemma_mask(rest, (int)(nbits % 64)); */
        bitmap_put(words, whole, rest) /*@ ghost (whole + 1) */;
        /*@ assert count: BitmapFreeCount(words, whole + 1) == nbits; */
    }
    /*@ assert words: BITMAP_WORDS(nbits) == (nbits % 64 == 0 ? whole : whole + 1); */
}

uint32_t bitmap_ffu(const uint64_t *words, uint32_t nbits, uint32_t from)
{
    if (from == nbits) {
        return nbits;
    }
    uint32_t w = from / 64;
    uint32_t b = bitmap_word_first_from(words[w], from % 64);
    /*@ ghost bitmap_lemma_none_free(words, w, from % 64, b); */
    /*@ loop invariant range: from / 64 <= w < BITMAP_WORDS(nbits);
        loop invariant bit:   0 <= b <= 64 && from <= 64 * w + b;
        loop invariant free:  b < 64 ==> tbit(words[w], b);
        loop invariant first: BitmapNoneFree(words, from, 64 * w + b);
        loop assigns w, b;
        loop variant BITMAP_WORDS(nbits) - w;
    */
    while (b == 64) {
        if (++w == BITMAP_WORDS(nbits)) {
            return nbits;
        }
        b = bitmap_word_first_from(words[w], 0);
        /*@ ghost bitmap_lemma_none_free(words, w, 0, b); */
    }
    /*@ ghost bitmap_lemma_free(words, w, b); */
    return 64 * w + b;
}

uint32_t bitmap_sfu(uint64_t *words, uint32_t nbits)
{
    uint32_t i = bitmap_ffu(words, nbits, 0);
    if (i < nbits) {
        bitmap_set(words, nbits, i);
    }
    return i;
}

bool bitmap_full(const uint64_t *words, uint32_t nbits)
{
    /*@ loop invariant range: 0 <= w <= BITMAP_WORDS(nbits);
        loop invariant zero:  \forall integer i; 0 <= i < w ==> words[i] == 0;
        loop invariant none:  BitmapNoneFree(words, 0, 64 * w);
        loop assigns w;
        loop variant BITMAP_WORDS(nbits) - w;
    */
    for (uint32_t w = 0; w < BITMAP_WORDS(nbits); w++) {
        if (words[w] != 0) {
            /*@ ghost bitmap_lemma_some(words, w, BITMAP_WORDS(nbits)); */
            /*@ ghost bitmap_lemma_free(words, w, (uint32_t)bitmap_word_lemma_nonzero(words[w])); */
            return false;
        }
        /*@ ghost bitmap_word_lemma_clear(); */
        /*@ ghost bitmap_lemma_none_free(words, w, 0, 64); */
    }
    /*@ ghost bitmap_lemma_none(words, BITMAP_WORDS(nbits)); */
    return true;
}
