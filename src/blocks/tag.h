/* tag: what the radix tree says of a page, packed for the fast path of free.
 *
 * low 32 bits    the low half of the address at which the page's slab (or cached large block) begins
 * high 32 bits   number of the stack that takes the block: size class index + 1; 0 means that the page holds no block of a cached
 *                class
 */
#ifndef QED_BLOCKS_TAG_H
#define QED_BLOCKS_TAG_H

#include <stdint.h>

#include "math/divide.h"

#define TAG_HALF 4294967296UL

#include "blocks/tag.acsl"
#include "blocks/tag_lemmas.acsl"

/*@ requires class:   szind < SC_NSIZES;
    assigns           \nothing;
    ensures  high:    \result / TAG_HALF == szind + 1;
    ensures  low:     \result % TAG_HALF == base % TAG_HALF;
    ensures  tag:     \result == (szind + 1) * TAG_HALF + base % TAG_HALF;
*/
static inline uint64_t tag_make(uint64_t base, uint32_t szind)
{
    return (szind + 1UL) * TAG_HALF + base % TAG_HALF;
}

/*@ assigns           \nothing;
    ensures  bin:     \result == tag / TAG_HALF;
*/
static inline uint32_t tag_stack(uint64_t tag)
{
    return (uint32_t)(tag / TAG_HALF);
}

/* Returns the bytes from `from` to `to`, modulo 2^32. The compiler makes one subtraction of it. */
/*@ assigns           \nothing;
    ensures  up:      from <= to ==> \result == to - from;
    ensures  down:    to < from ==> \result == to - from + TAG_HALF;
*/
static inline uint32_t half_distance(uint32_t from, uint32_t to)
{
    return (uint32_t)(((uint64_t)to + TAG_HALF - from) % TAG_HALF);
}

/* Returns the bytes from `from` to `to`, modulo 2^64. */
/*@ assigns           \nothing;
    ensures  up:      from <= to ==> \result == to - from;
    ensures  down:    to < from ==> \result == to - from + UINT64_MAX + 1;
*/
static inline uint64_t tag_distance(uint64_t from, uint64_t to)
{
    return to >= from ? to - from : UINT64_MAX - (from - to) + 1;
}

/* Returns the bytes from the beginning of the slab to the address, modulo 2^32. */
/*@ assigns           \nothing;
    ensures  offset:  \result == TagOffset(tag % TAG_HALF, address);
*/
static inline uint32_t tag_offset(uint64_t tag, uint64_t address)
{
    return half_distance((uint32_t)(tag % TAG_HALF), (uint32_t)(address % TAG_HALF));
}

/* tag_fraction returns divide_fraction of the bytes from base, the low half of an address, to the address. It takes the reciprocal
 * as tag_negate makes it. Where offsets have as many bits as the fraction, the address is subtracted from the base, and the
 * reciprocal is negated. The address then stays in its register, which saves an instruction. */
#if DIVIDE_LG == DIVIDE_LG_OFFSET
/*@ assigns           \nothing;
    ensures  negated: \result == TAG_NEGATED(magic);
*/
static inline divide_magic_t tag_negate(divide_magic_t magic)
{
    return (divide_magic_t)((DIVIDE_ONE - magic) % DIVIDE_ONE);
}

/*@ requires negated: negated == TAG_NEGATED(magic);
    assigns           \nothing;
    ensures  low:     \result == TagOffset(base, address) * magic % DIVIDE_ONE;
*/
static inline divide_magic_t tag_fraction(uint32_t base, uint64_t address, divide_magic_t negated)
    /*@ ghost (divide_magic_t magic) */
{
    uint32_t back = half_distance((uint32_t)(address % TAG_HALF), base);
    /*@ ghost uint32_t offset = back == 0 ? 0 : (uint32_t)(DIVIDE_ONE - back); */
    /*@ assert offset: offset == TagOffset(base, address); */
    /*@ ghost tag_lemma_back(back, negated, offset, magic); */
    return (divide_magic_t)((uint64_t)back * negated % DIVIDE_ONE);
}
#else
/*@ assigns           \nothing;
    ensures  negated: \result == TAG_NEGATED(magic);
*/
static inline divide_magic_t tag_negate(divide_magic_t magic)
{
    return magic;
}

/*@ requires negated: negated == TAG_NEGATED(magic);
    requires magic:   magic <= DIVIDE_ONE / SC_TINY;
    assigns           \nothing;
    ensures  low:     TagOffset(base, address) < 1UL << DIVIDE_LG_OFFSET ==>
                      \result == TagOffset(base, address) * magic % DIVIDE_ONE;
*/
static inline divide_magic_t tag_fraction(uint32_t base, uint64_t address, divide_magic_t negated)
    /*@ ghost (divide_magic_t magic) */
{
    return divide_fraction(tag_offset(base, address) % (1U << DIVIDE_LG_OFFSET), negated);
}
#endif

#endif
