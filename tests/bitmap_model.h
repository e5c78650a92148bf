/* The obvious bitmap: one bool per index, true if free; every question answered by a loop. */
#ifndef QED_TESTS_BITMAP_MODEL_H
#define QED_TESTS_BITMAP_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MODEL_BITS_MAX 262144U

struct bitmap_model {
    uint32_t nbits;
    uint32_t free_count;
    bool free[MODEL_BITS_MAX];
};

static inline void model_init(struct bitmap_model *m, uint32_t nbits)
{
    m->nbits = nbits;
    m->free_count = nbits;
    memset(m->free, true, nbits);
}

static inline uint32_t model_ffu(const struct bitmap_model *m, uint32_t from)
{
    while (from < m->nbits && !m->free[from]) {
        from++;
    }
    return from;
}

static inline void model_change(struct bitmap_model *m, uint32_t i, bool is_free)
{
    m->free_count += is_free;
    m->free_count -= m->free[i];
    m->free[i] = is_free;
}

/* Set bits of an array of words. */
static inline uint32_t model_count(const uint64_t *words, uint32_t nwords)
{
    uint32_t count = 0;
    for (uint32_t w = 0; w < nwords; w++) {
        count += (uint32_t)__builtin_popcountl(words[w]);
    }
    return count;
}

#endif
