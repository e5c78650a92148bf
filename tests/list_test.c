/* list_test: every operation on every small arrangement of two lists, then long random runs on all lists, against plain
 * arrays of ids. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/list.h"

#define IDS 40U                                 /* 1 .. IDS - 1 */

static uint64_t seed = 0x1157UL, checks;
static uint32_t lists = 2;                      /* that are in use */
static uint32_t member[LIST_COUNT][IDS], length[LIST_COUNT], owner[IDS];    /* owner: 1 + list */

static uint32_t random_below(uint32_t n)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (uint32_t)(seed >> 33) % n;
}

static void expect(int ok, const char *what, uint32_t l, uint32_t x)
{
    checks++;
    if (!ok) {
        printf("FAIL list %u: %s, id %u\n", l, what, x);
        exit(1);
    }
}

static void compare(const char *call)
{
    for (uint32_t l = 0; l < lists; l++) {
        uint32_t n = length[l];
        expect(list_first(l) == (n > 0 ? member[l][0] : 0), call, l, 0);
        expect(list_last(l) == (n > 0 ? member[l][n - 1] : 0), call, l, 0);
        for (uint32_t k = 0; k < n; k++) {
            expect(list_next(member[l][k]) == (k + 1 < n ? member[l][k + 1] : 0), call, l, member[l][k]);
            expect(list_prev(member[l][k]) == (k > 0 ? member[l][k - 1] : 0), call, l, member[l][k]);
        }
    }
}

static uint32_t place(uint32_t l, uint32_t x)
{
    uint32_t k = 0;
    while (member[l][k] != x) {
        k++;
    }
    return k;
}

static void model_insert(uint32_t l, uint32_t k, uint32_t x)
{
    memmove(&member[l][k + 1], &member[l][k], (length[l] - k) * sizeof(uint32_t));
    member[l][k] = x;
    length[l]++;
    owner[x] = l + 1;
}

/* One operation, if its precondition holds: 0 head, 1 tail, 2 before a, 3 after a, 4 remove x. */
static void step(uint32_t op, uint32_t l, uint32_t a, uint32_t x)
{
    static const char *names[] = {"list_insert_head", "list_insert_tail", "list_insert_before", "list_insert_after",
                                  "list_remove"};
    if (op == 4 && owner[x] != 0) {
        l = owner[x] - 1;
        uint32_t k = place(l, x);
        memmove(&member[l][k], &member[l][k + 1], (length[l] - k - 1) * sizeof(uint32_t));
        length[l]--;
        owner[x] = 0;
        list_remove(l, x);
    } else if (op == 0 && owner[x] == 0) {
        model_insert(l, 0, x);
        list_insert_head(l, x);
    } else if (op == 1 && owner[x] == 0) {
        model_insert(l, length[l], x);
        list_insert_tail(l, x);
    } else if (op == 2 && owner[x] == 0 && owner[a] != 0) {
        l = owner[a] - 1;
        model_insert(l, place(l, a), x);
        list_insert_before(l, a, x);
    } else if (op == 3 && owner[x] == 0 && owner[a] != 0) {
        l = owner[a] - 1;
        model_insert(l, place(l, a) + 1, x);
        list_insert_after(l, a, x);
    }
    compare(names[op]);
}

static void reset(void)
{
    for (uint32_t x = 1; x < IDS; x++) {
        step(4, 0, 0, x);
    }
}

/* All sequences of four operations, chosen by the digits of code, on three ids and two lists. */
static void test_all(void)
{
    for (uint32_t code = 0; code < 30U * 30U * 30U * 30U; code++) {
        for (uint32_t digits = code, i = 0; i < 4; i++, digits /= 30) {
            uint32_t op = digits % 5, x = 1 + digits / 5 % 3;
            step(op, digits / 15 % 2, 1 + x % 3, x);        /* the neighbour or the list vary with the digit */
        }
        reset();
    }
}

int main(void)
{
    printf("seed %#lx\n", seed);
    for (uint32_t x = 1; x < IDS; x++) {
        expect(list_grow(x), "list_grow", 0, x);
    }
    compare("start");
    test_all();
    for (uint32_t s = 0; s < 200000; s++) {
        lists = s < 100000 ? 2 : LIST_COUNT;
        uint32_t l = random_below(lists), a = 1 + random_below(IDS - 1), x = 1 + random_below(IDS - 1);
        step(random_below(5), l, a, x);
    }
    reset();
    printf("ok list: %lu checks\n", checks);
    return 0;
}
