/* holes: see holes.h. */
#include "blocks/holes.h"

#include "blocks/bin_slabs.h"
#include "pages/pages.h"
#include "platform/atomic.h"
#include "platform/os.h"

#include "blocks/holes_lemmas.acsl"

#define HOLES_BIN (1UL << 32)           /* holes_round.place: bins above, visits to one of them below */
#define HOLES_MS_MIN 64U                /* a round lasts at least so long */
#define HOLES_PARTS (HOLES_ROUNDS + 1U) /* of the decay time, each of which is a round: the last one is for rounds that begin late */
#define HOLES_VISITS 1024U              /* to bins, in one call: a thread that seldom comes makes a whole round of 16,384 slabs at once */
#define HOLES_LOOKS 64U                 /* at slabs, while a bin's lock is held; one whose holes go back */
#define HOLES_GIVES 4U                  /* counts so much */

_Static_assert(HOLES_ROUNDS < SLAB_AGE_GONE && SLAB_AGE_GONE + SLAB_REGIONS_MAX <= UINT16_MAX, "slab_age holds rounds, or free regions");

/* The bins of arenas with the same page cache. */
struct holes_bins {
    uint32_t first, count;
};

struct holes_round holes_round[PAGE_CACHES];
/*@ ghost int holes_asked; */

/* Gives the pages from .. to - 1 of slab e, in which nobody has a region, back to the OS. Returns false if it refuses. */
/*@ HOLES_SLAB(requires, b, e);
    requires run:      from < to <= slab_npages[slab_class[e]];
    requires free:     HolesFree(e, from, to);
    requires nobodys:  HolesNobodys(e, from, to);
    assigns            holes_asked;
    ensures  asked:    holes_asked == 1;
*/
static bool holes_discard(uint32_t e, uint32_t from, uint32_t to) /*@ ghost (uint32_t b) */
{
    uint64_t page = AT(ext_page, e);
    uint32_t cache = AT(ext_state, e) - (uint32_t)EXTENT_ACTIVE;
    /*@ ghost holes_lemma_pages(e, from, to); */
    /*@ ghost uint32_t class = slab_class[e]; */
    /*@ ghost holes_asked = 1; */
    return os_discard(cache, page + from, to - from) /*@ ghost (page * PAGE, slab_bytes[class], slab_regions[class], slab_bits[e].w) */;
}

/* Gives the pages from .. to - 1 of slab e, if there are any. Returns whether the OS took them. */
/*@ HOLES_SLAB(requires, b, e);
    requires run:      from <= to <= slab_npages[slab_class[e]];
    requires free:     HolesFree(e, from, to);
    assigns            holes_asked;
*/
static bool holes_give(uint32_t e, uint32_t from, uint32_t to) /*@ ghost (uint32_t b) */
{
    if (from == to) {
        return false;
    }
    /*@ ghost holes_lemma_nobodys(e, from, to); */
    return holes_discard(e, from, to) /*@ ghost (b) */;
}

/* Gives the free pages of slab e, each run of them at once. Then none wait, until a region comes back or is taken. Returns whether the OS
 * took any. */
/*@ HOLES_SLAB(requires, b, e);
    assigns            slab_age[e], holes_asked;
    ensures  none:     HolesGone(e);
*/
static bool holes_visit(uint32_t e) /*@ ghost (uint32_t b) */
{
    uint32_t npages = slab_npages[AT(slab_class, e)];
    uint32_t from = 0;
    bool     any = false;
    /*@ ghost holes_lemma_length(e); */
    /*@ assert count: SlabCount(e) && SlabSumsBound(e); */
    AT(slab_age, e) = (uint16_t)(SLAB_AGE_GONE + AT(slab_free_count, e));
    if (AT(slab_free_count, e) < PAGE / slab_bytes[AT(slab_class, e)]) {
        return false;
    }
    /*@ loop invariant range: from <= p <= npages;
        loop invariant free:  HolesFree(e, from, p);
        loop assigns   p, from, any, holes_asked;
        loop variant   npages - p;
    */
    for (uint32_t p = 0; p < npages; p++) {
        if (!slab_page_free(e, p)) {
            any = holes_give(e, from, p) /*@ ghost (b) */ || any;
            from = p + 1;
        }
    }
    return holes_give(e, from, npages) /*@ ghost (b) */ || any;
}

