/* What size_class promises as a whole, proven from the contracts of its functions alone. Nothing here is linked. */
#include "math/align.h"
#include "math/size_class.h"

#include "math/size_class_align_lemmas.acsl"

/*@ requires range:  szind < SC_NSIZES;
    assigns          \nothing;
    ensures  same:   \result == szind;
*/
static uint32_t theorem_round_trip(uint32_t szind)
{
    /*@ ghost class_lemma_order(szind); */
    uint64_t bytes = size_class_bytes(szind);
    uint32_t i = size_class_index(bytes);
    /*@ ghost if (i < SC_NSIZES) { class_lemma_order(i); } */
    return i;
}

/*@ requires order:   a <= b;
    assigns           \nothing;
    ensures  monotone: \result;
*/
static bool theorem_monotone(uint64_t a, uint64_t b)
{
    return size_class_index(a) <= size_class_index(b);
}

/*@ requires booted: SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires range:  size_bytes <= SC_LOOKUP_MAX;
    assigns          \nothing;
    ensures  same:   \result;
*/
static bool theorem_table(uint64_t size_bytes)
{
    return size_class_lookup(size_bytes) == size_class_index(size_bytes);
}

/* Less than size / NGROUP is wasted, or less than a quantum. */
/*@ requires range:  SC_QUANTUM / 2 < size_bytes <= SC_LARGE_MAXCLASS;
    assigns          \nothing;
    ensures  few:    size_bytes <= SC_NGROUP * SC_QUANTUM ==> \result < SC_QUANTUM;
    ensures  part:   size_bytes > SC_NGROUP * SC_QUANTUM ==> \result * SC_NGROUP < size_bytes;
*/
static uint64_t theorem_waste(uint64_t size_bytes)
{
    uint32_t i = size_class_index(size_bytes);
    /*@ ghost class_lemma_bounds(i); */
    /*@ ghost class_lemma_tinies(size_bytes, i); */
    /*@ ghost class_lemma_waste(size_bytes, i); */
    return size_class_bytes(i) - size_bytes;
}

/* A multiple of a power of two gets a class that is a multiple of it: aligned requests need only round up. */
/*@ requires power:    IsPowerOfTwo(align_bytes);
    requires range:    1 <= size_bytes && size_bytes + align_bytes - 1 <= SC_LARGE_MAXCLASS;
    assigns            \nothing;
    ensures  fits:     size_bytes <= \result;
    ensures  aligned:  \result % align_bytes == 0;
*/
static uint64_t theorem_aligned(uint64_t size_bytes, uint64_t align_bytes)
{
    /*@ ghost align_lemma_range(align_bytes); */
    uint64_t up = align_up(size_bytes, align_bytes);
    /*@ ghost uint32_t lg = class_lemma_exponent(align_bytes); */
    uint32_t i = size_class_index(up);
    /*@ ghost class_lemma_aligned(up, i, align_bytes, lg); */
    return size_class_bytes(i);
}

/*@ requires range:  psz < SC_NPSIZES;
    requires pages:  1 <= npages == Rung(psz);
    assigns          \nothing;
    ensures  same:   \result == psz;
*/
static uint32_t theorem_page_class(uint32_t psz, uint64_t npages)
{
    uint32_t floor = size_class_page_index(npages);
    /*@ ghost ladder_lemma_order(psz); */
    /*@ ghost ladder_lemma_order(floor); */
    return floor;
}

/*@ requires some:   1 <= a <= b;
    assigns          \nothing;
    ensures  monotone: \result;
*/
static bool theorem_page_floor_monotone(uint64_t a, uint64_t b)
{
    uint32_t i = size_class_page_index(a);
    uint32_t j = size_class_page_index(b);
    /*@ ghost ladder_lemma_order(i); */
    return i <= j;
}
