/* hash_test: the published verification values of SMHasher (hashes of hashes of 0 to 255 bytes), known answers, and that each byte, the
 * length and the seed count. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/hash.h"

static uint64_t checks;

static void check(int ok, const char *what, uint64_t a, uint64_t b)
{
    checks++;
    if (!ok) {
        printf("FAIL hash: %s: %lx, %lx\n", what, a, b);
        exit(1);
    }
}

static void store(uint8_t *to, uint64_t x, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        to[i] = (uint8_t)(x >> (8 * i));
    }
}

/* SMHasher's VerificationTest: key i is 0, 1, .. i - 1, its seed 256 - i; the hashes of all keys are hashed with seed 0. */
static void verification(void)
{
    uint8_t  key[256], long_hashes[256 * 16], short_hashes[256 * 4];
    uint64_t h[2];
    for (uint32_t i = 0; i < 256; i++) {
        key[i] = (uint8_t)i;
        hash_x64_128(key, i, 256 - i, h);
        store(long_hashes + i * 16, h[0], 8);
        store(long_hashes + i * 16 + 8, h[1], 8);
        store(short_hashes + i * 4, hash_x86_32(key, i, 256 - i), 4);
    }
    hash_x64_128(long_hashes, sizeof long_hashes, 0, h);
    check((uint32_t)h[0] == 0x6384BA69, "x64_128 verification", h[0], h[1]);
    uint32_t s = hash_x86_32(short_hashes, sizeof short_hashes, 0);
    check(s == 0xB0F57EE3, "x86_32 verification", s, 0);
}

static void known_answers(void)
{
    static const struct {
        const char *text;
        uint32_t    seed, hash;
    } known[] = {{"", 0, 0}, {"", 1, 0x514E28B7}, {"", 0xFFFFFFFF, 0x81F16F39}, {"test", 0, 0xBA6BD213}, {"test", 0x9747B28C, 0x704B81DC},
                 {"Hello, world!", 0, 0xC0363E43}, {"Hello, world!", 0x9747B28C, 0x24884CBA},
                 {"The quick brown fox jumps over the lazy dog", 0, 0x2E4FF723},
                 {"The quick brown fox jumps over the lazy dog", 0x9747B28C, 0x2FA826CD}};
    for (uint32_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t h = hash_x86_32((const uint8_t *)known[i].text, strlen(known[i].text), known[i].seed);
        check(h == known[i].hash, "x86_32 known answer", h, known[i].hash);
    }
    uint64_t h[2];
    const char *fox = "The quick brown fox jumps over the lazy dog";
    hash_x64_128((const uint8_t *)"", 0, 0, h);
    check(h[0] == 0 && h[1] == 0, "x64_128 of nothing", h[0], h[1]);
    hash_x64_128((const uint8_t *)fox, strlen(fox), 0, h);
    check(h[0] == 0xE34BBC7BBC071B6C && h[1] == 0x7A433CA9C49A9347, "x64_128 of the fox", h[0], h[1]);
}

/* Every change of a bit changes the hash, whatever the length. */
static void bits_count(void)
{
    uint8_t  key[40] = {0};
    uint64_t plain[2], h[2];
    for (uint32_t n = 0; n <= sizeof key; n++) {
        hash_x64_128(key, n, 7, plain);
        uint32_t plain32 = hash_x86_32(key, n, 7);
        for (uint32_t i = 0; i < 8 * n; i++) {
            key[i / 8] ^= (uint8_t)(1U << i % 8);
            hash_x64_128(key, n, 7, h);
            check(h[0] != plain[0] && h[1] != plain[1], "a bit counts in x64_128", n, i);
            check(hash_x86_32(key, n, 7) != plain32, "a bit counts in x86_32", n, i);
            key[i / 8] ^= (uint8_t)(1U << i % 8);
        }
        hash_x64_128(key, n, 8, h);
        check(h[0] != plain[0] && hash_x86_32(key, n, 8) != plain32, "the seed counts", n, 0);
    }
}

int main(void)
{
    verification();
    known_answers();
    bits_count();
    printf("ok hash: %lu checks\n", checks);
    return 0;
}
