/* bin: fill, flush and the life of a slab. */
#include "heap/bin.h"

#include "pages/pages.h"
#include "platform/mutex.h"
#include "platform/trap.h"

/* Each on a cache line of its own. */
struct bin_lock {
    struct mutex mutex;
} __attribute__((aligned(64)));

static struct bin_lock bin_lock[BINS];

TABLE(uint16_t, slab_bin);
uint32_t bin_current[BINS];
struct bin_stats bin_stats[BINS];
uint32_t bin_arenas;

void bin_boot(uint32_t arenas)
{
    bin_arenas = arenas;
}

bool extent_client_grow(uint32_t id)
{
    return slab_grow(id) && TABLE_GROW(slab_bin, id);
}

/* ---- slabs come and go ------------------------------------------------------------------------------------------- */

static uint32_t bin_new_slab(uint32_t b, uint32_t szind)
{
    bool     zeroed;
    uint32_t e = pages_alloc(slab_npages[szind], 1, &zeroed);
    if (e != 0) {
        uint64_t page = AT(ext_page, e);
        slab_init(e, szind);
        AT(slab_bin, e) = (uint16_t)b;
        radix_tree_set_words(page, slab_npages[szind], word_make(page * PAGE, szind));
        bin_stats[b].slabs += 1;
    }
    return e;
}

static void bin_drop_slab(uint32_t b, uint32_t szind, uint32_t e)
{
    radix_tree_set_words(AT(ext_page, e), slab_npages[szind], 0);
    bin_stats[b].slabs -= 1;
    pages_free(e);
}

/* Makes a slab with a free region current: false if there is none and the OS has no memory. */
static bool bin_pick_slab(uint32_t b, uint32_t szind)
{
    uint32_t e = pairing_heap_first(BIN_HEAP(b));
    if (e != 0) {
        pairing_heap_remove(BIN_HEAP(b), e);
    } else {
        e = bin_new_slab(b, szind);
    }
    bin_current[b] = e;
    return e != 0;
}

static bool bin_ready(uint32_t b, uint32_t szind)
{
    uint32_t e = bin_current[b];
    return (e != 0 && AT(slab_free_count, e) != 0) || bin_pick_slab(b, szind);
}

/* k blocks have come back to slab e, which had `was` free regions: it may become non-full, or empty and leave. */
static void bin_settle(uint32_t b, uint32_t szind, uint32_t e, uint32_t was)
{
    if (e == bin_current[b]) {
        return;
    }
    if (AT(slab_free_count, e) == slab_regions[szind]) {
        if (was != 0) {
            pairing_heap_remove(BIN_HEAP(b), e);
        }
        bin_drop_slab(b, szind, e);
    } else if (was == 0) {
        pairing_heap_insert(BIN_HEAP(b), e, AT(ext_page, e));
    }
}

/* ---- fill -------------------------------------------------------------------------------------------------------- */

/* The blocks stand so that the last one is the lowest of the first slab: a stack hands out low addresses first. */
uint32_t bin_fill(uint32_t arena, uint32_t szind, uint64_t *blocks, uint32_t n)
{
    uint32_t b = arena * SC_NBINS + szind;
    uint32_t left = n;
    mutex_lock(&bin_lock[b].mutex);
    while (left > 0 && bin_ready(b, szind)) {
        uint32_t e = bin_current[b];
        uint32_t room = AT(slab_free_count, e);
        uint32_t k = room < left ? room : left;
        slab_take_batch(e, AT(ext_page, e) * PAGE, &blocks[left - k], k);
        left -= k;
    }
    bin_stats[b].filled += n - left;
    bin_stats[b].regions_live += n - left;
    mutex_unlock(&bin_lock[b].mutex);
    for (uint32_t i = 0; left > 0 && i < n - left; i++) {       /* out of memory: close the gap at the front */
        blocks[i] = blocks[i + left];
    }
    return n - left;
}

/* ---- flush ------------------------------------------------------------------------------------------------------- */

/* The block is in a cache, so its slab cannot leave; unless the program freed the block twice. */
static uint32_t bin_slab_of(uint32_t szind, uint64_t block)
{
    uint64_t word = radix_tree_word(block / PAGE);
    if (word_bin(word) != szind + 1) {
        trap_misuse("free", "double free", block);
    }
    return radix_tree_extent((block - word_offset(word, block)) / PAGE);
}

/* How many of the first blocks lie in slab e: their regions are free now. */
__attribute__((noinline)) static uint32_t bin_give_run(uint32_t szind, uint32_t e, const uint64_t *blocks, uint32_t n)
{
    uint64_t base = AT(ext_page, e) * PAGE;
    uint64_t length = slab_npages[szind] * PAGE;
    uint64_t off = word_distance(base, blocks[0]);
    uint32_t k = 0;
    while (off < length) {
        uint32_t region = slab_region_at(szind, off);
        if (region * slab_bytes[szind] != off || !slab_give(e, region)) {
            trap_misuse("free", "double free", blocks[k]);
        }
        k++;
        off = k < n ? word_distance(base, blocks[k]) : UINT64_MAX;
    }
    AT(slab_free_count, e) += k;
    return k;
}

/* Gives back the blocks of the first one's bin, under its lock; the others move to the front: how many. */
static uint32_t bin_flush_pass(uint32_t szind, uint64_t *blocks, uint32_t n)
{
    uint32_t first = bin_slab_of(szind, blocks[0]);
    uint32_t b = AT(slab_bin, first);
    uint32_t kept = 0;
    uint32_t i = 0;
    mutex_lock(&bin_lock[b].mutex);
    while (i < n) {
        uint32_t e = bin_slab_of(szind, blocks[i]);
        if (AT(slab_bin, e) == b) {
            uint32_t was = AT(slab_free_count, e);
            i += bin_give_run(szind, e, &blocks[i], n - i);
            bin_settle(b, szind, e, was);
        } else {
            blocks[kept] = blocks[i];
            kept++;
            i++;
        }
    }
    bin_stats[b].flushed += n - kept;
    bin_stats[b].regions_live -= n - kept;
    mutex_unlock(&bin_lock[b].mutex);
    return kept;
}

void bin_flush(uint32_t szind, uint64_t *blocks, uint32_t n)
{
    while (n > 0) {
        n = bin_flush_pass(szind, blocks, n);
    }
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

void bin_read_stats(uint32_t arena, uint32_t szind, struct bin_stats *stats)
{
    uint32_t b = arena * SC_NBINS + szind;
    mutex_lock(&bin_lock[b].mutex);
    *stats = bin_stats[b];
    mutex_unlock(&bin_lock[b].mutex);
}

void bin_prefork(void)
{
    for (uint32_t b = 0; b < bin_arenas * SC_NBINS; b++) {
        mutex_lock(&bin_lock[b].mutex);
    }
}

void bin_postfork_parent(void)
{
    for (uint32_t b = bin_arenas * SC_NBINS; b > 0; b--) {
        mutex_unlock(&bin_lock[b - 1].mutex);
    }
}

void bin_postfork_child(void)
{
    for (uint32_t b = 0; b < bin_arenas * SC_NBINS; b++) {
        mutex_reset(&bin_lock[b].mutex);
    }
}
