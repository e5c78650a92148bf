/* holes_test: pages of slabs in which no block is go back to the OS, and no other page does. Which pages these are, the test
 * finds from the blocks' addresses, and never from a bitmap. */
#include <string.h>

#include "blocks/arena.h"
#include "blocks/holes.h"
#include "blocks/tag.h"
#include "blocks_boot.h"

#define BLOCKS_MAX 4096U

static uint64_t block[BLOCKS_MAX];              /* those that are out */
static uint32_t count;
static uint32_t szind;
static uint32_t arena;                          /* from which they are taken */

/* Takes n blocks and writes each full of its own number. */
static void take(uint32_t n)
{
    while (n > 0) {
        uint32_t got = bin_fill(arena, szind, &block[count], n < 100 ? n : 100);
        CHECK(got > 0);
        for (uint32_t i = count; i < count + got; i++) {
            memset((void *)block[i], (int)(block[i] / 8 % 255 + 1), slab_bytes[szind]);
        }
        count += got;
        n -= got < n ? got : n;
    }
}

/* Gives back all blocks but about one in n. */
static void give_but(uint32_t n)
{
    static uint64_t gone[BLOCKS_MAX];
    uint32_t        kept = 0, k = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (n != 0 && random_below(n) == 0) {
            block[kept++] = block[i];
        } else {
            gone[k++] = block[i];
        }
    }
    count = kept;
    bin_flush(szind, gone, k);
}

static bool zero(uint64_t at, uint64_t end)
{
    while (at < end && *(const char *)at == 0) {
        at++;
    }
    return at == end;
}

/* Whether a block that is out has a byte of the page. */
static bool used(uint64_t page)
{
    for (uint32_t i = 0; i < count; i++) {
        if (block[i] < (page + 1) * PAGE && page * PAGE < block[i] + slab_bytes[szind]) {
            return true;
        }
    }
    return false;
}

/* The pages of the bin's slabs without a block, and how many of these read as zero. */
static uint64_t empty_pages(uint64_t *zeros)
{
    uint64_t empty = 0;
    *zeros = 0;
    for (uint32_t e = 1; e <= extent_count; e++) {
        bool slab = AT(ext_npages, e) != 0 && AT(ext_state, e) == EXTENT_ACTIVE + arena_pages(arena) &&
                    tag_stack(radix_tree_tag(AT(ext_page, e))) == szind + 1;
        for (uint64_t p = 0; slab && p < AT(ext_npages, e); p++) {
            uint64_t page = AT(ext_page, e) + p;
            CHECK(slab_page_free(e, (uint32_t)p) == !used(page));
            empty += !used(page);
            *zeros += !used(page) && zero(page * PAGE, (page + 1) * PAGE);
        }
    }
    return empty;
}

static void check_blocks(void)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint64_t a = block[i]; a < block[i] + slab_bytes[szind]; a++) {
            CHECK(*(const unsigned char *)a == block[i] / 8 % 255 + 1);
        }
    }
}

/* All holes go, and the blocks between them stay as they are. What is taken from them again is as before. */
static void test_trim(void)
{
    uint64_t zeros, before = os_fake.discarded_npages;
    take(8 * slab_regions[szind] < 3000 ? 8 * slab_regions[szind] : 3000);
    give_but(12);
    uint64_t empty = empty_pages(&zeros);
    bool     any = holes_trim(1);
    CHECK(any == (os_fake.discarded_npages != before) && os_fake.discarded_npages - before >= empty);
    CHECK(empty_pages(&zeros) == empty && zeros == empty);
    check_blocks();
    take(count);
    check_blocks();
    give_but(0);
}

/* What the OS refuses stays as it is. */
static void test_refused(void)
{
    uint64_t zeros, before;
    szind = size_class_index(512);
    take(1000);
    give_but(20);
    uint64_t empty = empty_pages(&before);
    os_fake_fail(OS_FAKE_DISCARD, 1, UINT64_MAX / 2);
    CHECK(empty > 0 && !holes_trim(1) && empty_pages(&zeros) == empty && zeros == before);
    os_fake_fail(OS_FAKE_DISCARD, 1, 0);
    CHECK(holes_trim(1) && empty_pages(&zeros) == empty && zeros == empty);
    check_blocks();
    give_but(0);
}

/* Lets a round's time pass, and makes the round. Returns how many pages went back. */
static uint64_t round_of(uint64_t ms)
{
    uint64_t before = os_fake.discarded_npages;
    os_fake.clock_ms += ms;
    while (holes_decay()) {
    }
    return os_fake.discarded_npages - before;
}

