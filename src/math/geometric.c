#include "math/geometric.h"

#include "platform/bits.h"

/* Returns the first digits behind the point of the logarithm to base 2 of m / GEOMETRIC_ONE, which is between 1 and 2. The
 * square of a number has twice its logarithm, so the next digit is 1 if the square is 2 or more. */
/*@ requires m:      GEOMETRIC_ONE <= m < 2 * GEOMETRIC_ONE;
    assigns          \nothing;
    ensures  digits: GeometricDigits(m, \result);
*/
static uint64_t geometric_digits(uint64_t m)
{
    uint64_t y = m, digits = 0;
    /*@ ghost uint64_t gap = 0; */
    /*@ loop invariant range:  0 <= i <= GEOMETRIC_LG_DIGITS && GEOMETRIC_ONE <= y < 2 * GEOMETRIC_ONE;
        loop invariant digits: digits <= gap;
        loop invariant gap:    gap + 1 == POW2(i) <= POW2(GEOMETRIC_LG_DIGITS);
        loop invariant some:   GeometricSquare(m, i) > 0.0;
        loop invariant least:  GeometricPower(digits) * y <= GeometricSquare(m, i) * 2147483648.0;
        loop invariant most:   GeometricSquare(m, i) * (2147483648.0 - gap) <= GeometricPower(digits) * y;
        loop assigns           i, y, digits, gap;
        loop variant           GEOMETRIC_LG_DIGITS - i;
    */
    for (uint32_t i = 0; i < GEOMETRIC_LG_DIGITS; i++) {
        /*@ ghost align_lemma_order(i + 1, GEOMETRIC_LG_DIGITS);
                  align_lemma_double(i); */
        /*@ assert low:  GEOMETRIC_ONE * GEOMETRIC_ONE <= y * y; */
        /*@ assert high: y * y <= (2 * GEOMETRIC_ONE - 1) * (2 * GEOMETRIC_ONE - 1); */
        uint64_t digit = y * y / (2 * GEOMETRIC_ONE * GEOMETRIC_ONE);
        uint64_t z = y * y / ((digit + 1) * GEOMETRIC_ONE);
        /*@ ghost geometric_lemma_step(m, i, digits, y, z, digit + 1, gap); */
        /*@ ghost gap = 2 * gap + 1; */
        digits = digits * 2 + digit;
        y = z;
    }
    /*@ ghost geometric_lemma_power(digits);
              geometric_lemma_scale(); */
    /*@ assert least: GeometricScaled(GeometricPower(digits), 2147483648.0, 1.0 * y); */
    /*@ assert most:  GeometricScaled(GeometricPower(digits), 1.0 * y, 4294967295.0); */
    /*@ assert lower: GeometricPower(digits) * 2147483648.0 <= GeometricPower(digits) * y; */
    /*@ assert upper: GeometricPower(digits) * y <= GeometricPower(digits) * 4294967295.0; */
    /*@ assert gap:   gap == 16777215; */
    return digits;
}

/* Returns the logarithm to base 2 of 2^64 / u, times 2^GEOMETRIC_LG_DIGITS. */
/*@ requires some:    u != 0;
    assigns           \nothing;
    ensures  inverse: GeometricInverse(u, \result);
    ensures  range:   1 <= \result <= 64 * (1 << GEOMETRIC_LG_DIGITS);
*/
static uint64_t geometric_inverse(uint64_t u)
{
    uint32_t e = bits_lg_floor(u);
    /*@ ghost geometric_lemma_first(e);
              if (e >= 31) {
                  geometric_lemma_divide(u, 1UL << (e - 31));
              } else {
                  geometric_lemma_multiply(u, 1UL << (31 - e), 1UL << e, 1UL << (e + 1));
              } */
    uint64_t m = e >= 31 ? u / (1UL << (e - 31)) : u * (1UL << (31 - e));
    uint64_t l = geometric_digits(m);
    /*@ assert first: m == GeometricFirst(u, e); */
    return (64UL - e) * (1UL << GEOMETRIC_LG_DIGITS) - l;
}

uint64_t geometric_next(uint64_t *state, uint32_t lg_mean)
{
    *state = prng_step(*state);
    if (lg_mean == 0) {
        return 1;
    }
    uint64_t r = geometric_inverse(*state == 0 ? 1 : *state);
    /*@ ghost geometric_lemma_mean(lg_mean);
              geometric_lemma_quotient(r * GEOMETRIC_LN_2, 1UL << (GEOMETRIC_LG_DIGITS + 32 - lg_mean),
                                       64 * (1UL << lg_mean)); */
    return r * GEOMETRIC_LN_2 / (1UL << (GEOMETRIC_LG_DIGITS + 32 - lg_mean)) + 1;
}
