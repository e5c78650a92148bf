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

__attribute__((weak)) bool extent_client_grow(uint32_t id)
{
    (void)id;
    return true;
}

/*@ terminates \true;
    exits      \false;
    assigns    \nothing;
*/
static bool extent_columns_grow(uint32_t id)
{
    return TABLE_GROW(ext_page, id) && TABLE_GROW(ext_npages, id) && TABLE_GROW(ext_state, id) &&
           TABLE_GROW(ext_zeroed, id) && TABLE_GROW(ext_unused_next, id) && pairing_heap_grow(id) &&
           extent_client_grow(id);
}

/* Puts id, which has no pages any more, in front of the list of unused ids. */
/*@ requires id:     0 < id <= extent_count;
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

uint32_t extent_create(uint64_t page, uint64_t npages, uint8_t state)
{
    uint32_t e = extent_unused;
    extent_unused = AT(ext_unused_next, e);
    /*@ ghost ext_unused_prev[extent_unused] = 0; */
    AT(ext_page, e) = page;
    AT(ext_npages, e) = npages;
    AT(ext_state, e) = state;
    radix_tree_set_extent(page, e);
    radix_tree_set_extent(page + npages - 1, e);
    /*@ ghost extent_lemma_own(page, npages, e); */
    /*@ ghost extent_lemma_count(page, npages, EXTENT_UNUSED, state); */
    /*@ ghost extent_lemma_count_bounds(state); */
    extent_npages_total[state] += npages;
    return e;
}

uint32_t extent_split(uint32_t e, uint64_t npages)
{
    uint32_t r = extent_unused;
    uint64_t page = AT(ext_page, e) + npages;
    uint64_t rest = AT(ext_npages, e) - npages;
    extent_unused = AT(ext_unused_next, r);
    /*@ ghost ext_unused_prev[extent_unused] = 0; */
    AT(ext_npages, e) = npages;
    AT(ext_page, r) = page;
    AT(ext_npages, r) = rest;
    AT(ext_state, r) = AT(ext_state, e);
    radix_tree_set_extent(page - 1, e);
    radix_tree_set_extent(page, r);
    radix_tree_set_extent(page + rest - 1, r);
    /*@ ghost extent_lemma_own(page, rest, r); */
    return r;
}

void extent_merge(uint32_t a, uint32_t b)
{
    uint64_t page = AT(ext_page, b);
    uint64_t npages = AT(ext_npages, b);
    AT(ext_npages, a) += npages;
    AT(ext_npages, b) = 0;
    AT(ext_state, b) = EXTENT_UNUSED;
    radix_tree_set_extent(page + npages - 1, a);
    /*@ ghost extent_lemma_own(page, npages, a); */
    extent_unused_push(b);
}

void extent_set_state(uint32_t e, uint8_t state)
{
    uint64_t npages = AT(ext_npages, e);
    uint8_t  was = AT(ext_state, e);
    /*@ ghost extent_lemma_count_bounds(was); */
    /*@ ghost extent_lemma_count(ext_page[e], npages, was, state); */
    /*@ ghost extent_lemma_count_bounds(was); */
    /*@ ghost extent_lemma_count_bounds(state); */
    AT(ext_state, e) = state;
    extent_npages_total[was] -= npages;
    extent_npages_total[state] += npages;
}

void extent_destroy(uint32_t e)
{
    uint64_t npages = AT(ext_npages, e);
    uint8_t  state = AT(ext_state, e);
    /*@ ghost extent_lemma_count(ext_page[e], npages, state, EXTENT_UNUSED); */
    /*@ ghost extent_lemma_count_bounds(state); */
    /*@ ghost extent_lemma_own(ext_page[e], npages, 0); */
    extent_npages_total[state] -= npages;
    AT(ext_npages, e) = 0;
    AT(ext_state, e) = EXTENT_UNUSED;
    extent_unused_push(e);
}

uint32_t extent_at(uint64_t page)
{
    uint32_t e = radix_tree_extent(page);
    return e != 0 && AT(ext_page, e) == page && AT(ext_npages, e) != 0 ? e : 0;
}

uint32_t extent_next(uint32_t e)
{
    uint64_t page = AT(ext_page, e) + AT(ext_npages, e);
    return page < PAGE_COUNT_MAX ? extent_at(page) : 0;
}

uint32_t extent_prev(uint32_t e)
{
    uint64_t page = AT(ext_page, e);
    uint32_t f = radix_tree_extent(page - 1);
    return f != 0 && AT(ext_npages, f) != 0 && AT(ext_page, f) + AT(ext_npages, f) == page ? f : 0;
}
