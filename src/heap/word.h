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

static inline uint64_t word_make(uint64_t base, uint32_t szind)
{
    return (szind + 1UL) * WORD_HALF + base % WORD_HALF;
}

static inline uint32_t word_bin(uint64_t word)
{
    return (uint32_t)(word / WORD_HALF);
}

/* Bytes from `from` to `to`, modulo 2^32: one subtraction. */
static inline uint32_t half_distance(uint32_t from, uint32_t to)
{
    return (uint32_t)(((uint64_t)to + WORD_HALF - from) % WORD_HALF);
}

/* The same modulo 2^64. */
static inline uint64_t word_distance(uint64_t from, uint64_t to)
{
    return to >= from ? to - from : UINT64_MAX - (from - to) + 1;
}

/* divide_fraction for who has the offset's negative: back is half_distance(address, base), and negated the reciprocal as
 * divide_negate makes it. Subtracting the address from the base leaves the address where it is: one instruction less. */
#if DIVIDE_LG == 32
static inline divide_magic_t divide_negate(divide_magic_t magic)
{
    return (divide_magic_t)((DIVIDE_ONE - magic) % DIVIDE_ONE);
}

static inline divide_magic_t divide_fraction_back(uint32_t back, divide_magic_t negated)
{
    return (divide_magic_t)((uint64_t)back * negated % DIVIDE_ONE);
}
#else
static inline divide_magic_t divide_negate(divide_magic_t magic)
{
    return magic;
}

static inline divide_magic_t divide_fraction_back(uint32_t back, divide_magic_t negated)
{
    return divide_fraction(half_distance(back, 0), negated);
}
#endif

/* Bytes from the beginning of the slab to the address, modulo 2^32. */
static inline uint32_t word_offset(uint64_t word, uint64_t address)
{
    return half_distance((uint32_t)(word % WORD_HALF), (uint32_t)(address % WORD_HALF));
}

#endif
