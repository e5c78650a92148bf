/* rb_tree_model: the obvious slow ordered sets: an array that says for each node which tree it is in, with which key. After each
 * operation the model asks every question for keys in and between those that there are, and walks every tree along its links: parents,
 * order, colours, black heights, height. The unit test and the fuzzer do every operation through it; it stops at the first difference.
 */
#ifndef QED_TESTS_RB_TREE_MODEL_H
#define QED_TESTS_RB_TREE_MODEL_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/rb_tree.h"

#define NODES 48U
#define TREES 3U

static const uint32_t model_tree[TREES] = {1, TABLE_FIRST, TABLE_FEW_MAX - 1};

static uint32_t model_in[NODES];                        /* 0: in no tree */
static uint64_t model_key[NODES];
static uint64_t model_checks;

#define MODEL_CHECK(c) (model_checks++, (c) ? (void)0 : model_fail(#c, __LINE__))

static inline void model_fail(const char *what, int line)
{
    printf("rb_tree model line %d: not so: %s\n", line, what);
    fflush(stdout);
    abort();
}

/* Ids: the first there are, those around the border of two chunks of the table, the last there are. */
static inline uint32_t model_id(uint32_t i)
{
    return i < NODES / 3 ? 1 + i
         : i < NODES / 3 * 2 ? (uint32_t)TABLE_FIRST - NODES / 2 + i
         : (uint32_t)TABLE_FEW_MAX - NODES + i;
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

static inline void model_reset(void)                    /* trees as static memory is at the start */
{
    for (uint32_t i = 0; i < NODES; i++) {
        MODEL_CHECK(rb_tree_grow_node(model_id(i)));
    }
    for (uint32_t k = 0; k < TREES; k++) {
        MODEL_CHECK(rb_tree_grow(model_tree[k]));
        AT(rb_root, model_tree[k]) = 0;
    }
    memset(model_in, 0, sizeof model_in);
    rb_tree_boot();
}

/* The nearest node on that side of the key, the key itself included if `at`; 0 if there is none. */
static inline uint32_t model_near(uint32_t t, uint64_t key, bool above, bool at)
{
    uint32_t best = NODES;
    for (uint32_t i = 0; i < NODES; i++) {
        if (model_in[i] == t && ((at && model_key[i] == key) || (above ? model_key[i] > key : model_key[i] < key)) &&
            (best == NODES || (above ? model_key[i] < model_key[best] : model_key[i] > model_key[best]))) {
            best = i;
        }
    }
    return best == NODES ? 0 : model_id(best);
}

struct model_walk {
    uint32_t count, height, black;
};

/* The nodes of the tree x, which is below parent. */
static inline struct model_walk model_walk(uint32_t x, uint32_t parent, uint32_t t)
{
    if (x == 0) {
        return (struct model_walk){0, 0, 0};
    }
    uint32_t i = model_index(x), l = AT(rb_left, x), r = AT(rb_right, x);
    MODEL_CHECK(model_in[i] == t);
    MODEL_CHECK(AT(rb_key, x) == model_key[i]);
    MODEL_CHECK(AT(rb_parent, x) == parent);
    MODEL_CHECK(AT(rb_red, x) <= 1);
    MODEL_CHECK(!(AT(rb_red, x) != 0 && parent == 0));
    MODEL_CHECK(!(AT(rb_red, x) != 0 && AT(rb_red, parent) != 0));
    MODEL_CHECK(l == 0 || model_key[model_index(l)] < model_key[i]);
    MODEL_CHECK(r == 0 || model_key[model_index(r)] > model_key[i]);
    struct model_walk left = model_walk(l, x, t), right = model_walk(r, x, t);
    MODEL_CHECK(left.black == right.black);
    uint32_t height = left.height > right.height ? left.height : right.height;
    return (struct model_walk){left.count + right.count + 1, height + 1, left.black + (AT(rb_red, x) == 0)};
}

static inline void model_ask(uint32_t t, uint64_t key)
{
    uint32_t up = model_near(t, key, true, true), down = model_near(t, key, false, true);
    MODEL_CHECK(rb_tree_nsearch(t, key) == up);
    MODEL_CHECK(rb_tree_psearch(t, key) == down);
    MODEL_CHECK(rb_tree_search(t, key) == (up == down ? up : 0));
}

static inline void model_compare(void)
{
    for (uint32_t k = 0; k < TREES; k++) {
        uint32_t t = model_tree[k], count = 0;
        for (uint32_t i = 0; i < NODES; i++) {
            if (model_in[i] == t) {
                count++;
                MODEL_CHECK(rb_tree_next(model_id(i)) == model_near(t, model_key[i], true, false));
                MODEL_CHECK(rb_tree_previous(model_id(i)) == model_near(t, model_key[i], false, false));
                model_ask(t, model_key[i]);
                model_ask(t, model_key[i] - 1);
                model_ask(t, model_key[i] + 1);
            }
        }
        struct model_walk all = model_walk(AT(rb_root, t), 0, t);
        MODEL_CHECK(all.count == count);
        MODEL_CHECK(((uint64_t)count + 1) * (count + 1) >= 1UL << all.height);      /* height <= 2 lg(n + 1) */
        MODEL_CHECK(rb_tree_first(t) == model_near(t, 0, true, true));
        MODEL_CHECK(rb_tree_last(t) == model_near(t, UINT64_MAX, false, true));
        uint32_t walked = 0;
        for (uint32_t x = rb_tree_first(t); x != 0; x = rb_tree_next(x)) {
            MODEL_CHECK(++walked <= count);
        }
        MODEL_CHECK(walked == count);
    }
}

/* Node i leaves its tree, or enters the kth tree with that key if it is in none and no node of the tree has that key. */
static inline void model_toggle(uint32_t i, uint32_t k, uint64_t key)
{
    uint32_t t = model_tree[k], x = model_id(i);
    if (model_in[i] != 0) {
        rb_tree_remove(model_in[i], x);
        model_in[i] = 0;
        return;
    }
    uint32_t up = model_near(t, key, true, true), down = model_near(t, key, false, true);
    uint32_t had = up == down ? up : 0;
    MODEL_CHECK(rb_tree_insert(t, x, key) == (had != 0 ? had : x));
    if (had == 0) {
        model_in[i] = t;
        model_key[i] = key;
    }
}

#endif
