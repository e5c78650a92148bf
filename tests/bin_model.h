/* bin_model: says slowly what bins owe their callers. It keeps the set of blocks outside their slabs
 * (tests/blocks_model.h; the seed of a block is its arena), and how many there are for each arena and class. The unit
 * test and the fuzzer do every operation through it, and it stops at the first difference. */
#ifndef QED_TESTS_BIN_MODEL_H
#define QED_TESTS_BIN_MODEL_H

#define BLOCKS_MODEL_COUNT 8192U
#include <stdlib.h>

#include "blocks/arena.h"
#include "blocks/bin.h"
#include "blocks/slab.h"
#include "blocks_model.h"
#include "pages/pages.h"
#include "platform/os_fake.h"

#define BIN_MODEL_ARENAS 3U
#define BIN_MODEL_BATCH 512U
#define BIN_MODEL_MAPPED_NPAGES ((64UL << 20) / PAGE)

static struct blocks_model bin_model;
static struct bin_stats  bin_model_stats[BIN_MODEL_ARENAS][SC_NBINS];      /* but for the slabs */

static inline void bin_model_boot(void)
{
    size_class_boot();
    slab_boot();
    pages_boot(1000, 0);
    arena_boot(BIN_MODEL_ARENAS, false);
}

static inline void bin_model_controls(void)        /* nothing fails until the mapped memory is at its most */
{
    os_fake_reset();
    os_fake.mapped_npages_max = BIN_MODEL_MAPPED_NPAGES;
}

static inline uint64_t bin_model_os_calls(void)
{
    return os_fake.calls[OS_FAKE_MAP] + os_fake.calls[OS_FAKE_METADATA];
}

/* All counts, and where every page is. */
static inline void bin_model_compare(void)
{
    struct pages_stats p;
    uint64_t           npages = 0;
    for (uint32_t a = 0; a < BIN_MODEL_ARENAS; a++) {
        for (uint32_t c = 0; c < SC_NBINS; c++) {
            struct bin_stats s, *m = &bin_model_stats[a][c];
            bin_read_stats(a, c, &s);
            if (s.regions_live != m->regions_live || s.filled != m->filled || s.flushed != m->flushed) {
                blocks_model_fail("a bin's count of its blocks", (void *)s.regions_live);
            }
            if (s.fills != m->fills || s.flushes != m->flushes || s.slabs_made != m->slabs_made || s.slabs_again != m->slabs_again) {
                blocks_model_fail("a bin's count of its steps", (void *)s.fills);
            }
            if (s.regions_live > s.slabs * slab_regions[c] || (s.regions_live == 0 && s.slabs > 1)) {
                blocks_model_fail("a bin's count of its slabs", (void *)s.slabs);
            }
            npages += s.slabs * slab_npages[c];
        }
    }
    pages_read_stats(&p);
    if (p.active != npages) {
        blocks_model_fail("active pages are not those of the slabs", (void *)p.active);
    }
    if (npages + p.dirty + p.muzzy + p.retained != os_fake.mapped_npages) {
        blocks_model_fail("pages are lost", (void *)os_fake.mapped_npages);
    }
}

static inline void bin_model_fill(uint32_t arena, uint32_t szind, uint32_t n)
{
    static uint64_t blocks[BIN_MODEL_BATCH + 1];
    uint64_t        bytes = size_class_bytes(szind), calls = bin_model_os_calls();
    uint64_t        lowest_bit = bytes & -bytes;
    n = n < BLOCKS_MODEL_COUNT - bin_model.count ? n : BLOCKS_MODEL_COUNT - bin_model.count;
    struct bin_stats before, after;
    blocks[n] = 0xA5A5;
    bin_read_stats(arena, szind, &before);
    uint32_t got = bin_fill(arena, szind, blocks, n);
    bin_read_stats(arena, szind, &after);
    if (after.slabs > before.slabs && after.slabs * slab_regions[szind] - after.regions_live >= slab_regions[szind]) {
        blocks_model_fail("a new slab while another had room", (void *)after.slabs);
    }
    if (got > n || blocks[n] != 0xA5A5) {
        blocks_model_fail("fill wrote more than was asked", (void *)(uintptr_t)got);
    }
    if (got < (n < 128 ? n : n - 63) && bin_model_os_calls() == calls) {      /* up to 63 fewer: it stops at a whole word */
        blocks_model_fail("fill gave up without asking the OS", (void *)(uintptr_t)got);
    }
    for (uint32_t i = 0; i < got; i++) {
        blocks_model_add(&bin_model, (void *)blocks[i], bytes, bytes, lowest_bit < PAGE ? lowest_bit : PAGE, (uint8_t)arena);
    }
    bin_model_stats[arena][szind].regions_live += got;
    bin_model_stats[arena][szind].filled += got;
    bin_model_stats[arena][szind].fills += got > 0 ? 1 : 0;
    bin_model_stats[arena][szind].slabs_made += after.slabs - before.slabs;                     /* a fill drops none, */
    bin_model_stats[arena][szind].slabs_again += before.slabs_nonfull - after.slabs_nonfull;    /* and makes none non-full */
}

static int bin_model_rising(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int bin_model_falling(const void *a, const void *b) { return bin_model_rising(b, a); }

/* Up to n blocks of that class, whatever their arena, beginning with the model's block i. They come in the model's order, or by address, up or
 * down, so that there are rows of them. */
static inline void bin_model_flush(uint32_t szind, uint32_t n, uint32_t i)
{
    static uint64_t blocks[BIN_MODEL_BATCH];
    uint32_t        k = 0;
    uint32_t        order = i % 3;
    bool            given[BIN_MODEL_ARENAS] = {false};
    for (uint32_t looked = bin_model.count; looked > 0 && k < n && bin_model.count > 0; looked--, i++) {
        i = i < bin_model.count ? i : 0;
        if (bin_model.block[i].bytes == size_class_bytes(szind)) {
            struct blocks_model_block b = blocks_model_remove(&bin_model, i--);
            bin_model_stats[b.seed][szind].regions_live -= 1;
            bin_model_stats[b.seed][szind].flushed += 1;
            given[b.seed] = true;
            blocks[k++] = (uintptr_t)b.address;
        }
    }
    for (uint32_t a = 0; a < BIN_MODEL_ARENAS; a++) {
        bin_model_stats[a][szind].flushes += given[a] ? 1 : 0;          /* each of their locks is taken once */
    }
    if (order != 0) {
        qsort(blocks, k, sizeof *blocks, order == 1 ? bin_model_rising : bin_model_falling);
    }
    bin_flush(szind, blocks, k);
}

/* Every block back, every free page returned. */
static inline void bin_model_finish(void)
{
    bin_model_controls();
    for (uint32_t c = 0; c < SC_NBINS; c++) {
        for (uint32_t before = bin_model.count + 1; bin_model.count < before;) {
            before = bin_model.count;
            bin_model_flush(c, BIN_MODEL_BATCH, 0);
        }
    }
    blocks_model_check_all(&bin_model);
    if (bin_model.count != 0) {
        blocks_model_fail("a block of no class", bin_model.block[0].address);
    }
    pages_trim();
    bin_model_compare();
}

#endif
