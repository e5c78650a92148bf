/* pages: calls of the page cache with its lock held, and the purging that decay asks for. */
#include "pages/pages_counts.h"

#include "platform/os.h"

#define PURGE_NPAGES_MAX (1UL << (26 - LG_PAGE))        /* at most 64 MiB leave the cache at a time */

uint64_t pages_mark[PAGE_CACHES];
bool     pages_purging;
uint32_t pages_end;
uint64_t pages_purge_count;
uint64_t pages_purged_npages;
struct pages_purges pages_purges;

/* -- purging ---------------------------------------------------------------------------------------------------- */

/* Purges pages of a BUSY extent, which nobody holds, without the lock. Returns the state that they are in then,
 * which is still their old one if the OS refused. */
/*@ requires free:    LocksFree(LOCK_PAGES);
    requires range:   0 < npages && page + npages <= PAGE_COUNT_MAX;
    requires cache:   cache < PAGE_CACHES;
    requires busy:    CachePagesAre(page, page + npages, EXTENT_BUSY + cache);
    requires nobodys: PagesNobodys(page, page + npages);
    requires state:   CacheOwn(state, cache) && !CacheRetainedState(state);
    requires lazily:  lazily ==> state != EXTENT_MUZZY + cache;
    assigns           os_zero[page .. page + npages - 1], os_kept, os_gone;
    ensures  zero:    CacheZeroIn(\result, page, page + npages);
    ensures  kept:    os_kept == (\result == state ? 1 : \old(os_kept));
    ensures  gone:    os_gone == (\result == state ? \old(os_gone) : \min(\old(os_gone) + npages, UINT64_MAX));
    ensures  state:   \result == state || \result == EXTENT_RETAINED + cache || (lazily && \result == EXTENT_MUZZY + cache);
*/
static uint8_t pages_purge_run(uint32_t cache, uint64_t page, uint64_t npages, uint8_t state, bool lazily)
{
    if (lazily && os_purge(cache, page, npages, true)) {
        return (uint8_t)(EXTENT_MUZZY + cache);
    }
    return os_purge(cache, page, npages, false) ? (uint8_t)(EXTENT_RETAINED + cache) : state;
}

/* Takes one free extent of the kind out of the page cache, purges it without the lock, and puts it back one state further.
 * In between its pages are BUSY, so that nobody else touches them. Returns how many pages were purged, 0 if there are none
 * or the OS refused. */
/*@ REQUIRES_PAGES_LOCKED;
    requires decay: DecayOk;
    requires end:   PagesEnd;
    requires cache: cache < PAGE_CACHES;
    requires kind:  kind == EXTENT_DIRTY || (kind == EXTENT_MUZZY && !lazily);
    requires some:  0 < npages_max;
    assigns         PAGES_ASSIGNS;
    PAGES_WHOLE(ensures);
    ensures  grows: \old(pages_end) <= pages_end;
    ensures  since: \old(os_zero_over) == 0 ==> os_zero_over == 0;
    ensures  gone:  os_gone == \min(\old(os_gone) + \result, UINT64_MAX);
    ensures  left:  \result == 0 ==> os_kept == 1 || extent_npages_total[kind + cache] == 0;
    PAGES_KEPT(ensures, 0);
*/
static uint64_t pages_purge_one(uint32_t cache, uint8_t kind, uint64_t npages_max, bool lazily)
{
    uint8_t  state = (uint8_t)(kind + cache);
    uint32_t e = pages_pull(cache, state, npages_max);
    if (e == 0) {
        /*@ ghost extent_lemma_count_absent(state); */
        return 0;
    }
    uint64_t page = AT(ext_page, e);
    uint64_t npages = AT(ext_npages, e);
    pages_leave();
    uint8_t to = pages_purge_run(cache, page, npages, state, lazily);
    pages_enter() /*@ ghost (e, 0) */;
    uint64_t purged = to == state ? 0 : npages;
    /* Where the lazy call failed, there was a second one. */
    pages_count_calls(pages_decay_of(cache, kind), lazily && to != EXTENT_MUZZY + cache ? 2 : 1, purged);
    pages_put(e, to);
    return purged;
}

