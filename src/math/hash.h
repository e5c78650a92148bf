/* hash: MurmurHash3 by A. Appleby, in its variants x64_128 and x86_32. Not for secrets.
 *
 * The bytes are read in little-endian order on every machine. Products wrap in the original; here halves are multiplied, because
 * a product that wraps counts as a defect.
 */
#ifndef QED_MATH_HASH_H
#define QED_MATH_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Stores the 128-bit hash of n bytes, the first word of the original first. */
void hash_x64_128(const uint8_t *data, size_t n, uint32_t seed, uint64_t hash[2]);

/* Returns the 32-bit hash of n bytes. */
uint32_t hash_x86_32(const uint8_t *data, size_t n, uint32_t seed);

#endif
