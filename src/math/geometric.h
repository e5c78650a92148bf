/* geometric: how many bytes to go until the next sample, when each byte is sampled with the same small probability.
 *
 * geometric_next draws the number from a generator (math/prng.h). Its distribution is that of floor(X) + 1, where X is
 * exponential with mean R = 2^lg_mean: the geometric one with p = 1 - e^(-1/R). So among Z bytes there is a sample with
 * probability 1 - e^(-Z/R). X is -ln(u) * R for a number u between 0 and 1. The logarithm to base 2 is computed digit by
 * digit in integers. It is exact to the last of its 24 digits (GeometricDigits in spec/math/geometric.acsl).
 */
#ifndef QED_MATH_GEOMETRIC_H
#define QED_MATH_GEOMETRIC_H

#include <stdint.h>

#include "math/align.h"
#include "math/prng.h"

#define GEOMETRIC_LG_MEAN_MAX 40U
#define GEOMETRIC_LG_DIGITS 24U                         /* binary digits of a logarithm behind the point */
#define GEOMETRIC_ONE (1UL << 31)                       /* 1 as a number between 1 and 2 in fixed point */
#define GEOMETRIC_LN_2 2977044472UL                     /* the natural logarithm of 2, times 2^32 and rounded */

#include "math/geometric.acsl"
#include "math/geometric_lemmas.acsl"

/* Returns a number from 1 on and advances the state. If lg_mean is 0, each byte is sampled and the result is 1. */
/*@ requires valid:    \valid(state);
    requires mean:     lg_mean <= GEOMETRIC_LG_MEAN_MAX;
    assigns            *state;
    ensures  state:    *state == PrngNext(\old(*state));
    ensures  each:     lg_mean == 0 ==> \result == 1;
    ensures  distance: lg_mean != 0 ==> \exists integer r; GeometricInverse(*state == 0 ? 1 : *state, r) &&
                           \result == r * GEOMETRIC_LN_2 / (1 << (GEOMETRIC_LG_DIGITS + 32 - lg_mean)) + 1;
    ensures  range:    1 <= \result <= 64 * (1 << lg_mean);
*/
uint64_t geometric_next(uint64_t *state, uint32_t lg_mean);

#endif
