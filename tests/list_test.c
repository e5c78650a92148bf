/* list_test: compares with plain arrays of ids. It does every sequence of a few operations on two lists, then long
 * random runs on all lists. */
#include <stdio.h>
#include <stdlib.h>

#include "ds/list.h"

#define IDS 40U                                 /* 1 .. IDS - 1 */

static uint64_t seed = 0x1157UL, checks;
static uint32_t member[LIST_COUNT][IDS], length[LIST_COUNT];
static uint32_t owner[IDS];                     /* 1 + list */

static uint32_t random_below(uint32_t n)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (uint32_t)(seed >> 33) % n;
}

static void expect(bool ok, const char *what, uint32_t l, uint32_t x)
{
    checks++;
    if (!ok) {
        printf("FAIL list %u: %s, id %u\n", l, what, x);
        exit(1);
    }
}

static void compare(const char *call)
{
    for (uint32_t l = 0; l < LIST_COUNT; l++) {
        uint32_t x = list_first(l);
        for (uint32_t n = length[l]; n > 0; n--, x = list_next(x)) {
            expect(x == member[l][n - 1], call, l, x);
        }
        expect(x == 0, call, l, x);
    }
}

/* Puts x into list l if it is in none; takes the first of list l out if x is in one. */
static void step(uint32_t l, uint32_t x)
{
    if (owner[x] == 0) {
        member[l][length[l]++] = x;
        owner[x] = l + 1;
        list_push(l, x);
        compare("list_push");
    } else if (length[l] > 0) {
        uint32_t last = member[l][--length[l]];
        owner[last] = 0;
        expect(list_pop(l) == last, "list_pop", l, last);
        compare("list_pop");
    }
}

static void empty(void)
{
    for (uint32_t l = 0; l < LIST_COUNT; l++) {
        while (length[l] > 0) {
            step(l, member[l][0]);
        }
    }
}

/* All sequences of six operations, chosen by the digits of code, on three ids and two lists. */
static void test_all(void)
{
    for (uint32_t code = 0; code < 6U * 6U * 6U * 6U * 6U * 6U; code++) {
        for (uint32_t digits = code, i = 0; i < 6; i++, digits /= 6) {
            step(digits % 2, 1 + digits / 2 % 3);
        }
        empty();
    }
}

int main(void)
{
    printf("seed %#lx\n", seed);
    list_boot();
    for (uint32_t x = 1; x < IDS; x++) {
        expect(list_grow(x), "list_grow", 0, x);
    }
    compare("list_boot");
    test_all();
    for (uint32_t s = 0; s < 200000; s++) {
        step(random_below(LIST_COUNT), 1 + random_below(IDS - 1));
    }
    empty();
    printf("ok list: %lu checks\n", checks);
    return 0;
}
