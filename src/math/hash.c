#include "math/hash.h"

#define HASH_HALF 4294967296UL

/*@ assigns      \nothing;
    ensures add: \result == HashAdd(x, y);
*/
static inline uint64_t hash_add(uint64_t x, uint64_t y)
{
    return y <= UINT64_MAX - x ? x + y : y - (UINT64_MAX - x) - 1;
}

/*@ assigns          \nothing;
    ensures product: \result == HashMultiply(x, y);
*/
static inline uint64_t hash_multiply(uint64_t x, uint64_t y)
{
    uint64_t xh = x / HASH_HALF, xl = x % HASH_HALF, yh = y / HASH_HALF, yl = y % HASH_HALF;
    /*@ assert most: xl * yl <= (HASH_HALF - 1) * (HASH_HALF - 1) && xh * yl <= (HASH_HALF - 1) * (HASH_HALF - 1) &&
            xl * yh <= (HASH_HALF - 1) * (HASH_HALF - 1) && xh * yh <= (HASH_HALF - 1) * (HASH_HALF - 1); */
    uint64_t low = xl * yl, a = xh * yl, b = xl * yh;
    uint64_t middle = low / HASH_HALF + a % HASH_HALF + b % HASH_HALF;
    uint64_t r = middle % HASH_HALF * HASH_HALF + low % HASH_HALF;
    /*@ assert parts: x == xh * HASH_HALF + xl && y == yh * HASH_HALF + yl; */
    /*@ assert split: x * y == xh * yh * HASH_HALF * HASH_HALF + (a + b) * HASH_HALF + low; */
    /*@ ghost hash_lemma_modulo(x, y, xh * yh, a / HASH_HALF + b / HASH_HALF + middle / HASH_HALF, r); */
    return r;
}

/*@ assigns      \nothing;
    ensures xor: \result == HashXor(y, x);
*/
static inline uint64_t hash_xor(uint64_t y, uint64_t x)
{
    return y ^ x;
}

/*@ assigns      \nothing;
    ensures xor: \result == HashXor32(y, x);
*/
static inline uint32_t hash_xor32(uint32_t y, uint32_t x)
{
    return y ^ x;
}

/* Returns x with its bits moved up by 27, 31 or 33 places. Those that leave at the top come in below. */
/*@ requires places: (up == (1 << 27) && down == (1 << 37)) || (up == (1 << 31) && down == (1 << 33)) ||
                         (up == (1 << 33) && down == (1 << 31));
    assigns          \nothing;
    ensures  rotate: \result == HashRotate(x, up, down);
*/
static inline uint64_t hash_rotate(uint64_t x, uint64_t up, uint64_t down)
{
    return x % down * up + x / down;
}

/*@ requires places: (up == (1 << 13) && down == (1 << 19)) || (up == (1 << 15) && down == (1 << 17));
    assigns          \nothing;
    ensures  rotate: \result == HashRotate(x, up, down);
*/
static inline uint32_t hash_rotate32(uint32_t x, uint32_t up, uint32_t down)
{
    return x % down * up + x / down;
}

/*@ assigns          \nothing;
    ensures product: \result == HashMultiply32(x, y);
*/
static inline uint32_t hash_multiply32(uint32_t x, uint32_t y)
{
    /*@ assert most: x * y <= (HASH_HALF - 1) * (HASH_HALF - 1); */
    return (uint32_t)((uint64_t)x * y % HASH_HALF);
}

/*@ requires bytes:  n <= 8 && \valid_read(data + (0 .. n - 1));
    assigns          \nothing;
    ensures  number: \result == HashRead(data, 0, n);
    ensures  most:   \result <= HashMost(n);
*/
static uint64_t hash_read(const uint8_t *data, size_t n)
{
    uint64_t x = 0;
    /*@ loop invariant range:  0 <= i <= n;
        loop invariant number: x == HashRead(data, i, n);
        loop invariant most:   x <= HashMost(n - i);
        loop assigns           i, x;
        loop variant           i;
    */
    for (size_t i = n; i > 0; i--) {
        x = x * 256 + data[i - 1];
    }
    return x;
}

/*@ assigns      \nothing;
    ensures mix: \result == HashMix(x);
*/
static inline uint64_t hash_mix(uint64_t x)
{
    uint64_t y = hash_multiply(x ^ (x / (1UL << 33)), 0xFF51AFD7ED558CCDUL);
    uint64_t z = hash_multiply(y ^ (y / (1UL << 33)), 0xC4CEB9FE1A85EC53UL);
    return z ^ (z / (1UL << 33));
}

/*@ assigns      \nothing;
    ensures mix: \result == HashMix32(x);
*/
static inline uint32_t hash_mix32(uint32_t x)
{
    uint32_t y = hash_multiply32(x ^ (x / 65536), 0x85EBCA6B);
    uint32_t z = hash_multiply32(y ^ (y / 8192), 0xC2B2AE35);
    return z ^ (z / 65536);
}

