/* page_cache_model: the obvious slow page cache. It knows the state of every page and looks at all of them. The unit test
 * and the fuzzer do every operation through it; it stops at the first difference.
 */
#ifndef QED_TESTS_PAGE_CACHE_MODEL_H
#define QED_TESTS_PAGE_CACHE_MODEL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/pairing_heap.h"
#include "math/size_class.h"
#include "pages/page_cache.h"
#include "platform/os.h"
#include "platform/os_fake.h"

static uint8_t  model_state[OS_FAKE_SPAN_NPAGES + 1];  /* of page os_fake_span() + i, UNUSED: not mapped */
static uint64_t model_total[EXTENT_STATES];
static uint64_t model_checks;
static uint32_t model_cache;                            /* the page cache that the next run comes from */

#define MODEL_CHECK(c) (model_checks++, (c) ? (void)0 : model_fail(#c, __LINE__))

static void model_fail(const char *what, int line)
{
    printf("page_cache model line %d: not so: %s\n", line, what);
    fflush(stdout);
    abort();
}

static uint64_t *model_tag(uint64_t page)
{
    return (uint64_t *)(page * PAGE);
}

static bool model_is_free(uint8_t s)
{
    return s >= EXTENT_DIRTY;
}

static uint32_t model_cache_of(uint8_t s)
{
    return (s - 1U) % PAGE_CACHES;
}

static void model_set(uint64_t page, uint64_t npages, uint8_t from, uint8_t to)
{
    for (uint64_t p = page; p < page + npages; p++) {
        uint8_t *s = &model_state[p - os_fake_span()];
        MODEL_CHECK(*s == from || (from == EXTENT_STATES && model_is_free(*s)));
        model_total[*s] -= *s != EXTENT_UNUSED;
        model_total[to] += 1;
        *s = to;
    }
}

/* Pages that the OS gave meanwhile are found by extent; they must all be free or just allocated. */
static void model_adopt(uint64_t page, uint64_t npages, uint32_t cache)
{
    for (uint64_t p = page; p < page + npages; p++) {
        if (model_state[p - os_fake_span()] == EXTENT_UNUSED) {
            model_set(p, 1, EXTENT_UNUSED, (uint8_t)(EXTENT_RETAINED + cache));
        }
    }
}

static uint32_t model_heap(uint8_t state, uint32_t psz)
{
    return 1 + (uint32_t)(state - EXTENT_DIRTY) * SC_NPSIZES + psz;
}

/* Compares everything with the tables: each page once, states, totals, coalescing, the first of each heap. */
static void model_compare(void)
{
    static uint32_t first[PAGE_CACHE_HEAPS];
    uint64_t        span = os_fake_span();
    uint64_t        npages = 0;
    memset(first, 0, sizeof first);
    for (uint32_t e = 1; e <= extent_count; e++) {
        uint64_t page = AT(ext_page, e);
        uint64_t n = AT(ext_npages, e);
        uint8_t  s = AT(ext_state, e);
        if (n == 0) {
            MODEL_CHECK(s == EXTENT_UNUSED);
            continue;
        }
        npages += n;
        model_adopt(page, n, model_cache_of(s));
        for (uint64_t p = page - span; p < page - span + n; p++) {
            MODEL_CHECK(model_state[p] == s);
        }
        MODEL_CHECK(extent_at(page) == e);
        uint8_t behind = page - span + n < OS_FAKE_SPAN_NPAGES ? model_state[page - span + n] : EXTENT_UNUSED;
        if (model_is_free(s)) {
            MODEL_CHECK(behind != s || extent_next(e) == 0 /* not adopted by the model yet */);
            MODEL_CHECK(extent_next(e) == 0 || AT(ext_state, extent_next(e)) != s);
            uint32_t *f = &first[model_heap(s, size_class_page_index(n))];
            *f = *f == 0 || page < AT(ext_page, *f) ? e : *f;
        }
    }
    for (uint32_t h = 1; h < PAGE_CACHE_HEAPS; h++) {
        MODEL_CHECK(pairing_heap_first(h) == first[h]);
    }
    for (uint8_t s = EXTENT_ACTIVE; s < EXTENT_STATES; s++) {
        MODEL_CHECK(extent_npages_total[s] == model_total[s]);
    }
    uint64_t mapped = 0;
    for (uint32_t c = 0; c < PAGE_CACHES; c++) {
        uint64_t own = model_total[EXTENT_ACTIVE + c] + model_total[EXTENT_BUSY + c] + model_total[EXTENT_DIRTY + c]
                       + model_total[EXTENT_MUZZY + c] + model_total[EXTENT_RETAINED + c];
        MODEL_CHECK(page_cache_mapped_npages[c] == own);
        mapped += own;
    }
    MODEL_CHECK(npages == mapped && npages == os_fake.mapped_npages);
}

/* First page that the policy chooses from that state, 0 if none: in the lowest class of which the lowest extent fits. */
static uint64_t model_choose(uint8_t state, uint64_t npages, uint64_t align)
{
    for (uint32_t psz = size_class_page_index(npages); psz < SC_NPSIZES; psz++) {
        uint32_t best = 0;
        for (uint32_t e = 1; e <= extent_count; e++) {
            if (AT(ext_npages, e) != 0 && AT(ext_state, e) == state && size_class_page_index(AT(ext_npages, e)) == psz
                && (best == 0 || AT(ext_page, e) < AT(ext_page, best))) {
                best = e;
            }
        }
        if (best != 0) {
            uint64_t start = (AT(ext_page, best) + align - 1) / align * align;
            if (start + npages <= AT(ext_page, best) + AT(ext_npages, best)) {
                return start;
            }
        }
    }
    return 0;
}

