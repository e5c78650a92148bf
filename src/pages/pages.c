/* pages: calls of the page cache with its lock held, and the purging that decay asks for. */
#include "pages/pages.h"

#include "platform/os.h"

#include "pages/extent_lemmas.acsl"
#include "pages/page_cache_lemmas.acsl"

#define PURGE_NPAGES_MAX (1UL << (26 - LG_PAGE))        /* at most 64 MiB leave the cache at a time */

bool     pages_purging;
bool     pages_keep_muzzy;
uint64_t pages_purge_count;
uint64_t pages_purged_npages;

/* -- the lock -------------------------------------------------------------------------------------------------- */

/* Other threads changed what this one does not hold. This one purges the BUSY extent e, or none if e is 0. No other
 * thread holds an extent that begins at page. No extent begins at page 0. */
/*@ requires locked: LockHeld(LOCK_PAGES);
    requires ok:     PageCacheOk;
    requires held:   PagesHeldActive;
    requires busy:   e != 0 ==> CacheHas(e, EXTENT_BUSY);
    assigns          PAGES_ASSIGNS_GUARDED;
    ensures  ok:     PageCacheOk;
    ensures  decay:  DecayOk;
    ensures  free:   PagesFreeTags;
    ensures  alone:  PagesAlone(page);
    ensures  busy:   e != 0 ==> CacheHas(e, EXTENT_BUSY) && ext_page[e] == \old(ext_page[e]) &&
                         ext_npages[e] == \old(ext_npages[e]);
    PAGES_KEPT(ensures, 0);
*/
OTHERS_ACT(pages_others) /*@ ghost (uint32_t e, uint64_t page) */;

/*@ REQUIRES_PAGES_UNLOCKED;
    requires busy:  e != 0 ==> CacheHas(e, EXTENT_BUSY);
    assigns         PAGES_ASSIGNS;
    PAGES_WHOLE(ensures);
    ensures  alone: PagesAlone(page);
    ensures  busy:  e != 0 ==> CacheHas(e, EXTENT_BUSY) && ext_page[e] == \old(ext_page[e]) &&
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

/*@ requires decay: DecayOk;
    assigns         PAGES_ASSIGNS_DECAY;
    ensures  decay: DecayOk;
    ensures  times: decay_ms[0] == dirty_ms && decay_ms[1] == muzzy_ms;
*/
static void pages_use_decay(int64_t dirty_ms, int64_t muzzy_ms)
{
    decay_set(0, dirty_ms);
    decay_set(1, muzzy_ms);
    pages_keep_muzzy = muzzy_ms != 0;
}

/*@ REQUIRES_PAGES_LOCKED;
    requires some:    0 < npages;
    requires power:   IsPowerOfTwo(align_npages);
    requires zeroed:  \valid(zeroed);
    assigns           CACHE_ASSIGNS, CACHE_ASSIGNS_GROWTH, ext_zeroed[0 .. TABLE_MAX - 1], *zeroed;
    ENSURES_PAGES_LOCKED;
    ensures  no_tag:  \result != 0 ==> PagesNoTags(ext_page[\result], ext_page[\result] + npages);
    ensures  active:  \result != 0 ==> CacheHas(\result, EXTENT_ACTIVE) && ext_npages[\result] == npages;
    ensures  aligned: \result != 0 ==> ext_page[\result] % align_npages == 0;
    ensures  new:     \result != 0 ==> ext_kind[\result] == KIND_NONE;
    ensures  nobodys: \result != 0 ==> PagesNobodys{Pre}(ext_page[\result], ext_page[\result] + npages);
    PAGES_KEPT(ensures, 0);
*/
static uint32_t pages_take(uint64_t npages, uint64_t align_npages, bool *zeroed)
{
    /*@ assert held: \forall integer x; PagesHeld(x) ==> ExtIn(x, ext_page[x]) && ext_owner[ext_page[x]] == x; */
    /*@ assert active: \forall integer x; PagesHeld(x) ==> ext_page_state[ext_page[x]] == EXTENT_ACTIVE; */
    uint32_t e = page_cache_alloc(npages, align_npages);
    /*@ assert in: \forall integer p; 0 <= p < PAGE_COUNT_MAX && PagesHeld{Pre}(\at(ext_owner[p],Pre)) ==>
            ExtUsed(\at(ext_owner[p],Pre)) && ExtIn(\at(ext_owner[p],Pre), p); */
    *zeroed = e != 0 && AT(ext_zeroed, e) != 0;
    return e;
}

