/* extent: writes of the tables, each with the radix tree entries that go with it.
 *
 * In the radix tree only the entries of the first and the last page of an extent are kept up to date. A merge leaves
 * those at the seam as they were, so extent_at and extent_prev compare what they find with the tables.
 */
#include "pages/extent.h"

#include "ds/pairing_heap.h"
#include "pages/extent_lemmas.acsl"

TABLE(uint64_t, ext_page);
TABLE(uint64_t, ext_npages);
TABLE(uint8_t,  ext_state);

uint32_t extent_count;
uint64_t extent_npages_total[EXTENT_STATES];

void extent_boot(void)
{
    extent_count = 0;
    list_boot();
    /*@ ghost extent_lemma_count_none(); */
}

/* Weak, so that the definition in src/blocks takes precedence where it is linked. */
bool extent_client_grow(uint32_t id) __attribute__((weak));
bool extent_client_grow(uint32_t id)
{
    (void)id;
    return true;
}

/*@ requires lock:    LockHeld(LOCK_PAGES);
    requires id:      0 < id < TABLE_MAX;
    assigns           os_refused;
    ensures  refused: !\result ==> os_refused == 1;
*/
static bool extent_tables_grow(uint32_t id)
{
    return TABLE_GROW(ext_page, id) && TABLE_GROW(ext_npages, id) && TABLE_GROW(ext_state, id) &&
           list_grow(id) && pairing_heap_grow(id) && extent_client_grow(id);
}

/* Adds an unused id. Returns false if there is no memory, or no further id. */
/*@ requires lock: LockHeld(LOCK_PAGES);
    requires ok:   ExtentOk;
    assigns        EXT_ASSIGNS_IDS;
    ensures  ok:   ExtentOk;
    ensures  none: !\result ==> MemoryOut(1);
    ensures  more: \result ==> EXT_UNUSED != 0 &&
                       list_after[EXT_UNUSED] == \old(EXT_UNUSED);
    ensures  same: !\result ==> EXT_UNUSED == \old(EXT_UNUSED) &&
                       list_after[EXT_UNUSED] == \old(list_after[EXT_UNUSED]);
*/
static bool extent_add_id(void)
{
    uint32_t id = extent_count + 1;
    if (id >= TABLE_MAX || !extent_tables_grow(id)) {
        return false;
    }
    extent_count = id;
    list_push(EXT_UNUSED_LIST, id);
    return true;
}

bool extent_reserve(uint32_t n)
{
    if (n >= 1 && list_first(EXT_UNUSED_LIST) == 0 && !extent_add_id()) {
        return false;
    }
    return n < 2 || list_next(list_first(EXT_UNUSED_LIST)) != 0 || extent_add_id();
}

/* Each chunk of a table has the entry of a power of two (platform/table.h). */
bool extent_reserve_tables(uint64_t ids)
{
    /*@ loop invariant range: 1 <= id <= 2 * TABLE_MAX;
        loop assigns   id, os_refused;
        loop variant   2 * TABLE_MAX - id;
    */
    for (uint64_t id = 1; id <= ids && id < TABLE_MAX; id *= 2) {
        if (!extent_tables_grow((uint32_t)id)) {
            return false;
        }
    }
    return true;
}

bool extent_reserve_pages(uint64_t page, uint64_t npages)
{
    return radix_tree_reserve(page, npages);
}

/* Four functions change who owns what. Each leaves the radix tree wrong at the pages that its contract names, and
 * extent_map puts them right. So the facts about owners are proven apart from the tree's memory. */

/* An unused id takes pages that nobody owns. Returns the id. */
/*@ requires lock:  LockHeld(LOCK_PAGES);
    EXT_OWNERS(requires);
    requires ends:  ExtEnds;
    EXT_IDS(requires);
    requires spare: ExtSpare(1);
    requires pages: 0 < page && 0 < npages && page + npages <= PAGE_COUNT_MAX;
    requires free:  \forall integer p; page <= p < page + npages ==> ext_owner[p] == 0;
    assigns         ext_page[EXT_UNUSED], ext_npages[EXT_UNUSED], EXT_ASSIGNS_UNUSED, ext_owner[page .. page + npages - 1];
    EXT_OWNERS(ensures);
    ensures  ends:  ExtEndsBut(page, page + npages - 1);
    EXT_IDS(ensures);
    ensures  id:    \result == \old(EXT_UNUSED) && 0 < \result <= extent_count && !\old(ExtUsed(EXT_UNUSED));
    ensures  pages: ext_page[\result] == page && ext_npages[\result] == npages;
    ensures  owner: \forall integer p; page <= p < page + npages ==> ext_owner[p] == \result;
    ensures  next:  EXT_UNUSED == \old(list_after[EXT_UNUSED]);
    ensures  spare: \old(ExtSpare(2)) ==> ExtSpare(1);
*/
static inline uint32_t extent_take(uint64_t page, uint64_t npages)
{
    uint32_t e = list_pop(EXT_UNUSED_LIST);
    AT(ext_page, e) = page;
    AT(ext_npages, e) = npages;
    /*@ ghost extent_lemma_own(page, npages, e); */
    return e;
}

