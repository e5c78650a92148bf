/* divide: exact division by a size class, as one multiplication with a reciprocal.
 *
 * magic is 2^DIVIDE_LG / size, rounded up. Consider an offset into a run of n regions of `size` bytes, where n * size *
 * size is at most 2^DIVIDE_LG. The high part of offset * magic is offset / size. The low part, the fraction, is below
 * magic exactly when offset is a multiple of size. A caller that knows the run says so by the ghost call
 * divide_lemma_exact. Sizes above DIVIDE_SIZE_MAX have no such run. For them the fraction tells 0 from all other
 * offsets below DIVIDE_SIZE_MAX (divide_lemma_first).
 * Lemire, Kaser and Kurz, "Faster remainder by direct computation" (2019).
 *
 * With pages of 4 KiB 32 bits of fraction are enough. The test for multiples then compiles to imul and cmp.
 */
#ifndef QED_MATH_DIVIDE_H
#define QED_MATH_DIVIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "math/size_class.h"
#include "platform/config.h"

#if LG_PAGE == 12
#define DIVIDE_LG 32
#define DIVIDE_LG_OFFSET 32                             /* offsets are below 2^DIVIDE_LG_OFFSET */
typedef uint32_t divide_magic_t;
#else
#define DIVIDE_LG 40
#define DIVIDE_LG_OFFSET 24
typedef uint64_t divide_magic_t;
#endif
#define DIVIDE_ONE (1UL << DIVIDE_LG)
#define DIVIDE_SIZE_MAX (1UL << (DIVIDE_LG / 2))        /* one region of that size is still a run that fits */
#define DIVIDE_NREGIONS_MAX(size) (DIVIDE_ONE / (size) / (size))   /* in a run */

_Static_assert(2 * SC_SMALL_MAXCLASS * SC_SMALL_MAXCLASS <= DIVIDE_ONE, "two regions of any small class fit");
_Static_assert(SC_SMALL_MAXCLASS * (SC_SLAB_NPAGES_MAX * PAGE) <= DIVIDE_ONE, "any slab of the least page count fits");
_Static_assert(DIVIDE_ONE / SC_TINY <= UINT32_MAX || DIVIDE_LG > 32, "a reciprocal fits its type");
_Static_assert(DIVIDE_ONE / SC_TINY < 1UL << (64 - DIVIDE_LG_OFFSET), "a product fits 64 bits");

#include "math/divide.acsl"
#include "math/divide_lemmas.acsl"

/*@ requires range: SC_TINY <= size;
    assigns         \nothing;
    ensures  magic: DivideMagic(\result, size);
    ensures  range: \result <= DIVIDE_ONE / SC_TINY;
*/
static inline divide_magic_t divide_magic(uint32_t size)
{
    uint64_t magic = (DIVIDE_ONE + size - 1) / size;
    /*@ ghost divide_lemma_magic(size, magic); */
    return (divide_magic_t)magic;
}

/* Returns the product, whose high part is the index and whose low part is the fraction, to a caller that needs both. */
/*@ REQUIRES_DIVIDE_RANGE(offset, magic);
    assigns          \nothing;
    ensures  value:  \result == offset * magic;
    ensures  high:   \result / DIVIDE_ONE <= UINT32_MAX;
*/
static inline uint64_t divide_product(uint32_t offset, divide_magic_t magic)
{
    /*@ ghost divide_lemma_range(offset, magic); */
    return (uint64_t)offset * magic;
}

/*@ requires high:   product / DIVIDE_ONE <= UINT32_MAX;
    assigns          \nothing;
    ensures  high:   \result == product / DIVIDE_ONE;
*/
static inline uint32_t divide_high(uint64_t product)
{
    return (uint32_t)(product / DIVIDE_ONE);
}

/*@ assigns          \nothing;
    ensures  low:    \result == product % DIVIDE_ONE;
*/
static inline divide_magic_t divide_low(uint64_t product)
{
    return (divide_magic_t)(product % DIVIDE_ONE);
}

/*@ REQUIRES_DIVIDE_RANGE(offset, magic);
    assigns          \nothing;
    ensures  low:    \result == offset * magic % DIVIDE_ONE;
*/
static inline divide_magic_t divide_fraction(uint32_t offset, divide_magic_t magic)
{
    return divide_low(divide_product(offset, magic));
}

/*@ REQUIRES_DIVIDE_RANGE(offset, magic);
    assigns          \nothing;
    ensures  low:    \result <==> offset * magic % DIVIDE_ONE < magic;
*/
static inline bool divide_is_multiple(uint32_t offset, divide_magic_t magic)
{
    return divide_fraction(offset, magic) < magic;
}

#endif
