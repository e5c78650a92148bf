/* list_fuzz: the world is two lists over a few ids, some at the border of a table's chunk; the step is one call that two
 * bytes of the input choose; the check walks both lists both ways and compares them with arrays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/list.h"

#define IDS 12U
#define LISTS 2U

static const uint32_t id[IDS] = {1, 2, 3, 4, 5, TABLE_CHUNK - 1, TABLE_CHUNK, TABLE_CHUNK + 1, 77, 78, 79, 80};
static const uint32_t list[LISTS] = {0, LIST_COUNT - 1};
static uint32_t       member[LISTS][IDS], count[LISTS];

static void insert(uint32_t l, uint32_t place, uint32_t x)
{
    memmove(&member[l][place + 1], &member[l][place], (count[l] - place) * sizeof x);
    member[l][place] = x;
    count[l]++;
}

static void compare(uint32_t l)
{
    uint32_t x = list_first(list[l]), y = list_last(list[l]);
    for (uint32_t i = 0; i < count[l]; i++, x = list_next(x), y = list_prev(y)) {
        if (x != member[l][i] || y != member[l][count[l] - 1 - i]) {
            fprintf(stderr, "list %u: another member at %u\n", list[l], i);
            abort();
        }
    }
    if (x != 0 || y != 0) {
        fprintf(stderr, "list %u: too long\n", list[l]);
        abort();
    }
}

static void step(uint32_t op, uint32_t x)
{
    for (uint32_t l = 0; l < LISTS; l++) {
        for (uint32_t i = 0; i < count[l]; i++) {
            if (member[l][i] == x) {
                list_remove(list[l], x);
                count[l]--;
                memmove(&member[l][i], &member[l][i + 1], (count[l] - i) * sizeof x);
                return;
            }
        }
    }
    uint32_t l = op % LISTS, kind = op / LISTS % 4, place = count[l] == 0 ? 0 : op / 8 % count[l];
    if (kind == 0 || count[l] == 0) {
        list_insert_head(list[l], x);
        insert(l, 0, x);
    } else if (kind == 1) {
        list_insert_tail(list[l], x);
        insert(l, count[l], x);
    } else if (kind == 2) {
        list_insert_before(list[l], member[l][place], x);
        insert(l, place, x);
    } else {
        list_insert_after(list[l], member[l][place], x);
        insert(l, place + 1, x);
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
        step(data[0], id[data[1] % IDS]);
        compare(0);
        compare(1);
    }
    for (uint32_t l = 0; l < LISTS; l++) {
        while (count[l] > 0) {
            list_remove(list[l], member[l][--count[l]]);
            compare(l);
        }
    }
    return 0;
}
