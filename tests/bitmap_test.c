/* bitmap against the obvious model: every operation at every size, every bit, and the invariant word by word. */
#include <stdio.h>
#include <stdlib.h>

#include "bitmap_model.h"
#include "ds/bitmap.h"

#define SEED 20240229UL
#define GUARD 0x5aa5c33c0ff0aa55UL

static struct bitmap_model model;
static uint64_t memory[BITMAP_WORDS(MODEL_BITS_MAX) + 1];
static uint64_t *const words = memory;
static unsigned long checks;
static uint64_t state = SEED;

#define CHECK(condition)                                                                               \
    do {                                                                                               \
        checks++;                                                                                      \
        if (!(condition)) {                                                                            \
            printf("bitmap: %s fails at %u indices (line %d)\n", #condition, model.nbits, __LINE__);  \
            exit(1);                                                                                   \
        }                                                                                              \
    } while (0)

static uint32_t pick(uint32_t below)
{
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (uint32_t)((state >> 33) % below);
}

/* The words say what the model says, and nothing past the end was touched. */
static void check_all(void)
{
    uint32_t n = BITMAP_WORDS(model.nbits);
    for (uint32_t i = 0; i < 64 * n; i++) {
        bool is_free = ((words[i / 64] >> i % 64) & 1) != 0;
        CHECK(is_free == (i < model.nbits && model.free[i]));
    }
    CHECK(model_count(words, n) == model.free_count);
    CHECK(bitmap_full(words, model.nbits) == (model.free_count == 0));
    CHECK(words[n] == GUARD);
}

static void start(uint32_t nbits)
{
    model_init(&model, nbits);
    words[BITMAP_WORDS(nbits)] = GUARD;
    bitmap_init(words, nbits);
}

/* No index below from is free: the model need not look there. */
static uint32_t step_sfu(uint32_t from)
{
    uint32_t i = model_ffu(&model, from);
    CHECK(bitmap_sfu(words, model.nbits) == i);
    if (i < model.nbits) {
        model_change(&model, i, false);
    }
    return i;
}

static void step_flip(uint32_t i)
{
    CHECK(bitmap_get(words, i) == !model.free[i]);
    if (model.free[i]) {
        bitmap_set(words, model.nbits, i);
    } else {
        bitmap_unset(words, model.nbits, i);
    }
    model_change(&model, i, !model.free[i]);
}

static void step_ffu(uint32_t from)
{
    CHECK(bitmap_ffu(words, model.nbits, from) == model_ffu(&model, from));
}

/* Takes all but a few indices, gives a few back at the edges of words, and takes the rest. */
static void run(uint32_t nbits, uint32_t steps)
{
    static const uint32_t edges[] = {0, 1, 62, 63, 64, 65, 127, 128, 4094, 4095, 4096, 4097, 8191, 8192};
    start(nbits);
    check_all();
    for (uint32_t s = 0; s < steps; s++) {
        step_flip(pick(nbits));
        step_ffu(pick(nbits + 1));
    }
    check_all();
    for (uint32_t i = 0; i < nbits;) {
        i = step_sfu(i);
    }
    CHECK(model.free_count == 0);
    check_all();
    for (uint32_t e = 0; e < sizeof(edges) / sizeof(edges[0]); e++) {
        uint32_t places[2] = {edges[e], nbits - 1 - edges[e]};
        for (uint32_t p = 0; p < 2; p++) {
            if (places[p] < nbits) {
                step_flip(places[p]);
                CHECK(bitmap_full(words, nbits) == (model.free_count == 0));
                step_ffu(0);
                step_ffu(places[p]);
                step_ffu(places[p] + 1);
                step_ffu(nbits);
            }
        }
    }
    check_all();
    step_sfu(0);
    step_sfu(0);
    check_all();
}

int main(void)
{
    for (uint32_t nbits = 1; nbits <= 4096; nbits++) {
        run(nbits, 64);
    }
    static const uint32_t large[] = {4097, 8192, 10000};
    for (uint32_t l = 0; l < sizeof(large) / sizeof(large[0]); l++) {
        run(large[l], 1024);
    }
    printf("ok bitmap: %lu checks (seed %lu)\n", checks, SEED);
    return 0;
}