/* Purges until no more than npages_limit pages of the kind are left in the page cache, or the OS refuses, or as many are purged as
 * were above the limit at first. So it ends however many pages other threads free meanwhile. Returns true if any
 * page was purged. */
/*@ REQUIRES_PAGES_LOCKED;
    requires decay: DecayOk;
    requires end:   PagesEnd;
    requires cache: cache < PAGE_CACHES;
    requires kind:  kind == EXTENT_DIRTY || (kind == EXTENT_MUZZY && !lazily);
    assigns         PAGES_ASSIGNS;
    PAGES_WHOLE(ensures);
    ensures  grows: \old(pages_end) <= pages_end;
    ensures  since: \old(os_zero_over) == 0 ==> os_zero_over == 0;
    ensures  none:  \old(extent_npages_total[kind + cache]) <= npages_limit ==> pages_purge_count == \old(pages_purge_count);
    ensures  left:  extent_npages_total[kind + cache] <= npages_limit || os_kept == 1 ||
                        os_gone >= \old(extent_npages_total[kind + cache]) - npages_limit;
    PAGES_KEPT(ensures, 0);
*/
static bool pages_purge_to(uint32_t cache, uint8_t kind, uint64_t npages_limit, bool lazily)
{
    uint32_t state = kind + cache;
    uint64_t now = extent_npages_total[state];
    uint64_t left = now > npages_limit ? now - npages_limit : 0;
    bool     any = false;
    /*@ ghost os_kept = 0; */
    /*@ ghost os_gone = 0; */
    /*@ PAGES_WHOLE(loop invariant);
        loop invariant held: PagesHeldActive;
        loop invariant gone:  os_gone + left >= \at(extent_npages_total[kind + cache],Pre) - npages_limit;
        loop invariant since: \at(os_zero_over,Pre) == 0 ==> os_zero_over == 0;
        loop invariant grows: \at(pages_end,Pre) <= pages_end;
        loop invariant none:  \at(extent_npages_total[kind + cache],Pre) <= npages_limit ==>
                                  left == 0 && pages_purge_count == \at(pages_purge_count,Pre);
        PAGES_KEPT(loop invariant, 0);
        loop assigns   left, any, PAGES_ASSIGNS;
        loop variant   left;
    */
    while (left > 0 && extent_npages_total[state] > npages_limit) {
        uint64_t excess = extent_npages_total[state] - npages_limit;
        uint64_t most = left < excess ? left : excess;
        uint64_t purged = pages_purge_one(cache, kind, most < PURGE_NPAGES_MAX ? most : PURGE_NPAGES_MAX, lazily);
        if (purged == 0) {
            return any;
        }
        if (!any) {
            pages_count_sweep(pages_decay_of(cache, kind));
        }
        any = true;
        left = purged < left ? left - purged : 0;
    }
    return any;
}

/* Purges free pages of one kind as long as memory is above its limits, or returns. */
/*@ PAGES_WHOLE(requires);
    requires held:  PagesHeldActive;
    requires cache: cache < PAGE_CACHES;
    requires kind:  kind == EXTENT_DIRTY || kind == EXTENT_MUZZY;
    assigns         PAGES_ASSIGNS;
    PAGES_WHOLE(ensures);
    PAGES_KEPT(ensures, 0);
*/
static void pages_purge_excess(uint32_t cache, uint8_t kind)
{
    uint64_t now = extent_npages_total[kind + cache];
    if (now != 0) {
        uint64_t excess = pages_excess();
        pages_purge_to(cache, kind, now > excess ? now - excess : 0, false);
    }
}

