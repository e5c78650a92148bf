/* base_test: blocks of every alignment and of many sizes are zero and aligned, and no two of them share a cache line.
 * Each is filled with a byte of its own, and all are looked at again at the end. The test also compares the counters,
 * lets base grow, and takes the OS's memory away. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pages/base.h"
#include "platform/os_fake.h"

#define BLOCKS_MAX 4096U

static uint64_t seed = 0x9E3779B97F4A7C15UL;
static uint64_t checks;

#define CHECK(c) (checks++, (c) ? (void)0 : fail(#c, __LINE__))

static void fail(const char *what, int line)
{
    printf("base_test line %d: not so: %s\n", line, what);
    exit(1);
}

static uint64_t random_below(uint64_t n)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (seed >> 33) % n;
}

static struct {
    uint8_t *p;
    size_t   bytes;                     /* whole lines: the last line is the block's alone */
    uint8_t  fill;
} blocks[BLOCKS_MAX];
static uint32_t block_count;
static uint64_t allocated;

static void take(size_t bytes, size_t align)
{
    uintptr_t p = base_alloc(bytes, align);
    size_t    whole = bytes % 64 == 0 ? bytes : bytes - bytes % 64 + 64;
    CHECK(p != 0 && p % align == 0 && p % 64 == 0 && block_count < BLOCKS_MAX);
    bool zero = true;
    for (size_t i = 0; i < whole; i++) {
        zero = zero && ((uint8_t *)p)[i] == 0;
    }
    CHECK(zero);
    blocks[block_count].p = (uint8_t *)p;
    blocks[block_count].bytes = whole;
    blocks[block_count].fill = (uint8_t)(1 + block_count % 255);
    memset((void *)p, blocks[block_count].fill, whole);
    block_count++;
    allocated += whole;
    CHECK(base_allocated == allocated);
    CHECK(base_mapped == os_metadata_bytes && base_allocated <= base_mapped);
    CHECK(base_cursor % 64 == 0 && base_cursor <= base_end);
}

static void all_intact(void)
{
    for (uint32_t b = 0; b < block_count; b++) {
        bool same = true;
        for (size_t i = 0; i < blocks[b].bytes; i++) {
            same = same && blocks[b].p[i] == blocks[b].fill;
        }
        CHECK(same);
    }
}

/* Blocks double from the first size to the last and are used to the last line before the next one is mapped. */
static void growth(void)
{
    size_t block = BASE_BLOCK_FIRST;
    for (uint32_t i = 0; i < 14; i++) {
        uint64_t mapped = base_mapped, calls = os_fake.calls[OS_FAKE_METADATA];
        take(64, 64);
        CHECK(base_mapped == mapped + block);
        take(block - 64, 1);
        CHECK(base_mapped == mapped + block && os_fake.calls[OS_FAKE_METADATA] == calls + 1);
        block = block < BASE_BLOCK_LAST ? 2 * block : block;
    }
    block_count = 0;                    /* 200 MB: not looked at again */
}

static void out_of_memory(void)
{
    take(64, 64);
    uint64_t mapped = base_mapped, cursor = base_cursor, end = base_end, next = base_block_next;
    os_fake_fail(OS_FAKE_METADATA, 1, 1000);
    CHECK(base_alloc(end - cursor + 64, 64) == 0);                  /* needs a block */
    CHECK(base_alloc(BASE_BLOCK_LAST + 1, 64) == 0);                /* needs one of its own */
    CHECK(base_mapped == mapped && base_allocated == allocated && base_cursor == cursor && base_end == end &&
          base_block_next == next);
    take(64, 64);                                                   /* what is there is still served */
    os_fake_fail(OS_FAKE_METADATA, 1, 0);
    static const size_t absurd[] = {BASE_MAPPED_MAX, BASE_MAPPED_MAX + 1, SIZE_MAX / 2, SIZE_MAX - 64, SIZE_MAX - 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
        CHECK(base_alloc(absurd[i], 64) == 0 && base_allocated == allocated && base_mapped == mapped);
    }
}

/* A large request gets a block of its own; the rest of the current one stays in use. */
static void apart(void)
{
    take(64, 64);
    uint64_t cursor = base_cursor, end = base_end, mapped = base_mapped;
    take(BASE_BLOCK_LAST + 1, 4096);
    CHECK(base_cursor == cursor && base_end == end && base_mapped == mapped + BASE_BLOCK_LAST + BASE_BLOCK_FIRST);
    take(BASE_BLOCK_LAST + BASE_BLOCK_FIRST, 64);
    CHECK(base_cursor == cursor && base_end == end && base_mapped == mapped + 2 * (BASE_BLOCK_LAST + BASE_BLOCK_FIRST));
    take(64, 64);
    CHECK((uintptr_t)blocks[block_count - 1].p == cursor);
}

int main(void)
{
    uint64_t first_seed = seed;
    os_fake_reset();
    base_boot();
    growth();
    for (size_t bytes = 1; bytes <= 200; bytes++) {
        take(bytes, 1UL << (bytes % 13));
    }
    for (uint32_t lg = 0; lg <= 12; lg++) {                         /* lengths that end at a line, or beside one */
        for (size_t bytes = 63; bytes <= 4097; bytes = bytes < 4095 ? bytes + 1 + bytes % 64 : bytes + 1) {
            take(bytes, 1UL << lg);
        }
    }
    for (uint32_t i = 0; i < 1000; i++) {
        take(1 + random_below(1UL << random_below(17)), 1UL << random_below(13));
    }
    apart();
    out_of_memory();
    all_intact();
    printf("ok base: %" PRIu64 " checks, seed %" PRIx64 "\n", checks, first_seed);
    return 0;
}
