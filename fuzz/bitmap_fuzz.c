/* bitmap_fuzz: both bitmaps side by side with the obvious model. The first bytes choose the size, then each step is an
 * operation and an index. */
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
static uint64_t flat[BITMAP_WORDS(MODEL_BITS_MAX)];
static uint64_t tree[BITMAP_TREE_WORDS(MODEL_BITS_MAX)];

static void start(uint32_t nbits)
{
    model_init(&model, nbits);
    bitmap_init(flat, nbits);
    bitmap_tree_init(tree, nbits);
}

static void flip(uint32_t i)
{
    REQUIRE(bitmap_get(flat, i) == !model.free[i]);
    REQUIRE(bitmap_tree_get(tree, i) == !model.free[i]);
    if (model.free[i]) {
        bitmap_set(flat, model.nbits, i);
        bitmap_tree_set(tree, model.nbits, i);
    } else {
        bitmap_unset(flat, model.nbits, i);
        bitmap_tree_unset(tree, model.nbits, i);
    }
    model_change(&model, i, !model.free[i]);
}

static void take_first(void)
{
    uint32_t i = model_ffu(&model, 0);
    REQUIRE(bitmap_sfu(flat, model.nbits) == i);
    REQUIRE(bitmap_tree_sfu(tree, model.nbits) == i);
    if (i < model.nbits) {
        model_change(&model, i, false);
    }
}

static void find(uint32_t from)
{
    uint32_t i = model_ffu(&model, from);
    REQUIRE(bitmap_ffu(flat, model.nbits, from) == i);
    REQUIRE(bitmap_tree_ffu(tree, model.nbits, from) == i);
}

/* Takes the whole word of index i, or a whole middle word's worth: summaries change only when words run empty. */
static void take_run(uint32_t i, uint32_t length)
{
    for (uint32_t j = i - i % length; j < i - i % length + length && j < model.nbits; j++) {
        if (model.free[j]) {
            flip(j);
        }
    }
}

static void step(uint8_t op, uint32_t argument)
{
    uint32_t i = argument % model.nbits;
    switch (op % 6) {
    case 0: flip(i); break;
    case 1: take_first(); break;
    case 2: find(argument % (model.nbits + 1)); break;
    case 3: take_run(i, 64); break;
    case 4: take_run(i, 4096); break;
    default: find(i); flip(i); find(i); break;
    }
}

static void check(void)
{
    uint32_t nw = BITMAP_WORDS(model.nbits);
    REQUIRE(model_count(flat, nw) == model.free_count);
    REQUIRE(memcmp(flat, tree, nw * sizeof(flat[0])) == 0);
    REQUIRE(bitmap_full(flat, model.nbits) == (model.free_count == 0));
    REQUIRE(bitmap_tree_full(tree, model.nbits) == (model.free_count == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3) {
        return 0;
    }
    uint32_t bits = data[0] + 256U * data[1];
    start(data[2] % 8 == 0 ? 1 + bits * 4 : 1 + bits % 16384);
    for (size_t at = 3; at + 4 <= size && at < 4096; at += 4) {
        step(data[at], data[at + 1] + 256U * data[at + 2] + 65536U * data[at + 3]);
        check();
    }
    return 0;
}
