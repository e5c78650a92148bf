/* ctl_stats: what the allocator held at the last epoch. */
#include "api/ctl.h"
#include "api/malloc.h"
#include "blocks/slab.h"
#include "platform/mutex.h"
#include "platform/os.h"
#include "prof/prof.h"

#include "api/thread.h"

struct ctl_stats *ctl_stats;

static struct mutex lock;

/* Reads the counters of large blocks by class, unless what was read last adds up to the totals of now. */
static void refresh_large(uint32_t caches)
{
    struct large_stats now, *sum = &ctl_stats->large_sum;
    large_read_stats(&now);
    if (now.allocated == sum->allocated && now.freed == sum->freed) {
        return;
    }
    *sum = (struct large_stats){0, 0};
    for (uint32_t i = 0; i < caches * LARGE_CLASSES; i++) {
        struct large_stats *one = &ctl_stats->large[i];
        large_read_class(i / LARGE_CLASSES, SC_NBINS + i % LARGE_CLASSES, one);
        sum->allocated += one->allocated;
        sum->freed += one->freed;
    }
}

/* Called with the lock. */
void ctl_refresh(void)
{
    uint32_t arenas = arena_count();
    uint32_t caches = arena_pages(arenas - 1) + 1;     /* an arena that is made later has a later page cache */
    for (uint32_t i = 0; i < arenas * SC_NBINS; i++) {
        bin_read_stats(i / SC_NBINS, i % SC_NBINS, &ctl_stats->bins[i]);
        lock_read_stats(LOCK_BIN(i), &ctl_stats->bin_locks[i]);
    }
    for (uint32_t a = 0; a < arenas; a++) {
        ctl_stats->threads[a] = ATOMIC_LOAD(arena_thread_count[a]);
    }
    ctl_stats->totals = prof_read_totals();
    refresh_large(caches);
    pages_read_details(&ctl_stats->details);
    ctl_stats->zero_reallocs = ATOMIC_LOAD(realloc_zero_count);
    for (uint32_t c = 0; c < caches; c++) {
        pages_read_cache(c, &ctl_stats->pages[c]);
    }
    background_read_stats(&ctl_stats->background);
    background_read_lock(&ctl_stats->locks[CTL_LOCK_BACKGROUND]);
    mutex_read_stats(&lock, &ctl_stats->locks[CTL_LOCK_CTL]);
    lock_read_stats(LOCK_PAGES, &ctl_stats->locks[CTL_LOCK_PAGES]);
    lock_read_stats(LOCK_DEPOT, &ctl_stats->locks[CTL_LOCK_DEPOT]);
    ctl_stats->epoch += 1;
}

void ctl_reset_locks(void)
{
    mutex_reset_stats(&lock);
    background_reset_lock();
    lock_reset_stats(LOCK_PAGES);
    lock_reset_stats(LOCK_DEPOT);
    for (uint32_t i = 0; i < arena_count() * SC_NBINS; i++) {
        lock_reset_stats(LOCK_BIN(i));
    }
}

bool ctl_ready(void)
{
    ctl_lock();
    if (ctl_stats == NULL) {
        ctl_stats = os_map_metadata(sizeof *ctl_stats);
    }
    bool ready = ctl_stats != NULL;
    if (ready && ctl_stats->epoch == 0) {
        ctl_refresh();
    }
    ctl_unlock();
    return ready;
}

void ctl_lock(void)
{
    (void)thread_get();
    mutex_lock(&lock);
}

void ctl_unlock(void)
{
    mutex_unlock(&lock);
}

int64_t ctl_decay_ms(uint32_t decay)
{
    mutex_lock(&lock);
    int64_t ms = ATOMIC_LOAD(decay_ms[decay]);
    mutex_unlock(&lock);
    return ms;
}

void ctl_postfork_child(void)
{
    __atomic_store_n(&lock.word, 0U, __ATOMIC_RELEASE);
}

uint32_t ctl_arenas(void)
{
    return arena_count();
}

uint32_t ctl_arenas_from(size_t i)
{
    return i < ctl_arenas() ? (uint32_t)i : 0;
}

uint32_t ctl_arenas_to(size_t i)
{
    return i < arena_count() ? (uint32_t)i + 1 : arena_count();
}

uint32_t ctl_cache(size_t arena)
{
    return arena < arena_count() ? arena_pages((uint32_t)arena) : PAGES_SHARED;
}

uint32_t ctl_caches_from(size_t arena)
{
    return arena < ctl_arenas() ? ctl_cache(arena) : 0;
}

uint32_t ctl_caches_to(size_t arena)
{
    bool shares = arena > 0 && arena < ctl_arenas() && ctl_cache(arena) == PAGES_SHARED;
    return arena >= ctl_arenas() ? PAGE_CACHES : shares ? 0 : ctl_cache(arena) + 1;
}

uint64_t ctl_small_bytes(uint32_t first, uint32_t end)
{
    uint64_t bytes = 0;
    for (uint32_t i = first * SC_NBINS; i < end * SC_NBINS; i++) {
        bytes += ctl_stats->bins[i].regions_live * slab_bytes[i % SC_NBINS];
    }
    return bytes;
}

uint64_t ctl_slab_bytes(uint32_t first, uint32_t end)
{
    uint64_t bytes = 0;
    for (uint32_t i = first * SC_NBINS; i < end * SC_NBINS; i++) {
        bytes += ctl_stats->bins[i].slabs * slab_npages[i % SC_NBINS] * PAGE;
    }
    return bytes;
}

uint64_t ctl_own(uint32_t arena, enum ctl_total which)
{
    const struct pages_stats *p = &ctl_stats->pages[arena_pages(arena)];
    uint64_t                  slabs = ctl_slab_bytes(arena, arena + 1) / PAGE;
    switch (which) {
    case RESIDENT: return (p->active + p->dirty + p->busy) * PAGE;
    case MAPPED: return (p->active + p->dirty + p->busy + p->muzzy) * PAGE;
    case RETAINED: return p->retained * PAGE;
    case PACTIVE: return p->active;
    case PDIRTY: return p->dirty + p->busy;
    case PMUZZY: return p->muzzy;
    case LARGE_BYTES: return p->active < slabs ? 0 : (p->active - slabs) * PAGE;
    default: return 0;
    }
}

uint64_t ctl_total(enum ctl_total which)
{
    const struct stats *s = &ctl_stats->totals;
    switch (which) {
    case ALLOCATED: return s->allocated;
    case ACTIVE: return s->active;
    case METADATA: return s->metadata;
    case RESIDENT: return s->active + s->dirty + s->metadata;
    case MAPPED: return s->active + s->dirty + s->muzzy + s->metadata;
    case RETAINED: return s->retained;
    case PACTIVE: return s->active / PAGE;
    case PDIRTY: return s->dirty / PAGE;
    case PMUZZY: return s->muzzy / PAGE;
    default: return s->active - ctl_slab_bytes(0, arena_count());
    }
}

uint64_t ctl_shared(enum ctl_total which)
{
    uint64_t all = ctl_total(which);
    for (uint32_t a = bin_shared; a < arena_count(); a++) {
        uint64_t part = ctl_own(a, which);
        all -= all < part ? all : part;
    }
    return all;
}
