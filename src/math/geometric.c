#include "math/geometric.h"

#include "math/prng.h"
#include "platform/bits.h"

#define LG_DIGITS 24U                                   /* binary digits of a logarithm behind the point */
#define LG_ONE (1UL << 31)                              /* 1 as a number between 1 and 2 in fixed point */
#define LN_2 2977044472UL                               /* the natural logarithm of 2, times 2^32 and rounded */

/* Returns the first LG_DIGITS digits behind the point of the logarithm to base 2 of m / LG_ONE, which is between 1 and 2. A number that
 * is squared has twice the logarithm: the next digit is 1 if the square is 2 or more. */
static uint64_t lg_fraction(uint64_t m)
{
    uint64_t y = m, digits = 0;
    for (uint32_t i = 0; i < LG_DIGITS; i++) {
        uint64_t square = y * y / LG_ONE;
        uint64_t digit = square / (2 * LG_ONE);
        y = digit == 0 ? square : square / 2;
        digits = digits * 2 + digit;
    }
    return digits;
}

/* Returns the logarithm to base 2 of 2^64 / u, times 2^LG_DIGITS. */
static uint64_t lg_inverse(uint64_t u)
{
    uint32_t e = bits_lg_floor(u);
    uint64_t m = e >= 31 ? u / (1UL << (e - 31)) : u * (1UL << (31 - e));
    return (64UL - e) * (1UL << LG_DIGITS) - lg_fraction(m);
}

uint64_t geometric_next(uint64_t *state, uint32_t lg_mean)
{
    *state = prng_step(*state);
    uint64_t u = *state == 0 ? 1 : *state;
    return lg_mean == 0 ? 1 : lg_inverse(u) * LN_2 / (1UL << (LG_DIGITS + 32 - lg_mean)) + 1;
}