/* Writes to each page, so that pages handed out twice and pages wrongly called zero are seen. */
static void model_write(uint32_t e, uint64_t from)
{
    for (uint64_t p = AT(ext_page, e) + from; p < AT(ext_page, e) + AT(ext_npages, e); p++) {
        *model_tag(p) = p ^ 0x5EEDUL;
        model_tag(p)[PAGE / 8 - 1] = ~p;
    }
}

static void model_read(uint32_t e)
{
    for (uint64_t p = AT(ext_page, e); p < AT(ext_page, e) + AT(ext_npages, e); p++) {
        MODEL_CHECK(*model_tag(p) == (p ^ 0x5EEDUL) && model_tag(p)[PAGE / 8 - 1] == ~p);
    }
}

static uint32_t model_alloc(uint64_t npages, uint64_t align)
{
    uint64_t chosen = 0;
    uint8_t  state = 0, active = (uint8_t)(EXTENT_ACTIVE + model_cache);
    for (uint32_t kind = EXTENT_DIRTY; kind < EXTENT_STATES && chosen == 0; kind += PAGE_CACHES) {
        state = (uint8_t)(kind + model_cache);
        chosen = model_choose(state, npages, align);
    }
    uint64_t mapped = os_fake.mapped_npages;
    bool     zeroed;
    uint32_t e = page_cache_alloc(model_cache, npages, align, &zeroed);
    MODEL_CHECK(chosen == 0 || mapped == os_fake.mapped_npages);
    if (e != 0) {
        uint64_t page = AT(ext_page, e);
        MODEL_CHECK(AT(ext_state, e) == active && AT(ext_npages, e) == npages && page % align == 0);
        MODEL_CHECK(chosen == 0 || chosen == page);
        MODEL_CHECK(zeroed == (state >= EXTENT_RETAINED));
        model_adopt(page, npages, model_cache);
        model_set(page, npages, state, active);
        for (uint64_t p = page; p < page + npages && zeroed; p++) {
            MODEL_CHECK(model_tag(p)[0] == 0 && model_tag(p)[PAGE / 8 - 1] == 0);
        }
        model_write(e, 0);
    }
    model_compare();
    return e;
}

static void model_free(uint32_t e)
{
    model_read(e);
    uint32_t cache = model_cache_of(AT(ext_state, e));
    model_set(AT(ext_page, e), AT(ext_npages, e), (uint8_t)(EXTENT_ACTIVE + cache), (uint8_t)(EXTENT_DIRTY + cache));
    page_cache_free(e);
    model_compare();
}

static bool model_expand(uint32_t e, uint64_t npages)
{
    uint64_t page = AT(ext_page, e);
    uint64_t n = AT(ext_npages, e);
    uint64_t room = 0;
    uint8_t  state = model_state[page + n - os_fake_span()];
    uint8_t  active = AT(ext_state, e);
    while (model_is_free(state) && model_cache_of(state) == model_cache_of(active) && model_state[page + n + room - os_fake_span()] == state) {
        room++;
    }
    bool grown = page_cache_expand(e, npages);
    MODEL_CHECK(!grown || room >= npages - n);
    MODEL_CHECK(grown || room < npages - n || os_fake.fail_from[OS_FAKE_METADATA] != 0);
    MODEL_CHECK(AT(ext_page, e) == page && AT(ext_npages, e) == (grown ? npages : n));
    if (grown) {
        model_set(page + n, npages - n, EXTENT_STATES, active);
        model_write(e, n);
    }
    model_read(e);
    model_compare();
    return grown;
}

static bool model_shrink(uint32_t e, uint64_t npages)
{
    uint64_t page = AT(ext_page, e);
    uint64_t n = AT(ext_npages, e);
    model_read(e);
    bool shrunk = page_cache_shrink(e, npages);
    MODEL_CHECK(shrunk || os_fake.fail_from[OS_FAKE_METADATA] != 0);
    MODEL_CHECK(AT(ext_page, e) == page && AT(ext_npages, e) == (shrunk ? npages : n));
    if (shrunk) {
        uint32_t cache = model_cache_of(AT(ext_state, e));
        model_set(page + npages, n - npages, (uint8_t)(EXTENT_ACTIVE + cache), (uint8_t)(EXTENT_DIRTY + cache));
    }
    model_compare();
    return shrunk;
}

static uint32_t model_take(uint32_t kind, uint64_t npages_max)
{
    uint8_t  state = (uint8_t)(kind + model_cache), busy = (uint8_t)(EXTENT_BUSY + model_cache);
    uint32_t e = page_cache_take(model_cache, state, npages_max);
    MODEL_CHECK((e == 0) == (model_total[state] == 0));
    if (e != 0) {
        MODEL_CHECK(AT(ext_state, e) == busy);
        MODEL_CHECK(AT(ext_npages, e) <= npages_max || os_fake.fail_from[OS_FAKE_METADATA] != 0);
        model_set(AT(ext_page, e), AT(ext_npages, e), state, busy);
    }
    model_compare();
    return e;
}

static void model_give(uint32_t e, uint32_t kind)
{
    uint32_t cache = model_cache_of(AT(ext_state, e));
    uint64_t page = AT(ext_page, e);
    uint64_t n = AT(ext_npages, e);
    if (kind == EXTENT_RETAINED || kind == EXTENT_MUZZY) {
        MODEL_CHECK(os_purge(cache, page, n, kind == EXTENT_MUZZY));
    }
    model_set(page, n, (uint8_t)(EXTENT_BUSY + cache), (uint8_t)(kind + cache));
    page_cache_give(e, (uint8_t)(kind + cache));
    model_compare();
}

#endif