/* Purges free pages of all page caches while memory is above limit_soft, or more of it free than limit_dirty. Muzzy pages go first, for
 * they have been free for longer. */
/*@ PAGES_WHOLE(requires);
    requires held:  PagesHeldActive;
    assigns         PAGES_ASSIGNS;
    PAGES_WHOLE(ensures);
    PAGES_KEPT(ensures, 0);
*/
static void pages_keep_limits(void)
{
    if (limit_soft == LIMIT_NONE && limit_dirty == LIMIT_NONE) {
        return;
    }
    /*@ loop invariant range: 0 <= c <= PAGE_CACHES;
        PAGES_WHOLE(loop invariant);
        loop invariant held: PagesHeldActive;
        PAGES_KEPT(loop invariant, 0);
        loop assigns   c, PAGES_ASSIGNS;
        loop variant   PAGE_CACHES - c;
    */
    for (uint32_t c = 0; c < PAGE_CACHES; c++) {
        pages_purge_excess(c, EXTENT_MUZZY);
        pages_purge_excess(c, EXTENT_DIRTY);
    }
}

/* Purges dirty pages before the page cache takes a run that fits in none of them, so that what it has in memory stays below its high-water
 * mark. The mark rises by half of what is purged here, or more (pages_rise). So all that is ever purged here is at most twice what the mark
 * rises by, however the sizes of a program change. Where dirty pages are to stay for ever, they do. */
/*@ PAGES_WHOLE(requires);
    requires held:  PagesHeldActive;
    requires cache: cache < PAGE_CACHES;
    requires some:  0 < npages;
    requires power: IsPowerOfTwo(align_npages);
    assigns         PAGES_ASSIGNS;
    PAGES_WHOLE(ensures);
    ensures  since: \old(os_zero_over) == 0 ==> os_zero_over == 0;
    ensures  grows: \old(pages_end) <= pages_end;
    PAGES_KEPT(ensures, 0);
*/
static void pages_pay(uint32_t cache, uint64_t npages, uint64_t align_npages)
{
    uint64_t due = pages_due(cache, npages);
    if (due == 0 || decay_ms[DECAY_DIRTY + cache] < 0 || page_cache_fits(cache, npages, align_npages)) {
        return;
    }
    pages_mark[cache] = pages_count(pages_mark[cache], pages_rise(cache, npages, due));
    /*@ assert rises: due <= 2 * (pages_mark[cache] - \at(\max(pages_mark[cache], PagesIn(cache)),Pre)) || pages_mark[cache] == UINT64_MAX; */
    pages_purge_to(cache, EXTENT_DIRTY, extent_npages_total[EXTENT_DIRTY + cache] - due, false);
    /*@ assert paid: extent_npages_total[EXTENT_DIRTY + cache] <= \at(extent_npages_total[EXTENT_DIRTY + cache],Pre) - due ||
            os_kept == 1 || os_gone >= due; */
}

/* Purges all free pages of the page cache, so that those of different kinds join, and takes a run then. Returns 0 if there is still no
 * memory. */
/*@ PAGES_WHOLE(requires);
    requires held:    PagesHeldActive;
    requires cache:   cache < PAGE_CACHES;
    requires some:    0 < npages;
    requires power:   IsPowerOfTwo(align_npages);
    requires zeroed:  \valid(zeroed);
    requires since:   os_zero_over == 0;
    requires asked:   cache < pages_end;
    assigns           PAGES_ASSIGNS, *zeroed;
    PAGES_WHOLE(ensures);
    ensures  grows:   \old(pages_end) <= pages_end;
    ensures  active:  \result != 0 ==> CacheHas(\result, EXTENT_ACTIVE + cache) && ext_npages[\result] == npages;
    ensures  aligned: \result != 0 ==> ext_page[\result] % align_npages == 0;
    ensures  zero:    \result != 0 && *zeroed ==> PagesZero(\result);
    ensures  new:     \result != 0 ==> ext_kind[\result] == KIND_NONE;
    ensures  nobodys: \result != 0 ==> PagesNobodys{Pre}(ext_page[\result], ext_page[\result] + npages);
    ensures  no_tags: \result != 0 ==> PagesNoTags(ext_page[\result], ext_page[\result] + npages);
    ensures  out:     \result == 0 ==> CacheOut(npages, align_npages);
    PAGES_KEPT(ensures, 0);
*/
static uint32_t pages_take_purged(uint32_t cache, uint64_t npages, uint64_t align_npages, bool *zeroed)
{
    pages_purge_to(cache, EXTENT_DIRTY, 0, false);
    pages_purge_to(cache, EXTENT_MUZZY, 0, false);
    return pages_take(cache, npages, align_npages, zeroed);
}

