/* hash: MurmurHash3 by A. Appleby, in its variants x64_128 and x86_32. Not for secrets.
 *
 * The bytes are read in little-endian order on every machine. Products wrap in the original. Here halves are multiplied,
 * because a product that wraps counts as a defect.
 */
#ifndef QED_MATH_HASH_H
#define QED_MATH_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_C1 0x87C37B91114253D5UL
#define HASH_C2 0x4CF5AD432745937FUL

#include "math/hash.acsl"

/* Stores the 128-bit hash of n bytes, the first word of the original first. */
/*@ requires valid:  \valid_read(data + (0 .. n - 1)) && \valid(hash + (0 .. 1));
    requires apart:  \separated(data + (0 .. n - 1), hash + (0 .. 1));
    assigns          hash[0 .. 1];
    ensures  hash:   HashIs(hash[0], hash[1], HashTailFirst(data, n, seed), HashTailSecond(data, n, seed));
*/
void hash_x64_128(const uint8_t *data, size_t n, uint32_t seed, uint64_t hash[2]);

/* Returns the 32-bit hash of n bytes. */
/*@ requires valid:  \valid_read(data + (0 .. n - 1));
    assigns          \nothing;
    ensures  hash:   \result == HashMix32(HashXor32(HashXor32(HashWord32(data, n / 4, seed),
                         HashScramble32(HashRead(data + n / 4 * 4, 0, n % 4))), n % 4294967296));
*/
uint32_t hash_x86_32(const uint8_t *data, size_t n, uint32_t seed);

#endif
