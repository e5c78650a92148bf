/* holes: see holes.h. */
#include "blocks/holes.h"

#include "blocks/bin_slabs.h"
#include "platform/os.h"

#include "blocks/holes_lemmas.acsl"

/* Gives the pages from .. to - 1 of slab e, in which nobody has a region, back to the OS. Returns false if it refuses. */
/*@ HOLES_SLAB(requires, b, e);
    requires run:      from < to <= slab_npages[slab_class[e]];
    requires free:     HolesFree(e, from, to);
    requires nobodys:  HolesNobodys(e, from, to);
    assigns            \nothing;
*/
static bool holes_discard(uint32_t e, uint32_t from, uint32_t to) /*@ ghost (uint32_t b) */
{
    uint64_t page = AT(ext_page, e);
    /*@ ghost holes_lemma_pages(e, from, to); */
    /*@ ghost uint32_t class = slab_class[e]; */
    return os_discard(page + from, to - from) /*@ ghost (page * PAGE, slab_bytes[class], slab_regions[class], slab_bits[e].w) */;
}

/* Gives the pages from .. to - 1 of slab e, if there are any. Returns whether the OS took them. */
/*@ HOLES_SLAB(requires, b, e);
    requires run:      from <= to <= slab_npages[slab_class[e]];
    requires free:     HolesFree(e, from, to);
    assigns            \nothing;
*/
static bool holes_give(uint32_t e, uint32_t from, uint32_t to) /*@ ghost (uint32_t b) */
{
    if (from == to) {
        return false;
    }
    /*@ ghost holes_lemma_nobodys(e, from, to); */
    return holes_discard(e, from, to) /*@ ghost (b) */;
}

/* Gives the free pages of slab e, each run of them at once. Returns whether the OS took any. */
/*@ HOLES_SLAB(requires, b, e);
    assigns            \nothing;
*/
static bool holes_visit(uint32_t e) /*@ ghost (uint32_t b) */
{
    uint32_t npages = slab_npages[AT(slab_class, e)];
    uint32_t from = 0;
    bool     any = false;
    /*@ ghost holes_lemma_length(e); */
    if (AT(slab_free_count, e) < PAGE / slab_bytes[AT(slab_class, e)]) {
        return false;
    }
    /*@ loop invariant range: from <= p <= npages;
        loop invariant free:  HolesFree(e, from, p);
        loop assigns   p, from, any;
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
    assigns            \nothing;
*/
static bool holes_visit_bin(uint32_t b)
{
    bool     any = bin_current[b] != 0 && holes_visit(bin_current[b]) /*@ ghost (b) */;
    uint32_t e = pairing_heap_first(BIN_HEAP(b));
    uint32_t left = UINT32_MAX;
    /*@ loop invariant slab: e == 0 || PhIn(BIN_HEAP(b), e);
        loop assigns   e, any, left;
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
