/* size_class_model: makes the classes one after the other, as the recipe says, and searches through that list. */
#ifndef QED_TESTS_SIZE_CLASS_MODEL_H
#define QED_TESTS_SIZE_CLASS_MODEL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "math/size_class.h"

static uint64_t model_bytes[SC_NSIZES];
static uint64_t model_npages[SC_NPSIZES];
static uint32_t model_nsizes, model_npsizes, model_nbins;

#define MODEL_CHECK(c) ((c) ? (void)model_checks++ : model_fail(#c, __LINE__))

static uint64_t model_checks;

static void model_fail(const char *what, int line)
{
    fprintf(stderr, "line %d: %s\n", line, what);
    abort();
}

static void model_add(uint64_t bytes)
{
    if (bytes < 1UL << 63) {                                    /* a larger one is more than PTRDIFF_MAX */
        MODEL_CHECK(model_nsizes < SC_NSIZES);
        model_bytes[model_nsizes++] = bytes;
        model_nbins += bytes < PAGE * SC_NGROUP;
        if (bytes % PAGE == 0) {
            MODEL_CHECK(model_npsizes < SC_NPSIZES);
            model_npages[model_npsizes++] = bytes / PAGE;
        }
    }
}

static void model_boot(void)
{
    model_nsizes = model_npsizes = model_nbins = 0;
    for (uint64_t bytes = SC_TINY; bytes < SC_QUANTUM; bytes *= 2) {
        model_add(bytes);
    }
    for (uint64_t n = 1; n <= SC_NGROUP; n++) {
        model_add(n * SC_QUANTUM);
    }
    for (uint64_t base = SC_NGROUP * SC_QUANTUM; base <= 1UL << 62; base *= 2) {
        for (uint64_t n = 1; n <= SC_NGROUP; n++) {
            model_add(base + n * (base / SC_NGROUP));
        }
    }
    size_class_boot();
}

/* First entry of at least x, the length if there is none. */
static uint32_t model_search(const uint64_t *list, uint32_t length, uint64_t x)
{
    uint32_t i = 0;
    while (i < length && list[i] < x) {
        i++;
    }
    return i;
}

static inline void model_compare_size(uint64_t bytes)
{
    uint32_t least = model_search(model_bytes, SC_NSIZES, bytes);
    MODEL_CHECK(size_class_index(bytes) == least);
    if (bytes <= SC_LOOKUP_MAX) {
        MODEL_CHECK(size_class_lookup(bytes) == least);
    }
}

static inline void model_compare_pages(uint64_t npages)
{
    uint32_t least = model_search(model_npages, SC_NPSIZES, npages);
    uint32_t floor = least < SC_NPSIZES && model_npages[least] == npages ? least : least - 1;
    MODEL_CHECK(size_class_page_index(npages) == floor);
}

#endif