/* Returns the slab of the heap that comes after e, 0 if e is the last one: its first child, or the next sibling of the nearest node on the way
 * up that has one. The first sibling leads to the parent. */
/*@ requires ok:       PairingHeapOk;
    requires heap:     PhHeap(heap);
    requires member:   PhIn(heap, e);
    assigns            \nothing;
    ensures  member:   \result == 0 || PhIn(heap, \result);
*/
static uint32_t holes_next(uint32_t heap, uint32_t e)
{
    if (AT(ph_child, e) != 0) {
        return AT(ph_child, e);
    }
    bool     up = true;                         /* all that is below e has been visited, and nothing behind it */
    uint32_t left = UINT32_MAX;
    /*@ loop invariant member: PhIn(heap, e);
        loop assigns   e, up, left;
        loop variant   left;
    */
    while (e != ph_root[heap] && left > 0) {
        /*@ assert child: ph_par[e] != 0; */
        if (up && AT(ph_next, e) != 0) {
            return AT(ph_next, e);
        }
        uint32_t before = AT(ph_prev, e);
        /*@ assert before: PhIn(heap, before); */
        up = AT(ph_child, before) == e;
        e = before;
        left--;
    }
    return 0;
}

/* Visits all slabs of bin b that have free regions. Returns whether the OS took any pages. */
/*@ requires bin:      b < BINS;
    BIN_HELD(requires, b);
    assigns            slab_age[0 .. TABLE_MAX - 1], holes_asked;
    BIN_HELD(ensures, b);
*/
static bool holes_visit_bin(uint32_t b)
{
    bool     any = bin_current[b] != 0 && holes_visit(bin_current[b]) /*@ ghost (b) */;
    uint32_t e = pairing_heap_first(BIN_HEAP(b));
    uint32_t left = UINT32_MAX;
    /*@ loop invariant slab: e == 0 || PhIn(BIN_HEAP(b), e);
        loop assigns   e, any, left, slab_age[0 .. TABLE_MAX - 1], holes_asked;
        loop variant   left;
    */
    while (e != 0 && left > 0) {
        /*@ assert slab: BinSlab(b, e); */
        any = holes_visit(e) /*@ ghost (b) */ || any;
        e = holes_next(BIN_HEAP(b), e);
        left--;
    }
    return any;
}

bool holes_trim(uint32_t arenas)
{
    bool any = false;
    /*@ loop invariant range: 0 <= b <= arenas * SC_NBINS;
        BINS_FREE(loop invariant);
        loop assigns   b, any, BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS;
        loop variant   arenas * SC_NBINS - b;
    */
    for (uint32_t b = 0; b < arenas * SC_NBINS; b++) {
        bin_acquire(b);
        any = holes_visit_bin(b) || any;
        bin_release(b);
    }
    return any;
}

/* ---- by decay ---------------------------------------------------------------------------------------------------- */

/* Makes slab e a round older, if its holes wait. They go back when they have waited for so many rounds. Returns how many looks this costs. */
/*@ HOLES_SLAB(requires, b, e);
    requires rounds:   0 < rounds <= HOLES_ROUNDS;
    assigns            slab_age[e], holes_asked;
    ensures  none:     \old(HolesGone(e)) ==> HolesGone(e);
    ensures  older:    !\old(HolesGone(e)) && \old(HolesAge(e)) < rounds ==> slab_age[e] == \old(HolesAge(e)) + 1;
    ensures  gone:     rounds <= \old(HolesAge(e)) ==> HolesGone(e);
    ensures  waits:    \old(HolesGone(e)) || \old(HolesAge(e)) < rounds ==> holes_asked == \old(holes_asked);
    ensures  cost:     1 <= \result <= HOLES_GIVES;
*/
static uint32_t holes_age(uint32_t e, uint32_t rounds) /*@ ghost (uint32_t b) */
{
    uint16_t age = AT(slab_age, e);
    if (age == SLAB_AGE_GONE + AT(slab_free_count, e)) {
        return 1;
    }
    age = age < SLAB_AGE_GONE ? age : SLAB_AGE_FIRST;   /* regions came back since they were gone */
    if (age < rounds) {
        AT(slab_age, e) = (uint16_t)(age + 1U);
        return 1;
    }
    (void)holes_visit(e) /*@ ghost (b) */;
    return HOLES_GIVES;
}

/* Returns the slab with which a visit to the bin begins, after the current slab at the beginning of a walk. It is one with free regions that is
 * not current, or 0. */
