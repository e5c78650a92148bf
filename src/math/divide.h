/* divide: exact division by a size class, as one multiplication with a reciprocal.
 *
 * magic is 2^DIVIDE_LG / size, rounded up. For an offset into a run of `bytes` bytes that is cut into regions of `size`,
 * the high part of offset * magic is offset / size, and the low part (the fraction) is below magic exactly when offset is
 * a multiple of size, provided that bytes is a multiple of size and bytes * size <= 2^DIVIDE_LG.
 * Lemire, Kaser and Kurz, "Faster remainder by direct computation" (2019).
 *
 * With 32 bits of fraction, which small classes of 4 KiB pages allow, the test compiles to imul and cmp.
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
#define DIVIDE_SIZE_MAX (1U << (DIVIDE_LG / 2))         /* so that a run of one region always fits */

static inline divide_magic_t divide_magic(uint32_t size)
{
    return (divide_magic_t)((DIVIDE_ONE + size - 1) / size);
}

static inline uint32_t divide_index(uint32_t offset, divide_magic_t magic)
{
    return (uint32_t)((uint64_t)offset * magic / DIVIDE_ONE);
}

static inline divide_magic_t divide_fraction(uint32_t offset, divide_magic_t magic)
{
    return (divide_magic_t)((uint64_t)offset * magic % DIVIDE_ONE);
}

static inline bool divide_is_multiple(uint32_t offset, divide_magic_t magic)
{
    return divide_fraction(offset, magic) < magic;
}

#endif
