/* align: rounding to multiples of a power of two.
 *
 * A division by a power of two that the compiler cannot see costs tens of cycles, so the power is taken apart with
 * bits_lg_floor first: that compiles to two shifts, and to one mask where the alignment is a constant.
 */
#ifndef QED_MATH_ALIGN_H
#define QED_MATH_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/bits.h"

#include "align.acsl"
#include "align_lemmas.acsl"

/*@ terminates    \true;
    exits         \false;
    assigns       \nothing;
    ensures  is:  \result <==> IsPowerOfTwo(x);
*/
static inline bool is_power_of_two(uint64_t x)
{
    /*@ ghost align_lemma_range(x); */
    if (x == 0) {
        return false;
    }
    uint32_t lg = bits_lg_floor(x);
    /*@ ghost align_lemma_lg(x, lg); */
    return 1UL << lg == x;
}

/*@ requires power:    IsPowerOfTwo(a);
    terminates         \true;
    exits              \false;
    assigns            \nothing;
    ensures  below:    x - a < \result <= x;
    ensures  multiple: \result % a == 0;
*/
static inline uint64_t align_down(uint64_t x, uint64_t a)
{
    /*@ ghost align_lemma_range(a); */
    uint32_t lg = bits_lg_floor(a);
    /*@ ghost align_lemma_lg(a, lg); */
    uint64_t n = x / (1UL << lg);
    /*@ ghost align_lemma_multiple(x, a, n); */
    return n * (1UL << lg);
}

/* True when align_up(x, a) can be represented. */
/*@ requires power:   IsPowerOfTwo(a);
    terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  exact:   \result <==> x + a - 1 <= UINT64_MAX;
*/
static inline bool align_up_fits(uint64_t x, uint64_t a)
{
    /*@ ghost align_lemma_range(a); */
    return x <= UINT64_MAX - (a - 1);
}

/*@ requires power:    IsPowerOfTwo(a);
    requires fits:     x + a - 1 <= UINT64_MAX;
    terminates         \true;
    exits              \false;
    assigns            \nothing;
    ensures  above:    x <= \result < x + a;
    ensures  multiple: \result % a == 0;
*/
static inline uint64_t align_up(uint64_t x, uint64_t a)
{
    /*@ ghost align_lemma_range(a); */
    return align_down(x + (a - 1), a);
}

/* Least power of two that is at least x. */
/*@ requires range:    x <= 1UL << 63;
    terminates         \true;
    exits              \false;
    assigns            \nothing;
    ensures  power:    IsPowerOfTwo(\result);
    ensures  above:    x <= \result;
    ensures  least:    IsPowerOfTwo(x) ==> \result == x;
*/
static inline uint64_t align_power_above(uint64_t x)
{
    uint32_t lg = x <= 1 ? 0 : bits_lg_floor(x - 1) + 1;
    /*@ ghost align_lemma_above(x, lg); */
    return 1UL << lg;
}

#endif
