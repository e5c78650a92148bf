/* stats: sums of counters. */
#include "heap/stats.h"

#include "heap/large.h"
#include "pages/pages.h"
#include "platform/atomic.h"
#include "platform/os.h"

#include "size_class_align_lemmas.acsl"
#include "large_lemmas.acsl"
#include "extent_lemmas.acsl"
#include "page_cache_lemmas.acsl"

#define STATS_MOST (1UL << LG_VADDR)    /* bytes: as many as there are addresses */

/* Bytes of n pieces, as far as there is room. */
/*@ requires some:     0 < bytes;
    terminates         \true;
    exits              \false;
    assigns            \nothing;
    ensures  room:     \result <= room;
    ensures  all:      n * bytes <= room ==> \result == n * bytes;
*/
static inline uint64_t stats_part(uint64_t n, uint64_t bytes, uint64_t room)
{
    /*@ assert most: room / bytes * bytes <= room < (room / bytes + 1) * bytes; */
    if (n > room / bytes) {
        /*@ assert more: n * bytes >= (room / bytes + 1) * bytes; */
        return room;
    }
    /*@ assert fits: n * bytes <= room / bytes * bytes; */
    return n * bytes;
}

/* What threads keep ready. */
/*@ requires lock:     LocksFree(LOCK_TCACHE);
    requires heap:     HeapOk;
    requires mine:     ThreadsHeight;
    terminates         \true;
    exits              \false;
    assigns            TCACHE_ASSIGNS_LISTS, lock_held[LOCK_TCACHE];
    ensures  lock:     LocksFree(LOCK_TCACHE);
    ensures  heap:     HeapOk;
*/
static uint64_t stats_cached(void)
{
    uint64_t bytes = 0;
    /*@ loop invariant range: 1 <= b <= TCACHE_BINS;
        loop invariant lock:  LocksFree(LOCK_TCACHE);
        loop invariant heap:  HeapOk;
        loop invariant mine:  ThreadsHeight;
        loop invariant most:  bytes <= STATS_MOST;
        loop assigns   b, bytes, TCACHE_ASSIGNS_LISTS, lock_held[LOCK_TCACHE];
        loop variant   TCACHE_BINS - b;
    */
    for (uint32_t b = 1; b < TCACHE_BINS; b++) {
        bytes += stats_part(tcache_blocks(b), size_class_bytes(b - 1), STATS_MOST - bytes);
    }
    return bytes;
}

/* What slabs hold: allocated is in blocks outside them, active in the slabs. */
/*@ requires lock:     LocksFree(LOCK_BIN(0));
    requires heap:     HeapOk;
    requires arenas:   arenas <= ARENAS_MAX;
    requires stats:    \valid(s);
    terminates         \true;
    exits              \false;
    assigns            s->allocated, s->active, s->slabs, s->small_filled, HEAP_ASSIGNS_PAGES, HEAP_ASSIGNS_SLABS;
    ensures  lock:     LocksFree(LOCK_BIN(0));
    ensures  heap:     HeapOk;
    ensures  blocks:   s->allocated <= s->active;
*/
static void stats_read_bins(struct stats *s, uint32_t arenas)
{
    uint64_t live = 0, bytes = 0, slabs = 0, filled = 0;
    /*@ loop invariant range:  0 <= i <= arenas * SC_NBINS;
        loop invariant lock:   LocksFree(LOCK_BIN(0));
        loop invariant heap:   HeapOk;
        loop invariant blocks: live <= bytes <= STATS_MOST;
        loop assigns   i, live, bytes, slabs, filled, HEAP_ASSIGNS_PAGES, HEAP_ASSIGNS_SLABS;
        loop variant   arenas * SC_NBINS - i;
    */
    for (uint32_t i = 0; i < arenas * SC_NBINS; i++) {
        struct bin_stats b;
        uint32_t c = i % SC_NBINS;
        bin_read_stats(i / SC_NBINS, c, &b);
        /*@ ghost slab_lemma_scale(1, slab_regions[c], slab_bytes[c]); */
        uint64_t whole = stats_part(b.slabs, slab_npages[c] * PAGE, STATS_MOST - bytes);
        bytes += whole;
        live += stats_part(b.regions_live, slab_bytes[c], whole);
        slabs += stats_part(b.slabs, 1, UINT64_MAX - slabs);
        filled += stats_part(b.filled, 1, UINT64_MAX - filled);
    }
    s->allocated = live;
    s->active = bytes;
    s->slabs = slabs;
    s->small_filled = filled;
}

/* What states extents are in, at one moment. */
/*@ requires lock:     LocksFree(LOCK_PAGES);
    requires heap:     HeapOk;
    requires pages:    \valid(p);
    terminates         \true;
    exits              \false;
    assigns            PAGES_ASSIGNS, *p;
    ensures  lock:     LocksFree(LOCK_PAGES);
    ensures  heap:     HeapOk;
    ensures  npages:   \forall integer s; 0 < s < EXTENT_STATES ==> p->npages[s] == PageCount(s, PAGE_COUNT_MAX);
    ensures  total:    page_cache_mapped_npages == p->npages[EXTENT_ACTIVE] + p->npages[EXTENT_DIRTY] +
                       p->npages[EXTENT_MUZZY] + p->npages[EXTENT_RETAINED] + p->npages[EXTENT_BUSY];
    ensures  most:     page_cache_mapped_npages <= 5 * PAGE_COUNT_MAX;
*/
static void stats_read_pages(struct pages_stats *p)
{
    /*@ ghost large_lemma_pages(); */
    pages_read_stats(p);
    /*@ assert owners: LargeOwners{Pre,Here}(0); */
    /*@ assert pages: LargePages{Pre,Here}; */
    /*@ ghost large_lemma_ok(); */
    /*@ ghost page_cache_lemma_total(); */
}

struct stats stats_read(void)
{
    struct stats       t;
    struct pages_stats p;
    struct large_stats l;
    uint64_t cached = stats_cached();
    t.threads = tcache_live();
    stats_read_bins(&t, arena_count());
    stats_read_pages(&p);
    large_read_stats(&l);
    uint64_t active = p.npages[EXTENT_ACTIVE] * PAGE;
    uint64_t slabs = t.active < active ? t.active : active;
    uint64_t out = (t.allocated < slabs ? t.allocated : slabs) + (active - slabs);      /* what no slab covers is large blocks */
    t.cached = cached < out ? cached : out;
    t.allocated = out - t.cached;
    t.active = active;
    t.dirty = (p.npages[EXTENT_DIRTY] + p.npages[EXTENT_BUSY]) * PAGE;
    t.muzzy = p.npages[EXTENT_MUZZY] * PAGE;
    t.retained = p.npages[EXTENT_RETAINED] * PAGE;
    t.mapped = t.active + t.dirty + t.muzzy + t.retained;
    t.metadata = ATOMIC_LOAD(os_metadata_bytes);
    t.large_allocated = l.allocated;
    t.purges = p.purges;
    t.purged = stats_part(p.purged_npages, PAGE, UINT64_MAX);
    return t;
}
