/* align: rounding to multiples of a power of two.
 *
 * A division costs tens of cycles where the compiler does not see that the divisor is a power of two. So bits_lg_floor
 * finds the exponent first. That compiles to two shifts, and to one mask where the alignment is a constant.
 */
#ifndef QED_MATH_ALIGN_H
#define QED_MATH_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/bits.h"

#include "math/align.acsl"
#include "math/align_lemmas.acsl"

/*@ assigns       \nothing;
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

/*@ requires power:    IsPowerOfTwo(a);
    requires fits:     x + a - 1 <= UINT64_MAX;
    assigns            \nothing;
    ensures  above:    x <= \result < x + a;
    ensures  multiple: \result % a == 0;
*/
static inline uint64_t align_up(uint64_t x, uint64_t a)
{
    /*@ ghost align_lemma_range(a); */
    return align_down(x + (a - 1), a);
}

/* Returns the least power of two that is at least x. */
/*@ requires range:    x <= 1UL << 63;
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
