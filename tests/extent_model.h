/* extent_model: the obvious slow extent table. It knows the owner of every page of a few zones, and looks at all of them.
 * The unit test and the fuzzer do every operation through it; it stops at the first difference.
 */
#ifndef QED_TESTS_EXTENT_MODEL_H
#define QED_TESTS_EXTENT_MODEL_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pages/extent.h"
#include "platform/os_fake.h"

#define ZONE_PAGES 24U
#define ZONES 4U
#define IDS (ZONES * ZONE_PAGES + 3U)                           /* each page its own extent, two spare ids, none */

static const uint64_t zone_page[ZONES] = {
    1,                                                          /* the first pages there are */
    RADIX_WINDOW_PAGES - ZONE_PAGES / 2,                        /* across two leaves of the radix tree */
    PAGE_COUNT_MAX / 2 + 12345,
    PAGE_COUNT_MAX - ZONE_PAGES,                                /* the last pages there are */
};

static uint32_t model_owner[ZONES][ZONE_PAGES];
static uint64_t model_page[IDS];
static uint64_t model_npages[IDS];                              /* 0: unused */
static uint8_t  model_state[IDS];
static uint64_t model_checks;

#define MODEL_CHECK(c) (model_checks++, (c) ? (void)0 : model_fail(#c, __LINE__))

static inline void model_fail(const char *what, int line)
{
    printf("extent model line %d: not so: %s\n", line, what);
    fflush(stdout);
    abort();
}

static inline void model_reset(void)                            /* tables and tree as static memory is at the start */
{
    os_fake_rewind();
    memset(ext_page, 0, sizeof ext_page);
    memset(ext_npages, 0, sizeof ext_npages);
    memset(ext_state, 0, sizeof ext_state);
    memset(list_after, 0, sizeof list_after);
    list_head[EXT_UNUSED_LIST] = 0;
    for (uint32_t z = 0; z < ZONES; z++) {
        radix_root[zone_page[z] / RADIX_WINDOW_PAGES] = NULL;
        radix_root[(zone_page[z] + ZONE_PAGES - 1) / RADIX_WINDOW_PAGES] = NULL;
    }
    memset(extent_npages_total, 0, sizeof extent_npages_total);
    memset(model_owner, 0, sizeof model_owner);
    memset(model_npages, 0, sizeof model_npages);
    extent_boot();
}

static inline uint32_t model_unused_count(void)                 /* each unused id is in the list, once */
{
    bool     seen[IDS] = {false};
    uint32_t n = 0;
    for (uint32_t e = list_first(EXT_UNUSED_LIST); e != 0; e = list_next(e)) {
        MODEL_CHECK(e <= extent_count && e < IDS && model_npages[e] == 0 && !seen[e]);
        seen[e] = true;
        n++;
    }
    return n;
}

/* The owner of a page next to the zone's pages is nobody. */
static inline uint32_t model_owner_at(uint32_t z, uint64_t i)
{
    return i < ZONE_PAGES ? model_owner[z][i] : 0;
}

static inline void model_compare(void)
{
    uint64_t total[EXTENT_STATES] = {0};
    uint32_t used = 0;
    MODEL_CHECK(extent_count < IDS);
    for (uint32_t e = 1; e <= extent_count; e++) {
        MODEL_CHECK(AT(ext_npages, e) == model_npages[e]);
        if (model_npages[e] == 0) {
            MODEL_CHECK(AT(ext_state, e) == EXTENT_UNUSED);
            continue;
        }
        MODEL_CHECK(AT(ext_page, e) == model_page[e] && AT(ext_state, e) == model_state[e]);
        total[model_state[e]] += model_npages[e];
        used++;
    }
    MODEL_CHECK(used + model_unused_count() == extent_count);
    for (uint32_t s = 0; s < EXTENT_STATES; s++) {
        MODEL_CHECK(extent_npages_total[s] == total[s]);
    }
    for (uint32_t z = 0; z < ZONES; z++) {
        for (uint32_t i = 0; i < ZONE_PAGES; i++) {
            uint32_t e = model_owner[z][i];
            uint64_t page = zone_page[z] + i;
            bool     starts = e != 0 && model_page[e] == page;
            MODEL_CHECK(extent_at(page) == (starts ? e : 0));
            if (starts) {
                MODEL_CHECK(extent_next(e) == model_owner_at(z, i + model_npages[e]));
                MODEL_CHECK(extent_prev(e) == (i == 0 ? 0 : model_owner[z][i - 1]));
            }
        }
    }
}