/* The first word of a block, as it enters the hash. */
/*@ assigns       \nothing;
    ensures word: \result == HashFirst(k);
*/
static inline uint64_t hash_first(uint64_t k)
{
    return hash_multiply(hash_rotate(hash_multiply(k, HASH_C1), 1UL << 31, 1UL << 33), HASH_C2);
}

/*@ assigns       \nothing;
    ensures word: \result == HashSecond(k);
*/
static inline uint64_t hash_second(uint64_t k)
{
    return hash_multiply(hash_rotate(hash_multiply(k, HASH_C2), 1UL << 33, 1UL << 31), HASH_C1);
}

/*@ assigns       \nothing;
    ensures word: \result == HashScramble32(k);
*/
static inline uint32_t hash_scramble32(uint32_t k)
{
    return hash_multiply32(hash_rotate32(hash_multiply32(k, 0xCC9E2D51), 1U << 15, 1U << 17), 0x1B873593);
}

/* The hash of n whole blocks, of 16 bytes each. */
/*@ requires valid:  n <= SIZE_MAX / 16 && \valid_read(data + (0 .. n * 16 - 1)) && \valid(hash + (0 .. 1));
    requires apart:  \separated(data + (0 .. n * 16 - 1), hash + (0 .. 1));
    assigns          hash[0 .. 1];
    ensures  first:  hash[0] == HashWord(data, n, 0, seed);
    ensures  second: hash[1] == HashWord(data, n, 1, seed);
    ensures  same:   \forall integer i; 0 <= i < n * 16 ==> data[i] == \old(data[i]);
*/
static void hash_blocks(const uint8_t *data, size_t n, uint32_t seed, uint64_t hash[2])
{
    uint64_t h1 = seed, h2 = seed;
    /*@ loop invariant range:  0 <= i <= n;
        loop invariant first:  h1 == HashWord(data, i, 0, seed);
        loop invariant second: h2 == HashWord(data, i, 1, seed);
        loop assigns           i, h1, h2;
        loop variant           n - i;
    */
    for (size_t i = 0; i < n; i++) {
        uint64_t k1 = hash_first(hash_read(data + i * 16, 8));
        uint64_t k2 = hash_second(hash_read(data + i * 16 + 8, 8));
        h1 = hash_add(hash_multiply(hash_add(hash_rotate(h1 ^ k1, 1UL << 27, 1UL << 37), h2), 5), 0x52DCE729);
        h2 = hash_add(hash_multiply(hash_add(hash_rotate(h2 ^ k2, 1UL << 31, 1UL << 33), h1), 5), 0x38495AB5);
    }
    hash[0] = h1;
    hash[1] = h2;
}

void hash_x64_128(const uint8_t *data, size_t n, uint32_t seed, uint64_t hash[2])
{
    size_t         rest = n % 16;
    const uint8_t *tail = data + n / 16 * 16;
    uint64_t       k1 = hash_first(hash_read(tail, rest < 8 ? rest : 8));
    uint64_t       k2 = hash_second(rest < 8 ? 0 : hash_read(tail + 8, rest - 8));
    /*@ assert k1: k1 == HashFirst(HashRead(data + n / 16 * 16, 0, n % 16 < 8 ? n % 16 : 8)); */
    /*@ assert k2: k2 == HashSecond(n % 16 < 8 ? 0 : HashRead(data + n / 16 * 16 + 8, 0, n % 16 - 8)); */
    hash_blocks(data, n / 16, seed, hash);
    uint64_t h1 = hash_xor(hash_xor(hash[0], k1), n);
    uint64_t h2 = hash_xor(hash_xor(hash[1], k2), n);
    /*@ assert h1: h1 == HashTailFirst(data, n, seed); */
    /*@ assert h2: h2 == HashTailSecond(data, n, seed); */
    uint64_t a = hash_add(h1, h2);
    uint64_t x = hash_mix(a);
    uint64_t y = hash_mix(hash_add(h2, a));
    hash[0] = hash_add(x, y);
    hash[1] = hash_add(y, hash[0]);
    /*@ assert is: HashIs(hash[0], hash[1], h1, h2); */
}

uint32_t hash_x86_32(const uint8_t *data, size_t n, uint32_t seed)
{
    uint32_t h = seed;
    /*@ loop invariant range: 0 <= i <= n / 4;
        loop invariant word:  h == HashWord32(data, i, seed);
        loop assigns          i, h;
        loop variant          n / 4 - i;
    */
    for (size_t i = 0; i < n / 4; i++) {
        h = hash_rotate32(h ^ hash_scramble32((uint32_t)hash_read(data + i * 4, 4)), 1U << 13, 1U << 19);
        h = (uint32_t)((h * 5UL + 0xE6546B64UL) % HASH_HALF);
    }
    uint32_t k = hash_scramble32((uint32_t)hash_read(data + n / 4 * 4, n % 4));
    /*@ assert tail: k == HashScramble32(HashRead(data + n / 4 * 4, 0, n % 4)); */
    /*@ assert word: h == HashWord32(data, n / 4, seed); */
    return hash_mix32(hash_xor32(hash_xor32(h, k), (uint32_t)(n % HASH_HALF)));
}
