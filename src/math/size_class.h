/* size_class: which block sizes there are, and which of them serves a request.
 *
 * All classes come from one ladder of whole numbers: 1, 2, .., NGROUP, then NGROUP equal steps per doubling:
 *     NGROUP = 4:  1 2 3 4 | 5 6 7 8 | 10 12 14 16 | 20 24 28 32 | ...
 *
 * Size classes are the ladder times the quantum, and below it the tiny powers of two. Page classes, which are whole
 * pages, are the ladder times the page. So one closed form, ladder_above, finds both, without a loop or a table.
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
#define SC_SLAB_NPAGES_MAX (2U * SC_NGROUP)            /* size_class_slab_pages is at most this */

#if LG_PAGE == 12 && LG_QUANTUM == 4 && SC_LG_TINY_MIN == 3 && SC_LG_NGROUP == 2
_Static_assert(SC_NSIZES == 232 && SC_NBINS == 36 && SC_NPSIZES == 199, "as in the reference table");
_Static_assert(SC_SMALL_MAXCLASS == 14336 && SC_LARGE_MAXCLASS == 8070450532247928832UL, "as in the reference table");
#endif
_Static_assert(SC_NBINS <= 255 && SC_LOOKUP_MAX < SC_LARGE_MINCLASS, "a lookup entry is a small class, in a byte");

#define LADDER_LENGTH (SC_NGROUP * (65U - SC_LG_NGROUP))   /* rungs at or below 2^64 */
#define LADDER_USABLE (SC_NGROUP * (64U - SC_LG_NGROUP))   /* rungs at or below 2^63 */

extern uint8_t size_class_table[SC_LOOKUP_MAX / SC_TINY + 1];      /* size / SC_TINY, rounded up -> class */

#include "math/size_class.acsl"
#include "math/size_class_lemmas.acsl"

/* Returns the index of the least rung above x. */
/*@ assigns        \nothing;
    ensures range: \result < LADDER_LENGTH;
    ensures above: x < Rung(\result);
    ensures below: 0 < \result ==> Rung(\result - 1) <= x;
    ensures some:  0 < x ==> 0 < \result;
*/
static inline uint32_t ladder_above(uint64_t x)
{
    uint32_t n = x < SC_NGROUP ? 0 : bits_lg_floor(x) - SC_LG_NGROUP;
    /*@ ghost ladder_lemma_shift(n); */
    uint64_t q = x / (1UL << n);
    /*@ ghost ladder_lemma_above(x, n, q); */
    return n * SC_NGROUP + (uint32_t)q;
}

/*@ requires range: j < LADDER_USABLE;
    assigns         \nothing;
    ensures  value: \result == Rung(j);
    ensures  some:  1 <= \result <= POW2(63);
*/
static inline uint64_t ladder_rung(uint32_t j)
{
    if (j < SC_NGROUP) {
        return j + 1UL;
    }
    /*@ ghost ladder_lemma_shift(j / SC_NGROUP - 1); */
    /*@ ghost align_lemma_product(SC_NGROUP + j % SC_NGROUP + 1, 2 * SC_NGROUP, 1UL << (j / SC_NGROUP - 1)); */
    return (SC_NGROUP + j % SC_NGROUP + 1UL) * (1UL << (j / SC_NGROUP - 1));
}

