/* stats: see stats.h. */
#include "tcache/stats.h"

#include "blocks/large.h"
#include "pages/pages.h"
#include "platform/atomic.h"
#include "platform/os.h"

#include "math/size_class_align_lemmas.acsl"
#include "blocks/large_lemmas.acsl"

#define STATS_MOST (1UL << LG_VADDR)    /* as many bytes as there are addresses */

/* Returns the bytes of n pieces, or room if they are more than that. */
/*@ requires some:     0 < bytes;
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

/* Returns the bytes of all blocks that threads keep ready. */
/*@ requires lock:     LocksFree(LOCK_DEPOT);
    requires blocks:   BlocksOk;
    requires mine:     DepotHeight;
    assigns            DEPOT_ASSIGNS_LISTS, lock_held[LOCK_DEPOT];
    ensures  lock:     LocksFree(LOCK_DEPOT);
    ensures  blocks:   BlocksOk;
*/
static uint64_t stats_cached(void)
{
    uint64_t bytes = 0;
    /*@ loop invariant range: 1 <= b <= TCACHE_STACKS;
        loop invariant lock:  LocksFree(LOCK_DEPOT);
        loop invariant blocks:BlocksOk;
        loop invariant mine:  DepotHeight;
        loop invariant most:  bytes <= STATS_MOST;
        loop assigns   b, bytes, DEPOT_ASSIGNS_LISTS, lock_held[LOCK_DEPOT];
        loop variant   TCACHE_STACKS - b;
    */
    for (uint32_t b = 1; b < TCACHE_STACKS; b++) {
        bytes += stats_part(depot_blocks(b), size_class_bytes(b - 1), STATS_MOST - bytes);
    }
    return bytes;
}

/* Reads the bins. allocated is the bytes of the blocks that slabs have handed out, and active the bytes of the slabs. */
/*@ BINS_FREE(requires);
    requires arenas:   arenas <= ARENAS_MAX;
    requires stats:    \valid(s);
    assigns            s->allocated, s->active, s->slabs, s->small_filled, BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS;
    BINS_FREE(ensures);
    ensures  blocks:   s->allocated <= s->active;
*/
static void stats_read_bins(struct stats *s, uint32_t arenas)
{
    uint64_t live = 0, bytes = 0, slabs = 0, filled = 0;
    /*@ loop invariant range:  0 <= i <= arenas * SC_NBINS;
        BINS_FREE(loop invariant);
        loop invariant blocks: live <= bytes <= STATS_MOST;
        loop assigns   i, live, bytes, slabs, filled, BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS;
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

/* Reads how many pages are in which state, at one moment. */
/*@ PAGES_FREE(requires);
    requires pages:    \valid(p);
    assigns            PAGES_ASSIGNS, *p;
    PAGES_FREE(ensures);
    PAGES_SUMS(ensures, p, PAGE_CACHES);
*/
static void stats_read_pages(struct pages_stats *p)
{
    /*@ ghost large_lemma_pages(); */
    /*@ assert was: BlocksLargeBlock; */
    pages_read_stats(p);
    /*@ assert owners: LargeOwners{Pre,Here}(0); */
    /*@ assert pages: LargePages{Pre,Here}; */
    /*@ assert places: \forall integer e; ExtKind(e, KIND_LARGE) ==> ext_page[e] * PAGE == \at(ext_page[e] * PAGE,Pre); */
    /*@ assert block: LargeBlocks{Pre,Here}; */
    /*@ ghost large_lemma_ok(); */
}

struct stats stats_read(void)
{
    struct stats       t;
    struct pages_stats p;
    struct large_stats l;
    uint64_t cached = stats_cached();
    t.threads = depot_live();
    stats_read_bins(&t, arena_count());
    stats_read_pages(&p);
    large_read_stats(&l);
    uint64_t active = p.active * PAGE;
    uint64_t slabs = t.active < active ? t.active : active;
    uint64_t out = (t.allocated < slabs ? t.allocated : slabs) + (active - slabs);      /* pages of no slab are large blocks */
    t.cached = cached < out ? cached : out;
    t.allocated = out - t.cached;
    t.active = active;
    t.dirty = (p.dirty + p.busy) * PAGE;
    t.muzzy = p.muzzy * PAGE;
    t.retained = p.retained * PAGE;
    t.mapped = t.active + t.dirty + t.muzzy + t.retained;
    t.metadata = ATOMIC_LOAD(os_metadata_bytes);
    t.large_allocated = l.allocated;
    t.purges = p.purges;
    t.purged = stats_part(p.purged_npages, PAGE, UINT64_MAX);
    return t;
}