static inline void model_own(uint32_t z, uint64_t i, uint64_t n, uint32_t e)
{
    for (uint64_t k = i; k < i + n; k++) {
        model_owner[z][k] = e;
    }
}

/* fails: from the how-maniest call of the OS on there is no memory, 0 for never. */
static inline bool model_reserve(uint32_t n, uint32_t fails)
{
    uint32_t before = model_unused_count();
    uint64_t calls = os_fake.calls[OS_FAKE_METADATA];
    os_fake_fail(OS_FAKE_METADATA, fails, fails == 0 ? 0 : 1000);
    bool ok = extent_reserve(n);
    os_fake_fail(OS_FAKE_METADATA, 1, 0);
    calls = os_fake.calls[OS_FAKE_METADATA] - calls;
    MODEL_CHECK(ok == (fails == 0 || calls < fails));
    MODEL_CHECK(calls == 0 || before < n);
    MODEL_CHECK(model_unused_count() == (ok && before < n ? n : before));
    return ok;
}

static inline void model_create(uint32_t z, uint32_t i, uint32_t n, uint8_t state, uint32_t fails)
{
    i %= ZONE_PAGES;
    n = 1 + n % (ZONE_PAGES - i);
    for (uint32_t k = i; k < i + n; k++) {
        if (model_owner[z][k] != 0) {
            return;
        }
    }
    if (!model_reserve(1, fails) || !extent_reserve_pages(zone_page[z] + i, n)) {
        return;
    }
    uint32_t id = list_first(EXT_UNUSED_LIST);
    uint32_t e = extent_create(zone_page[z] + i, n, state);
    MODEL_CHECK(e == id && e != 0 && e < IDS && model_npages[e] == 0);
    model_page[e] = zone_page[z] + i;
    model_npages[e] = n;
    model_state[e] = state;
    model_own(z, i, n, e);
}

/* The operations below take the extent that owns page i of the zone; they do nothing if there is none that fits. */
static inline void model_split(uint32_t z, uint32_t i, uint32_t n)
{
    uint32_t e = model_owner[z][i % ZONE_PAGES];
    if (e == 0 || model_npages[e] < 2 || !model_reserve(1 + n % 2, 0)) {
        return;
    }
    uint64_t front = 1 + n % (model_npages[e] - 1);
    uint32_t r = extent_split(e, front);
    MODEL_CHECK(r != 0 && r < IDS && model_npages[r] == 0);
    model_page[r] = model_page[e] + front;
    model_npages[r] = model_npages[e] - front;
    model_state[r] = model_state[e];
    model_npages[e] = front;
    model_own(z, model_page[r] - zone_page[z], model_npages[r], r);
}

static inline void model_merge(uint32_t z, uint32_t i)
{
    uint32_t a = model_owner[z][i % ZONE_PAGES];
    uint32_t b = a == 0 ? 0 : model_owner_at(z, model_page[a] + model_npages[a] - zone_page[z]);
    if (b == 0 || model_state[a] != model_state[b]) {
        return;
    }
    extent_merge(a, b);
    model_own(z, model_page[b] - zone_page[z], model_npages[b], a);
    model_npages[a] += model_npages[b];
    model_npages[b] = 0;
}

static inline void model_set_state(uint32_t z, uint32_t i, uint8_t state)
{
    uint32_t e = model_owner[z][i % ZONE_PAGES];
    if (e != 0) {
        extent_set_state(e, state);
        model_state[e] = state;
    }
}

static inline void model_step(uint8_t op, uint8_t i, uint8_t n, uint8_t x)
{
    uint32_t z = op / 8 % ZONES;
    uint8_t  state = (uint8_t)(EXTENT_ACTIVE + x % (EXTENT_STATES - EXTENT_ACTIVE));
    switch (op % 8) {
    case 0: case 1: model_create(z, i, n, state, op / 32); break;
    case 2: case 3: model_split(z, i, n); break;
    case 4: case 5: model_merge(z, i); break;
    default: model_set_state(z, i, state); break;
    }
}

#endif
