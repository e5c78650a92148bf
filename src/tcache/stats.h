/* stats: what the allocator holds, from the counters that the page cache, the bins and the thread caches work with. */
#ifndef QED_TCACHE_STATS_H
#define QED_TCACHE_STATS_H

#include <stdint.h>

#include "tcache/depot.h"

/* All are bytes, except for the counts. Pages are counted at one moment, and bins and caches before that moment. So what these report is cut
 * to what the pages have room for. This changes a figure only while other threads run. */
struct stats {
    uint64_t allocated;         /* in live blocks, by their usable size */
    uint64_t cached;            /* in blocks that threads keep ready */
    uint64_t active;            /* in extents that hold blocks */
    uint64_t dirty;             /* free, not returned to the OS yet */
    uint64_t muzzy;             /* free, and the OS takes them when it needs memory */
    uint64_t retained;          /* free address space without memory */
    uint64_t mapped;            /* active, dirty, muzzy and retained together */
    uint64_t metadata;          /* the allocator's own structures */
    uint64_t small_filled;      /* count of small blocks handed to threads */
    uint64_t large_allocated;   /* count of large blocks handed out */
    uint64_t purges;            /* count of system calls that returned memory */
    uint64_t purged;            /* returned by these calls */
    uint64_t slabs;
    uint32_t threads;
};

/*@ requires lock:     LocksFree(LOCK_DEPOT);
    requires blocks:   BlocksOk;
    requires arenas:   ArenaOk;
    requires mine:     DepotHeight;
    assigns            BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS, DEPOT_ASSIGNS_LISTS, lock_held[LOCK_DEPOT];
    ensures  lock:     LocksFree(LOCK_DEPOT);
    ensures  blocks:   BlocksOk;
    ensures  active:   \result.active == PagesKind(EXTENT_ACTIVE, PAGE_CACHES) * PAGE;
    ensures  dirty:    \result.dirty == (PagesKind(EXTENT_DIRTY, PAGE_CACHES) + PagesKind(EXTENT_BUSY, PAGE_CACHES)) * PAGE;
    ensures  muzzy:    \result.muzzy == PagesKind(EXTENT_MUZZY, PAGE_CACHES) * PAGE;
    ensures  retained: \result.retained == PagesKind(EXTENT_RETAINED, PAGE_CACHES) * PAGE;
    ensures  mapped:   \result.mapped == \result.active + \result.dirty + \result.muzzy + \result.retained == PagesMapped(PAGE_CACHES) * PAGE;
    ensures  blocks:   \result.allocated + \result.cached <= \result.active;
    ensures  metadata: \result.metadata == os_metadata_bytes;
*/
struct stats stats_read(void);

#endif
