#include "math/hash.h"

#define HASH_C1 0x87C37B91114253D5UL
#define HASH_C2 0x4CF5AD432745937FUL
#define HASH_HALF 4294967296UL

/* Returns x + y modulo 2^64. */
static inline uint64_t hash_add(uint64_t x, uint64_t y)
{
    return y <= UINT64_MAX - x ? x + y : y - (UINT64_MAX - x) - 1;
}

/* Returns x * y modulo 2^64. */
static inline uint64_t hash_multiply(uint64_t x, uint64_t y)
{
    uint64_t low = x % HASH_HALF * (y % HASH_HALF);
    uint64_t cross = x / HASH_HALF * (y % HASH_HALF) % HASH_HALF + x % HASH_HALF * (y / HASH_HALF) % HASH_HALF;
    return (low / HASH_HALF + cross) % HASH_HALF * HASH_HALF + low % HASH_HALF;
}

/* Returns x with its bits moved up by r places, those that leave at the top coming in below. */
static inline uint64_t hash_rotate(uint64_t x, uint32_t r)
{
    return x % (1UL << (64 - r)) * (1UL << r) + x / (1UL << (64 - r));
}

/* The same for 32 bits. */
static inline uint32_t hash_rotate32(uint32_t x, uint32_t r)
{
    return (uint32_t)(x % (1UL << (32 - r)) * (1UL << r) + x / (1UL << (32 - r)));
}

/* Returns x * y modulo 2^32. */
static inline uint32_t hash_multiply32(uint32_t x, uint32_t y)
{
    return (uint32_t)((uint64_t)x * y % HASH_HALF);
}

/* Returns the number that n bytes stand for, the first of them the lowest. */
static uint64_t hash_read(const uint8_t *data, size_t n)
{
    uint64_t x = 0;
    for (size_t i = n; i > 0; i--) {
        x = x * 256 + data[i - 1];
    }
    return x;
}

/* Spreads each bit of x over all bits. */
static inline uint64_t hash_mix(uint64_t x)
{
    x = hash_multiply(x ^ (x / (1UL << 33)), 0xFF51AFD7ED558CCDUL);
    x = hash_multiply(x ^ (x / (1UL << 33)), 0xC4CEB9FE1A85EC53UL);
    return x ^ (x / (1UL << 33));
}

static inline uint32_t hash_mix32(uint32_t x)
{
    x = hash_multiply32(x ^ (x / 65536), 0x85EBCA6B);
    x = hash_multiply32(x ^ (x / 8192), 0xC2B2AE35);
    return x ^ (x / 65536);
}

/* The first word of a block, as it enters the hash. */
static inline uint64_t hash_scramble_first(uint64_t k)
{
    return hash_multiply(hash_rotate(hash_multiply(k, HASH_C1), 31), HASH_C2);
}

/* The second word. */
static inline uint64_t hash_scramble_second(uint64_t k)
{
    return hash_multiply(hash_rotate(hash_multiply(k, HASH_C2), 33), HASH_C1);
}

static inline uint32_t hash_scramble32(uint32_t k)
{
    return hash_multiply32(hash_rotate32(hash_multiply32(k, 0xCC9E2D51), 15), 0x1B873593);
}

/* The hash of the whole blocks, of 16 bytes each. */
static void hash_blocks(const uint8_t *data, size_t nblocks, uint64_t hash[2])
{
    uint64_t h1 = hash[0], h2 = hash[1];
    for (size_t i = 0; i < nblocks; i++) {
        h1 ^= hash_scramble_first(hash_read(data + i * 16, 8));
        h1 = hash_add(hash_rotate(h1, 27), h2);
        h1 = hash_add(hash_multiply(h1, 5), 0x52DCE729);
        h2 ^= hash_scramble_second(hash_read(data + i * 16 + 8, 8));
        h2 = hash_add(hash_rotate(h2, 31), h1);
        h2 = hash_add(hash_multiply(h2, 5), 0x38495AB5);
    }
    hash[0] = h1;
    hash[1] = h2;
}

void hash_x64_128(const uint8_t *data, size_t n, uint32_t seed, uint64_t hash[2])
{
    size_t rest = n % 16;
    hash[0] = seed;
    hash[1] = seed;
    hash_blocks(data, n / 16, hash);
    const uint8_t *tail = data + (n - rest);
    uint64_t       h1 = hash[0] ^ hash_scramble_first(hash_read(tail, rest < 8 ? rest : 8)) ^ n;
    uint64_t       h2 = hash[1] ^ hash_scramble_second(rest < 8 ? 0 : hash_read(tail + 8, rest - 8)) ^ n;
    h1 = hash_add(h1, h2);
    h2 = hash_add(h2, h1);
    h1 = hash_mix(h1);
    h2 = hash_mix(h2);
    hash[0] = hash_add(h1, h2);
    hash[1] = hash_add(h2, hash[0]);
}

uint32_t hash_x86_32(const uint8_t *data, size_t n, uint32_t seed)
{
    uint32_t h = seed;
    size_t   rest = n % 4;
    for (size_t i = 0; i < n / 4; i++) {
        h = hash_rotate32(h ^ hash_scramble32((uint32_t)hash_read(data + i * 4, 4)), 13);
        h = (uint32_t)((h * 5UL + 0xE6546B64UL) % HASH_HALF);
    }
    h ^= hash_scramble32((uint32_t)hash_read(data + (n - rest), rest));
    return hash_mix32(h ^ (uint32_t)(n % HASH_HALF));
}
