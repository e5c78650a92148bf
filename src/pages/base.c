/* base: the cursor, and the blocks that it runs through. */
#include "pages/base.h"

#include <stdbool.h>

#include "pages/base_lemmas.acsl"

uint64_t  base_allocated;
uint64_t  base_mapped;
uint64_t  base_block_next = BASE_BLOCK_FIRST;
uintptr_t base_cursor;
uintptr_t base_end;

/* Returns a fresh block from the OS and counts it, or 0 if there is no memory. */
/*@ requires lock:    LockHeld(LOCK_DEPOT);
    requires ok:      BaseOk;
    requires length:  0 < bytes < (1UL << LG_VADDR) && bytes % BASE_BLOCK_FIRST == 0;
    assigns           base_mapped, pool_mapped[0 .. BASE_LINES - 1], os_refused;
    ensures  ok:      BaseOk;
    ensures  in:      \result != 0 ==> \result + bytes <= (1UL << LG_VADDR);
    ensures  aligned: \result % BASE_ALIGN_MAX == 0;
    ensures  fresh:   \result != 0 ==> \forall integer l; \result <= l * BASE_LINE < \result + bytes ==>
                          \old(pool_mapped[l]) == 0 && pool_mapped[l] == POOL_FRESH;
    ensures  counted: base_mapped == \old(base_mapped) + (\result == 0 ? 0 : bytes);
    ensures  none:    \result == 0 ==> os_refused == 1 || base_mapped + bytes > BASE_MAPPED_MAX;
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

/* Makes a fresh block the current one. What was left of the old one was too short for the request and is given up. */
/*@ requires lock:  LockHeld(LOCK_DEPOT);
    requires ok:    BaseOk;
    assigns         base_mapped, base_block_next, base_cursor, base_end, pool_mapped[0 .. BASE_LINES - 1], os_refused;
    ensures  ok:    BaseOk;
    ensures  grows: base_mapped >= \old(base_mapped);
    ensures  fresh: \result ==> base_cursor % BASE_ALIGN_MAX == 0 && base_end - base_cursor == \old(base_block_next);
    ensures  none:  !\result ==> os_refused == 1 || base_mapped + \old(base_block_next) > BASE_MAPPED_MAX;
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

/* Returns the cursor rounded up to the largest alignment, which is a multiple of all others, if one line is not
 * enough. */
/*@ requires lock:    LockHeld(LOCK_DEPOT);
    requires ok:      BaseOk;
    requires align:   BaseAlign(align);
    assigns           \nothing;
    ensures  line:    \result % BASE_LINE == 0;
    ensures  aligned: \result % align == 0;
    ensures  up:      base_cursor <= \result < base_cursor + BASE_ALIGN_MAX;
    ensures  same:    base_cursor % BASE_ALIGN_MAX == 0 ==> \result == base_cursor;
*/
static uintptr_t base_cursor_up(size_t align)
{
    uintptr_t p = align <= BASE_LINE ? base_cursor
                                     : (base_cursor + BASE_ALIGN_MAX - 1) / BASE_ALIGN_MAX * BASE_ALIGN_MAX;
    /*@ ghost base_lemma_align(p, align); */
    return p;
}

/* Returns memory from the current block, 0 if the rest of that is too short. */
/*@ requires lock:    LockHeld(LOCK_DEPOT);
    requires ok:      BaseOk;
    requires size:    0 < size && size % BASE_LINE == 0;
    requires align:   BaseAlign(align);
    assigns           base_allocated, base_cursor, base_live[0 .. BASE_LINES - 1];
    ensures  ok:      BaseOk;
    ensures  line:    \result % BASE_LINE == 0;
    ensures  aligned: \result % align == 0;
    ENSURES_BASE_GIVEN(size, size);
    ensures  none:    \result == 0 ==> \old(base_cursor) % BASE_ALIGN_MAX != 0 || size > base_end - \old(base_cursor);
*/
static uintptr_t base_bump(uint64_t size, size_t align)
{
    uintptr_t p = base_cursor_up(align);
    if (p > base_end || size > base_end - p) {
        return 0;
    }
    /*@ ghost base_lemma_take(p, p + size); */
    base_cursor = p + size;
    base_allocated += size;
    return p;
}

/* Returns a block of its own, 0 if there is no memory. The current block stays. */
/*@ requires lock:    LockHeld(LOCK_DEPOT);
    requires ok:      BaseOk;
    requires size:    0 < size <= BASE_MAPPED_MAX && size % BASE_LINE == 0;
    assigns           base_allocated, base_mapped, base_live[0 .. BASE_LINES - 1], pool_mapped[0 .. BASE_LINES - 1], os_refused;
    ensures  ok:      BaseOk;
    ensures  aligned: \result % BASE_ALIGN_MAX == 0;
    ENSURES_BASE_GIVEN(size, size);
    ensures  grows:   base_mapped >= \old(base_mapped);
    ensures  none:    \result == 0 ==> BaseOut(size);
*/
static uintptr_t base_alloc_apart(uint64_t size)
{
    uintptr_t p = base_map((size + BASE_BLOCK_FIRST - 1) / BASE_BLOCK_FIRST * BASE_BLOCK_FIRST);
    if (p != 0) {
        /*@ ghost base_lemma_take(p, p + size); */
        base_allocated += size;
    }
    return p;
}

uintptr_t base_alloc(size_t bytes, size_t align)
{
    if (bytes > BASE_MAPPED_MAX) {
        return 0;
    }
    uint64_t size = (bytes + BASE_LINE - 1) / BASE_LINE * BASE_LINE;
    uintptr_t p = base_bump(size, align);
    if (p != 0) {
        return p;
    }
    if (size > base_block_next) {
        p = base_alloc_apart(size);
        /*@ ghost base_lemma_align(p, align); */
        return p;
    }
    return base_refill() ? base_bump(size, align) : 0;
}
