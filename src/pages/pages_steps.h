/* pages_steps: the lock of the pages, and the calls of the page cache that are made while it is held. Only pages.c includes
 * it. */
#ifndef QED_PAGES_PAGES_STEPS_H
#define QED_PAGES_PAGES_STEPS_H

#include "pages/pages.h"

#include "pages/extent_lemmas.acsl"
#include "pages/page_cache_lemmas.acsl"

/* -- the lock -------------------------------------------------------------------------------------------------- */

/* Other threads changed what this one does not hold, and the program has written to all pages in use: of these it is no longer
 * known what they hold. This one purges the BUSY extent e, or none if e is 0. No other thread holds an extent that begins at page. No
 * extent begins at page 0. */
/*@ requires locked: LockHeld(LOCK_PAGES);
    requires ok:     PageCacheOk;
    requires held:   PagesHeldActive;
    requires busy:   e != 0 ==> CacheBusy(e);
    assigns          PAGES_ASSIGNS_GUARDED;
    ensures  ok:     PageCacheOk;
    ensures  decay:  DecayOk;
    ensures  free:   PagesFreeTags;
    ensures  zeroes: CacheZero;
    ensures  whose:  CacheGiven;
    ensures  end:    PagesEnd;
    ensures  grows:  \old(pages_end) <= pages_end;
    ensures  alone:  PagesAlone(page);
    ensures  since:  os_zero_over == 0;
    ensures  zero:   e != 0 ==> PagesZeroKept{Pre,Post}(ext_page[e], ext_page[e] + ext_npages[e]);
    ensures  busy:   e != 0 ==> CacheHas(e, \old(ext_state[e])) && ext_page[e] == \old(ext_page[e]) &&
                         ext_npages[e] == \old(ext_npages[e]);
    PAGES_KEPT(ensures, 0);
*/
OTHERS_ACT(pages_others) /*@ ghost (uint32_t e, uint64_t page) */;

/*@ REQUIRES_PAGES_UNLOCKED;
    requires busy:  e != 0 ==> CacheBusy(e);
    assigns         PAGES_ASSIGNS_GUARDED, lock_held[LOCK_PAGES];
    PAGES_WHOLE(ensures);
    ensures  grows: \old(pages_end) <= pages_end;
    ensures  alone: PagesAlone(page);
    ensures  since: os_zero_over == 0;
    ensures  zero:  e != 0 ==> PagesZeroKept{Pre,Post}(ext_page[e], ext_page[e] + ext_npages[e]);
    ensures  busy:  e != 0 ==> CacheHas(e, \old(ext_state[e])) && ext_page[e] == \old(ext_page[e]) &&
                        ext_npages[e] == \old(ext_npages[e]);
    PAGES_KEPT(ensures, 0);
*/
static inline void pages_enter(void) /*@ ghost (uint32_t e, uint64_t page) */
{
    lock_take(LOCK_PAGES);
    pages_others() /*@ ghost (e, page) */;
}

/*@ PAGES_WHOLE(requires);
    assigns        lock_held[LOCK_PAGES];
    ensures  free: LocksFree(LOCK_PAGES);
*/
static inline void pages_leave(void)
{
    lock_give(LOCK_PAGES);
}

/* -- with the lock ---------------------------------------------------------------------------------------------- */

/*@ requires lock:   LockHeld(LOCK_PAGES);
    requires cache:  cache < PAGE_CACHES;
    requires decay:  DecayOk;
    assigns          DECAY_ASSIGNS;
    ensures  decay:  DecayOk;
    ensures  times:  decay_ms[DECAY_DIRTY + cache] == dirty_ms && decay_ms[DECAY_MUZZY + cache] == muzzy_ms;
    ensures  others: \forall integer w; 0 <= w < DECAY_COUNT && w != DECAY_DIRTY + cache && w != DECAY_MUZZY + cache ==>
                         decay_ms[w] == \old(decay_ms[w]);
*/
static void pages_use_decay(uint32_t cache, int64_t dirty_ms, int64_t muzzy_ms)
{
    decay_set(DECAY_DIRTY + cache, dirty_ms);
    decay_set(DECAY_MUZZY + cache, muzzy_ms);
}

