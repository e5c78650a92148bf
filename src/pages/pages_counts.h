/* pages_counts: what the page caches count, with the lock held. Only pages.c includes it. */
#ifndef QED_PAGES_PAGES_COUNTS_H
#define QED_PAGES_PAGES_COUNTS_H

#include "pages/pages_steps.h"
#include "platform/atomic.h"
#include "platform/limit.h"

/* -- purges ---------------------------------------------------------------------------------------------------- */

/* Adds to a counter, which stops at the end of its range. */
/*@ assigns       \nothing;
    ensures  sum: \result == (n + more <= UINT64_MAX ? n + more : UINT64_MAX);
*/
static inline uint64_t pages_count(uint64_t n, uint64_t more)
{
    return n <= UINT64_MAX - more ? n + more : UINT64_MAX;
}

/* Counts system calls that purged pages of a decay, and the pages that they returned. */
/*@ requires locked:  LockHeld(LOCK_PAGES);
    requires which:   which < DECAY_COUNT;
    assigns           pages_purge_count, pages_purged_npages, pages_purges.calls[which], pages_purges.npages[which];
    ensures  count:   pages_purge_count == \min(\old(pages_purge_count) + calls, UINT64_MAX);
    ensures  npages:  pages_purged_npages == \min(\old(pages_purged_npages) + npages, UINT64_MAX);
    ensures  calls:   pages_purges.calls[which] == \min(\old(pages_purges.calls[which]) + calls, UINT64_MAX);
    ensures  purged:  pages_purges.npages[which] == \min(\old(pages_purges.npages[which]) + npages, UINT64_MAX);
*/
static inline void pages_count_calls(uint32_t which, uint64_t calls, uint64_t npages)
{
    pages_purge_count = pages_count(pages_purge_count, calls);
    pages_purged_npages = pages_count(pages_purged_npages, npages);
    pages_purges.calls[which] = pages_count(pages_purges.calls[which], calls);
    pages_purges.npages[which] = pages_count(pages_purges.npages[which], npages);
}

/* Counts one purge of a decay's pages, of one system call or more. */
/*@ requires locked:  LockHeld(LOCK_PAGES);
    requires which:   which < DECAY_COUNT;
    assigns           pages_purges.sweeps[which];
    ensures  sweeps:  pages_purges.sweeps[which] == \min(\old(pages_purges.sweeps[which]) + 1, UINT64_MAX);
*/
static inline void pages_count_sweep(uint32_t which)
{
    pages_purges.sweeps[which] = pages_count(pages_purges.sweeps[which], 1);
}

/* Returns the decay of the dirty or muzzy pages of a page cache. */
/*@ requires cache:   cache < PAGE_CACHES;
    assigns           \nothing;
    ensures  which:   \result == (kind == EXTENT_DIRTY ? DECAY_DIRTY : DECAY_MUZZY) + cache < DECAY_COUNT;
*/
static inline uint32_t pages_decay_of(uint32_t cache, uint8_t kind)
{
    return (kind == EXTENT_DIRTY ? DECAY_DIRTY : DECAY_MUZZY) + cache;
}

/* -- pages by state -------------------------------------------------------------------------------------------- */

/* No pages yet, and the purges so far. */
/*@ requires locked:  LockHeld(LOCK_PAGES);
    requires stats:   \valid(stats);
    assigns           *stats;
    ensures  none:    stats->active == 0 && stats->dirty == 0 && stats->muzzy == 0 && stats->retained == 0 && stats->busy == 0;
    ensures  purges:  stats->purges == pages_purge_count && stats->purged_npages == pages_purged_npages;
*/
static inline void pages_begin(struct pages_stats *stats)
{
    stats->active = 0;
    stats->dirty = 0;
    stats->muzzy = 0;
    stats->retained = 0;
    stats->busy = 0;
    stats->purges = pages_purge_count;
    stats->purged_npages = pages_purged_npages;
}