/*@ requires bin:      b < BINS;
    requires rounds:   0 < rounds <= HOLES_ROUNDS;
    BIN_HELD(requires, b);
    assigns            slab_age[0 .. TABLE_MAX - 1], holes_asked;
    BIN_HELD(ensures, b);
    ensures  slab:     \result == 0 || PhIn(BIN_HEAP(b), \result);
*/
static uint32_t holes_first(uint32_t b, uint32_t rounds)
{
    uint32_t e = bin_walk[b];
    uint32_t current = bin_current[b];
    if (e != 0 && e != current && AT(slab_free_count, e) != 0) {
        return e;
    }
    if (current != 0) {
        (void)holes_age(current, rounds) /*@ ghost (b) */;
    }
    return pairing_heap_first(BIN_HEAP(b));
}

/* Makes the next slabs of bin b a round older. Returns whether these were the last ones. */
/*@ requires bin:      b < BINS;
    requires rounds:   0 < rounds <= HOLES_ROUNDS;
    BIN_HELD(requires, b);
    assigns            slab_age[0 .. TABLE_MAX - 1], holes_asked, bin_walk[b];
    BIN_HELD(ensures, b);
    ensures  last:     \result <==> bin_walk[b] == 0;
*/
static bool holes_age_bin(uint32_t b, uint32_t rounds)
{
    uint32_t e = holes_first(b, rounds);
    uint32_t looks = 0;
    /*@ loop invariant slab:  e == 0 || PhIn(BIN_HEAP(b), e);
        loop invariant looks: looks < HOLES_LOOKS + HOLES_GIVES;
        loop assigns   e, looks, slab_age[0 .. TABLE_MAX - 1], holes_asked;
        loop variant   HOLES_LOOKS - looks;
    */
    while (e != 0 && looks < HOLES_LOOKS) {
        /*@ assert slab: BinSlab(b, e); */
        looks += holes_age(e, rounds) /*@ ghost (b) */;
        e = holes_next(BIN_HEAP(b), e);
    }
    bin_walk[b] = e;
    return e == 0;
}

/* Returns how often the bin may be visited in a round, once for each few of its slabs. */
/*@ requires bin:      b < BINS;
    requires lock:     LockHeld(LOCK_BIN(b));
    assigns            \nothing;
*/
static uint32_t holes_visits(uint32_t b)
{
    uint64_t visits = bin_stats[b].slabs / (HOLES_LOOKS / HOLES_GIVES) + 1;
    return visits < UINT32_MAX ? (uint32_t)visits : UINT32_MAX;
}

/* Visits a bin, which may be visited `left` times in this round, or has not been visited yet where that is 0. Returns how often it may be
 * visited after that. A visit begins at the first slab again where the one that was next has left. So a bin that changes all the time is visited
 * as often as its slabs need, and not for ever. */
/*@ requires bin:      b < BINS;
    requires rounds:   0 < rounds <= HOLES_ROUNDS;
    BINS_FREE(requires);
    assigns            BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS;
    BINS_FREE(ensures);
    ensures  less:     left != 0 ==> \result < left;
*/
static uint32_t holes_visit_some(uint32_t b, uint32_t rounds, uint32_t left)
{
    bin_acquire(b);
    uint32_t visits = holes_visits(b);
    bool     last = holes_age_bin(b, rounds);
    bin_release(b);
    return last ? 0 : left != 0 ? left - 1 : visits;
}

/* Returns the bins of the arenas that there are and that have this page cache. */
/*@ requires cache:    cache < PAGE_CACHES;
    assigns            \nothing;
    ensures  range:    \result.first + \result.count <= BINS;
    ensures  pages:    \forall integer b; \result.first <= b < \result.first + \result.count ==> ArenaPages(b / SC_NBINS) == cache;
*/
static struct holes_bins holes_bins(uint32_t cache)
{
    uint32_t shared = bin_shared < ARENAS_MAX ? bin_shared : ARENAS_MAX;
    if (cache == PAGES_SHARED) {
        return (struct holes_bins){0, shared * SC_NBINS};
    }
    uint32_t own = shared + (cache - PAGES_OVERSIZE);
    if (own >= ARENAS_MAX || own >= ATOMIC_LOAD(bin_arenas)) {
        return (struct holes_bins){0, 0};
    }
    return (struct holes_bins){own * SC_NBINS, SC_NBINS};
}

