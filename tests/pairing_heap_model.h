/* pairing_heap_model: the obvious slow heaps: an array that says for each node which heap it is in, with which key. After
 * each operation the model looks for every least node one by one, walks every tree along its links, and checks that the
 * links of nodes of other heaps are as before. The unit test and the fuzzer do every operation through it; it stops at
 * the first difference.
 */
#ifndef QED_TESTS_PAIRING_HEAP_MODEL_H
#define QED_TESTS_PAIRING_HEAP_MODEL_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/pairing_heap.h"

#define NODES 24U
#define HEAPS 3U

static const uint32_t model_heap[HEAPS] = {1, 2, PAIRING_HEAP_COUNT_MAX - 1};

struct model_links {
    uint32_t next, prev, child;
};

static uint32_t           model_in[NODES];              /* 0: in no heap */
static uint64_t           model_key[NODES];
static struct model_links model_before[NODES];
static uint64_t           model_checks;

#define MODEL_CHECK(c) (model_checks++, (c) ? (void)0 : model_fail(#c, __LINE__))

static inline void model_fail(const char *what, int line)
{
    printf("pairing_heap model line %d: not so: %s\n", line, what);
    fflush(stdout);
    abort();
}

/* Ids in rising order: the first there are, those around the border of two chunks of the table, the last there are. */
static inline uint32_t model_id(uint32_t i)
{
    return i < NODES / 3 ? 1 + i
         : i < NODES / 3 * 2 ? (uint32_t)TABLE_FIRST - NODES / 2 + i
         : (uint32_t)TABLE_MAX - NODES + i;
}

static inline uint32_t model_index(uint32_t id)
{
    for (uint32_t i = 0; i < NODES; i++) {
        if (model_id(i) == id) {
            return i;
        }
    }
    model_fail("a link leads to a node", __LINE__);
    return 0;
}

static inline struct model_links model_links_of(uint32_t i)
{
    uint32_t x = model_id(i);
    return (struct model_links){AT(ph_next, x), AT(ph_prev, x), AT(ph_child, x)};
}

static inline bool model_less(uint32_t i, uint32_t j)
{
    return model_key[i] < model_key[j] || (model_key[i] == model_key[j] && model_id(i) < model_id(j));
}

static inline void model_reset(void)                    /* heaps as static memory is at the start */
{
    for (uint32_t i = 0; i < NODES; i++) {
        MODEL_CHECK(pairing_heap_grow(model_id(i)));
    }
    memset(ph_root, 0, sizeof ph_root);
    memset(model_in, 0, sizeof model_in);
    pairing_heap_boot();
}

/* The nodes below node i, itself included. Every child list is well linked, and parents are less than children. */
static inline uint32_t model_walk(uint32_t i, uint32_t heap)
{
    uint32_t x = model_id(i), back = x, count = 1;
    MODEL_CHECK(model_in[i] == heap);
    MODEL_CHECK(AT(ph_key, x) == model_key[i]);
    for (uint32_t c = AT(ph_child, x); c != 0; c = AT(ph_next, c)) {
        MODEL_CHECK(AT(ph_prev, c) == back);
        MODEL_CHECK(model_less(i, model_index(c)));
        count += model_walk(model_index(c), heap);      /* ends: each level is greater than the one above */
        MODEL_CHECK(count <= NODES);
        back = c;
    }
    return count;
}

static inline void model_compare(void)
{
    for (uint32_t k = 0; k < HEAPS; k++) {
        uint32_t least = NODES, count = 0, heap = model_heap[k];
        for (uint32_t i = 0; i < NODES; i++) {
            if (model_in[i] == heap) {
                count++;
                least = least == NODES || model_less(i, least) ? i : least;
            }
        }
        uint32_t first = pairing_heap_first(heap);
        MODEL_CHECK(first == (least == NODES ? 0 : model_id(least)));
        MODEL_CHECK(count == (first == 0 ? 0 : model_walk(least, heap)));
    }
}

static inline void model_remember(void)
{
    for (uint32_t i = 0; i < NODES; i++) {
        model_before[i] = model_links_of(i);
    }
}

static inline void model_check_others(uint32_t heap, uint32_t x)
{
    for (uint32_t i = 0; i < NODES; i++) {
        if (i != x && model_in[i] != heap) {
            struct model_links now = model_links_of(i);
            MODEL_CHECK(memcmp(&now, &model_before[i], sizeof now) == 0);
        }
    }
}

/* Node i leaves its heap, or enters the kth heap with that key if it is in none. */
static inline void model_toggle(uint32_t i, uint32_t k, uint64_t key)
{
    uint32_t heap = model_in[i] != 0 ? model_in[i] : model_heap[k];
    model_remember();
    if (model_in[i] != 0) {
        pairing_heap_remove(heap, model_id(i));
        model_in[i] = 0;
    } else {
        pairing_heap_insert(heap, model_id(i), key);
        model_in[i] = heap;
        model_key[i] = key;
    }
    model_check_others(heap, i);
}

/* Takes the least node of the kth heap out; false: there is none. */
static inline bool model_pop(uint32_t k)
{
    uint32_t x = pairing_heap_first(model_heap[k]);
    if (x != 0) {
        model_toggle(model_index(x), k, 0);
    }
    return x != 0;
}

#endif
