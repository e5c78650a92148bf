/* pages: the page caches behind their lock, with decay.
 *
 * The lock has the highest rank. System calls that purge run without it. PageCacheOk holds of what this thread sees,
 * whether it holds the lock or not. The extents in its view (spec/pages/pages.acsl) stay as they are whoever takes the
 * lock meanwhile. Everything else may change.
 */
#ifndef QED_PAGES_PAGES_H
#define QED_PAGES_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "pages/decay.h"
#include "pages/page_cache.h"
#include "platform/lock.h"

#define PAGES_SHARED 0U                         /* the page cache of all arenas */
#define PAGES_OVERSIZE 1U                       /* the page cache of blocks above a size that the program may set */

/* Dirty pages that stay whatever comes into memory: a sixteenth of the active pages, and 1 MiB. */
#define PAGES_SPARE_SHARE 16U
#define PAGES_SPARE (1UL << (20 - LG_PAGE))

/* A run is long above 1 MiB. Programs take long runs in any length. */
#define PAGES_LONG (1UL << (20 - LG_PAGE))
#define PAGES_RISE_LONG 8U

_Static_assert(PAGES_OVERSIZE < PAGE_CACHES, "both exist");

struct pages_stats {
    uint64_t active, dirty, muzzy, retained;    /* pages of each kind */
    uint64_t busy;                              /* pages that are being purged */
    uint64_t purges;                            /* purging system calls so far */
    uint64_t purged_npages;                     /* pages that these calls returned so far */
};

/* What was purged so far of each decay's pages, those of a page cache in one state. */
struct pages_purges {
    uint64_t sweeps[DECAY_COUNT];               /* times that some were purged */
    uint64_t calls[DECAY_COUNT];                /* system calls for it */
    uint64_t npages[DECAY_COUNT];               /* pages that these returned */
};

/* All page caches at one moment. */
struct pages_details {
    struct page_cache_counts free;              /* by heap */
    struct pages_purges      purges;
    uint64_t                 unused_extents;    /* ids without pages */
};

struct pages_run {
    uint64_t npages;
    uint32_t cache;                             /* its page cache */
};

/* Guarded by the lock. Only pages.c and the proofs use them. */
extern uint64_t pages_mark[PAGE_CACHES];        /* the most active and dirty pages that may be in memory for nothing */
extern bool     pages_purging;                  /* a thread purges by the decay curves; one at a time */
extern uint32_t pages_end;                      /* no page cache from here on has been asked for pages */
extern uint64_t pages_purge_count;
extern uint64_t pages_purged_npages;
extern struct pages_purges pages_purges;

#include "pages/pages.acsl"

/* An extent at one moment. */
struct pages_extent {
    uint64_t page, npages;                      /* 0 where the id has none, or not of the page cache that is asked about */
    uint32_t last;                              /* the last id that there is */
};

/* Called once, when the program starts and static memory is zero. All page caches have these intervals, in milliseconds. */
/*@ REQUIRES_PAGE_CACHE_ZERO;
    requires decays: DecayZero;
    assigns          extent_count, smoothstep[0 .. SMOOTHSTEP_NSTEPS], PAGES_ASSIGNS_DECAY;
    ensures  ok:     PageCacheOk;
    ensures  decay:  DecayOk;
    ensures  zeroes: CacheZero;
    ensures  whose:  CacheGiven;
    ensures  end:    PagesEnd;
    ensures  times:  \forall integer c; CacheNumber(c) ==>
                         decay_ms[DECAY_DIRTY + c] == dirty_ms && decay_ms[DECAY_MUZZY + c] == muzzy_ms;
    ensures  none:   \forall integer e; !ExtUsed(e);
*/
void pages_boot(int64_t dirty_ms, int64_t muzzy_ms);

/* Sets the intervals of both decays of the page cache in milliseconds, and forgets the past and the high-water mark. -1 stands for
 * never, 0 for at once. Where muzzy_ms is not 0, dirty pages are purged lazily first. */
/*@ REQUIRES_PAGES_UNLOCKED;
    requires cache: cache < PAGE_CACHES;
    assigns         PAGES_ASSIGNS;
    ENSURES_PAGES_UNLOCKED;
    ensures  mark:  pages_mark[cache] == 0;
    ensures  times: decay_ms[DECAY_DIRTY + cache] == dirty_ms && decay_ms[DECAY_MUZZY + cache] == muzzy_ms;
    PAGES_KEPT(ensures, 0);
*/
void pages_set_decay(uint32_t cache, int64_t dirty_ms, int64_t muzzy_ms);

