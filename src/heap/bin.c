/* bin: fill, flush and the life of a slab. */
#include "heap/bin.h"

#include "ds/pairing_heap.h"
#include "ds/radix_tree.h"
#include "heap/slab.h"
#include "heap/word.h"
#include "pages/page_cache.h"
#include "pages/pages.h"
#include "platform/mutex.h"
#include "platform/table.h"
#include "platform/trap.h"

struct bin {
    struct mutex     lock;
    uint32_t         current;   /* slab, 0 = none */
    struct bin_stats stats;
} __attribute__((aligned(64)));

static struct bin bins[ARENAS_MAX][SC_NBINS];
uint32_t          bin_arenas;
uint32_t          bin_current[BINS];

TABLE(uint16_t, slab_bin);

/* The heap of the bin's non-full slabs. */
static uint32_t bin_heap(uint32_t arena, uint32_t szind)
{
    return PAGE_CACHE_HEAPS + arena * SC_NBINS + szind;
}

void bin_boot(uint32_t arenas)
{
    bin_arenas = arenas;
}

bool extent_client_grow(uint32_t id)
{
    return slab_grow(id) && TABLE_GROW(slab_bin, id);
}

static uint32_t bin_new_slab(uint32_t arena, uint32_t szind)
{
    bool     zeroed;
    uint32_t e = pages_alloc(slab_npages[szind], 1, &zeroed);
    if (e != 0) {
        uint64_t page = AT(ext_page, e);
        slab_init(e, szind);
        AT(slab_bin, e) = (uint16_t)(arena * SC_NBINS + szind);
        radix_tree_set_words(page, slab_npages[szind], word_make(page * PAGE, szind));
        bins[arena][szind].stats.slabs += 1;
    }
    return e;
}

static void bin_drop_slab(uint32_t arena, uint32_t szind, uint32_t e)
{
    radix_tree_set_words(AT(ext_page, e), slab_npages[szind], 0);
    bins[arena][szind].stats.slabs -= 1;
    pages_free(e);
}

/* Makes a slab with a free region current: false if there is none and the OS has no memory. */
static bool bin_pick_slab(uint32_t arena, uint32_t szind)
{
    struct bin *b = &bins[arena][szind];
    uint32_t    heap = bin_heap(arena, szind);
    uint32_t    e = pairing_heap_first(heap);
    if (e != 0) {
        pairing_heap_remove(heap, e);
    } else {
        e = bin_new_slab(arena, szind);
    }
    b->current = e;
    return e != 0;
}

/* The blocks stand so that the last one is the lowest of the first slab: a stack hands out low addresses first. */
uint32_t bin_fill(uint32_t arena, uint32_t szind, uint64_t *blocks, uint32_t n)
{
    struct bin *b = &bins[arena][szind];
    uint32_t    left = n;
    mutex_lock(&b->lock);
    while (left > 0) {
        if ((b->current == 0 || AT(slab_free_count, b->current) == 0) && !bin_pick_slab(arena, szind)) {
            break;
        }
        uint32_t room = AT(slab_free_count, b->current);
        uint32_t k = room < left ? room : left;
        left -= slab_take_batch(b->current, AT(ext_page, b->current) * PAGE, &blocks[left - k], k);
    }
    b->stats.filled += n - left;
    b->stats.regions_live += n - left;
    mutex_unlock(&b->lock);
    for (uint32_t i = 0; left > 0 && i < n - left; i++) {       /* out of memory: close the gap at the front */
        blocks[i] = blocks[i + left];
    }
    return n - left;
}

/* The block is in a cache, so its slab cannot leave; unless the program freed the block twice. */
static uint32_t bin_slab_of(uint32_t szind, uint64_t block, uint64_t *offset)
{
    uint64_t word = radix_tree_word(block / PAGE);
    if (word_bin(word) != szind + 1) {
        trap_misuse("free", "double free", block);
    }
    *offset = word_offset(word, block);
    return radix_tree_extent((block - *offset) / PAGE);
}

/* The bin's lock is held. The slab may become non-full, or empty and leave. */
static void bin_give(uint32_t arena, uint32_t szind, uint32_t e, uint64_t block, uint64_t offset)
{
    struct bin *b = &bins[arena][szind];
    bool        was_full = AT(slab_free_count, e) == 0;
    if (slab_give(e, slab_region_of(szind, offset)) != SLAB_OK) {
        trap_misuse("free", "double free", block);
    }
    if (e == b->current) {
        return;
    }
    if (AT(slab_free_count, e) == slab_regions[szind]) {
        if (!was_full) {
            pairing_heap_remove(bin_heap(arena, szind), e);
        }
        bin_drop_slab(arena, szind, e);
    } else if (was_full) {
        pairing_heap_insert(bin_heap(arena, szind), e, AT(ext_page, e));
    }
}

/* One pass per arena that owns some of the blocks, under one lock each; the others move to the front for the next. */
void bin_flush(uint32_t szind, uint64_t *blocks, uint32_t n)
{
    while (n > 0) {
        uint64_t offset;
        uint32_t arena = AT(slab_bin, bin_slab_of(szind, blocks[0], &offset)) / SC_NBINS;
        struct bin *b = &bins[arena][szind];
        uint32_t kept = 0;
        mutex_lock(&b->lock);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t e = bin_slab_of(szind, blocks[i], &offset);
            if (AT(slab_bin, e) / SC_NBINS == arena) {
                bin_give(arena, szind, e, blocks[i], offset);
            } else {
                blocks[kept++] = blocks[i];
            }
        }
        b->stats.flushed += n - kept;
        b->stats.regions_live -= n - kept;
        mutex_unlock(&b->lock);
        n = kept;
    }
}

void bin_read_stats(uint32_t arena, uint32_t szind, struct bin_stats *stats)
{
    struct bin *b = &bins[arena][szind];
    mutex_lock(&b->lock);
    *stats = b->stats;
    mutex_unlock(&b->lock);
}

void bin_prefork(void)
{
    for (uint32_t a = 0; a < bin_arenas; a++) {
        for (uint32_t c = 0; c < SC_NBINS; c++) {
            mutex_lock(&bins[a][c].lock);
        }
    }
}

void bin_postfork_parent(void)
{
    for (uint32_t a = bin_arenas; a > 0; a--) {
        for (uint32_t c = SC_NBINS; c > 0; c--) {
            mutex_unlock(&bins[a - 1][c - 1].lock);
        }
    }
}

void bin_postfork_child(void)
{
    for (uint32_t a = 0; a < bin_arenas; a++) {
        for (uint32_t c = 0; c < SC_NBINS; c++) {
            mutex_reset(&bins[a][c].lock);
        }
    }
}