/* -- the interface --------------------------------------------------------------------------------------------- */

void pages_boot(int64_t dirty_ms, int64_t muzzy_ms)
{
    page_cache_boot();
    decay_boot(dirty_ms, muzzy_ms);
}

void pages_set_decay(uint32_t cache, int64_t dirty_ms, int64_t muzzy_ms)
{
    pages_enter() /*@ ghost (0, 0) */;
    pages_use_decay(cache, dirty_ms, muzzy_ms);
    pages_mark[cache] = 0;
    pages_leave();
}

void pages_set_growth(uint32_t cache, uint64_t npages)
{
    pages_enter() /*@ ghost (0, 0) */;
    page_cache_grow_max[cache] = npages;
    pages_leave();
}

uint64_t pages_growth(uint32_t cache)
{
    pages_enter() /*@ ghost (0, 0) */;
    uint64_t npages = page_cache_grow_max[cache];
    pages_leave();
    return npages;
}

uint32_t pages_alloc(uint32_t cache, uint64_t npages, uint64_t align_npages, bool *zeroed)
{
    pages_enter() /*@ ghost (0, 0) */;
    pages_end = cache < pages_end ? pages_end : cache + 1;
    pages_pay(cache, npages, align_npages);
    uint32_t e = pages_take(cache, npages, align_npages, zeroed);
    if (e == 0) {
        e = pages_take_purged(cache, npages, align_npages, zeroed);
    }
    pages_leave();
    return e;
}

void pages_free(uint32_t e)
{
    /*@ assert owner: \forall integer p; ExtIn(e, p) ==> ext_owner[p] == e; */
    pages_enter() /*@ ghost (0, 0) */;
    pages_give(e);
    /*@ assert freed: PagesFreed{Pre,Here}(e); */
    /*@ ghost ext_kind[e] = KIND_NONE; */
    /*@ assert rest: \forall integer p; 0 <= p < PAGE_COUNT_MAX && PagesHeld{Pre}(\at(ext_owner[p],Pre)) && \at(ext_owner[p],Pre) != e ==>
            ext_owner[p] == \at(ext_owner[p],Pre) && PagesHeld(ext_owner[p]) && radix_tag_of[p] == \at(radix_tag_of[p],Pre); */
    pages_keep_limits();
    pages_leave();
}

uint32_t pages_find(uint64_t page)
{
    pages_enter() /*@ ghost (0, page) */;
    uint32_t e = pages_at(page);
    pages_leave();
    return e;
}

struct pages_extent pages_look(uint32_t cache, uint32_t e)
{
    pages_enter() /*@ ghost (0, 0) */;
    struct pages_extent x = {0, 0, extent_count};
    if (e <= x.last && AT(ext_state, e) == EXTENT_ACTIVE + cache) {
        x.page = AT(ext_page, e);
        x.npages = AT(ext_npages, e);
    }
    pages_leave();
    return x;
}