/* Sets how many pages the page cache asks the OS for at most when it grows, unless a request needs more. 0 stands for no such
 * limit. */
/*@ REQUIRES_PAGES_UNLOCKED;
    requires cache: cache < PAGE_CACHES;
    assigns         PAGES_ASSIGNS;
    ENSURES_PAGES_UNLOCKED;
    ensures  set:   page_cache_grow_max[cache] == npages;
    PAGES_KEPT(ensures, 0);
*/
void pages_set_growth(uint32_t cache, uint64_t npages);

/* Returns what is set. */
/*@ REQUIRES_PAGES_UNLOCKED;
    requires cache: cache < PAGE_CACHES;
    assigns         PAGES_ASSIGNS;
    ENSURES_PAGES_UNLOCKED;
    ensures  is:    \result == page_cache_grow_max[cache];
    PAGES_KEPT(ensures, 0);
*/
uint64_t pages_growth(uint32_t cache);

/* Returns an ACTIVE extent of the page cache that nobody holds, for the caller to hold, or 0 if there is no memory. Says in
 * *zeroed whether its pages read as zero. */
/*@ REQUIRES_PAGES_UNLOCKED;
    requires cache:   cache < PAGE_CACHES;
    requires some:    0 < npages;
    requires power:   IsPowerOfTwo(align_npages);
    requires zeroed:  \valid(zeroed);
    assigns           PAGES_ASSIGNS, *zeroed;
    ENSURES_PAGES_UNLOCKED;
    ensures  active:  \result != 0 ==> CacheHas(\result, EXTENT_ACTIVE + cache) && ext_npages[\result] == npages;
    ensures  aligned: \result != 0 ==> ext_page[\result] % align_npages == 0;
    ensures  zero:    \result != 0 && *zeroed ==> PagesZero(\result);
    ensures  new:     \result != 0 ==> ext_kind[\result] == KIND_NONE;
    ensures  nobodys: \result != 0 ==> PagesNobodys{Pre}(ext_page[\result], ext_page[\result] + npages);
    ensures  no_tags: \result != 0 ==> PagesNoTags(ext_page[\result], ext_page[\result] + npages);
    ensures  out:     \result == 0 ==> CacheOut(npages, align_npages);
    ensures  asked:   cache < pages_end;
    PAGES_KEPT(ensures, 0);
*/
uint32_t pages_alloc(uint32_t cache, uint64_t npages, uint64_t align_npages, bool *zeroed);

/* Frees e, which this thread holds and which is in no pairing heap. e leaves the view then. */
/*@ REQUIRES_PAGES_UNLOCKED;
    requires mine:    PagesHeld(e) && ph_own[e] == 0;
    requires used:    ExtUsed(e);
    requires no_tags: PagesNoTags(ext_page[e], ext_page[e] + ext_npages[e]);
    assigns           PAGES_ASSIGNS, ext_kind[e];
    ENSURES_PAGES_UNLOCKED;
    ensures  gone:    ext_kind[e] == KIND_NONE;
    PAGES_KEPT(ensures, e);
*/
void pages_free(uint32_t e);

/* Returns the ACTIVE extent that starts at page, 0 if there is none. It is not another thread's: a program owns the
 * block whose address it passes, and the thread that gets a block from another thread holds it from then on. */
/*@ REQUIRES_PAGES_UNLOCKED;
    assigns             PAGES_ASSIGNS;
    ENSURES_PAGES_UNLOCKED;
    ensures  found:     \result != 0 ==> ExtUsed(\result) && ext_page[\result] == page &&
                            CacheActiveState(ext_state[\result]);
    ensures  none:      \result == 0 ==>
                            \forall integer e; ExtUsed(e) && CacheActiveState(ext_state[e]) ==> ext_page[e] != page;
    ensures  mine:      \forall integer e; PagesHeld(e) && \old(ext_page[e]) == page ==> \result == e;
    ensures  only_mine: \result != 0 ==> PagesHeld(\result) && \old(ext_page[\result]) == page;
    PAGES_KEPT(ensures, 0);
*/
uint32_t pages_find(uint64_t page);

