/* radix_tree_model: the obvious slow radix tree. Pages are looked at in a few zones around the borders of windows; for each
 * page of a zone the model keeps its tag and extent, and compares all of them. The unit test and the fuzzer do every
 * operation through it; it stops at the first difference.
 */
#ifndef QED_TESTS_RADIX_TREE_MODEL_H
#define QED_TESTS_RADIX_TREE_MODEL_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/radix_tree.h"
#include "platform/os_fake.h"

#define ZONE_PAGES 48U
#define ZONES 6U
#define WINDOWS 8U                      /* that a zone touches */

static const uint64_t zone_page[ZONES] = {
    0,                                              /* the first pages there are */
    RADIX_WINDOW_PAGES - ZONE_PAGES / 2,            /* across a border */
    2 * RADIX_WINDOW_PAGES - 1,                     /* the last page of a window, and the next window */
    3 * RADIX_WINDOW_PAGES,                         /* the first page of a window */
    PAGE_COUNT_MAX / 2 + 12345,                     /* the middle of one */
    PAGE_COUNT_MAX - ZONE_PAGES,                    /* the last pages there are */
};
static const uint64_t zone_window[WINDOWS] = {
    0, 1, 2, 3, (PAGE_COUNT_MAX / 2 + 12345) / RADIX_WINDOW_PAGES, RADIX_ROOTS - 1, 4, 7, /* the last two stay empty */
};

static uint64_t           model_tag[ZONES][ZONE_PAGES];
static uint32_t           model_extent[ZONES][ZONE_PAGES];
static struct radix_leaf *model_leaf[RADIX_ROOTS];
static bool               model_open[ZONES][ZONE_PAGES];        /* whether the page's entries may be written */
static uint64_t           model_checks;

#define MODEL_CHECK(c) (model_checks++, (c) ? (void)0 : model_fail(#c, __LINE__))

static inline void model_fail(const char *what, int line)
{
    printf("radix_tree model line %d: not so: %s\n", line, what);
    fflush(stdout);
    abort();
}

static inline void model_reset(void)                /* the tree as static memory is at the start */
{
    for (uint32_t i = 0; i < WINDOWS; i++) {
        radix_root[zone_window[i]] = NULL;
    }
    memset(model_tag, 0, sizeof model_tag);
    memset(model_extent, 0, sizeof model_extent);
    memset(model_leaf, 0, sizeof model_leaf);
    memset(model_open, 0, sizeof model_open);
    os_fake_rewind();
    radix_tree_boot();
}

/* The pages a zone's operation works on: all inside the zone. */
static inline uint64_t model_clip(uint32_t *i, uint32_t *n)
{
    *i %= ZONE_PAGES;
    *n = 1 + *n % (ZONE_PAGES - *i);
    return *i;
}

static inline bool model_reserved(uint32_t zone, uint32_t i, uint32_t n)
{
    for (uint32_t k = i; k < i + n; k++) {
        if (!model_open[zone][k]) {
            return false;
        }
    }
    return true;
}

static inline void model_compare(void)
{
    for (uint32_t k = 0; k < WINDOWS; k++) {
        uint64_t h = zone_window[k];
        MODEL_CHECK(radix_tree_leaf(h) == model_leaf[h]);
    }
    for (uint32_t z = 0; z < ZONES; z++) {
        for (uint32_t i = 0; i < ZONE_PAGES; i++) {
            uint64_t page = zone_page[z] + i;
            struct radix_leaf *leaf = model_leaf[page / RADIX_WINDOW_PAGES];
            MODEL_CHECK(radix_tree_tag(page) == model_tag[z][i]);
            MODEL_CHECK(radix_tree_extent(page) == model_extent[z][i]);
            if (leaf != NULL) {
                MODEL_CHECK(radix_leaf_high(leaf, page % RADIX_WINDOW_PAGES) == model_tag[z][i] >> 32);
                MODEL_CHECK(radix_leaf_low(leaf, page % RADIX_WINDOW_PAGES) == (uint32_t)model_tag[z][i]);
            }
        }
    }
}

/* fails: from the how-maniest call of the OS on there is no memory, 0 for never. A window takes one call for its leaf, if it has none, and two
 * to open its entries. */
static inline bool model_reserve(uint32_t zone, uint32_t i, uint32_t n, uint32_t fails)
{
    uint64_t first = zone_page[zone] + model_clip(&i, &n), last = first + n - 1, calls = os_fake.calls[OS_FAKE_METADATA];
    uint64_t needs = 0;
    os_fake_fail(OS_FAKE_METADATA, fails, fails == 0 ? 0 : 1000);
    bool ok = radix_tree_reserve(first, n);
    os_fake_fail(OS_FAKE_METADATA, 1, 0);
    for (uint64_t h = first / RADIX_WINDOW_PAGES; h <= last / RADIX_WINDOW_PAGES; h++) {
        if (model_leaf[h] == NULL) {
            needs++;
            MODEL_CHECK((radix_root[h] != NULL) == (fails == 0 || needs < fails));
            model_leaf[h] = radix_root[h];
        }
        needs += 2;
        for (uint32_t k = i; k < i + n; k++) {
            bool here = (zone_page[zone] + k) / RADIX_WINDOW_PAGES == h;
            model_open[zone][k] = model_open[zone][k] || (here && (fails == 0 || needs < fails));
        }
    }
    MODEL_CHECK(ok == (fails == 0 || fails > needs));
    MODEL_CHECK(os_fake.calls[OS_FAKE_METADATA] - calls == (ok ? needs : fails));
    return ok;
}

/* The contracts ask for a high half of 16 bits and ids of 31. */
#define MODEL_WORDS (1UL << 48)
#define MODEL_IDS (1U << 31)

static inline void model_set_tag(uint32_t zone, uint32_t i, uint64_t w)
{
    i %= ZONE_PAGES;
    w %= MODEL_WORDS;
    if (model_reserved(zone, i, 1)) {
        radix_tree_set_tag(zone_page[zone] + i, w);
        model_tag[zone][i] = w;
    }
}

static inline void model_set_extent(uint32_t zone, uint32_t i, uint32_t e)
{
    i %= ZONE_PAGES;
    e %= MODEL_IDS;
    if (model_reserved(zone, i, 1)) {
        radix_tree_set_extent(zone_page[zone] + i, e);
        model_extent[zone][i] = e;
    }
}

static inline void model_set_tags(uint32_t zone, uint32_t i, uint32_t n, uint64_t w)
{
    uint64_t first = zone_page[zone] + model_clip(&i, &n);
    w %= MODEL_WORDS;
    if (model_reserved(zone, i, n)) {
        radix_tree_set_tags(first, n, w);
        for (uint32_t k = i; k < i + n; k++) {
            model_tag[zone][k] = w;
        }
    }
}

#endif
