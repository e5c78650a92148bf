/* word: what the radix tree says of a page, packed for the fast path of free.
 *
 * low 32 bits    the low half of the address at which the page's slab (or cached large block) begins
 * high 32 bits   bin number = size class index + 1; 0 means that the page holds no block of a cached class
 */
#ifndef QED_HEAP_WORD_H
#define QED_HEAP_WORD_H

#include <stdint.h>

#include "math/divide.h"

#define WORD_HALF 4294967296UL

#include "word.acsl"
#include "word_lemmas.acsl"

/*@ requires class:   szind < SC_NSIZES;
    terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  high:    \result / WORD_HALF == szind + 1;
    ensures  low:     \result % WORD_HALF == base % WORD_HALF;
    ensures  word:    \result == (szind + 1) * WORD_HALF + base % WORD_HALF;
*/
static inline uint64_t word_make(uint64_t base, uint32_t szind)
{
    return (szind + 1UL) * WORD_HALF + base % WORD_HALF;
}

/*@ terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  bin:     \result == word / WORD_HALF;
*/
static inline uint32_t word_bin(uint64_t word)
{
    return (uint32_t)(word / WORD_HALF);
}

/* Bytes from `from` to `to`, modulo 2^32: one subtraction. */
/*@ terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  up:      from <= to ==> \result == to - from;
    ensures  down:    to < from ==> \result == to - from + WORD_HALF;
*/
static inline uint32_t half_distance(uint32_t from, uint32_t to)
{
    return (uint32_t)(((uint64_t)to + WORD_HALF - from) % WORD_HALF);
}

/* The same modulo 2^64. */
/*@ terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  up:      from <= to ==> \result == to - from;
    ensures  down:    to < from ==> \result == to - from + UINT64_MAX + 1;
*/
static inline uint64_t word_distance(uint64_t from, uint64_t to)
{
    return to >= from ? to - from : UINT64_MAX - (from - to) + 1;
}

/* Bytes from the beginning of the slab to the address, modulo 2^32. */
/*@ terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  offset:  \result == WordOffset(word % WORD_HALF, address);
*/
static inline uint32_t word_offset(uint64_t word, uint64_t address)
{
    return half_distance((uint32_t)(word % WORD_HALF), (uint32_t)(address % WORD_HALF));
}

/* divide_fraction of the bytes from base (its low half) to the address, with the reciprocal as word_negate makes it.
 * Where offsets have as many bits as the fraction, the address is subtracted from the base and the reciprocal negated: that
 * leaves the address where it is, one instruction less. */
#if DIVIDE_LG == DIVIDE_LG_OFFSET
/*@ terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  negated: \result == WORD_NEGATED(magic);
*/
static inline divide_magic_t word_negate(divide_magic_t magic)
{
    return (divide_magic_t)((DIVIDE_ONE - magic) % DIVIDE_ONE);
}

/*@ requires negated: negated == WORD_NEGATED(magic);
    terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  low:     \result == WordOffset(base, address) * magic % DIVIDE_ONE;
*/
static inline divide_magic_t word_fraction(uint32_t base, uint64_t address, divide_magic_t negated)
    /*@ ghost (divide_magic_t magic) */
{
    uint32_t back = half_distance((uint32_t)(address % WORD_HALF), base);
    /*@ ghost uint32_t offset = back == 0 ? 0 : (uint32_t)(DIVIDE_ONE - back); */
    /*@ assert offset: offset == WordOffset(base, address); */
    /*@ ghost word_lemma_back(back, negated, offset, magic); */
    return (divide_magic_t)((uint64_t)back * negated % DIVIDE_ONE);
}
#else
/*@ terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  negated: \result == WORD_NEGATED(magic);
*/
static inline divide_magic_t word_negate(divide_magic_t magic)
{
    return magic;
}

/*@ requires negated: negated == WORD_NEGATED(magic);
    requires magic:   magic <= DIVIDE_ONE / SC_TINY;
    terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  low:     WordOffset(base, address) < 1UL << DIVIDE_LG_OFFSET ==>
                      \result == WordOffset(base, address) * magic % DIVIDE_ONE;
*/
static inline divide_magic_t word_fraction(uint32_t base, uint64_t address, divide_magic_t negated)
    /*@ ghost (divide_magic_t magic) */
{
    return divide_fraction(word_offset(base, address) % (1U << DIVIDE_LG_OFFSET), negated);
}
#endif

#endif
