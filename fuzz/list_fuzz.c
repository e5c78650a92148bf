/* list_fuzz: the world is two lists over a few ids, some of them at the border of a table's chunk. The step is one
 * call that two bytes of the input choose. The check walks both lists and compares them with arrays. */
#include <stdio.h>
#include <stdlib.h>

#include "ds/list.h"

#define IDS 12U
#define LISTS 2U

static const uint32_t id[IDS] = {1, 2, 3, 4, 5, TABLE_FIRST - 1, TABLE_FIRST, TABLE_FIRST + 1, 77, 78, 79, 80};
static const uint32_t list[LISTS] = {0, LIST_COUNT - 1};
static uint32_t       member[LISTS][IDS], count[LISTS];

static void fail(uint32_t l, const char *what)
{
    fprintf(stderr, "list %u: %s\n", list[l], what);
    abort();
}

static void compare(uint32_t l)
{
    uint32_t x = list_first(list[l]);
    for (uint32_t n = count[l]; n > 0; n--, x = list_next(x)) {
        if (x != member[l][n - 1]) {
            fail(l, "another member");
        }
    }
    if (x != 0) {
        fail(l, "too long");
    }
}

static void take(uint32_t l)
{
    if (list_pop(list[l]) != member[l][--count[l]]) {
        fail(l, "another member than was put last");
    }
}

static bool is_member(uint32_t x)
{
    for (uint32_t l = 0; l < LISTS; l++) {
        for (uint32_t i = 0; i < count[l]; i++) {
            if (member[l][i] == x) {
                return true;
            }
        }
    }
    return false;
}

static void step(uint32_t l, uint32_t x)
{
    if (!is_member(x)) {
        list_push(list[l], x);
        member[l][count[l]++] = x;
    } else if (count[l] > 0) {
        take(l);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    list_boot();
    for (uint32_t i = 0; i < IDS; i++) {
        if (!list_grow(id[i])) {
            abort();
        }
    }
    for (; size >= 2; data += 2, size -= 2) {
        step(data[0] % LISTS, id[data[1] % IDS]);
        compare(0);
        compare(1);
    }
    for (uint32_t l = 0; l < LISTS; l++) {
        while (count[l] > 0) {
            take(l);
            compare(l);
        }
    }
    return 0;
}
