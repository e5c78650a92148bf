/* extent: writes of the columns, each with the radix tree entries that go with it.
 *
 * In the radix tree only the first and the last page of an extent are kept up to date. A merge leaves the entries at the
 * seam behind, a destroy those at both ends; extent_at and extent_prev compare with the columns, which never lie.
 */
#include "pages/extent.h"

#include "ds/pairing_heap.h"
#include "extent_lemmas.acsl"

TABLE(uint64_t, ext_page);
TABLE(uint64_t, ext_npages);
TABLE(uint8_t,  ext_state);
TABLE(uint8_t,  ext_zeroed);
TABLE(uint32_t, ext_unused_next);

uint32_t extent_count;
uint32_t extent_unused;
uint64_t extent_npages_total[EXTENT_STATES];

void extent_boot(void)
{
    extent_count = 0;
    extent_unused = 0;
    /*@ ghost extent_lemma_count_none(); */
}

/* Weak: the heap layer's definition, where it is linked, takes precedence. */
bool extent_client_grow(uint32_t id) __attribute__((weak));
bool extent_client_grow(uint32_t id)
{
    (void)id;
    return true;
}

/*@ requires id: 0 < id < TABLE_MAX;
    terminates   \true;
    exits        \false;
    assigns      \nothing;
*/
static bool extent_columns_grow(uint32_t id)
{
    return TABLE_GROW(ext_page, id) && TABLE_GROW(ext_npages, id) && TABLE_GROW(ext_state, id) &&
           TABLE_GROW(ext_zeroed, id) && TABLE_GROW(ext_unused_next, id) && pairing_heap_grow(id) &&
           extent_client_grow(id);
}

/* Puts id, which has no pages any more, in front of the list of unused ids. */
/*@ requires id:     0 < id <= extent_count && extent_count < TABLE_MAX;
    requires unused: ext_npages[id] == 0;
    requires alone:  id != extent_unused && \forall integer e; 0 < e <= extent_count && ext_npages[e] == 0 &&
                         e != id ==> ext_unused_next[e] != id;
    requires head:   ExtUnusedHead;
    requires next:   \forall integer e; 0 < e <= extent_count && ext_npages[e] == 0 && e != id &&
                         ext_unused_next[e] != 0 ==> ext_unused_next[e] <= extent_count &&
                         ext_npages[ext_unused_next[e]] == 0 && ext_unused_prev[ext_unused_next[e]] == e;
    terminates       \true;
    exits            \false;
    assigns          extent_unused, ext_unused_next[id], ext_unused_prev[0 .. TABLE_MAX - 1];
    ensures  first:  extent_unused == id && ext_unused_next[id] == \old(extent_unused);
    ensures  head:   ExtUnusedHead;
    ensures  next:   ExtUnusedNext;
*/
static inline void extent_unused_push(uint32_t id)
{
    /*@ ghost ext_unused_prev[extent_unused] = id; */
    /*@ ghost ext_unused_prev[id] = 0; */
    AT(ext_unused_next, id) = extent_unused;
    extent_unused = id;
}

/* One more id, unused. false: no memory, or the last id is taken. */
/*@ requires ok:     ExtentOk;
    terminates       \true;
    exits            \false;
    assigns          extent_count, extent_unused, ext_unused_next[0 .. TABLE_MAX - 1],
                     ext_unused_prev[0 .. TABLE_MAX - 1];
    ensures  ok:     ExtentOk;
    ensures  more:   \result ==> extent_unused != 0 && ext_unused_next[extent_unused] == \old(extent_unused);
    ensures  same:   !\result ==> extent_unused == \old(extent_unused) &&
                         ext_unused_next[extent_unused] == \old(ext_unused_next[extent_unused]);
*/
static bool extent_add_id(void)
{
    uint32_t id = extent_count + 1;
    if (id >= TABLE_MAX || !extent_columns_grow(id)) {
        return false;
    }
    extent_count = id;
    extent_unused_push(id);
    return true;
}