/* Returns the pages of extent e, if it is ACTIVE in the page cache. It may be another thread's. */
/*@ REQUIRES_PAGES_UNLOCKED;
    requires id:        0 < e < TABLE_MAX;
    requires cache:     cache < PAGE_CACHES;
    assigns             PAGES_ASSIGNS;
    ENSURES_PAGES_UNLOCKED;
    ensures  is:        \result.npages != 0 ==> ExtUsed(e) && ext_state[e] == EXTENT_ACTIVE + cache;
    ensures  pages:     \result.npages != 0 ==> \result.page == ext_page[e] && \result.npages == ext_npages[e];
    ensures  none:      \result.npages == 0 ==> !ExtUsed(e) || ext_state[e] != EXTENT_ACTIVE + cache;
    ensures  last:      \forall integer x; ExtUsed(x) ==> x <= \result.last;
    PAGES_KEPT(ensures, 0);
*/
struct pages_extent pages_look(uint32_t cache, uint32_t e);

/* Frees the ACTIVE extent that starts at page. Returns what it was, with no pages if none starts there. The ghost mine is that
 * extent, or 0 (see pages_find). */
/*@ REQUIRES_PAGES_UNLOCKED;
    requires mine:     mine != 0 ==> PagesHeld(mine) && ph_own[mine] == 0 && ext_page[mine] == page;
    requires no_tags:  mine != 0 ==> PagesNoTags(ext_page[mine], ext_page[mine] + ext_npages[mine]);
    requires not_mine: \forall integer x; PagesHeld(x) && x != mine ==> ext_page[x] != page;
    assigns            PAGES_ASSIGNS, ext_kind[mine];
    ENSURES_PAGES_UNLOCKED;
    ensures  done:     \result.npages != 0 <==> mine != 0;
    ensures  length:   mine != 0 ==> \result.npages == \old(ext_npages[mine]);
    ensures  cache:    \result.cache == (mine != 0 ? \old(ext_state[mine]) - EXTENT_ACTIVE : 0) < PAGE_CACHES;
    ensures  gone:     ext_kind[mine] == KIND_NONE;
    PAGES_KEPT(ensures, mine);
*/
struct pages_run pages_release(uint64_t page) /*@ ghost (uint32_t mine) */;

/* Makes e longer or shorter in place. Returns false, and leaves e as it was, if that is not possible. */
/*@ REQUIRES_PAGES_UNLOCKED;
    requires mine:    PagesHeld(e) && ExtUsed(e);
    requires some:    0 < npages;
    requires no_tags: PagesNoTags(ext_page[e] + npages, ext_page[e] + ext_npages[e]);
    assigns           PAGES_ASSIGNS;
    ENSURES_PAGES_UNLOCKED;
    ensures  start:   ExtUsed(e) && ext_page[e] == \old(ext_page[e]);
    ensures  active:  ext_state[e] == \old(ext_state[e]) && ph_own[e] == \old(ph_own[e]);
    ensures  length:  ext_npages[e] == (\result ? npages : \old(ext_npages[e]));
    ensures  nobodys: PagesNobodys{Pre}(\old(ext_page[e] + ext_npages[e]), ext_page[e] + ext_npages[e]);
    ensures  no_tags: PagesNoTags(\old(ext_page[e] + ext_npages[e]), ext_page[e] + ext_npages[e]);
    PAGES_KEPT_TAGS(ensures, e, 0);
*/
bool pages_resize(uint32_t e, uint64_t npages);

/* Purges the pages of all page caches that their decay curves no longer allow. Returns whether many dirty pages of the automatic arenas still
 * wait for their time: more than 16 MiB, and more than a quarter of the pages in use. Where they stay for ever, none wait. */
/*@ REQUIRES_PAGES_UNLOCKED;
    assigns    PAGES_ASSIGNS;
    ENSURES_PAGES_UNLOCKED;
    PAGES_KEPT(ensures, 0);
*/
bool pages_decay(void);

/* Purges dirty pages of the automatic arenas before their time, where there are more than 16 MiB of them and more than twice as many as pages in
 * use. Called when a thread ends. So the memory of many threads that end goes with them. Where dirty pages stay for ever, they stay. */
/*@ REQUIRES_PAGES_UNLOCKED;
    assigns    PAGES_ASSIGNS;
    ENSURES_PAGES_UNLOCKED;
    PAGES_KEPT(ensures, 0);
*/
void pages_shed(void);

/* Purges all free pages of one page cache. Returns true if there were any. */
/*@ REQUIRES_PAGES_UNLOCKED;
    requires cache: cache < PAGE_CACHES;
    assigns    PAGES_ASSIGNS;
    ENSURES_PAGES_UNLOCKED;
    PAGES_KEPT(ensures, 0);
*/
bool pages_purge(uint32_t cache);