/*@ REQUIRES_PAGES_LOCKED;
    requires active: CacheHas(e, EXTENT_ACTIVE);
    requires no_tag: PagesNoTags(ext_page[e], ext_page[e] + ext_npages[e]);
    assigns          CACHE_ASSIGNS;
    ENSURES_PAGES_LOCKED;
    PAGES_KEPT(ensures, e);
*/
static void pages_give(uint32_t e)
{
    page_cache_free(e);
}

/*@ requires locked: LockHeld(LOCK_PAGES);
    requires ok:     PageCacheOk;
    assigns          \nothing;
    ensures  found:  \result != 0 ==> ExtUsed(\result) && ext_page[\result] == page &&
                         ext_state[\result] == EXTENT_ACTIVE;
    ensures  none:   \result == 0 ==>
                         \forall integer e; ExtUsed(e) && ext_state[e] == EXTENT_ACTIVE ==> ext_page[e] != page;
    ensures  only:   \forall integer e; ExtUsed(e) && ext_state[e] == EXTENT_ACTIVE && ext_page[e] == page ==>
                         \result == e;
*/
static uint32_t pages_at(uint64_t page)
{
    uint32_t e = page < PAGE_COUNT_MAX ? extent_at(page) : 0;
    /*@ assert owner: \forall integer x; ExtUsed(x) && ext_page[x] == page ==> ExtIn(x, page) && ext_owner[page] == x; */
    return e != 0 && AT(ext_state, e) == EXTENT_ACTIVE ? e : 0;
}

/*@ REQUIRES_PAGES_LOCKED;
    requires alone:  PagesAlone(page);
    requires mine:   mine != 0 ==> PagesHeld(mine) && ph_own[mine] == 0 && ext_page[mine] == page;
    requires no_tag: mine != 0 ==> PagesNoTags(ext_page[mine], ext_page[mine] + ext_npages[mine]);
    requires other:  \forall integer x; PagesHeld(x) && x != mine ==> ext_page[x] != page;
    assigns          CACHE_ASSIGNS;
    ENSURES_PAGES_LOCKED;
    ensures  done:   \result <==> mine != 0;
    PAGES_KEPT(ensures, mine);
*/
static bool pages_give_at(uint64_t page) /*@ ghost (uint32_t mine) */
{
    uint32_t e = pages_at(page);
    /*@ assert used: mine != 0 ==> ExtUsed(mine) && ext_state[mine] == EXTENT_ACTIVE; */
    /*@ assert mine: e == mine; */
    if (e != 0) {
        pages_give(e);
    }
    return e != 0;
}

/*@ REQUIRES_PAGES_LOCKED;
    requires mine:    PagesHeld(e) && ExtUsed(e);
    requires some:    0 < npages;
    requires no_tag:  PagesNoTags(ext_page[e] + npages, ext_page[e] + ext_npages[e]);
    assigns           CACHE_ASSIGNS, CACHE_ASSIGNS_GROWTH, ext_zeroed[0 .. TABLE_MAX - 1];
    ENSURES_PAGES_LOCKED;
    ensures  no_tag:  PagesNoTags(\old(ext_page[e] + ext_npages[e]), ext_page[e] + ext_npages[e]);
    ensures  start:   ExtUsed(e) && ext_page[e] == \old(ext_page[e]);
    ensures  active:  ext_state[e] == EXTENT_ACTIVE && ph_own[e] == \old(ph_own[e]);
    ensures  length:  ext_npages[e] == (\result ? npages : \old(ext_npages[e]));
    ensures  nobodys: PagesNobodys{Pre}(\old(ext_page[e] + ext_npages[e]), ext_page[e] + ext_npages[e]);
    PAGES_KEPT_TAGS(ensures, e, 0);
*/
static bool pages_fit(uint32_t e, uint64_t npages)
{
    uint64_t now = AT(ext_npages, e);
    return npages == now || (npages < now ? page_cache_shrink(e, npages) : page_cache_expand(e, npages));
}

