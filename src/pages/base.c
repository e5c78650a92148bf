#include "pages/base.h"

#include <stdbool.h>

#include "base_lemmas.acsl"

uint64_t  base_allocated;
uint64_t  base_mapped;
uint64_t  base_block_next = BASE_BLOCK_FIRST;
uintptr_t base_cursor;
uintptr_t base_end;

/* A fresh block, counted. */
/*@ requires ok:      BaseOk;
    requires length:  0 < bytes < (1UL << LG_VADDR) && bytes % BASE_BLOCK_FIRST == 0;
    terminates        \true;
    exits             \false;
    assigns           base_mapped, pool_mapped[0 .. BASE_LINES - 1];
    ensures  ok:      BaseOk;
    ensures  in:      \result + bytes <= (1UL << LG_VADDR) || \result == 0;
    ensures  aligned: \result % BASE_ALIGN_MAX == 0;
    ensures  mapped:  \result != 0 ==> \forall integer l; \result <= l * BASE_LINE < \result + bytes ==>
                          pool_mapped[l] == 1 && base_live[l] == 0;
    ensures  apart:   \result != 0 ==> \forall integer l; base_cursor <= l * BASE_LINE < base_end ==>
                          !(\result <= l * BASE_LINE < \result + bytes);
    ensures  counted: base_mapped == \old(base_mapped) + (\result == 0 ? 0 : bytes);
*/
static uintptr_t base_map(size_t bytes)
{
    if (bytes > BASE_MAPPED_MAX - base_mapped) {
        return 0;
    }
    uintptr_t block = pool_map(bytes);
    if (block != 0) {
        base_mapped += bytes;
    }
    return block;
}

/* The current block is a fresh one. What was left of the old one is given up: it was too short for the request. */
/*@ requires ok:     BaseOk;
    terminates       \true;
    exits            \false;
    assigns          base_mapped, base_block_next, base_cursor, base_end, pool_mapped[0 .. BASE_LINES - 1];
    ensures  ok:     BaseOk;
    ensures  room:   \result ==> base_cursor != 0 && base_cursor % BASE_ALIGN_MAX == 0 &&
                         base_end == base_cursor + \old(base_block_next);
    ensures  grows:  base_mapped >= \old(base_mapped);
*/
static bool base_refill(void)
{
    uintptr_t block = base_map(base_block_next);
    if (block == 0) {
        return false;
    }
    base_cursor = block;
    base_end = block + base_block_next;
    if (base_block_next <= BASE_BLOCK_LAST / 2) {
        base_block_next *= 2;
    }
    return true;
}

/* The cursor rounded up: to a line, which it always is, or to the largest alignment, of which all others are divisors. */
/*@ requires ok:      BaseOk;
    requires align:   BaseAlign(align);
    terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  line:    \result % BASE_LINE == 0;
    ensures  aligned: \result % align == 0;
    ensures  up:      base_cursor <= \result < base_cursor + BASE_ALIGN_MAX;
*/
static uintptr_t base_cursor_up(size_t align)
{
    return align <= BASE_LINE ? base_cursor : (base_cursor + BASE_ALIGN_MAX - 1) / BASE_ALIGN_MAX * BASE_ALIGN_MAX;
}

uintptr_t base_alloc(size_t bytes, size_t align)
{
    if (bytes > BASE_MAPPED_MAX - BASE_BLOCK_FIRST) {
        return 0;
    }
    uint64_t size = (bytes + BASE_LINE - 1) / BASE_LINE * BASE_LINE;
    uintptr_t p = base_cursor_up(align);
    if (p > base_end || size > base_end - p || base_end == 0) {
        if (size > base_block_next) {
            /* A block of its own; the current one stays. */
            p = base_map((size + BASE_BLOCK_FIRST - 1) / BASE_BLOCK_FIRST * BASE_BLOCK_FIRST);
            if (p != 0) {
                /*@ ghost base_lemma_take(p, p + size); */
                base_allocated += size;
            }
            return p;
        }
        if (!base_refill()) {
            return 0;
        }
        p = base_cursor;
    }
    /*@ ghost base_lemma_take(p, p + size); */
    base_cursor = p + size;
    base_allocated += size;
    return p;
}
