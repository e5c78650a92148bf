/* bitmap_fuzz: the world is the flat bitmap and the tree, side by side with the obvious model. The first byte of the
 * input chooses their size. Each step is an operation and an index. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../tests/bitmap_model.h"
#include "ds/bitmap.h"
#include "ds/bitmap_tree.h"

#define REQUIRE(condition)                                                                   \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            fprintf(stderr, "bitmap_fuzz: %s fails, %u indices\n", #condition, model.nbits); \
            abort();                                                                         \
        }                                                                                    \
    } while (0)

/* The world. */
static struct bitmap_model model;
static uint32_t leaves;
static uint64_t flat[BITMAP_WORDS(MODEL_BITS_MAX)];
static uint64_t tree[BITMAP_TREE_WORDS(BITMAP_TREE_LEAVES_MAX)];

static void start(uint32_t n)
{
    leaves = n;
    model_init(&model, 64 * n);
    memset(flat, 0, sizeof flat);
    memset(tree, 0, sizeof tree);
}

static void change(uint32_t i, bool in)
{
    if (in) {
        bitmap_set(flat, i);
        bitmap_tree_set(tree, leaves, i);
    } else {
        bitmap_unset(flat, i);
        bitmap_tree_unset(tree, leaves, i);
    }
    model.has[i] = in;
}

static void find(uint32_t from)
{
    REQUIRE(bitmap_tree_first_from(tree, leaves, from) == model_first_from(&model, from));
}

/* The whole word of index i: the top word changes only when a leaf is no longer empty, or runs empty. */
static void change_word(uint32_t i, bool in)
{
    for (uint32_t j = i - i % 64; j < i - i % 64 + 64; j++) {
        change(j, in);
    }
}

static void step(uint8_t op, uint32_t i)
{
    switch (op % 6) {
    case 0: change(i, true); break;
    case 1: change(i, false); break;
    case 2: find(i); break;
    case 3: change_word(i, false); break;
    case 4: change_word(i, op / 6 % 2 != 0); break;
    default: find(i); change(i, !model.has[i]); find(i); break;
    }
}

static void check(void)
{
    REQUIRE(model_agrees(&model, flat));
    REQUIRE(memcmp(flat, tree, leaves * sizeof(flat[0])) == 0);
    find(0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) {
        return 0;
    }
    start(1 + data[0] % BITMAP_TREE_LEAVES_MAX);
    for (size_t at = 1; at + 3 <= size && at < 4096; at += 3) {
        step(data[at], (data[at + 1] + 256U * data[at + 2]) % model.nbits);
        check();
    }
    return 0;
}
