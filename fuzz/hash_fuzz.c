/* hash_fuzz: the step is a run of bytes with a seed, all from the input; the check is MurmurHash3 as it is published, with products that
 * wrap and words that are read as the machine has them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t rotate(uint64_t x, uint32_t r)
{
    return x << r | x >> (64 - r);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCDUL;
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53UL;
    return x ^ x >> 33;
}

static void model_128(const uint8_t *data, size_t n, uint32_t seed, uint64_t hash[2])
{
    const uint64_t c1 = 0x87C37B91114253D5UL, c2 = 0x4CF5AD432745937FUL;
    uint64_t       h1 = seed, h2 = seed, k[2];
    size_t         i = 0;
    for (; i + 16 <= n; i += 16) {
        memcpy(k, data + i, 16);
        h1 = (rotate(h1 ^ rotate(k[0] * c1, 31) * c2, 27) + h2) * 5 + 0x52DCE729;
        h2 = (rotate(h2 ^ rotate(k[1] * c2, 33) * c1, 31) + h1) * 5 + 0x38495AB5;
    }
    memset(k, 0, sizeof k);
    if (i < n) {
        memcpy(k, data + i, n - i);
    }
    h1 ^= rotate(k[0] * c1, 31) * c2 ^ n;
    h2 ^= rotate(k[1] * c2, 33) * c1 ^ n;
    h1 += h2;
    h2 += h1;
    h1 = mix(h1);
    h2 = mix(h2);
    hash[0] = h1 + h2;
    hash[1] = h2 + hash[0];
}

static uint32_t scramble(uint32_t k)
{
    k *= 0xCC9E2D51;
    return (k << 15 | k >> 17) * 0x1B873593;
}

static uint32_t model_32(const uint8_t *data, size_t n, uint32_t seed)
{
    uint32_t h = seed, k;
    size_t   i = 0;
    for (; i + 4 <= n; i += 4) {
        memcpy(&k, data + i, 4);
        h ^= scramble(k);
        h = (h << 13 | h >> 19) * 5 + 0xE6546B64;
    }
    k = 0;
    if (i < n) {
        memcpy(&k, data + i, n - i);
    }
    h ^= scramble(k) ^ (uint32_t)n;
    h = (h ^ h >> 16) * 0x85EBCA6B;
    h = (h ^ h >> 13) * 0xC2B2AE35;
    return h ^ h >> 16;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t seed = 0;
    uint64_t got[2], want[2];
    if (size >= 4) {
        memcpy(&seed, data, 4);
    }
    for (size_t n = 0; n <= size && n < 64; n++) {
        hash_x64_128(data, n, seed, got);
        model_128(data, n, seed, want);
        if (memcmp(got, want, sizeof got) != 0 || hash_x86_32(data, n, seed) != model_32(data, n, seed)) {
            fprintf(stderr, "hash: not MurmurHash3 of %zu bytes with seed %u\n", n, seed);
            abort();
        }
    }
    return 0;
}
