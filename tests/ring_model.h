/* ring_model: rings as plain arrays of ids, slowly. Every call goes to both; a difference prints and aborts. */
#ifndef QED_TESTS_RING_MODEL_H
#define QED_TESTS_RING_MODEL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/ring.h"

#define RING_IDS 12U                            /* 1 .. RING_IDS - 1 */

static uint32_t ring_model_next[RING_IDS];      /* the permutation; 0: not made */
static uint64_t ring_model_checks;

static void ring_model_expect(int ok, const char *call, uint32_t a, uint32_t b)
{
    ring_model_checks++;
    if (!ok) {
        printf("FAIL ring: %s(%u, %u)\n", call, a, b);
        fflush(stdout);
        abort();
    }
}

/* A permutation is all there is: next, its inverse, and the cycle lengths. */
static void ring_model_compare(const char *call, uint32_t a, uint32_t b)
{
    for (uint32_t x = 1; x < RING_IDS; x++) {
        if (ring_model_next[x] == 0) {
            ring_model_expect(AT(ring_after, x) == 0 && AT(ring_before, x) == 0, call, a, b);
            continue;
        }
        ring_model_expect(ring_next(x) == ring_model_next[x], call, a, b);
        ring_model_expect(ring_prev(ring_model_next[x]) == x, call, a, b);
        uint32_t length = 1;
        for (uint32_t y = ring_model_next[x]; y != x; y = ring_model_next[y]) {
            length++;
        }
        ring_model_expect(ring_length(x, RING_IDS) == length, call, a, b);
        ring_model_expect(ring_length(x, length - 1) == length - 1, call, a, b);
    }
}

static void ring_model_reset(void)
{
    for (uint32_t x = 1; x < RING_IDS; x++) {
        ring_model_expect(ring_grow(x), "ring_grow", x, 0);
        AT(ring_after, x) = AT(ring_before, x) = 0;
        ring_model_next[x] = 0;
    }
}

static bool ring_model_alone(uint32_t x)
{
    return ring_model_next[x] == x;
}

static uint32_t ring_model_prev(uint32_t x)
{
    uint32_t y = x;
    while (ring_model_next[y] != x) {
        y = ring_model_next[y];
    }
    return y;
}

/* One operation, if its precondition holds: 0 new, 1 meld, 2 before_insert, 3 after_insert, 4 remove. */
static void ring_model_step(uint32_t op, uint32_t a, uint32_t x)
{
    static const char *names[] = {"ring_new", "ring_meld", "ring_before_insert", "ring_after_insert", "ring_remove"};
    bool made = ring_model_next[a] != 0, both = made && ring_model_next[x] != 0;
    bool insert = both && ring_model_alone(x) && a != x;
    if (op == 0 && (!made || ring_model_alone(a))) {
        ring_model_next[a] = a;
        ring_new(a);
    } else if (op == 1 && both) {
        uint32_t before_a = ring_model_prev(a), before_x = ring_model_prev(x);
        ring_model_next[before_a] = x;
        ring_model_next[before_x] = a;
        ring_meld(a, x);
    } else if (op == 2 && insert) {
        ring_model_next[ring_model_prev(a)] = x;
        ring_model_next[x] = a;
        ring_before_insert(a, x);
    } else if (op == 3 && insert) {
        ring_model_next[x] = ring_model_next[a];
        ring_model_next[a] = x;
        ring_after_insert(a, x);
    } else if (op == 4 && made) {
        ring_model_next[ring_model_prev(a)] = ring_model_next[a];
        ring_model_next[a] = a;
        ring_remove(a);
    }
    ring_model_compare(names[op], a, x);
}

#endif
