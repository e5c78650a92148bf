/* cuckoo_hash_model: the obvious slow map: an array that says for each id which hash table it is in, with which key. After each
 * operation the model searches every key and walks all cells. The unit test and the fuzzer do every operation through it; it stops at
 * the first difference. Keys are made of few different words, so that buckets are often full.
 */
#ifndef QED_TESTS_CUCKOO_HASH_MODEL_H
#define QED_TESTS_CUCKOO_HASH_MODEL_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/cuckoo_hash.h"

#define IDS 64U
#define MAPS 2U
#define LG_MOST 6U

static struct cuckoo_hash model_map[MAPS];
static uint32_t           model_cells[MAPS][2][CUCKOO_CELLS(LG_MOST)];      /* two sets of cells for each, one in use */
static uint32_t           model_half[MAPS];
static uint32_t           model_in[IDS];                                    /* 1 + map, 0: in none */
static uint64_t           model_a[IDS], model_b[IDS];
static uint64_t           model_checks;

#define MODEL_CHECK(c) (model_checks++, (c) ? (void)0 : model_fail(#c, __LINE__))

static inline void model_fail(const char *what, int line)
{
    printf("cuckoo_hash model line %d: not so: %s\n", line, what);
    fflush(stdout);
    abort();
}

/* Ids: the first there are, those around the border of two chunks of the table, the last there are. */
static inline uint32_t model_id(uint32_t i)
{
    return i < IDS / 2 ? 1 + i
         : i < IDS / 4 * 3 ? (uint32_t)TABLE_FIRST - IDS / 2 - IDS / 8 + i
         : (uint32_t)TABLE_FEW_MAX - IDS + i;
}

static inline void model_reset(uint32_t lg)
{
    for (uint32_t i = 0; i < IDS; i++) {
        MODEL_CHECK(cuckoo_hash_grow(model_id(i)));
    }
    memset(model_cells, 0, sizeof model_cells);
    memset(model_in, 0, sizeof model_in);
    memset(model_half, 0, sizeof model_half);
    for (uint32_t k = 0; k < MAPS; k++) {
        cuckoo_hash_init(&model_map[k], model_cells[k][0], lg);
    }
}

/* The id with that key in map k, 0 if there is none. */
static inline uint32_t model_search(uint32_t k, uint64_t a, uint64_t b)
{
    for (uint32_t i = 0; i < IDS; i++) {
        if (model_in[i] == k + 1 && model_a[i] == a && model_b[i] == b) {
            return model_id(i);
        }
    }
    return 0;
}

static inline void model_compare(void)
{
    for (uint32_t k = 0; k < MAPS; k++) {
        const struct cuckoo_hash *h = &model_map[k];
        uint32_t                  count = 0, walked = 0, x;
        for (uint32_t i = 0; i < IDS; i++) {
            MODEL_CHECK(cuckoo_hash_search(h, model_a[i], model_b[i]) == model_search(k, model_a[i], model_b[i]));
            MODEL_CHECK(cuckoo_hash_search(h, model_b[i], ~model_a[i]) == model_search(k, model_b[i], ~model_a[i]));
            count += model_in[i] == k + 1;
        }
        bool seen[IDS] = {false};
        for (uint64_t cursor = 0; (x = cuckoo_hash_next(h, &cursor)) != 0; walked++) {
            uint32_t i = 0;
            while (i < IDS && model_id(i) != x) {
                i++;
            }
            MODEL_CHECK(i < IDS && model_in[i] == k + 1 && !seen[i]);
            seen[i] = true;
        }
        MODEL_CHECK(walked == count && h->count == count);
        MODEL_CHECK(cuckoo_hash_sparse(h) == (h->lg > h->lg_least && count < CUCKOO_CELLS(h->lg) / 4));
    }
}

/* Gives map k 2^lg buckets, or says that there is no memory. */
static inline bool model_resize(uint32_t k, uint32_t lg, bool memory)
{
    struct cuckoo_hash *h = &model_map[k], was = *h;
    uint32_t           *cell = model_cells[k][1 - model_half[k]];
    memset(cell, 0, sizeof model_cells[k][0]);
    bool done = cuckoo_hash_resize(h, memory ? cell : NULL, lg);
    MODEL_CHECK(memory || !done);
    MODEL_CHECK(h->cell == (done ? cell : was.cell) && h->lg == (done ? lg : was.lg));
    MODEL_CHECK(h->ngrows == was.ngrows + (done && lg >= was.lg));
    MODEL_CHECK(h->nshrinks == was.nshrinks + (done && lg < was.lg));
    MODEL_CHECK(h->nshrinkfails == was.nshrinkfails + (!done && lg < was.lg));
    model_half[k] ^= done;
    return done;
}

/* Id i enters map k with that key, unless an id of the map has it; or leaves the map that it is in. Returns false if there was no
 * place. */
static inline bool model_toggle(uint32_t i, uint32_t k, uint64_t a, uint64_t b)
{
    if (model_in[i] != 0) {
        cuckoo_hash_remove(&model_map[model_in[i] - 1], model_id(i));
        model_in[i] = 0;
        return true;
    }
    uint32_t had = model_search(k, a, b);
    MODEL_CHECK(cuckoo_hash_search(&model_map[k], a, b) == had);
    if (had != 0) {
        return true;
    }
    uint64_t n = model_map[k].ninserts;
    bool     done = cuckoo_hash_insert(&model_map[k], model_id(i), a, b);
    MODEL_CHECK(model_map[k].ninserts == n + done);
    model_a[i] = a;
    model_b[i] = b;
    model_in[i] = done ? k + 1 : 0;
    return done;
}

/* The same, with more cells while there is no place. */
static inline bool model_insert(uint32_t i, uint32_t k, uint64_t a, uint64_t b)
{
    for (uint32_t lg = model_map[k].lg; !model_toggle(i, k, a, b);) {
        model_compare();
        if (++lg > LG_MOST) {
            return false;
        }
        model_resize(k, lg, true);
    }
    return true;
}

#endif