struct pages_run pages_release(uint64_t page) /*@ ghost (uint32_t mine) */
{
    /*@ assert owner: \forall integer p; mine != 0 && ExtIn(mine, p) ==> ext_owner[p] == mine; */
    pages_enter() /*@ ghost (0, page) */;
    struct pages_run given = pages_give_at(page) /*@ ghost (mine) */;
    /*@ assert freed: mine != 0 ==> PagesFreed{Pre,Here}(mine); */
    /*@ ghost ext_kind[mine] = KIND_NONE; */
    /*@ assert rest: \forall integer p; 0 <= p < PAGE_COUNT_MAX && PagesHeld{Pre}(\at(ext_owner[p],Pre)) && \at(ext_owner[p],Pre) != mine ==>
            ext_owner[p] == \at(ext_owner[p],Pre) && PagesHeld(ext_owner[p]) && radix_tag_of[p] == \at(radix_tag_of[p],Pre); */
    pages_keep_limits();
    pages_leave();
    return given;
}

bool pages_resize(uint32_t e, uint64_t npages)
{
    /*@ assert owner: \forall integer p; ExtIn(e, p) ==> ext_owner[p] == e; */
    pages_enter() /*@ ghost (0, 0) */;
    bool done = pages_fit(e, npages);
    pages_leave();
    return done;
}

/* Gives the pages of one free extent of the kind back to the OS. Returns 1, and says in *gone whether the pages went, or returns 0 if the page
 * cache has no such extent. */
/*@ REQUIRES_PAGES_LOCKED;
    requires cache: cache < PAGE_CACHES;
    requires kind:  kind == EXTENT_RETAINED || (must && (kind == EXTENT_DIRTY || kind == EXTENT_MUZZY));
    requires gone:  \valid(gone);
    requires end:   PagesEnd;
    assigns         CACHE_ASSIGNS, CACHE_ASSIGNS_GROWTH, *gone;
    ENSURES_PAGES_LOCKED;
    ensures  end:   PagesEnd;
    ensures  none:  \result == 0 ==> \forall integer e; ExtUsed(e) ==> ext_state[e] != kind + cache;
    ensures  must:  must ==> *gone;
    PAGES_KEPT(ensures, 0);
*/
static uint32_t pages_unmap_one(uint32_t cache, uint8_t kind, bool must, bool *gone)
{
    *gone = true;
    uint32_t e = pages_pull(cache, (uint8_t)(kind + cache), PAGE_COUNT_MAX);
    if (e == 0) {
        return 0;
    }
    *gone = page_cache_unmap(e, must);
    /*@ assert in: \forall integer p; 0 <= p < PAGE_COUNT_MAX && PagesHeld{Pre}(\at(ext_owner[p],Pre)) ==>
            ExtUsed(\at(ext_owner[p],Pre)) && ExtIn(\at(ext_owner[p],Pre), p); */
    return 1;
}

bool pages_unmap(uint32_t cache, uint8_t kind, bool must)
{
    uint64_t left = UINT64_MAX;
    uint32_t found = 1;
    bool     gone = true;
    /*@ loop invariant lock: LocksFree(LOCK_PAGES);
        loop invariant ok:   PageCacheOk;
        loop invariant held: PagesHeldActive;
        loop invariant none: found == 0 ==> \forall integer e; ExtUsed(e) ==> ext_state[e] != kind + cache;
        PAGES_KEPT(loop invariant, 0);
        loop assigns   left, found, gone, PAGES_ASSIGNS;
        loop variant   left;
    */
    while (found != 0 && gone && left > 0) {
        pages_enter() /*@ ghost (0, 0) */;
        found = pages_unmap_one(cache, kind, must, &gone);
        pages_leave();
        left--;
    }
    return found == 0;
}

/* Offers what is retained to hooks of the page cache that take pages back. */
/*@ REQUIRES_PAGES_UNLOCKED;
    requires cache: cache < PAGE_CACHES;
    assigns    PAGES_ASSIGNS;
    ENSURES_PAGES_UNLOCKED;
    PAGES_KEPT(ensures, 0);
*/
static void pages_offer(uint32_t cache)
{
    if (os_takes_back(cache)) {
        (void)pages_unmap(cache, EXTENT_RETAINED, false);
    }
}

