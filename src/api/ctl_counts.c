/* ctl_counts: what the names of mallctl about bins, large blocks, free extents and purges have, as it was at the last epoch. */
#include "api/ctl_counts.h"

uint64_t bin_part(const struct bin_stats *b, uint32_t part)
{
    switch (part) {
    case LIVE: return b->regions_live;
    case SLABS: return b->slabs;
    case FILLED: return b->filled;
    case FLUSHED: return b->flushed;
    case FILLS: return b->fills;
    case FLUSHES: return b->flushes;
    case SLABS_MADE: return b->slabs_made;
    case SLABS_AGAIN: return b->slabs_again;
    default: return b->slabs_nonfull;
    }
}

int read_arena_bin(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    *value = 0;
    ctl_lock();
    for (uint32_t a = ctl_arenas_from(index[0]); a < ctl_arenas_to(index[0]); a++) {
        *value += bin_part(&ctl_stats->bins[a * SC_NBINS + index[1]], n->at);
    }
    ctl_unlock();
    return 0;
}

int read_small_bytes(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n;
    ctl_lock();
    *value = ctl_small_bytes(ctl_arenas_from(index[0]), ctl_arenas_to(index[0]));
    ctl_unlock();
    return 0;
}

int read_small(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    *value = 0;
    ctl_lock();
    for (uint32_t i = ctl_arenas_from(index[0]) * SC_NBINS; i < ctl_arenas_to(index[0]) * SC_NBINS; i++) {
        *value += bin_part(&ctl_stats->bins[i], n->at);
    }
    ctl_unlock();
    return 0;
}

static uint64_t large_part(const struct large_stats *l, uint32_t part)
{
    return part == LARGE_MADE ? l->allocated : part == LARGE_GONE ? l->freed : l->allocated - l->freed;
}

/* The sum over the page caches of an arena, for the classes from .. to - 1, which are counted from the least large one. */
static uint64_t large_sum_of(size_t arena, uint32_t from, uint32_t to, uint32_t part)
{
    uint64_t sum = 0;
    ctl_lock();
    for (uint32_t cache = ctl_caches_from(arena); cache < ctl_caches_to(arena); cache++) {
        for (uint32_t i = from; i < to; i++) {
            sum += large_part(&ctl_stats->large[cache * LARGE_CLASSES + i], part);
        }
    }
    ctl_unlock();
    return sum;
}

int read_lextents(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    *value = large_sum_of(index[0], (uint32_t)index[1], (uint32_t)index[1] + 1, n->at);
    return 0;
}

int read_large(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    *value = large_sum_of(index[0], 0, LARGE_CLASSES, n->at);
    return 0;
}

int read_extents(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    const struct page_cache_counts *free = &ctl_stats->details.free;
    uint32_t                        state = n->at % EXTENT_STATES;
    *value = 0;
    ctl_lock();
    for (uint32_t cache = ctl_caches_from(index[0]); cache < ctl_caches_to(index[0]); cache++) {
        size_t heap = 1 + (state + cache - (uint32_t)EXTENT_DIRTY) * SC_NPSIZES + index[1];
        *value += n->at == state ? free->extents[heap] : free->npages[heap] * PAGE;
    }
    ctl_unlock();
    return 0;
}

/* The ids of extents are one table for all page caches, which stands under arena 0. */
int read_extent_avail(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n;
    ctl_lock();
    *value = ctl_caches_from(index[0]) == PAGES_SHARED && ctl_caches_to(index[0]) > 0 ? ctl_stats->details.unused_extents : 0;
    ctl_unlock();
    return 0;
}

int read_purges(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    const struct pages_purges  *p = &ctl_stats->details.purges;
    uint32_t                    what = n->at / DECAY_COUNT;
    const uint64_t             *part = what == PURGE_SWEEPS ? p->sweeps : what == PURGE_CALLS ? p->calls : p->npages;
    *value = 0;
    ctl_lock();
    for (uint32_t cache = ctl_caches_from(index[0]); cache < ctl_caches_to(index[0]); cache++) {
        *value += part[n->at % DECAY_COUNT + cache];
    }
    ctl_unlock();
    return 0;
}

int read_zero_reallocs(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n, (void)index;
    ctl_lock();
    *value = ctl_stats->zero_reallocs;
    ctl_unlock();
    return 0;
}
