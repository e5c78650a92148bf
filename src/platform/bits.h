/* bits: the compiler's bit-counting builtins. */
#ifndef QED_PLATFORM_BITS_H
#define QED_PLATFORM_BITS_H

#include <stdint.h>

/* Returns the index of the lowest set bit. */
/*@ requires some:  w != 0;
    assigns         \nothing;
    ensures  range: 0 <= \result <= 63;
    ensures  set:   ((w >> \result) & 1) != 0;
    ensures  least: \forall integer i; 0 <= i < \result ==> ((w >> i) & 1) == 0;
*/
static inline uint32_t bits_lowest(uint64_t w)
#ifdef __FRAMAC__
;
#else
{
    return (uint32_t)__builtin_ctzl(w);
}
#endif

/* Returns the logarithm of x to base 2, rounded down. */
/*@ requires some:  x != 0;
    assigns         \nothing;
    ensures  range: 0 <= \result <= 63;
    ensures  floor: (1 << \result) <= x;
    ensures  least: x < (1 << (\result + 1));
*/
static inline uint32_t bits_lg_floor(uint64_t x)
#ifdef __FRAMAC__
;
#else
{
    return 63U - (uint32_t)__builtin_clzl(x);
}
#endif

#endif
