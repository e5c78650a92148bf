/* shadow: which parts of the address space belong to a live block: a bit for each 8 bytes, in leaves that are made when
 * they are first written. Threads may work on it at once. A bit that is set twice is an overlap. */
#ifndef TRACE_SHADOW_H
#define TRACE_SHADOW_H

#include "load.h"

#define SHADOW_GRAIN 8U
#define SHADOW_LEAF_LG 26U                              /* address bits that one leaf covers */
#define SHADOW_LEAF_WORDS ((1UL << SHADOW_LEAF_LG) / SHADOW_GRAIN / 64)
#define SHADOW_LEAVES (1UL << (48 - SHADOW_LEAF_LG))

static uint64_t *shadow_leaf[SHADOW_LEAVES];

static inline uint64_t *shadow_word(uintptr_t grain)
{
    uint64_t **slot = &shadow_leaf[grain / 64 / SHADOW_LEAF_WORDS % SHADOW_LEAVES], *leaf = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (leaf == NULL) {
        uint64_t *made = os_array(SHADOW_LEAF_WORDS, sizeof *made);
        if (__atomic_compare_exchange_n(slot, &leaf, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            leaf = made;
        } else {
            os_release(made, SHADOW_LEAF_WORDS, sizeof *made);
        }
    }
    return &leaf[grain / 64 % SHADOW_LEAF_WORDS];
}

/* Turns all bits of a block. Returns false if one of them was like that before. */
static inline bool shadow_turn(const void *block, size_t bytes, bool live)
{
    uintptr_t grain = (uintptr_t)block / SHADOW_GRAIN, end = ((uintptr_t)block + (bytes == 0 ? 1 : bytes) + SHADOW_GRAIN - 1) / SHADOW_GRAIN;
    bool      good = true;
    while (grain < end) {
        uintptr_t from = grain % 64, to = end - grain < 64 - from ? from + (end - grain) : 64;
        uint64_t  mask = (to == 64 ? 0 : (uint64_t)1 << to) - ((uint64_t)1 << from), *word = shadow_word(grain);
        uint64_t  was = live ? __atomic_fetch_or(word, mask, __ATOMIC_RELAXED) : ~__atomic_fetch_and(word, ~mask, __ATOMIC_RELAXED);
        good = good && (was & mask) == 0;
        grain += to - from;
    }
    return good;
}

#endif