/* -- purging ---------------------------------------------------------------------------------------------------- */

/* Purges pages of a BUSY extent, which nobody holds, without the lock. Returns the state that they are in then,
 * which is still their old one if the OS refused. */
/*@ requires free:    LocksFree(LOCK_PAGES);
    requires range:   0 < npages && page + npages <= PAGE_COUNT_MAX;
    requires busy:    CachePagesAre(page, page + npages, EXTENT_BUSY);
    requires nobodys: PagesNobodys(page, page + npages);
    requires state:   CacheState(state);
    assigns           \nothing;
    ensures  state:   \result == state || \result == EXTENT_RETAINED || (lazily && \result == EXTENT_MUZZY);
*/
static uint8_t pages_purge_run(uint64_t page, uint64_t npages, uint8_t state, bool lazily)
{
    if (lazily && os_purge(page, npages, true)) {
        return EXTENT_MUZZY;
    }
    return os_purge(page, npages, false) ? EXTENT_RETAINED : state;
}

/* Adds to a counter, which stops at the end of its range. */
/*@ assigns       \nothing;
    ensures  sum: \result == (n + more <= UINT64_MAX ? n + more : UINT64_MAX);
*/
static inline uint64_t pages_count(uint64_t n, uint64_t more)
{
    return n <= UINT64_MAX - more ? n + more : UINT64_MAX;
}

/*@ REQUIRES_PAGES_LOCKED;
    requires state:   CacheState(state);
    requires some:    0 < npages_max;
    assigns           CACHE_ASSIGNS, extent_count;
    ENSURES_PAGES_LOCKED;
    ensures  busy:    \result != 0 ==> CacheHas(\result, EXTENT_BUSY);
    ensures  are:     \result != 0 ==>
                          CachePagesAre(ext_page[\result], ext_page[\result] + ext_npages[\result], EXTENT_BUSY);
    ensures  nobodys: \result != 0 ==> PagesNobodys(ext_page[\result], ext_page[\result] + ext_npages[\result]);
    PAGES_KEPT(ensures, 0);
*/
static uint32_t pages_pull(uint8_t state, uint64_t npages_max)
{
    uint32_t e = page_cache_take(state, npages_max);
    /*@ ghost if (e != 0) { page_cache_lemma_pages(e); } */
    return e;
}

/*@ REQUIRES_PAGES_LOCKED;
    requires busy:  CacheHas(e, EXTENT_BUSY);
    requires state: CacheState(state);
    assigns         CACHE_ASSIGNS;
    ENSURES_PAGES_LOCKED;
    ensures  fewer: \forall integer x; ExtUsed(x) && ext_state[x] == EXTENT_BUSY ==>
                        x != e && \old(ext_state[x]) == EXTENT_BUSY;
    PAGES_KEPT(ensures, 0);
*/
static void pages_put(uint32_t e, uint8_t state)
{
    /*@ assert busy: PagesNoTags(ext_page[e], ext_page[e] + ext_npages[e]); */
    page_cache_give(e, state);
    /*@ assert pages: \forall integer x; ExtUsed(x) && ext_state[x] == EXTENT_BUSY ==>
            ext_owner[ext_page[x]] == x && ext_page_state[ext_page[x]] == EXTENT_BUSY; */
    /*@ assert before: \forall integer p; 0 <= p < PAGE_COUNT_MAX && ext_page_state[p] == EXTENT_BUSY ==>
            \at(ext_page_state[p],Pre) == EXTENT_BUSY && \at(ext_owner[p],Pre) != e; */
    /*@ assert owners: \forall integer p; 0 <= p < PAGE_COUNT_MAX && ext_page_state[p] == EXTENT_BUSY ==>
            ext_owner[p] == \at(ext_owner[p],Pre); */
    /*@ assert kept: PagesKept{Pre,Here}(0); */
    /*@ assert in: \forall integer p; 0 <= p < PAGE_COUNT_MAX && PagesHeld{Pre}(\at(ext_owner[p],Pre)) ==>
            ExtUsed(\at(ext_owner[p],Pre)) && ExtIn(\at(ext_owner[p],Pre), p); */
}

