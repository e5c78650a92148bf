/* free: steps of blocks that the fast path of free has refused: to check, to fill, to count, and to give a block back to where it came from. */
#ifndef QED_API_FREE_H
#define QED_API_FREE_H

#include "api/check.h"
#include "api/fill.h"
#include "platform/modes.h"
#include "tcache/counting.h"
#include "tcache/overflow.h"

/* Frees a block that the thread's stacks have refused. */
/*@ requires ok:       MallocOk;
    requires mine:     t == thread_cache;
    requires live:     BlockLive(block);
    assigns            MALLOC_ASSIGNS_HEAP, *t;
    ensures  ok:       MallocOk;
    ensures  gone:     !BlockLive(block);
    ENSURES_LIVE_KEPT(block, 0);
*/
static inline void free_past(struct tcache *t, uint64_t block, const char *call)
{
    if (prof_usable(block) != 0) {
        prof_free(t, block);
    } else {
        overflow_free(t, block, call);
    }
    /*@ assert arena: t->arena == \at(t->arena,Pre); */
    /*@ assert mine: ThreadMine; */
}

/* Frees a block in a thread that counts. */
/*@ requires ok:       MallocOk;
    requires mine:     t == thread_cache;
    requires live:     BlockLive(block);
    assigns            MALLOC_ASSIGNS_HEAP;
    ensures  ok:       MallocOk;
    ensures  gone:     !BlockLive(block);
    ENSURES_LIVE_KEPT(block, 0);
*/
static inline void free_counted(struct tcache *t, uint64_t block, const char *call)
{
    uint64_t bytes = overflow_push(t, block);
    if (bytes != 0) {
        counting_give(t, bytes) /*@ ghost (block) */;
    } else {
        counting_give(t, block_usable(block, call)) /*@ ghost (block) */;
        free_past(t, block, call);
    }
}

/* Frees a block that the fast paths have refused, and that needs no check any more. It is a function of its own so that its callers save no
 * registers. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    assigns            MALLOC_ASSIGNS;
    ensures  ok:       MallocOk;
    ensures  gone:     !BlockLive(block);
    ENSURES_REST_KEPT(block, 0);
*/
static __attribute__((noinline)) void free_unchecked(uint64_t block, const char *call)
{
    struct tcache *t = thread_get();
    /*@ assert place: ThreadCache(t); */
    int32_t        byte = modes_freed_byte();
    if (byte != MODES_NO_BYTE) {
        fill_freed(t, block, (uint8_t)byte, call);
    }
    if (counting_bytes(t)) {
        free_counted(t, block, call);
    } else {
        free_past(t, block, call);
    }
}

/* Puts a block that the program frees into the thread's stack of its class and returns true. Returns false where the stack has no room, or the
 * block or its thread has to be looked at for another reason than that frees are checked. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    assigns            MALLOC_ASSIGNS_HEAP;
    ensures  ok:       MallocOk;
    ensures  gone:     \result ==> !BlockLive(block);
    ensures  stays:    !\result ==> BlockLive(block) && block_szind[block] == \old(block_szind[block]);
    ENSURES_LIVE_KEPT(block, 0);
*/
static inline bool free_put(uint64_t block)
{
    struct tcache *t = thread_cache;
    return counting_only(t, COUNTER_CHECKS) && modes_freed_byte() == MODES_NO_BYTE && overflow_push(t, block) != 0;
}

/* Frees a block while frees are checked. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    requires on:       live_on == 1;
    EXITS_CHECKED;
    assigns            MALLOC_ASSIGNS;
    ensures  ok:       MallocOk;
    ensures  gone:     !BlockLive(block);
    ENSURES_REST_KEPT(block, 0);
*/
static __attribute__((noinline)) void free_live(uint64_t block, const char *call)
{
    check_give(block, call);
    if (!free_put(block)) {
        free_unchecked(block, call);
    }
}

#endif