bool extent_reserve(uint32_t n)
{
    if (n >= 1 && extent_unused == 0 && !extent_add_id()) {
        return false;
    }
    return n < 2 || AT(ext_unused_next, extent_unused) != 0 || extent_add_id();
}

bool extent_reserve_pages(uint64_t page, uint64_t npages)
{
    return radix_tree_reserve(page, npages);
}

/* The four changes of who owns what. Each leaves the radix tree wrong at the pages its contract names, and extent_map
 * puts that right: so the facts about owners are proven apart from the tree's memory. */

/* An unused id takes pages that are nobody's. */
/*@ requires range:   ExtRange;
    requires own1:    ExtOwn1;
    requires own2:    ExtOwn2;
    requires ends:    ExtEnds;
    requires fresh:   ExtFresh;
    requires head:    ExtUnusedHead;
    requires next:    ExtUnusedNext;
    requires spare:   ExtSpare(1);
    requires pages:   0 < page && 0 < npages && page + npages <= PAGE_COUNT_MAX;
    requires free:    \forall integer p; page <= p < page + npages ==> ext_owner[p] == 0;
    terminates        \true;
    exits             \false;
    assigns           ext_page[extent_unused], ext_npages[extent_unused], extent_unused,
                      ext_unused_prev[0 .. TABLE_MAX - 1], ext_owner[page .. page + npages - 1];
    ensures  range:   ExtRange;
    ensures  own1:    ExtOwn1;
    ensures  own2:    ExtOwn2;
    ensures  ends:    ExtEndsBut(page, page + npages - 1);
    ensures  fresh:   ExtFresh;
    ensures  head:    ExtUnusedHead;
    ensures  next:    ExtUnusedNext;
    ensures  id:      \result == \old(extent_unused) && 0 < \result <= extent_count && !\old(ExtUsed(extent_unused));
    ensures  pages:   ext_page[\result] == page && ext_npages[\result] == npages;
    ensures  owner:   \forall integer p; page <= p < page + npages ==> ext_owner[p] == \result;
    ensures  unused:  extent_unused == \old(ext_unused_next[extent_unused]);
    ensures  spare:   \old(ExtSpare(2)) ==> ExtSpare(1);
*/
static inline uint32_t extent_take(uint64_t page, uint64_t npages)
{
    uint32_t e = extent_unused;
    extent_unused = AT(ext_unused_next, e);
    /*@ ghost ext_unused_prev[extent_unused] = 0; */
    AT(ext_page, e) = page;
    AT(ext_npages, e) = npages;
    /*@ ghost extent_lemma_own(page, npages, e); */
    return e;
}

/* e keeps the first npages, the rest is nobody's. */
/*@ requires range:   ExtRange;
    requires own1:    ExtOwn1;
    requires own2:    ExtOwn2;
    requires ends:    ExtEnds;
    requires used:    ExtUsed(e);
    requires less:    0 < npages < ext_npages[e];
    terminates        \true;
    exits             \false;
    assigns           ext_npages[e], ext_owner[ext_page[e] + npages .. ext_page[e] + ext_npages[e] - 1];
    ensures  range:   ExtRange;
    ensures  own1:    ExtOwn1;
    ensures  own2:    ExtOwn2;
    ensures  ends:    ExtEndsBut(ext_page[e] + npages - 1, ext_page[e] + npages - 1);
    ensures  pages:   ext_npages[e] == npages;
    ensures  last:    ext_owner[ext_page[e] + npages - 1] == e;
    ensures  was:     \forall integer p; ext_page[e] + npages <= p < ext_page[e] + \old(ext_npages[e]) ==>
                          \old(ext_owner[p]) == e;
    ensures  owner:   \forall integer p; ext_page[e] + npages <= p < ext_page[e] + \old(ext_npages[e]) ==> ext_owner[p] == 0;
*/
static inline void extent_shrink(uint32_t e, uint64_t npages)
{
    /*@ ghost extent_lemma_own(ext_page[e] + npages, ext_npages[e] - npages, 0); */
    AT(ext_npages, e) = npages;
}

