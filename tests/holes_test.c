/* holes_test: pages of slabs in which no block is go back to the OS, and no other page does. Which pages these are, the test
 * finds from the blocks' addresses, and never from a bitmap. */
#include <string.h>

#include "blocks/holes.h"
#include "blocks/tag.h"
#include "blocks_boot.h"

#define BLOCKS_MAX 4096U

static uint64_t block[BLOCKS_MAX];              /* those that are out */
static uint32_t count;
static uint32_t szind;

/* Takes n blocks and writes each full of its own number. */
static void take(uint32_t n)
{
    while (n > 0) {
        uint32_t got = bin_fill(0, szind, &block[count], n < 100 ? n : 100);
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
        bool slab = AT(ext_npages, e) != 0 && AT(ext_state, e) == EXTENT_ACTIVE && tag_stack(radix_tree_tag(AT(ext_page, e))) == szind + 1;
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

int main(void)
{
    blocks_boot(1);
    for (szind = 0; szind < SC_NBINS; szind++) {
        test_trim();
    }
    test_refused();
    return blocks_done("holes");
}