/* Takes one free extent of the given state out, purges it without the lock, and puts it back one state further. In
 * between its pages are BUSY, so that nobody else touches them. Returns how many pages were purged, 0 if there are
 * none or the OS refused. */
/*@ REQUIRES_PAGES_LOCKED;
    requires decay: DecayOk;
    requires state: state == EXTENT_DIRTY || (state == EXTENT_MUZZY && !lazily);
    requires some:  0 < npages_max;
    assigns         PAGES_ASSIGNS;
    PAGES_WHOLE(ensures);
    PAGES_KEPT(ensures, 0);
*/
static uint64_t pages_purge_one(uint8_t state, uint64_t npages_max, bool lazily)
{
    uint32_t e = pages_pull(state, npages_max);
    if (e == 0) {
        return 0;
    }
    uint64_t page = AT(ext_page, e);
    uint64_t npages = AT(ext_npages, e);
    pages_leave();
    uint8_t to = pages_purge_run(page, npages, state, lazily);
    pages_enter() /*@ ghost (e, 0) */;
    uint64_t purged = to == state ? 0 : npages;
    pages_purge_count = pages_count(pages_purge_count, 1);
    pages_purged_npages = pages_count(pages_purged_npages, purged);
    pages_put(e, to);
    return purged;
}

/* Purges until no more than npages_limit pages of that state are left, or the OS refuses, or as many are purged as
 * were above the limit at first. So it ends however many pages other threads free meanwhile. Returns true if any
 * page was purged. */
/*@ REQUIRES_PAGES_LOCKED;
    requires decay: DecayOk;
    requires state: state == EXTENT_DIRTY || (state == EXTENT_MUZZY && !lazily);
    assigns         PAGES_ASSIGNS;
    PAGES_WHOLE(ensures);
    PAGES_KEPT(ensures, 0);
*/
static bool pages_purge_to(uint8_t state, uint64_t npages_limit, bool lazily)
{
    uint64_t now = extent_npages_total[state];
    uint64_t left = now > npages_limit ? now - npages_limit : 0;
    bool     any = false;
    /*@ PAGES_WHOLE(loop invariant);
        loop invariant held: PagesHeldActive;
        PAGES_KEPT(loop invariant, 0);
        loop assigns   left, any, PAGES_ASSIGNS;
        loop variant   left;
    */
    while (left > 0 && extent_npages_total[state] > npages_limit) {
        uint64_t excess = extent_npages_total[state] - npages_limit;
        uint64_t most = left < excess ? left : excess;
        uint64_t purged = pages_purge_one(state, most < PURGE_NPAGES_MAX ? most : PURGE_NPAGES_MAX, lazily);
        if (purged == 0) {
            return any;
        }
        any = true;
        left = purged < left ? left - purged : 0;
    }
    return any;
}

/* -- the interface --------------------------------------------------------------------------------------------- */

void pages_boot(int64_t dirty_ms, int64_t muzzy_ms)
{
    page_cache_boot();
    decay_boot();
    pages_use_decay(dirty_ms, muzzy_ms);
}

void pages_set_decay(int64_t dirty_ms, int64_t muzzy_ms)
{
    pages_enter() /*@ ghost (0, 0) */;
    pages_use_decay(dirty_ms, muzzy_ms);
    pages_leave();
}

uint32_t pages_alloc(uint64_t npages, uint64_t align_npages, bool *zeroed)
{
    pages_enter() /*@ ghost (0, 0) */;
    uint32_t e = pages_take(npages, align_npages, zeroed);
    pages_leave();
    return e;
}