/* e takes npages that follow it and are nobody's. */
/*@ requires range:   ExtRange;
    requires own1:    ExtOwn1;
    requires own2:    ExtOwn2;
    requires ends:    ExtEnds;
    requires used:    ExtUsed(e);
    requires pages:   0 < npages && ext_page[e] + ext_npages[e] + npages <= PAGE_COUNT_MAX;
    requires free:    \forall integer p; ext_page[e] + ext_npages[e] <= p < ext_page[e] + ext_npages[e] + npages ==>
                          ext_owner[p] == 0;
    terminates        \true;
    exits             \false;
    assigns           ext_npages[e],
                      ext_owner[ext_page[e] + ext_npages[e] .. ext_page[e] + ext_npages[e] + npages - 1];
    ensures  range:   ExtRange;
    ensures  own1:    ExtOwn1;
    ensures  own2:    ExtOwn2;
    ensures  ends:    ExtEndsBut(ext_page[e] + ext_npages[e] - 1, ext_page[e] + ext_npages[e] - 1);
    ensures  pages:   ext_npages[e] == \old(ext_npages[e]) + npages;
    ensures  owner:   \forall integer p; ext_page[e] + \old(ext_npages[e]) <= p < ext_page[e] + ext_npages[e] ==>
                          ext_owner[p] == e;
*/
static inline void extent_extend(uint32_t e, uint64_t npages)
{
    /*@ ghost extent_lemma_own(ext_page[e] + ext_npages[e], npages, e); */
    AT(ext_npages, e) += npages;
}

/* e becomes an unused id, its pages nobody's. */
/*@ requires range:   ExtRange;
    requires own1:    ExtOwn1;
    requires own2:    ExtOwn2;
    requires ends:    ExtEnds;
    requires fresh:   ExtFresh;
    requires head:    ExtUnusedHead;
    requires next:    ExtUnusedNext;
    requires used:    ExtUsed(e);
    terminates        \true;
    exits             \false;
    assigns           ext_npages[e], extent_unused, ext_unused_next[e], ext_unused_prev[0 .. TABLE_MAX - 1],
                      ext_owner[ext_page[e] .. ext_page[e] + ext_npages[e] - 1];
    ensures  range:   ExtRange;
    ensures  own1:    ExtOwn1;
    ensures  own2:    ExtOwn2;
    ensures  ends:    ExtEnds;
    ensures  fresh:   ExtFresh;
    ensures  head:    ExtUnusedHead;
    ensures  next:    ExtUnusedNext;
    ensures  pages:   ext_npages[e] == 0;
    ensures  owner:   \forall integer p; ext_page[e] <= p < ext_page[e] + \old(ext_npages[e]) ==> ext_owner[p] == 0;
    ensures  unused:  extent_unused == e && ext_unused_next[e] == \old(extent_unused);
*/
static inline void extent_drop(uint32_t e)
{
    /*@ ghost extent_lemma_own(ext_page[e], ext_npages[e], 0); */
    AT(ext_npages, e) = 0;
    extent_unused_push(e);
}

/* The radix tree leads from the page to its owner e again. */
/*@ requires radix:    RadixOk;
    requires page:     page < PAGE_COUNT_MAX && ext_owner[page] == e;
    requires reserved: RadixReserved(page);
    requires id:       e <= extent_count < TABLE_MAX;
    requires map:      ExtMap;
    requires ends:     ExtEndsBut(page, other);
    terminates         \true;
    exits              \false;
    assigns            radix_extent_of[page], RADIX_LEAVES;
    ensures  radix:    RadixOk;
    ensures  map:      ExtMap;
    ensures  ends:     ExtEndsBut(other, other);
    ensures  all:      other == page ==> ExtEnds;
*/
static inline void extent_map(uint64_t page, uint32_t e) /*@ ghost (uint64_t other) */
{
    radix_tree_set_extent(page, e);
}