/* Returns the least class that fits, SC_NSIZES if none does. */
/*@ assigns        \nothing;
    ensures range: \result <= SC_NSIZES;
    ensures none:  \result == SC_NSIZES <==> size_bytes > SC_LARGE_MAXCLASS;
    ensures small: \result < SC_NBINS <==> size_bytes <= SC_SMALL_MAXCLASS;
    ensures fits:  \result < SC_NSIZES ==> ClassFits(size_bytes, \result);
    ensures least: ClassLeast(size_bytes, \result);
*/
static inline uint32_t size_class_index(uint64_t size_bytes)
{
    /*@ ghost class_lemma_ends(); */
    if (size_bytes <= SC_TINY) {
        return 0;
    }
    if (size_bytes > SC_LARGE_MAXCLASS) {
        /*@ ghost class_lemma_order(SC_NSIZES - 1); */
        return SC_NSIZES;
    }
    if (size_bytes <= SC_QUANTUM / 2) {
        uint32_t lg = bits_lg_floor(size_bytes - 1);
        /*@ ghost align_lemma_between(size_bytes - 1, lg, SC_LG_TINY_MIN, LG_QUANTUM - 1); */
        uint32_t i = lg + 1 - SC_LG_TINY_MIN;
        /*@ ghost class_lemma_power(i); */
        /*@ ghost class_lemma_power(i - 1); */
        /*@ ghost class_lemma_least(size_bytes, i); */
        return i;
    }
    uint32_t j = ladder_above((size_bytes - 1) / SC_QUANTUM);
    /*@ ghost class_lemma_ladder(size_bytes, j); */
    /*@ ghost class_lemma_bounds(SC_NTINY + j); */
    return SC_NTINY + j;
}

/*@ requires range:   szind < SC_NSIZES;
    assigns           \nothing;
    ensures  value:   \result == ScBytes(szind);
    ensures  bounds:  SC_TINY <= \result <= SC_LARGE_MAXCLASS;
    ensures  tiny:    \result % SC_TINY == 0;
    ensures  quantum: SC_NTINY <= szind ==> \result % SC_QUANTUM == 0;
    ensures  small:   szind < SC_NBINS ==> \result <= SC_SMALL_MAXCLASS;
    ensures  pages:   SC_NBINS <= szind ==> \result == Rung(szind - SC_NBINS + SC_NGROUP - 1) * PAGE;
*/
static inline uint64_t size_class_bytes(uint32_t szind)
{
    /*@ ghost class_lemma_bounds(szind); */
    if (szind + 1 <= SC_NTINY) {    /* `<` would warn where there are no tiny classes */
        return 1UL << (SC_LG_TINY_MIN + szind);
    }
    /*@ ghost if (szind >= SC_NBINS) { class_lemma_pages(szind); } */
    return ladder_rung(szind - SC_NTINY) * SC_QUANTUM;
}

/*@ assigns          size_class_table[0 .. SC_LOOKUP_MAX / SC_TINY];
    ensures  filled: SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
*/
void size_class_boot(void);

/* Returns what size_class_index returns, for sizes up to SC_LOOKUP_MAX, from the table. */
/*@ requires booted: SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires range:  size_bytes <= SC_LOOKUP_MAX;
    assigns          \nothing;
    ensures  range:  \result < SC_NBINS;
    ensures  fits:   ClassFits(size_bytes, \result);
    ensures  least:  ClassLeast(size_bytes, \result);
*/
static inline uint32_t size_class_lookup(uint64_t size_bytes)
{
    uint32_t szind = size_class_table[(size_bytes + SC_TINY - 1) / SC_TINY];
    /*@ ghost class_lemma_round(size_bytes, szind); */
    return szind;
}

/* Returns the least number of pages that the class, a small one, divides. */
/*@ requires small:   szind < SC_NBINS;
    assigns           \nothing;
    ensures  range:   1 <= \result <= SC_SLAB_NPAGES_MAX;
    ensures  divides: SlabDivides(\result, szind);
    ensures  least:   \forall integer n; 0 < n < \result ==> !SlabDivides(n, szind);
*/
uint32_t size_class_slab_pages(uint32_t szind);

/* Returns the index of the largest page class of at most npages. */
/*@ requires some:   1 <= npages;
    assigns          \nothing;
    ensures  range:  \result < SC_NPSIZES;
    ensures  floor:  Rung(\result) <= npages;
    ensures  most:   \result < SC_NPSIZES - 1 ==> npages < Rung(\result + 1);
*/
static inline uint32_t size_class_page_index(uint64_t npages)
{
    uint32_t above = ladder_above(npages);
    /*@ ghost ladder_lemma_order(above - 1); */
    return above < SC_NPSIZES ? above - 1 : SC_NPSIZES - 1;
}

#endif