/* Gives the addresses of all free pages of one kind in one page cache back to the OS: of retained ones, or of any if they must go. Takes the
 * lock for one extent after the other. Stops where hooks refuse one, as they may unless the pages must go. Returns whether none are left. */
/*@ REQUIRES_PAGES_UNLOCKED;
    requires cache: cache < PAGE_CACHES;
    requires kind:  kind == EXTENT_RETAINED || (must && (kind == EXTENT_DIRTY || kind == EXTENT_MUZZY));
    assigns    PAGES_ASSIGNS;
    ENSURES_PAGES_UNLOCKED;
    ensures  none: \result ==> \forall integer e; ExtUsed(e) ==> ext_state[e] != kind + cache;
    PAGES_KEPT(ensures, 0);
*/
bool pages_unmap(uint32_t cache, uint8_t kind, bool must);

/* Purges all free pages of all page caches. Returns true if there were any. */
/*@ REQUIRES_PAGES_UNLOCKED;
    assigns    PAGES_ASSIGNS;
    ENSURES_PAGES_UNLOCKED;
    PAGES_KEPT(ensures, 0);
*/
bool pages_trim(void);

/* Reads the pages of one page cache, at one moment. The purges are those of all. */
/*@ REQUIRES_PAGES_UNLOCKED;
    requires cache:  cache < PAGE_CACHES;
    requires stats:  \valid(stats);
    assigns          PAGES_ASSIGNS, *stats;
    ENSURES_PAGES_UNLOCKED;
    ensures  added:  PagesAdded(0, stats->active, EXTENT_ACTIVE + cache) && PagesAdded(0, stats->dirty, EXTENT_DIRTY + cache) &&
                     PagesAdded(0, stats->muzzy, EXTENT_MUZZY + cache) && PagesAdded(0, stats->busy, EXTENT_BUSY + cache) &&
                     PagesAdded(0, stats->retained, EXTENT_RETAINED + cache);
    ensures  total:  stats->active + stats->dirty + stats->muzzy + stats->retained + stats->busy ==
                         page_cache_mapped_npages[cache];
    ensures  purges: stats->purges == pages_purge_count && stats->purged_npages == pages_purged_npages;
    PAGES_KEPT(ensures, 0);
*/
void pages_read_cache(uint32_t cache, struct pages_stats *stats);

/* Reads the sums over all page caches, at one moment. */
/*@ REQUIRES_PAGES_UNLOCKED;
    requires stats:  \valid(stats);
    assigns          PAGES_ASSIGNS, *stats;
    ENSURES_PAGES_UNLOCKED;
    PAGES_SUMS(ensures, stats, PAGE_CACHES);
    ensures  purges: stats->purges == pages_purge_count && stats->purged_npages == pages_purged_npages;
    PAGES_KEPT(ensures, 0);
*/
void pages_read_stats(struct pages_stats *stats);

/* Reads the free extents and the purges of all page caches, at one moment. */
/*@ REQUIRES_PAGES_UNLOCKED;
    requires details: \valid(details);
    assigns           PAGES_ASSIGNS, *details;
    ENSURES_PAGES_UNLOCKED;
    ensures  free:    details->free == page_cache_counts;
    ensures  purges:  details->purges == pages_purges;
    ensures  unused:  details->unused_extents == ListCount(EXT_UNUSED_LIST, TABLE_MAX);
    PAGES_KEPT(ensures, 0);
*/
void pages_read_details(struct pages_details *details);

/* The lock is held from before fork until after it, in the parent and in the child. */
/*@ REQUIRES_PAGES_UNLOCKED;
    assigns    PAGES_ASSIGNS;
    PAGES_WHOLE(ensures);
    PAGES_KEPT(ensures, 0);
*/
void pages_prefork(void);

/*@ PAGES_WHOLE(requires);
    assigns        lock_held[LOCK_PAGES];
    ensures  lock: LocksFree(LOCK_PAGES);
*/
void pages_postfork_parent(void);

/* In the child no page stays BUSY: what another thread was purging comes back to the page cache. */
/*@ PAGES_WHOLE(requires);
    requires held:  PagesHeldActive;
    assigns         lock_held[LOCK_PAGES], pages_purging, CACHE_ASSIGNS;
    ENSURES_PAGES_UNLOCKED;
    ensures  none:  \forall integer e; ExtUsed(e) ==> !CacheBusyState(ext_state[e]);
    ensures  ready: !pages_purging;
    PAGES_KEPT(ensures, 0);
*/
void pages_postfork_child(void);

#endif