/* e keeps the first npages, and nobody owns the others. */
/*@ requires lock:  LockHeld(LOCK_PAGES);
    EXT_OWNERS(requires);
    requires ends:  ExtEnds;
    requires used:  ExtUsed(e);
    requires less:  0 < npages < ext_npages[e];
    assigns         ext_npages[e], ext_owner[ext_page[e] + npages .. ext_page[e] + ext_npages[e] - 1];
    EXT_OWNERS(ensures);
    ensures  ends:  ExtEndsBut(ext_page[e] + npages - 1, ext_page[e] + npages - 1);
    ensures  pages: ext_npages[e] == npages;
    ensures  last:  ext_owner[ext_page[e] + npages - 1] == e;
    ensures  was:   \forall integer p; ext_page[e] + npages <= p < ext_page[e] + \old(ext_npages[e]) ==>
                        \old(ext_owner[p]) == e;
    ensures  owner: \forall integer p; ext_page[e] + npages <= p < ext_page[e] + \old(ext_npages[e]) ==> ext_owner[p] == 0;
*/
static inline void extent_shrink(uint32_t e, uint64_t npages)
{
    /*@ ghost extent_lemma_own(ext_page[e] + npages, ext_npages[e] - npages, 0); */
    AT(ext_npages, e) = npages;
}

/* e takes the npages that follow it, which nobody owns. */
/*@ requires lock:  LockHeld(LOCK_PAGES);
    EXT_OWNERS(requires);
    requires ends:  ExtEnds;
    requires used:  ExtUsed(e);
    requires pages: 0 < npages && ext_page[e] + ext_npages[e] + npages <= PAGE_COUNT_MAX;
    requires free:  \forall integer p; ext_page[e] + ext_npages[e] <= p < ext_page[e] + ext_npages[e] + npages ==>
                        ext_owner[p] == 0;
    assigns         ext_npages[e],
                    ext_owner[ext_page[e] + ext_npages[e] .. ext_page[e] + ext_npages[e] + npages - 1];
    EXT_OWNERS(ensures);
    ensures  ends:  ExtEndsBut(ext_page[e] + ext_npages[e] - 1, ext_page[e] + ext_npages[e] - 1);
    ensures  pages: ext_npages[e] == \old(ext_npages[e]) + npages;
    ensures  owner: \forall integer p; ext_page[e] + \old(ext_npages[e]) <= p < ext_page[e] + ext_npages[e] ==>
                        ext_owner[p] == e;
*/
static inline void extent_extend(uint32_t e, uint64_t npages)
{
    /*@ ghost extent_lemma_own(ext_page[e] + ext_npages[e], npages, e); */
    AT(ext_npages, e) += npages;
}

/* e becomes an unused id, and nobody owns its pages. */
/*@ requires lock:  LockHeld(LOCK_PAGES);
    EXT_OWNERS(requires);
    requires ends:  ExtEnds;
    EXT_IDS(requires);
    requires used:  ExtUsed(e);
    assigns         ext_npages[e], EXT_ASSIGNS_UNUSED,
                    ext_owner[ext_page[e] .. ext_page[e] + ext_npages[e] - 1];
    EXT_OWNERS(ensures);
    ensures  ends:  ExtEnds;
    EXT_IDS(ensures);
    ensures  pages: ext_npages[e] == 0;
    ensures  owner: \forall integer p; ext_page[e] <= p < ext_page[e] + \old(ext_npages[e]) ==> ext_owner[p] == 0;
    ensures  first: EXT_UNUSED == e && list_after[e] == \old(EXT_UNUSED);
*/
static inline void extent_drop(uint32_t e)
{
    /*@ ghost extent_lemma_own(ext_page[e], ext_npages[e], 0); */
    AT(ext_npages, e) = 0;
    list_push(EXT_UNUSED_LIST, e);
}

/* Makes the radix tree lead from the page to its owner e. */
/*@ requires lock:     LockHeld(LOCK_PAGES);
    requires radix:    RadixOk;
    requires page:     page < PAGE_COUNT_MAX && ext_owner[page] == e;
    requires reserved: RadixReserved(page);
    requires id:       e <= extent_count < TABLE_MAX;
    requires map:      ExtMap;
    requires ends:     ExtEndsBut(page, other);
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
    /*@ assert rest: \forall integer p; page <= p <= last ==> ext_owner[p] == r && \at(ext_owner[p], Pre) == e; */
    /*@ assert others: \forall integer p; 0 <= p < PAGE_COUNT_MAX && !(page <= p <= last) ==>
            ext_owner[p] == \at(ext_owner[p], Pre) && ext_owner[p] != r; */
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

void extent_destroy(uint32_t e)
{
    uint64_t npages = AT(ext_npages, e);
    uint8_t  was = AT(ext_state, e);
    /*@ ghost extent_lemma_count(ext_page[e], npages, was, EXTENT_UNUSED); */
    /*@ ghost extent_lemma_count_bounds(was); */
    /*@ assert enough: npages <= extent_npages_total[was]; */
    extent_drop(e);
    AT(ext_state, e) = EXTENT_UNUSED;
    extent_npages_total[was] -= npages;
    /*@ assert others: \forall integer p; 0 <= p < PAGE_COUNT_MAX && !(ext_page[e] <= p < ext_page[e] + npages) ==>
            ext_owner[p] == \at(ext_owner[p], Pre) && ext_owner[p] != e; */
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
