/* counted: how a thread that counts (tcache/counting.h) takes a block and gives one back. */
#ifndef QED_API_COUNTED_H
#define QED_API_COUNTED_H

#include "api/block.h"
#include "blocks/slab.h"
#include "math/size_class.h"
#include "prof/prof.h"
#include "tcache/counting.h"

/* Counts the bytes of a block that the program has just got, if they are asked for. Returns the block. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    requires class:    szind < SC_NSIZES && block_szind[block] == szind;
    assigns            \nothing;
    ensures  same:     \result == block;
*/
static __attribute__((noinline)) uint64_t block_tell(uint64_t block, uint32_t szind)
{
    counting_take(thread_cache, szind < SC_NBINS ? slab_bytes[szind] : size_class_bytes(szind)) /*@ ghost (block) */;
    return block;
}

/* Frees a block that the thread's stacks have refused. */
/*@ requires ok:       MallocOk;
    requires mine:     t == thread_cache;
    requires live:     BlockLive(block);
    assigns            MALLOC_ASSIGNS_HEAP;
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
static __attribute__((noinline)) void free_counted(struct tcache *t, uint64_t block, const char *call)
{
    uint64_t bytes = overflow_push(t, block);
    if (bytes != 0) {
        counting_give(t, bytes) /*@ ghost (block) */;
    } else {
        counting_give(t, block_usable(block, call)) /*@ ghost (block) */;
        free_past(t, block, call);
    }
}

#endif