void pages_free(uint32_t e)
{
    /*@ assert owner: \forall integer p; ExtIn(e, p) ==> ext_owner[p] == e; */
    pages_enter() /*@ ghost (0, 0) */;
    pages_give(e);
    /*@ ghost ext_kind[e] = KIND_NONE; */
    pages_leave();
}

uint32_t pages_find(uint64_t page)
{
    pages_enter() /*@ ghost (0, page) */;
    uint32_t e = pages_at(page);
    pages_leave();
    return e;
}

bool pages_release(uint64_t page) /*@ ghost (uint32_t mine) */
{
    /*@ assert owner: \forall integer p; mine != 0 && ExtIn(mine, p) ==> ext_owner[p] == mine; */
    pages_enter() /*@ ghost (0, page) */;
    bool given = pages_give_at(page) /*@ ghost (mine) */;
    /*@ ghost ext_kind[mine] = KIND_NONE; */
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

/* While another thread purges, its BUSY pages are missing from the counts, so this one leaves the curve to that
 * thread. */
void pages_decay(void)
{
    uint64_t now_ms = os_clock_ms();
    pages_enter() /*@ ghost (0, 0) */;
    /*@ ghost extent_lemma_count_bounds(EXTENT_DIRTY); */
    /*@ ghost extent_lemma_count_bounds(EXTENT_MUZZY); */
    if (!pages_purging) {
        uint64_t dirty_max = decay_advance(0, now_ms, extent_npages_total[EXTENT_DIRTY]);
        uint64_t muzzy_max = decay_advance(1, now_ms, extent_npages_total[EXTENT_MUZZY]);
        pages_purging = true;
        pages_purge_to(EXTENT_DIRTY, dirty_max, pages_keep_muzzy);
        pages_purge_to(EXTENT_MUZZY, muzzy_max, false);
        pages_purging = false;
    }
    pages_leave();
}

bool pages_trim(void)
{
    pages_enter() /*@ ghost (0, 0) */;
    bool dirty = pages_purge_to(EXTENT_DIRTY, 0, false);
    bool muzzy = pages_purge_to(EXTENT_MUZZY, 0, false);
    pages_leave();
    return dirty || muzzy;
}

void pages_read_stats(struct pages_stats *stats)
{
    pages_enter() /*@ ghost (0, 0) */;
    /*@ loop invariant range:  0 <= s <= EXTENT_STATES;
        loop invariant copied: \forall integer i; 0 <= i < s ==> stats->npages[i] == extent_npages_total[i];
        loop assigns   s, stats->npages[0 .. EXTENT_STATES - 1];
        loop variant   EXTENT_STATES - s;
    */
    for (uint32_t s = 0; s < EXTENT_STATES; s++) {
        stats->npages[s] = extent_npages_total[s];
    }
    stats->purges = pages_purge_count;
    stats->purged_npages = pages_purged_npages;
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
    ensures  none: \forall integer e; ExtUsed(e) ==> ext_state[e] != EXTENT_BUSY;
    PAGES_KEPT(ensures, 0);
*/
static void pages_reclaim(void)
{
    /*@ loop invariant range:  1 <= e <= extent_count + 1;
        loop invariant ok:     PageCacheOk;
        loop invariant held:   PagesHeldActive;
        loop invariant free:   PagesFreeTags;
        loop invariant none:   \forall integer x; 0 < x < e && ExtUsed(x) ==> ext_state[x] != EXTENT_BUSY;
        PAGES_KEPT(loop invariant, 0);
        loop assigns   e, CACHE_ASSIGNS;
        loop variant   extent_count + 1 - e;
    */
    for (uint32_t e = 1; e <= extent_count; e++) {
        if (AT(ext_state, e) == EXTENT_BUSY) {
            pages_put(e, EXTENT_DIRTY);
        }
    }
}

void pages_postfork_child(void)
{
    pages_reclaim();
    pages_purging = false;
    lock_reset(LOCK_PAGES);
}