/* Holes wait for three rounds, each a quarter of the decay time, and go then. Nothing goes twice. A slab that is used again waits again. */
static void test_decay(void)
{
    uint64_t zeros, quarter = 10000 / 4;
    take(6 * slab_regions[szind] < 3000 ? 6 * slab_regions[szind] : 3000);
    give_but(15);
    CHECK(round_of(quarter) == 0 && round_of(quarter) == 0 && round_of(quarter - 1) == 0);
    (void)round_of(1);
    uint64_t empty = empty_pages(&zeros);
    CHECK(zeros == empty);
    check_blocks();
    for (int i = 0; i < 5; i++) {
        CHECK(round_of(quarter) == 0);
    }
    give_but(2);
    CHECK(round_of(quarter) == 0 && round_of(quarter) == 0);
    (void)round_of(quarter);
    empty = empty_pages(&zeros);
    CHECK(zeros == empty && round_of(quarter) == 0);
    uint32_t kept = count;
    take(1);
    CHECK(round_of(quarter) == 0 && round_of(quarter) == 0);
    take(1);
    CHECK(round_of(quarter) == 0 && round_of(quarter) == 0);
    count = kept + 2;
    give_but(0);
    for (int i = 0; i < 4; i++) {
        (void)round_of(quarter);
    }
}

/* The decay time decides: never, or in the first round. */
static void test_times(void)
{
    uint64_t zeros;
    szind = size_class_index(1024);
    take(1000);
    give_but(20);
    pages_set_decay(PAGES_SHARED, -1, 0);
    for (int i = 0; i < 10; i++) {
        CHECK(round_of(100000) == 0);
    }
    pages_set_decay(PAGES_SHARED, 0, 0);
    uint64_t empty = empty_pages(&zeros);
    CHECK(empty > 0 && round_of(64) > 0 && empty_pages(&zeros) == empty && zeros == empty);
    check_blocks();
    give_but(0);
    pages_set_decay(PAGES_SHARED, 10000, 0);
}

/* The holes of an arena with a page cache of its own follow that one's decay time, whatever that of the others is. */
static void test_arenas(void)
{
    uint64_t zeros, were, empty;
    szind = size_class_index(1024);
    pages_set_decay(PAGES_SHARED, -1, 0);
    arena = arena_create();
    CHECK(arena != 0 && arena_pages(arena) != PAGES_SHARED);
    pages_set_decay(arena_pages(arena), 2000, 0);
    take(1000);
    give_but(20);
    CHECK(round_of(500) == 0 && round_of(500) == 0 && round_of(499) == 0 && round_of(1) > 0);
    empty = empty_pages(&zeros);
    CHECK(empty > 0 && zeros == empty);
    check_blocks();
    take(500);
    give_but(20);
    pages_set_decay(arena_pages(arena), -1, 0);
    pages_set_decay(PAGES_SHARED, 400, 0);
    empty = empty_pages(&were);
    for (int i = 0; i < 10; i++) {
        (void)round_of(1000);
    }
    CHECK(empty_pages(&zeros) == empty && zeros == were && zeros < empty);
    check_blocks();
    give_but(0);
    pages_set_decay(PAGES_SHARED, 10000, 0);
    arena = 0;
}

/* A bin with many slabs is visited in parts. While these are made, slabs leave the bin and come to it, also the one that is next. */
static void test_changes(void)
{
    uint64_t quarter = 10000 / 4;
    szind = size_class_index(2048);
    for (int turn = 0; turn < 40; turn++) {
        take(3000);
        give_but(turn % 5 == 0 ? 0 : 4);
        os_fake.clock_ms += quarter;
        bool more = holes_decay();
        CHECK(!more || holes_round[PAGES_SHARED].place < (uint64_t)SC_NBINS << 32);
        check_blocks();
        give_but(turn % 3 == 0 ? 0 : 8);
    }
    give_but(0);
    for (int i = 0; i < 4; i++) {
        (void)round_of(quarter);
    }
}

int main(void)
{
    blocks_boot(1);
    for (szind = 0; szind < SC_NBINS; szind++) {
        test_decay();
    }
    test_times();
    test_arenas();
    test_changes();
    for (szind = 0; szind < SC_NBINS; szind++) {
        test_trim();
    }
    test_refused();
    return blocks_done("holes");
}
