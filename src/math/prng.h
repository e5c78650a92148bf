/* prng: pseudo-random numbers for spreading things out, never for secrets.
 *
 * The generator is Knuth's 64-bit linear congruential one (MMIX), whose period is 2^64. Its low bits are weak, so
 * prng_range takes its result from the high ones.
 */
#ifndef QED_MATH_PRNG_H
#define QED_MATH_PRNG_H

#include <stdint.h>

#define PRNG_MULTIPLIER 6364136223846793005UL
#define PRNG_INCREMENT 1442695040888963407UL
#define PRNG_TRIES_MAX 64U

#include "math/prng.acsl"
#include "math/prng_lemmas.acsl"

/* Returns the state after x, which is x * multiplier + increment modulo 2^64. It multiplies halves, because a
 * wrapped product counts as a defect here. */
/*@ assigns       \nothing;
    ensures  lcg: \result == PrngNext(x);
*/
static inline uint64_t prng_step(uint64_t x)
{
    const uint64_t half = 1UL << 32;
    uint64_t       high = x / half;
    uint64_t       low = x % half;
    uint64_t       a = low * (PRNG_MULTIPLIER % half) + PRNG_INCREMENT % half;
    uint64_t       b = low * (PRNG_MULTIPLIER / half);
    uint64_t       c = high * (PRNG_MULTIPLIER % half);
    uint64_t       d = a / half + b % half + c % half + PRNG_INCREMENT / half;
    /*@ ghost uint64_t quotient = high * (PRNG_MULTIPLIER / half) + b / half + c / half + d / half;
              prng_lemma_modulo(x, quotient, d % half * half + a % half); */
    return d % half * half + a % half;
}

/* Cuts the 64-bit numbers into range equal parts. Returns the part that x is in, or range if x is in the remainder
 * behind them. */
/*@ requires range: range > 0;
    assigns         \nothing;
    ensures  part:  \result < range ==> PrngPart(x, \result, range);
    ensures  only:  \forall integer r; 0 <= r < range && PrngPart(x, r, range) ==> \result == r;
    ensures  none:  \result == range ==> PrngNoPart(x, range);
    ensures  most:  \result <= range;
*/
static inline uint64_t prng_part(uint64_t x, uint64_t range)
{
    uint64_t size = UINT64_MAX / range;
    uint64_t r = x / size;
    return r < range ? r : range;
}

/* Returns a number below range, each as likely as any other. One time in more than 2^64 the tries run out and the
 * result is 0. */
/*@ requires range: range > 0;
    requires state: \valid(state);
    assigns         *state;
    ensures  below: \result < range;
    ensures  first: PrngRange(\old(*state), *state, \result, range);
*/
static inline uint64_t prng_range(uint64_t *state, uint64_t range)
{
    /*@ ghost uint64_t before = *state; */
    /*@ loop invariant tries: 0 <= i <= PRNG_TRIES_MAX;
        loop invariant state: *state == PrngNth(before, i);
        loop invariant tried: PrngTried(before, i, range);
        loop assigns i, *state;
        loop variant PRNG_TRIES_MAX - i;
    */
    for (uint32_t i = 0; i < PRNG_TRIES_MAX; i++) {
        *state = prng_step(*state);
        uint64_t r = prng_part(*state, range);
        /*@ assert state: *state == PrngNth(before, i + 1); */
        if (r < range) {
            /*@ assert first: PrngRange(before, *state, r, range); */
            return r;
        }
        /*@ ghost prng_lemma_tried(before, i, range); */
    }
    return 0;
}

#endif
