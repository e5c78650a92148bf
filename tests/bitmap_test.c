/* bitmap_test: compares the bitmap with the obvious model. For every number of words each index is put in and taken
 * out twice; random runs follow. */
#include <stdio.h>
#include <stdlib.h>

#include "bitmap_model.h"
#include "ds/bitmap.h"

#define SEED 20240229UL
#define GUARD 0x5aa5c33c0ff0aa55UL

static struct bitmap_model model;
static uint64_t words[BITMAP_WORDS(MODEL_BITS_MAX) + 1];
static unsigned long checks;
static uint64_t state = SEED;

#define CHECK(condition)                                                                              \
    do {                                                                                              \
        checks++;                                                                                     \
        if (!(condition)) {                                                                           \
            printf("bitmap: %s fails at %u indices (line %d)\n", #condition, model.nbits, __LINE__);  \
            exit(1);                                                                                  \
        }                                                                                             \
    } while (0)

static uint32_t pick(uint32_t below)
{
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (uint32_t)((state >> 33) % below);
}

static void step(uint32_t i, bool in)
{
    if (in) {
        bitmap_set(words, i);
    } else {
        bitmap_unset(words, i);
    }
    model.has[i] = in;
    CHECK(model_agrees(&model, words));
    CHECK(words[model.nbits / 64] == GUARD);
}

/* What is in already is put in, what is out is taken out, as well as the other way round. */
static void run(uint32_t n)
{
    model_init(&model, 64 * n);
    memset(words, 0, sizeof words);
    words[n] = GUARD;
    for (uint32_t i = 0; i < 64 * n; i++) {
        step(i, false);
        step(i, true);
        step(i, true);
    }
    for (uint32_t s = 0; s < 1000; s++) {
        step(pick(64 * n), pick(2) != 0);
    }
    for (uint32_t i = 0; i < 64 * n; i++) {
        step(i, false);
    }
}

int main(void)
{
    for (uint32_t n = 1; n <= 10; n++) {
        run(n);
    }
    printf("ok bitmap: %lu checks (seed %lu)\n", checks, SEED);
    return 0;
}
