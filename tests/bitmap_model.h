/* bitmap_model: the obvious set of indices, with one bool for each index. A loop answers every question. */
#ifndef QED_TESTS_BITMAP_MODEL_H
#define QED_TESTS_BITMAP_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MODEL_BITS_MAX 32768U

struct bitmap_model {
    uint32_t nbits;
    bool has[MODEL_BITS_MAX];
};

static inline void model_init(struct bitmap_model *m, uint32_t nbits)
{
    m->nbits = nbits;
    memset(m->has, false, nbits);
}

static inline uint32_t model_first_from(const struct bitmap_model *m, uint32_t from)
{
    while (from < m->nbits && !m->has[from]) {
        from++;
    }
    return from;
}

/* The words say what the model says. */
static inline bool model_agrees(const struct bitmap_model *m, const uint64_t *words)
{
    for (uint32_t i = 0; i < m->nbits; i++) {
        if (((words[i / 64] >> i % 64 & 1) != 0) != m->has[i]) {
            return false;
        }
    }
    return true;
}

#endif