/* Returns whether the page cache's round is not over yet. A new one begins if it is, and the time of one has passed. */
/*@ requires cache:    cache < PAGE_CACHES;
    assigns            holes_round[cache];
*/
static bool holes_begin(uint32_t cache, uint64_t bins, uint64_t now_ms, uint64_t round_ms)
{
    uint64_t place = ATOMIC_LOAD(holes_round[cache].place);
    uint64_t begun_ms = ATOMIC_LOAD(holes_round[cache].begun_ms);
    if (place / HOLES_BIN < bins) {
        return true;
    }
    if (now_ms < begun_ms || now_ms - begun_ms < round_ms || !ATOMIC_REPLACE(holes_round[cache].place, place, 0UL)) {
        return false;
    }
    ATOMIC_STORE(holes_round[cache].begun_ms, now_ms);
    return true;
}

/* Visits the bin whose turn it is. Returns false at the end of the round, or if another thread was there at the same time. */
/*@ requires cache:    cache < PAGE_CACHES;
    requires bins:     first + bins <= BINS;
    requires rounds:   0 < rounds <= HOLES_ROUNDS;
    BINS_FREE(requires);
    assigns            BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS;
    BINS_FREE(ensures);
*/
static bool holes_step(uint32_t cache, uint32_t first, uint32_t bins, uint32_t rounds)
{
    uint64_t place = ATOMIC_LOAD(holes_round[cache].place);
    uint64_t b = place / HOLES_BIN;
    if (b >= bins) {
        return false;
    }
    uint32_t left = holes_visit_some(first + (uint32_t)b, rounds, (uint32_t)(place % HOLES_BIN));
    uint64_t next = left != 0 ? b * HOLES_BIN + left : (b + 1) * HOLES_BIN;
    return ATOMIC_REPLACE(holes_round[cache].place, place, next);
}

/* Goes on with the round over the bins of one page cache, as its own decay time says. Returns whether more is left of the round. */
/*@ requires cache:    cache < PAGE_CACHES;
    BINS_FREE(requires);
    assigns            BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS;
    BINS_FREE(ensures);
    ensures  never:    \old(decay_ms[DECAY_DIRTY + cache]) < 0 ==> !\result && holes_asked == \old(holes_asked);
*/
static bool holes_decay_cache(uint32_t cache, uint64_t now_ms)
{
    struct holes_bins bins = holes_bins(cache);
    int64_t  ms = ATOMIC_LOAD(decay_ms[DECAY_DIRTY + cache]);
    uint64_t round_ms = (uint64_t)(ms < 0 ? 0 : ms) / HOLES_PARTS;
    uint32_t rounds = ms == 0 ? 1 : HOLES_ROUNDS;
    /*@ assert rounds: rounds == (\at(decay_ms[DECAY_DIRTY + cache],Pre) == 0 ? 1 : HOLES_ROUNDS); */
    if (ms < 0 || !holes_begin(cache, bins.count, now_ms, round_ms < HOLES_MS_MIN ? HOLES_MS_MIN : round_ms)) {
        return false;
    }
    bool more = true;
    /*@ loop invariant range: 0 <= n <= HOLES_VISITS;
        BINS_FREE(loop invariant);
        loop assigns   n, more, BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS;
        loop variant   HOLES_VISITS - n;
    */
    for (uint32_t n = 0; n < HOLES_VISITS && more; n++) {
        more = holes_step(cache, bins.first, bins.count, rounds);
    }
    return more;
}

/* Returns how many page caches arenas have, the shared one included. */
/*@ assigns            \nothing;
    ensures  range:    1 <= \result <= PAGE_CACHES;
*/
static uint32_t holes_caches(void)
{
    uint32_t arenas = ATOMIC_LOAD(bin_arenas), shared = bin_shared;
    uint32_t own = arenas > shared ? arenas - shared : 0;
    return own < PAGE_CACHES - 1 ? own + 1 : PAGE_CACHES;
}

bool holes_decay(void)
{
    uint64_t now_ms = os_clock_ms();
    uint32_t caches = holes_caches();
    bool     more = false;
    /*@ loop invariant range: 0 <= c <= caches;
        BINS_FREE(loop invariant);
        loop assigns   c, more, BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS;
        loop variant   caches - c;
    */
    for (uint32_t c = 0; c < caches; c++) {
        more = holes_decay_cache(c, now_ms) || more;
    }
    return more;
}