/*@ REQUIRES_PAGES_LOCKED;
    requires cache:   cache < PAGE_CACHES;
    requires some:    0 < npages;
    requires power:   IsPowerOfTwo(align_npages);
    requires zeroed:  \valid(zeroed);
    requires end:     PagesEnd && cache < pages_end;
    assigns           CACHE_ASSIGNS, CACHE_ASSIGNS_GROWTH, *zeroed;
    ENSURES_PAGES_LOCKED;
    ensures  end:     PagesEnd;
    ensures  no_tag:  \result != 0 ==> PagesNoTags(ext_page[\result], ext_page[\result] + npages);
    ensures  active:  \result != 0 ==> CacheHas(\result, EXTENT_ACTIVE + cache) && ext_npages[\result] == npages;
    ensures  aligned: \result != 0 ==> ext_page[\result] % align_npages == 0;
    ensures  zero:    \result != 0 && *zeroed ==> OsZeroPages(ext_page[\result], ext_page[\result] + npages);
    ensures  new:     \result != 0 ==> ext_kind[\result] == KIND_NONE;
    ensures  nobodys: \result != 0 ==> PagesNobodys{Pre}(ext_page[\result], ext_page[\result] + npages);
    ensures  out:     \result == 0 ==> CacheOut(npages, align_npages);
    PAGES_KEPT(ensures, 0);
*/
static uint32_t pages_take(uint32_t cache, uint64_t npages, uint64_t align_npages, bool *zeroed)
{
    /*@ assert held: \forall integer x; PagesHeld(x) ==> ExtIn(x, ext_page[x]) && ext_owner[ext_page[x]] == x; */
    /*@ assert active: \forall integer x; PagesHeld(x) ==> CacheActiveState(ext_page_state[ext_page[x]]); */
    uint32_t e = page_cache_alloc(cache, npages, align_npages, zeroed);
    /*@ assert in: \forall integer p; 0 <= p < PAGE_COUNT_MAX && PagesHeld{Pre}(\at(ext_owner[p],Pre)) ==>
            ExtUsed(\at(ext_owner[p],Pre)) && ExtIn(\at(ext_owner[p],Pre), p); */
    return e;
}

/*@ REQUIRES_PAGES_LOCKED;
    requires active: CacheActive(e);
    requires no_tag: PagesNoTags(ext_page[e], ext_page[e] + ext_npages[e]);
    assigns          CACHE_ASSIGNS;
    ENSURES_PAGES_LOCKED;
    ensures  freed:  PagesFreed{Pre,Post}(e);
    PAGES_KEPT(ensures, e);
*/
static void pages_give(uint32_t e)
{
    page_cache_free(e);
    /*@ assert in: \forall integer p; 0 <= p < PAGE_COUNT_MAX && PagesHeld{Pre}(\at(ext_owner[p],Pre)) && \at(ext_owner[p],Pre) != e ==>
            ExtUsed(\at(ext_owner[p],Pre)) && ExtIn(\at(ext_owner[p],Pre), p); */
}

/*@ requires locked: LockHeld(LOCK_PAGES);
    requires ok:     PageCacheOk;
    assigns          \nothing;
    ensures  found:  \result != 0 ==> ExtUsed(\result) && ext_page[\result] == page &&
                         CacheActiveState(ext_state[\result]);
    ensures  none:   \result == 0 ==>
                         \forall integer e; ExtUsed(e) && CacheActiveState(ext_state[e]) ==> ext_page[e] != page;
    ensures  only:   \forall integer e; ExtUsed(e) && CacheActiveState(ext_state[e]) && ext_page[e] == page ==>
                         \result == e;
*/
static uint32_t pages_at(uint64_t page)
{
    uint32_t e = page < PAGE_COUNT_MAX ? extent_at(page) : 0;
    /*@ assert owner: \forall integer x; ExtUsed(x) && ext_page[x] == page ==> ExtIn(x, page) && ext_owner[page] == x; */
    return e != 0 && AT(ext_state, e) < EXTENT_BUSY ? e : 0;
}

/*@ REQUIRES_PAGES_LOCKED;
    requires alone:  PagesAlone(page);
    requires mine:   mine != 0 ==> PagesHeld(mine) && ph_own[mine] == 0 && ext_page[mine] == page;
    requires no_tag: mine != 0 ==> PagesNoTags(ext_page[mine], ext_page[mine] + ext_npages[mine]);
    requires other:  \forall integer x; PagesHeld(x) && x != mine ==> ext_page[x] != page;
    assigns          CACHE_ASSIGNS;
    ENSURES_PAGES_LOCKED;
    ensures  done:   \result.npages != 0 <==> mine != 0;
    ensures  length: mine != 0 ==> \result.npages == \old(ext_npages[mine]);
    ensures  freed:  mine != 0 ==> PagesFreed{Pre,Post}(mine);
    ensures  cache:  \result.cache == (mine != 0 ? \old(ext_state[mine]) - EXTENT_ACTIVE : 0) < PAGE_CACHES;
    PAGES_KEPT(ensures, mine);
*/
static struct pages_run pages_give_at(uint64_t page) /*@ ghost (uint32_t mine) */
{
    uint32_t e = pages_at(page);
    /*@ assert used: mine != 0 ==> ExtUsed(mine) && CacheActiveState(ext_state[mine]); */
    /*@ assert mine: e == mine; */
    struct pages_run run = {0, 0};
    if (e != 0) {
        run.npages = AT(ext_npages, e);
        run.cache = AT(ext_state, e) - (uint32_t)EXTENT_ACTIVE;
        pages_give(e);
    }
    return run;
}