/* Adds the pages of one page cache to the figures. */
/*@ requires locked:  LockHeld(LOCK_PAGES);
    requires totals:  ExtTotals && CacheTotal;
    requires cache:   cache < PAGE_CACHES;
    requires stats:   \valid(stats);
    requires few:     stats->active <= PAGE_CACHES * PAGE_COUNT_MAX && stats->dirty <= PAGE_CACHES * PAGE_COUNT_MAX &&
                      stats->muzzy <= PAGE_CACHES * PAGE_COUNT_MAX && stats->retained <= PAGE_CACHES * PAGE_COUNT_MAX &&
                      stats->busy <= PAGE_CACHES * PAGE_COUNT_MAX;
    assigns           stats->active, stats->dirty, stats->muzzy, stats->retained, stats->busy;
    ensures  added:   PagesAdded(\old(stats->active), stats->active, EXTENT_ACTIVE + cache);
    ensures  added:   PagesAdded(\old(stats->dirty), stats->dirty, EXTENT_DIRTY + cache);
    ensures  added:   PagesAdded(\old(stats->muzzy), stats->muzzy, EXTENT_MUZZY + cache);
    ensures  added:   PagesAdded(\old(stats->retained), stats->retained, EXTENT_RETAINED + cache);
    ensures  added:   PagesAdded(\old(stats->busy), stats->busy, EXTENT_BUSY + cache);
    ensures  total:   stats->active + stats->dirty + stats->muzzy + stats->retained + stats->busy ==
                          \old(stats->active + stats->dirty + stats->muzzy + stats->retained + stats->busy) +
                          page_cache_mapped_npages[cache];
    ensures  most:    stats->active <= \old(stats->active) + PAGE_COUNT_MAX;
    ensures  most:    stats->dirty <= \old(stats->dirty) + PAGE_COUNT_MAX;
    ensures  most:    stats->muzzy <= \old(stats->muzzy) + PAGE_COUNT_MAX;
    ensures  most:    stats->retained <= \old(stats->retained) + PAGE_COUNT_MAX;
    ensures  most:    stats->busy <= \old(stats->busy) + PAGE_COUNT_MAX;
*/
static inline void pages_add(struct pages_stats *stats, uint32_t cache)
{
    /*@ ghost extent_lemma_count_bounds((uint8_t)(EXTENT_ACTIVE + cache)); */
    /*@ ghost extent_lemma_count_bounds((uint8_t)(EXTENT_DIRTY + cache)); */
    /*@ ghost extent_lemma_count_bounds((uint8_t)(EXTENT_MUZZY + cache)); */
    /*@ ghost extent_lemma_count_bounds((uint8_t)(EXTENT_RETAINED + cache)); */
    /*@ ghost extent_lemma_count_bounds((uint8_t)(EXTENT_BUSY + cache)); */
    stats->active += extent_npages_total[EXTENT_ACTIVE + cache];
    stats->dirty += extent_npages_total[EXTENT_DIRTY + cache];
    stats->muzzy += extent_npages_total[EXTENT_MUZZY + cache];
    stats->retained += extent_npages_total[EXTENT_RETAINED + cache];
    stats->busy += extent_npages_total[EXTENT_BUSY + cache];
}

/* The pages of all page caches. */
/*@ requires locked: LockHeld(LOCK_PAGES);
    requires totals: ExtTotals && CacheTotal;
    requires stats:  \valid(stats);
    assigns          *stats;
    PAGES_SUMS(ensures, stats, PAGE_CACHES);
    ensures  purges: stats->purges == pages_purge_count && stats->purged_npages == pages_purged_npages;
*/
static inline void pages_add_all(struct pages_stats *stats)
{
    pages_begin(stats);
    /*@ loop invariant range:  0 <= c <= PAGE_CACHES;
        PAGES_SUMS(loop invariant, stats, c);
        loop assigns   c, stats->active, stats->dirty, stats->muzzy, stats->retained, stats->busy;
        loop variant   PAGE_CACHES - c;
    */
    for (uint32_t c = 0; c < PAGE_CACHES; c++) {
        pages_add(stats, c);
    }
}

/* -- the high-water mark ------------------------------------------------------------------------------------------ */

/* Raises the mark of the page cache to what it has in memory. Returns how many dirty pages are to go before npages come into memory. These
 * are as many as would be above the mark, unless too few dirty pages would be left (PagesSpare). */
