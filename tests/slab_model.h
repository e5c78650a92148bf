/* slab_model: keeps slabs as lists of truth values. Every call is compared with slab.c. A difference prints the call
 * and aborts. */
#ifndef QED_TESTS_SLAB_MODEL_H
#define QED_TESTS_SLAB_MODEL_H

#include <stdio.h>
#include <stdlib.h>

#include "blocks/slab.h"

#define SLAB_MODEL_COUNT 4U
#define SLAB_MODEL_BASE (1UL << 40)

struct slab_model {
    uint32_t id;
    uint32_t szind;
    uint32_t regions;
    bool     free[SLAB_REGIONS_MAX];
};

/* The last entry of a chunk and the first of the next are neighbours. */
static struct slab_model slab_model[SLAB_MODEL_COUNT] = {
    {.id = 1}, {.id = 2}, {.id = TABLE_FIRST - 1}, {.id = TABLE_FIRST}};
static uint64_t slab_model_checks;

static void slab_model_expect(bool ok, const char *call, const struct slab_model *m, uint64_t a, uint64_t b)
{
    slab_model_checks++;
    if (!ok) {
        printf("FAIL slab %u, class %u: %s: %lu, expected %lu\n", m->id, m->szind, call, a, b);
        fflush(stdout);
        abort();
    }
}

static uint32_t slab_model_count(const struct slab_model *m)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < m->regions; r++) {
        n += m->free[r];
    }
    return n;
}

/* All bits, those behind the last region too, and the counts, of all slabs: a call may touch no other slab. */
static void slab_model_compare(void)
{
    for (uint32_t i = 0; i < SLAB_MODEL_COUNT; i++) {
        const struct slab_model *m = &slab_model[i];
        for (uint32_t r = 0; r < SLAB_REGIONS_MAX; r++) {
            bool bit = (AT(slab_bits, m->id).w[r / 64] >> (r % 64)) & 1;
            slab_model_expect(bit == (r < m->regions && m->free[r]), "free bit of region", m, r, r);
        }
        slab_model_expect(AT(slab_free_count, m->id) == slab_model_count(m), "count", m, AT(slab_free_count, m->id),
                          slab_model_count(m));
        slab_model_expect(AT(slab_class, m->id) == m->szind, "class", m, AT(slab_class, m->id), m->szind);
    }
}

static void slab_model_init(struct slab_model *m, uint32_t szind)
{
    slab_init(m->id, szind);
    m->szind = szind;
    m->regions = slab_regions[szind];
    for (uint32_t r = 0; r < SLAB_REGIONS_MAX; r++) {
        m->free[r] = r < m->regions;
    }
}

static void slab_model_boot(void)
{
    slab_boot();
    for (uint32_t i = 0; i < SLAB_MODEL_COUNT; i++) {
        slab_model_expect(slab_grow(slab_model[i].id), "slab_grow", &slab_model[i], 0, 1);
        slab_model_init(&slab_model[i], i);
    }
    slab_model_compare();
}

static uint32_t slab_model_lowest(struct slab_model *m)
{
    uint32_t r = 0;
    while (!m->free[r]) {
        r++;
    }
    m->free[r] = false;
    return r;
}

static void slab_model_take_batch(struct slab_model *m, uint32_t n)
{
    static uint64_t out[2 * SLAB_REGIONS_MAX + 2];
    uint64_t        base = SLAB_MODEL_BASE + m->id * (uint64_t)SLAB_BYTES_MAX;
    uint32_t        count = slab_model_count(m);
    uint32_t        expected = n < count ? n : count;
    out[0] = 0xA5A5;
    out[n + 1] = 0x5A5A;
    uint32_t k = slab_take_batch(m->id, base, out + 1, n);
    slab_model_expect(k == expected, "slab_take_batch", m, k, expected);
    for (uint32_t s = k; s > 0; s--) {
        uint64_t address = base + slab_model_lowest(m) * size_class_bytes(m->szind);
        slab_model_expect(out[s] == address, "batch slot", m, out[s], address);
    }
    slab_model_expect(out[0] == 0xA5A5 && out[n + 1] == 0x5A5A, "batch wrote outside", m, n, n);
}

/* Sets the region's bit, as bin_give.h does for all of a word at once. */
static void slab_model_give(struct slab_model *m, uint32_t region)
{
    if (region < m->regions && !m->free[region]) {
        slab_set_word(m->id, region / 64, bitmap_word_set(AT(slab_bits, m->id).w[region / 64], region % 64));
        AT(slab_free_count, m->id) += 1;
        m->free[region] = true;
    }
}

static void slab_model_region_of(const struct slab_model *m, uint64_t off)
{
    uint64_t bytes = size_class_bytes(m->szind);
    uint32_t region = (uint32_t)(off / bytes);
    uint64_t address = slab_place(SLAB_MODEL_BASE, slab_bytes[m->szind], region);
    slab_model_expect(address == SLAB_MODEL_BASE + off - off % bytes, "slab_place", m, address, off);
}

#endif