/*@ REQUIRES_PAGES_LOCKED;
    requires mine:    PagesHeld(e) && ExtUsed(e);
    requires some:    0 < npages;
    requires no_tag:  PagesNoTags(ext_page[e] + npages, ext_page[e] + ext_npages[e]);
    assigns           CACHE_ASSIGNS, extent_count, os_refused;
    ENSURES_PAGES_LOCKED;
    ensures  no_tag:  PagesNoTags(\old(ext_page[e] + ext_npages[e]), ext_page[e] + ext_npages[e]);
    ensures  start:   ExtUsed(e) && ext_page[e] == \old(ext_page[e]);
    ensures  active:  ext_state[e] == \old(ext_state[e]) && ph_own[e] == \old(ph_own[e]);
    ensures  length:  ext_npages[e] == (\result ? npages : \old(ext_npages[e]));
    ensures  nobodys: PagesNobodys{Pre}(\old(ext_page[e] + ext_npages[e]), ext_page[e] + ext_npages[e]);
    PAGES_KEPT_TAGS(ensures, e, 0);
*/
static bool pages_fit(uint32_t e, uint64_t npages)
{
    uint64_t now = AT(ext_npages, e);
    return npages == now || (npages < now ? page_cache_shrink(e, npages) : page_cache_expand(e, npages));
}

/*@ REQUIRES_PAGES_LOCKED;
    requires cache:   cache < PAGE_CACHES;
    requires state:   CacheOwn(state, cache);
    requires some:    0 < npages_max;
    assigns           CACHE_ASSIGNS, extent_count, os_refused;
    ENSURES_PAGES_LOCKED;
    ensures  busy:    \result != 0 ==> CacheHas(\result, EXTENT_BUSY + cache);
    ensures  are:     \result != 0 ==> CachePagesAre(ext_page[\result], ext_page[\result] + ext_npages[\result], EXTENT_BUSY + cache);
    ensures  nobodys: \result != 0 ==> PagesNobodys(ext_page[\result], ext_page[\result] + ext_npages[\result]);
    ensures  zero:    \result != 0 ==> CacheZeroIn(state, ext_page[\result], ext_page[\result] + ext_npages[\result]);
    ensures  none:    \result == 0 ==> \forall integer e; ExtUsed(e) ==> ext_state[e] != state;
    PAGES_KEPT(ensures, 0);
*/
static uint32_t pages_pull(uint32_t cache, uint8_t state, uint64_t npages_max)
{
    uint32_t e = page_cache_take(cache, state, npages_max);
    /*@ ghost if (e != 0) { page_cache_lemma_pages(e); } */
    return e;
}

/*@ REQUIRES_PAGES_LOCKED;
    requires busy:  CacheBusy(e);
    requires state: CacheFreeOf(ext_state[e], state);
    requires zero:  CacheZeroIn(state, ext_page[e], ext_page[e] + ext_npages[e]);
    assigns         CACHE_ASSIGNS;
    ENSURES_PAGES_LOCKED;
    ensures  fewer: \forall integer x; ExtUsed(x) && CacheBusyState(ext_state[x]) ==> x != e && CacheBusyState(\old(ext_state[x]));
    PAGES_KEPT(ensures, 0);
*/
static void pages_put(uint32_t e, uint8_t state)
{
    /*@ assert busy: PagesNoTags(ext_page[e], ext_page[e] + ext_npages[e]); */
    page_cache_give(e, state);
    /*@ ghost extent_lemma_firsts(); */
    /*@ assert pages: \forall integer x; ExtUsed(x) && CacheBusyState(ext_state[x]) ==>
            ext_page[x] < PAGE_COUNT_MAX && ext_owner[ext_page[x]] == x && CacheBusyState(ext_page_state[ext_page[x]]); */
    /*@ assert before: \forall integer p; 0 <= p < PAGE_COUNT_MAX && CacheBusyState(ext_page_state[p]) ==>
            CacheBusyState(\at(ext_page_state[p],Pre)) && \at(ext_owner[p],Pre) != e; */
    /*@ assert owners: \forall integer p; 0 <= p < PAGE_COUNT_MAX && CacheBusyState(ext_page_state[p]) ==>
            ext_owner[p] == \at(ext_owner[p],Pre); */
    /*@ assert kept: PagesKept{Pre,Here}(0); */
    /*@ assert in: \forall integer p; 0 <= p < PAGE_COUNT_MAX && PagesHeld{Pre}(\at(ext_owner[p],Pre)) ==>
            ExtUsed(\at(ext_owner[p],Pre)) && ExtIn(\at(ext_owner[p],Pre), p); */
}

#endif