/* Purges the pages of one page cache that its curves no longer allow. What becomes muzzy here is new among the muzzy ones. */
/*@ PAGES_WHOLE(requires);
    requires held:  PagesHeldActive;
    requires cache: cache < PAGE_CACHES;
    assigns         PAGES_ASSIGNS;
    PAGES_WHOLE(ensures);
    PAGES_KEPT(ensures, 0);
*/
static void pages_decay_one(uint32_t cache, uint64_t now_ms)
{
    /*@ ghost extent_lemma_count_bounds((uint8_t)(EXTENT_DIRTY + cache)); */
    uint64_t dirty_max = decay_advance(DECAY_DIRTY + cache, now_ms, extent_npages_total[EXTENT_DIRTY + cache]);
    /*@ assert dirty: dirty_max <= extent_npages_total[EXTENT_DIRTY + cache]; */
    pages_purge_to(cache, EXTENT_DIRTY, dirty_max, decay_ms[DECAY_MUZZY + cache] != 0);
    /*@ assert never: \at(decay_ms[DECAY_DIRTY + cache],Pre) < 0 ==> pages_purge_count == \at(pages_purge_count,Pre); */
    /*@ assert between: \at(decay_ms[DECAY_DIRTY + cache],Pre) > 0 && DecayPassed{Pre}(DECAY_DIRTY + cache, now_ms) == 0 ==>
            pages_purge_count == \at(pages_purge_count,Pre); */
    /*@ ghost extent_lemma_count_bounds((uint8_t)(EXTENT_MUZZY + cache)); */
    uint64_t muzzy_max = decay_advance(DECAY_MUZZY + cache, now_ms, extent_npages_total[EXTENT_MUZZY + cache]);
    /*@ assert muzzy: muzzy_max <= extent_npages_total[EXTENT_MUZZY + cache]; */
    pages_purge_to(cache, EXTENT_MUZZY, muzzy_max, false);
}

/* Offers what is retained in all page caches. */
/*@ REQUIRES_PAGES_UNLOCKED;
    assigns    PAGES_ASSIGNS;
    ENSURES_PAGES_UNLOCKED;
    PAGES_KEPT(ensures, 0);
*/
static void pages_offer_all(void)
{
    /*@ loop invariant range: 0 <= c <= PAGE_CACHES;
        loop invariant lock: LocksFree(LOCK_PAGES);
        loop invariant ok:   PageCacheOk;
        loop invariant held: PagesHeldActive;
        PAGES_KEPT(loop invariant, 0);
        loop assigns   c, PAGES_ASSIGNS;
        loop variant   PAGE_CACHES - c;
    */
    for (uint32_t c = 0; c < PAGE_CACHES; c++) {
        pages_offer(c);
    }
}

void pages_shed(void)
{
    pages_enter() /*@ ghost (0, 0) */;
    pages_purge_to(PAGES_SHARED, EXTENT_DIRTY, pages_shed_limit(), false);
    pages_leave();
}

/* While another thread purges, its BUSY pages are missing from the counts, so this one leaves the curves to that
 * thread. */
bool pages_decay(void)
{
    uint64_t now_ms = os_clock_ms();
    pages_enter() /*@ ghost (0, 0) */;
    if (!pages_purging) {
        pages_purging = true;
        uint32_t end = pages_end < PAGE_CACHES ? pages_end : PAGE_CACHES;
        /*@ assert all: \forall integer c; end <= c < PAGE_CACHES ==> page_cache_mapped_npages[c] == 0; */
        /*@ loop invariant range: 0 <= c <= end;
            PAGES_WHOLE(loop invariant);
            loop invariant held: PagesHeldActive;
            PAGES_KEPT(loop invariant, 0);
            loop assigns   c, PAGES_ASSIGNS;
            loop variant   end - c;
        */
        for (uint32_t c = 0; c < end; c++) {
            if (page_cache_mapped_npages[c] != 0) {
                pages_decay_one(c, now_ms);
            }
        }
        pages_keep_limits();
        pages_purging = false;
        /*@ assert ready: !pages_purging; */
    }
    bool waits = pages_wait();
    pages_leave();
    pages_offer_all();
    return waits;
}

