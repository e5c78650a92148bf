/* bitmap_tree_test: compares the tree with the obvious model, for trees with few and with many leaves. It does each
 * operation at every index, and checks the invariant bit by bit. */
#include <stdio.h>
#include <stdlib.h>

#include "bitmap_model.h"
#include "ds/bitmap_tree.h"

#define SEED 20240229UL
#define GUARD 0x5aa5c33c0ff0aa55UL

static struct bitmap_model model;
static uint64_t words[BITMAP_TREE_WORDS(BITMAP_TREE_LEAVES_MAX) + 1];
static uint32_t leaves;
static unsigned long checks;
static uint64_t state = SEED;

#define CHECK(condition)                                                                       \
    do {                                                                                       \
        checks++;                                                                              \
        if (!(condition)) {                                                                    \
            printf("bitmap_tree: %s fails at %u leaves (line %d)\n", #condition, leaves, __LINE__);  \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

static uint32_t pick(uint32_t below)
{
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (uint32_t)((state >> 33) % below);
}

/* The leaves say what the model says, the top words what the leaves say, and nothing past the end was touched. */
static void check_all(void)
{
    CHECK(model_agrees(&model, words));
    for (uint32_t k = 0; k < 64 * BITMAP_TREE_TOPS(leaves); k++) {
        CHECK((words[leaves + k / 64] >> k % 64 & 1) == (k < leaves && words[k] != 0));
    }
    CHECK(words[BITMAP_TREE_WORDS(leaves)] == GUARD);
}

static void start(uint32_t n)
{
    leaves = n;
    model_init(&model, 64 * n);
    memset(words, 0, sizeof words);
    words[BITMAP_TREE_WORDS(n)] = GUARD;
}

static void step(uint32_t i, bool in)
{
    if (in) {
        bitmap_tree_set(words, leaves, i);
    } else {
        bitmap_tree_unset(words, leaves, i);
    }
    model.has[i] = in;
}

static void find(uint32_t from)
{
    CHECK(bitmap_tree_first_from(words, leaves, from) == model_first_from(&model, from));
}

/* Every index alone, found from each end of each word, or some of a large tree; then few and many at random. */
static void run(uint32_t n)
{
    start(n);
    check_all();
    for (uint32_t i = 0; i < 64 * n; i += n < 64 ? 1 : 1009) {
        step(i, true);
        step(i, true);
        check_all();
        for (uint32_t k = 0; k < n; k += n < 64 ? 1 : 7) {
            find(64 * k);
            find(64 * k + 63);
        }
        find(i);
        step(i, false);
        step(i, false);
        find(i);
    }
    check_all();
    for (uint32_t s = 0; s < 4000; s++) {
        step(pick(64 * n), s % 2000 < 1000 ? pick(4) != 0 : pick(4) == 0);
        find(pick(64 * n));
        find(0);
    }
    check_all();
    for (uint32_t i = 0; i < 64 * n; i++) {
        step(i, false);
        find(0);
    }
    check_all();
}

int main(void)
{
    static const uint32_t sizes[] = {1, 2, 3, 9, 10, 11, 31, 32, 33, 62, 63, 64, 65, 127, 128, 300, BITMAP_TREE_LEAVES_MAX};
    for (uint32_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        run(sizes[s]);
    }
    printf("ok bitmap_tree: %lu checks (seed %lu)\n", checks, SEED);
    return 0;
}
