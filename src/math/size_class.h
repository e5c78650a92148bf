/* size_class: which block sizes there are, and which of them serves a request.
 *
 * All classes come from one ladder of whole numbers: 1, 2, .., NGROUP, then NGROUP equal steps per doubling:
 *
 *     NGROUP = 4:  1 2 3 4 | 5 6 7 8 | 10 12 14 16 | 20 24 28 32 | ...
 *
 * Size classes are the ladder times the quantum, below it the tiny powers of two; page classes (those that are whole
 * pages) are the ladder times the page. So one closed form, ladder_above, answers both, without a loop or a table.
 * Requests up to SC_LOOKUP_MAX find their class in a table of bytes that size_class_boot fills.
 */
#ifndef QED_MATH_SIZE_CLASS_H
#define QED_MATH_SIZE_CLASS_H

#include <stdint.h>

#include "platform/bits.h"
#include "platform/config.h"

#define SC_NTINY (LG_QUANTUM - SC_LG_TINY_MIN)          /* powers of two below the quantum */
#define SC_NGROUP (1U << SC_LG_NGROUP)
#define SC_TINY (1UL << SC_LG_TINY_MIN)                 /* the smallest class divides all others */
#define SC_QUANTUM (1UL << LG_QUANTUM)

#define SC_NSIZES (SC_NTINY + SC_NGROUP * (64U - LG_QUANTUM - SC_LG_NGROUP) - 1U)
#define SC_NBINS (SC_NTINY + SC_NGROUP * (LG_PAGE - LG_QUANTUM + 1U) - 1U)          /* small classes */
#define SC_NPSIZES (SC_NGROUP + SC_NSIZES - SC_NBINS - 1U)                          /* page classes */
#define SC_SMALL_MAXCLASS ((1UL << (LG_PAGE + SC_LG_NGROUP)) - (1UL << (LG_PAGE - 1)))
#define SC_LARGE_MINCLASS (1UL << (LG_PAGE + SC_LG_NGROUP))
#define SC_LARGE_MAXCLASS ((1UL << 63) - (1UL << (62 - SC_LG_NGROUP)))
#define SC_LOOKUP_MAX 4096UL

#if LG_PAGE == 12 && LG_QUANTUM == 4 && SC_LG_TINY_MIN == 3 && SC_LG_NGROUP == 2
_Static_assert(SC_NSIZES == 232 && SC_NBINS == 36 && SC_NPSIZES == 199, "as in the reference table");
_Static_assert(SC_SMALL_MAXCLASS == 14336 && SC_LARGE_MAXCLASS == 8070450532247928832UL, "as in the reference table");
#endif
_Static_assert(SC_NBINS <= 255 && SC_LOOKUP_MAX < SC_LARGE_MINCLASS, "a lookup entry is a small class, in a byte");

/* Index of the least rung above x. */
static inline uint32_t ladder_above(uint64_t x)
{
    uint32_t n = x < SC_NGROUP ? 0 : bits_lg_floor(x) - SC_LG_NGROUP;
    return n * SC_NGROUP + (uint32_t)(x / (1UL << n));
}

static inline uint64_t ladder_rung(uint32_t j)
{
    return j < SC_NGROUP ? j + 1UL : (SC_NGROUP + j % SC_NGROUP + 1UL) * (1UL << (j / SC_NGROUP - 1));
}

/* Least class that fits, SC_NSIZES if none does. */
static inline uint32_t size_class_index(uint64_t size_bytes)
{
    if (size_bytes <= SC_TINY) {
        return 0;
    }
    if (size_bytes > SC_LARGE_MAXCLASS) {
        return SC_NSIZES;
    }
    if (size_bytes <= SC_QUANTUM / 2) {
        return bits_lg_floor(size_bytes - 1) + 1 - SC_LG_TINY_MIN;
    }
    return SC_NTINY + ladder_above((size_bytes - 1) / SC_QUANTUM);
}

static inline uint64_t size_class_bytes(uint32_t szind)
{
    if (szind + 1 <= SC_NTINY) {    /* `<` would warn where there are no tiny classes */
        return 1UL << (SC_LG_TINY_MIN + szind);
    }
    return ladder_rung(szind - SC_NTINY) * SC_QUANTUM;
}

/* size -> class, one entry for each multiple of SC_TINY up to SC_LOOKUP_MAX. */
extern uint8_t size_class_table[SC_LOOKUP_MAX / SC_TINY + 1];

void size_class_boot(void);

/* The same as size_class_index, for sizes up to SC_LOOKUP_MAX. */
static inline uint32_t size_class_lookup(uint64_t size_bytes)
{
    return size_class_table[(size_bytes + SC_TINY - 1) / SC_TINY];
}

/* Least number of pages that the class divides. Small classes only. */
uint32_t size_class_slab_pages(uint32_t szind);

/* Index of the largest page class of at most npages (>= 1). */
static inline uint32_t size_class_page_index(uint64_t npages)
{
    uint32_t above = ladder_above(npages);
    return above < SC_NPSIZES ? above - 1 : SC_NPSIZES - 1;
}

/* Index of the least page class of at least npages (>= 1), SC_NPSIZES if there is none. */
static inline uint32_t size_class_page_index_ceil(uint64_t npages)
{
    uint32_t least = ladder_above(npages - 1);
    return least < SC_NPSIZES ? least : SC_NPSIZES;
}

/* Pages of page class i. */
static inline uint64_t size_class_page_count(uint32_t i)
{
    return ladder_rung(i);
}

#endif