bool pages_purge(uint32_t cache)
{
    pages_enter() /*@ ghost (0, 0) */;
    bool dirty = pages_purge_to(cache, EXTENT_DIRTY, 0, false);
    bool muzzy = pages_purge_to(cache, EXTENT_MUZZY, 0, false);
    pages_leave();
    pages_offer(cache);
    return dirty || muzzy;
}

bool pages_trim(void)
{
    bool any = false;
    /*@ loop invariant range: 0 <= c <= PAGE_CACHES;
        loop invariant lock: LocksFree(LOCK_PAGES);
        loop invariant ok:   PageCacheOk;
        loop invariant held: PagesHeldActive;
        PAGES_KEPT(loop invariant, 0);
        loop assigns   c, any, PAGES_ASSIGNS;
        loop variant   PAGE_CACHES - c;
    */
    for (uint32_t c = 0; c < PAGE_CACHES; c++) {
        any = pages_purge(c) || any;
    }
    return any;
}

void pages_read_cache(uint32_t cache, struct pages_stats *stats)
{
    pages_enter() /*@ ghost (0, 0) */;
    pages_begin(stats);
    pages_add(stats, cache);
    pages_leave();
}

void pages_read_stats(struct pages_stats *stats)
{
    pages_enter() /*@ ghost (0, 0) */;
    pages_add_all(stats);
    pages_leave();
}

void pages_read_details(struct pages_details *details)
{
    pages_enter() /*@ ghost (0, 0) */;
    details->free = page_cache_counts;
    details->purges = pages_purges;
    details->unused_extents = list_length[EXT_UNUSED_LIST];
    pages_leave();
}

void pages_prefork(void)
{
    pages_enter() /*@ ghost (0, 0) */;
}

void pages_postfork_parent(void)
{
    pages_leave();
}

/* Gives back the pages that another thread was purging when this one forked. That thread is not in the child. Whether its
 * system call emptied the pages is not known, so they are dirty. */
/*@ REQUIRES_PAGES_LOCKED;
    assigns        CACHE_ASSIGNS;
    ENSURES_PAGES_LOCKED;
    ensures  none: \forall integer e; ExtUsed(e) ==> !CacheBusyState(ext_state[e]);
    PAGES_KEPT(ensures, 0);
*/
static void pages_reclaim(void)
{
    /*@ loop invariant range:  1 <= e <= extent_count + 1;
        loop invariant ok:     PageCacheOk;
        loop invariant held:   PagesHeldActive;
        loop invariant free:   PagesFreeTags;
        loop invariant zeroes: CacheZero; loop invariant whose: CacheGiven;
        loop invariant none:   \forall integer x; 0 < x < e && ExtUsed(x) ==> !CacheBusyState(ext_state[x]);
        PAGES_KEPT(loop invariant, 0);
        loop assigns   e, CACHE_ASSIGNS;
        loop variant   extent_count + 1 - e;
    */
    for (uint32_t e = 1; e <= extent_count; e++) {
        uint8_t state = AT(ext_state, e);
        if (EXTENT_BUSY <= state && state < EXTENT_DIRTY) {
            pages_put(e, (uint8_t)(state - EXTENT_BUSY + EXTENT_DIRTY));
        }
    }
}

void pages_postfork_child(void)
{
    pages_reclaim();
    pages_purging = false;
    lock_reset(LOCK_PAGES);
}
