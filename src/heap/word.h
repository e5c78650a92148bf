/* word: what the radix tree says of a page, packed for the fast path of free.
 *
 * low 32 bits    the low half of the address at which the page's slab (or cached large block) begins
 * high 32 bits   bin number = size class index + 1; 0 means that the page holds no block of a cached class
 */
#ifndef QED_HEAP_WORD_H
#define QED_HEAP_WORD_H

#include <stdint.h>

#define WORD_HALF 4294967296UL

static inline uint64_t word_make(uint64_t base, uint32_t szind)
{
    return (szind + 1UL) * WORD_HALF + base % WORD_HALF;
}

static inline uint32_t word_bin(uint64_t word)
{
    return (uint32_t)(word / WORD_HALF);
}

/* Bytes from the beginning of the slab to the address, modulo 2^32. */
static inline uint32_t word_offset(uint64_t word, uint64_t address)
{
    return (uint32_t)((address % WORD_HALF + WORD_HALF - word % WORD_HALF) % WORD_HALF);
}

#endif