/*@ requires locked: LockHeld(LOCK_PAGES);
    requires totals: ExtTotals;
    requires cache:  cache < PAGE_CACHES;
    assigns          pages_mark[cache];
    ensures  mark:   pages_mark[cache] == \max(\old(pages_mark[cache]), PagesIn(cache));
    ensures  spare:  \result == 0 || extent_npages_total[EXTENT_DIRTY + cache] - \result >= PagesSpare(cache);
    ensures  below:  PagesIn(cache) + npages - \result <= pages_mark[cache] || \result == 0 ||
                         extent_npages_total[EXTENT_DIRTY + cache] - \result == PagesSpare(cache);
    ensures  most:   \result == 0 || PagesIn(cache) + npages - \result >= pages_mark[cache];
    ensures  none:   \result == 0 ==> PagesIn(cache) + npages <= pages_mark[cache] ||
                         extent_npages_total[EXTENT_DIRTY + cache] <= PagesSpare(cache);
*/
static uint64_t pages_due(uint32_t cache, uint64_t npages)
{
    /*@ ghost extent_lemma_count_bounds((uint8_t)(EXTENT_ACTIVE + cache)); */
    /*@ ghost extent_lemma_count_bounds((uint8_t)(EXTENT_DIRTY + cache)); */
    uint64_t active = extent_npages_total[EXTENT_ACTIVE + cache], dirty = extent_npages_total[EXTENT_DIRTY + cache];
    uint64_t spare = active / PAGES_SPARE_SHARE + PAGES_SPARE;
    if (active + dirty > pages_mark[cache]) {
        pages_mark[cache] = active + dirty;
    }
    uint64_t room = pages_mark[cache] - active - dirty;
    uint64_t above = npages > room ? npages - room : 0;
    uint64_t most = dirty > spare ? dirty - spare : 0;
    return above < most ? above : most;
}

/* Returns by how many pages the mark rises when `due` dirty pages are purged for a run of npages. Half as many are enough, but where the run is
 * long, and more pages are in use than dirty. There the dirty pages are what long runs of other lengths leave between them, and are soon
 * in use again. */
/*@ requires locked: LockHeld(LOCK_PAGES);
    requires totals: ExtTotals;
    requires cache:  cache < PAGE_CACHES;
    requires most:   due <= extent_npages_total[EXTENT_DIRTY + cache];
    assigns          \nothing;
    ensures  half:   npages <= PAGES_LONG || extent_npages_total[EXTENT_DIRTY + cache] >= extent_npages_total[EXTENT_ACTIVE + cache] ==>
                         \result == (due + 1) / 2;
    ensures  long:   npages > PAGES_LONG && extent_npages_total[EXTENT_DIRTY + cache] < extent_npages_total[EXTENT_ACTIVE + cache] ==>
                         \result == PAGES_RISE_LONG * due;
*/
static uint64_t pages_rise(uint32_t cache, uint64_t npages, uint64_t due)
{
    /*@ ghost extent_lemma_count_bounds((uint8_t)(EXTENT_DIRTY + cache)); */
    bool rare = npages > PAGES_LONG && extent_npages_total[EXTENT_DIRTY + cache] < extent_npages_total[EXTENT_ACTIVE + cache];
    return rare ? PAGES_RISE_LONG * due : (due + 1) / 2;
}

/* -- free pages ------------------------------------------------------------------------------------------------ */

#define SHED_NPAGES (1UL << (23 - LG_PAGE))             /* 8 MiB of dirty pages stay whatever threads end */
#define WAIT_NPAGES (1UL << (24 - LG_PAGE))             /* 16 MiB of dirty pages may wait longer than their time, */
#define WAIT_SHARE 4U                                   /* and a quarter of the pages in use */

