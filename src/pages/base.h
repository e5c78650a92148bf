/* base: memory for metadata (thread caches, arenas), which is never given back.
 *
 * A cursor runs through a block from the OS. Each block is twice as large as the one before, from 64 KiB to 32 MiB, so
 * that a small process stays small and a large one makes few system calls. Whole cache lines are handed out, so that no
 * two owners share one.
 *
 * Invariant: BaseOk (spec/pages/base.acsl). The lock of the depot guards base.
 */
#ifndef QED_PAGES_BASE_H
#define QED_PAGES_BASE_H

#include <stddef.h>
#include <stdint.h>

#include "platform/config.h"
#include "platform/pool.h"

#define BASE_LG_LINE 6
#define BASE_LINE (1UL << BASE_LG_LINE)             /* a cache line */
#define BASE_ALIGN_MAX 4096UL                       /* every block from the OS has it */
#define BASE_BLOCK_FIRST (1UL << 16)
#define BASE_BLOCK_LAST (1UL << 25)
#define BASE_MAPPED_MAX (1UL << (LG_VADDR - 1))     /* more than that is refused */

_Static_assert(BASE_BLOCK_FIRST % PAGE == 0, "blocks are whole pages");
_Static_assert(BASE_ALIGN_MAX % BASE_LINE == 0 && BASE_BLOCK_FIRST > BASE_ALIGN_MAX, "the largest alignment is of whole lines");

extern uint64_t  base_allocated;                    /* bytes handed out, in whole lines */
extern uint64_t  base_mapped;                       /* bytes of all blocks from the OS */
extern uint64_t  base_block_next;                   /* bytes of the next block */
extern uintptr_t base_cursor;                       /* where the rest of the current block begins */
extern uintptr_t base_end;                          /* where it ends */

#include "platform/locks.acsl"
#include "pages/base.acsl"

/* Does nothing: static memory is zero, except for base_block_next. */
/*@ requires zero: base_allocated == 0 && base_mapped == 0 && base_cursor == 0 && base_end == 0;
    requires next: base_block_next == BASE_BLOCK_FIRST;
    requires live: \forall integer l; 0 <= l < BASE_LINES ==> base_live[l] == 0;
    assigns        \nothing;
    ensures  ok:   BaseOk;
*/
static inline void base_boot(void)
{
}

/* Returns the address of so many zero bytes, 0 if there is no memory. align is a power of two up to 4096. */
/*@ requires lock:    LockHeld(LOCK_DEPOT);
    requires ok:      BaseOk;
    requires some:    0 < bytes;
    requires align:   BaseAlign(align);
    assigns           base_allocated, base_mapped, base_block_next, base_cursor, base_end,
                      base_live[0 .. BASE_LINES - 1], pool_mapped[0 .. BASE_LINES - 1], os_refused;
    ensures  ok:      BaseOk;
    ensures  line:    \result % BASE_LINE == 0;
    ensures  aligned: \result % align == 0;
    ENSURES_BASE_GIVEN(bytes, BaseSize(bytes));
    ensures  grows:   base_mapped >= \old(base_mapped);
    ensures  none:    \result == 0 ==> BaseOut(BaseSize(bytes));
*/
uintptr_t base_alloc(size_t bytes, size_t align);

#endif