uint32_t extent_create(uint64_t page, uint64_t npages, uint8_t state)
{
    uint64_t last = page + npages - 1;
    uint32_t e = extent_take(page, npages);
    AT(ext_state, e) = state;
    extent_map(page, e) /*@ ghost (last) */;
    extent_map(last, e) /*@ ghost (last) */;
    /*@ ghost extent_lemma_count(page, npages, EXTENT_UNUSED, state); */
    /*@ ghost extent_lemma_count_bounds(state); */
    extent_npages_total[state] += npages;
    /*@ ghost extent_lemma_ok(); */
    return e;
}

uint32_t extent_split(uint32_t e, uint64_t npages)
{
    uint64_t page = AT(ext_page, e) + npages;
    uint64_t rest = AT(ext_npages, e) - npages;
    uint64_t last = page + rest - 1;
    extent_shrink(e, npages);
    extent_map(page - 1, e) /*@ ghost (page - 1) */;
    uint32_t r = extent_take(page, rest);
    AT(ext_state, r) = AT(ext_state, e);
    extent_map(page, r) /*@ ghost (last) */;
    extent_map(last, r) /*@ ghost (last) */;
    /*@ ghost extent_lemma_ok(); */
    return r;
}

void extent_merge(uint32_t a, uint32_t b)
{
    uint64_t npages = AT(ext_npages, b);
    uint64_t last = AT(ext_page, b) + npages - 1;
    extent_drop(b);
    AT(ext_state, b) = EXTENT_UNUSED;
    extent_extend(a, npages);
    extent_map(last, a) /*@ ghost (last) */;
    /*@ assert joined: \forall integer p; ext_page[b] <= p <= last ==> ext_owner[p] == a && \at(ext_owner[p], Pre) == b; */
    /*@ assert others: \forall integer p; 0 <= p < PAGE_COUNT_MAX && !(ext_page[b] <= p <= last) ==>
            ext_owner[p] == \at(ext_owner[p], Pre) && ext_owner[p] != b; */
    /*@ ghost extent_lemma_ok(); */
}

void extent_set_state(uint32_t e, uint8_t state)
{
    uint64_t npages = AT(ext_npages, e);
    uint8_t  was = AT(ext_state, e);
    /*@ ghost extent_lemma_count_bounds(state); */
    /*@ assert room: extent_npages_total[state] <= PAGE_COUNT_MAX && npages <= PAGE_COUNT_MAX; */
    /*@ ghost extent_lemma_count(ext_page[e], npages, was, state); */
    /*@ ghost extent_lemma_count_bounds(was); */
    /*@ assert enough: state != was ==> npages <= extent_npages_total[was]; */
    AT(ext_state, e) = state;
    extent_npages_total[state] += npages;
    extent_npages_total[was] -= npages;
    /*@ ghost extent_lemma_ok(); */
}

void extent_destroy(uint32_t e)
{
    uint64_t npages = AT(ext_npages, e);
    uint8_t  state = AT(ext_state, e);
    /*@ ghost extent_lemma_count(ext_page[e], npages, state, EXTENT_UNUSED); */
    /*@ ghost extent_lemma_count_bounds(state); */
    extent_drop(e);
    AT(ext_state, e) = EXTENT_UNUSED;
    extent_npages_total[state] -= npages;
    /*@ ghost extent_lemma_ok(); */
}

uint32_t extent_at(uint64_t page)
{
    uint32_t e = radix_tree_extent(page);
    return e != 0 && AT(ext_page, e) == page && AT(ext_npages, e) != 0 ? e : 0;
}

uint32_t extent_next(uint32_t e)
{
    uint64_t page = AT(ext_page, e) + AT(ext_npages, e);
    /*@ ghost extent_lemma_neighbours(e); */
    return page < PAGE_COUNT_MAX ? extent_at(page) : 0;
}

uint32_t extent_prev(uint32_t e)
{
    uint64_t page = AT(ext_page, e);
    /*@ ghost extent_lemma_neighbours(e); */
    uint32_t f = radix_tree_extent(page - 1);
    return f != 0 && AT(ext_npages, f) != 0 && AT(ext_page, f) + AT(ext_npages, f) == page ? f : 0;
}