/* Returns how many dirty pages of the automatic arenas may stay when a thread ends. */
/*@ requires locked: LockHeld(LOCK_PAGES);
    assigns          \nothing;
    ensures  many:   2 * SHED_NPAGES < extent_npages_total[EXTENT_DIRTY + PAGES_SHARED] &&
                         extent_npages_total[EXTENT_ACTIVE + PAGES_SHARED] < extent_npages_total[EXTENT_DIRTY + PAGES_SHARED] / 2 &&
                         0 <= decay_ms[DECAY_DIRTY + PAGES_SHARED] ==> \result == SHED_NPAGES;
    ensures  stay:   2 * SHED_NPAGES >= extent_npages_total[EXTENT_DIRTY + PAGES_SHARED] ||
                         extent_npages_total[EXTENT_ACTIVE + PAGES_SHARED] >= extent_npages_total[EXTENT_DIRTY + PAGES_SHARED] / 2 ||
                         decay_ms[DECAY_DIRTY + PAGES_SHARED] < 0 ==> \result == UINT64_MAX;
*/
static uint64_t pages_shed_limit(void)
{
    uint64_t dirty = extent_npages_total[EXTENT_DIRTY + PAGES_SHARED];
    uint64_t active = extent_npages_total[EXTENT_ACTIVE + PAGES_SHARED];
    bool     many = dirty > 2 * SHED_NPAGES && dirty / 2 > active;
    return many && ATOMIC_LOAD(decay_ms[DECAY_DIRTY + PAGES_SHARED]) >= 0 ? SHED_NPAGES : UINT64_MAX;
}

/* Returns whether more dirty pages of the automatic arenas wait than what hits of the thread caches may keep from their decay. */
/*@ requires locked: LockHeld(LOCK_PAGES);
    assigns          \nothing;
    ensures  wait:   \result <==> extent_npages_total[EXTENT_DIRTY + PAGES_SHARED] > WAIT_NPAGES &&
                         extent_npages_total[EXTENT_DIRTY + PAGES_SHARED] > extent_npages_total[EXTENT_ACTIVE + PAGES_SHARED] / WAIT_SHARE &&
                         0 <= decay_ms[DECAY_DIRTY + PAGES_SHARED];
*/
static bool pages_wait(void)
{
    uint64_t dirty = extent_npages_total[EXTENT_DIRTY + PAGES_SHARED];
    uint64_t active = extent_npages_total[EXTENT_ACTIVE + PAGES_SHARED];
    return dirty > WAIT_NPAGES && dirty > active / WAIT_SHARE && ATOMIC_LOAD(decay_ms[DECAY_DIRTY + PAGES_SHARED]) >= 0;
}

/* -- limits ------------------------------------------------------------------------------------------------------ */

/* Returns how many free pages, dirty or muzzy, are to leave memory: as many as are above limit_dirty, or as memory is above limit_soft,
 * whichever is more. Retained pages have no memory. Everything else that is mapped counts as if it had. */
/*@ requires locked: LockHeld(LOCK_PAGES);
    requires totals: ExtTotals && CacheTotal;
    assigns          \nothing;
    ensures  dirty:  PagesKind(EXTENT_DIRTY, PAGE_CACHES) + PagesKind(EXTENT_MUZZY, PAGE_CACHES) - \result <= limit_dirty / PAGE;
    ensures  soft:   limit_mapped / PAGE - PagesKind(EXTENT_RETAINED, PAGE_CACHES) - \result <= limit_soft / PAGE;
    ensures  none:   PagesKind(EXTENT_DIRTY, PAGE_CACHES) + PagesKind(EXTENT_MUZZY, PAGE_CACHES) <= limit_dirty / PAGE &&
                         limit_mapped / PAGE <= limit_soft / PAGE ==> \result == 0;
*/
static uint64_t pages_excess(void)
{
    struct pages_stats now;
    pages_add_all(&now);
    uint64_t spare = now.dirty + now.muzzy, spare_max = limit_dirty / PAGE;
    uint64_t mapped = ATOMIC_LOAD(limit_mapped) / PAGE, soft = limit_soft / PAGE;
    uint64_t excess = spare > spare_max ? spare - spare_max : 0;
    uint64_t beyond = mapped > soft ? mapped - soft : 0;
    beyond = beyond > now.retained ? beyond - now.retained : 0;
    return excess > beyond ? excess : beyond;
}

#endif
