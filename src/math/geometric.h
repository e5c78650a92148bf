/* geometric: how many bytes to go until the next sample, when each byte is sampled with the same small probability.
 *
 * geometric_next draws the number from a generator (math/prng.h). Its distribution is that of floor(X) + 1, where X is exponential with
 * mean R = 2^lg_mean: the geometric one with p = 1 - e^(-1/R). So among Z bytes there is a sample with probability 1 - e^(-Z/R).
 */
#ifndef QED_MATH_GEOMETRIC_H
#define QED_MATH_GEOMETRIC_H

#include <stdint.h>

#define GEOMETRIC_LG_MEAN_MAX 40U

/* Returns a number from 1 on and advances the state. If lg_mean is 0, each byte is sampled and the result is 1. */
uint64_t geometric_next(uint64_t *state, uint32_t lg_mean);

#endif
