/* realloc: steps of blocks that get another size. A block keeps its address where its class or its neighbour allows it, and moves otherwise. */
#ifndef QED_API_REALLOC_H
#define QED_API_REALLOC_H

#include "api/check.h"
#include "api/malloc.h"
#include "api/request.h"
#include "platform/trap.h"

/* Copies the first bytes of a block into another block and frees it. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(ADDR(to)) && BlockLive(ADDR(block)) && ADDR(to) != ADDR(block);
    requires fits:     bytes <= BlockBytes(ADDR(to)) && bytes <= BlockBytes(ADDR(block));
    EXITS_CHECKED;
    assigns            MALLOC_ASSIGNS, errno;
    ensures  ok:       MallocOk;
    ensures  gone:     !BlockLive(ADDR(block));
    ENSURES_LIVE_KEPT(ADDR(block), 0);
    ensures  prefix:   PrefixKept{Pre,Post}(ADDR(to), ADDR(block), bytes);
    ensures  contents: \forall integer b; b != ADDR(to) && b != ADDR(block) && BlockLive{Pre}(b) ==> BytesKept{Pre,Post}(b);
    ensures  outside:  BytesKeptOutside{Pre,Post}(ADDR(block), ADDR(to));
    ensures  error:    errno == \old(errno);
*/
static inline void realloc_into(void *to, void *block, uint64_t bytes)
{
    block_move((uint64_t)to, (uint64_t)block, bytes);
    qed_free(block);
}

/* Moves the contents of a block to a new one and returns that, or returns NULL and keeps the block. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(ADDR(block));
    requires now:      bytes_now == BlockBytes(ADDR(block));
    exits    checked:  live_on == 1 || MallocEnds(size, 1);
    assigns            MALLOC_ASSIGNS, errno;
    ensures  ok:       MallocOk;
    ENSURES_BLOCK(\result != NULL, ADDR(\result));
    ensures  new:      !BlockLive{Pre}(ADDR(\result));
    ensures  gone:     \result != NULL ==> !BlockLive(ADDR(block));
    ENSURES_REST_KEPT(ADDR(block), ADDR(\result));
    ensures  prefix:   \result != NULL ==> PrefixKept{Pre,Post}(ADDR(\result), ADDR(block), \min(bytes_now, size));
    ensures  class:    \result != NULL ==> BlockOf(ADDR(\result), size);
    ensures  aligned:  AlignedForSize(ADDR(\result), size);
    ensures  error:    errno == (\result == NULL ? ENOMEM : \old(errno));
    ENSURES_NOTHING_LOST(\result == NULL);
    ensures  out:      \result == NULL ==> MallocNull(size, 1);
*/
static __attribute__((noinline)) void *realloc_move(void *block, uint64_t bytes_now, size_t size)
{
    void *moved = qed_malloc(size);
    if (moved != NULL) {
        realloc_into(moved, block, bytes_now < size ? bytes_now : size);
        /*@ assert rest: ContentsKeptBut{Pre,Here}(ADDR(block)) && BytesKeptOutside{Pre,Here}(ADDR(block), ADDR(moved)); */
    }
    return moved;
}

/* Gives a block another size, where it is or elsewhere. Returns NULL, and keeps the block as it is, without memory. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(ADDR(block));
    exits    checked:  live_on == 1 || MallocEnds(size, 1);
    assigns            MALLOC_ASSIGNS, errno;
    ensures  ok:       MallocOk;
    ENSURES_BLOCK(\result != NULL, ADDR(\result));
    ensures  new:      ADDR(\result) != ADDR(block) ==> !BlockLive{Pre}(ADDR(\result));
    ensures  gone:     ADDR(\result) != ADDR(block) && \result != NULL ==> !BlockLive(ADDR(block));
    ENSURES_REST_KEPT(ADDR(block), ADDR(\result));
    ensures  prefix:   \result != NULL ==>
                       PrefixKept{Pre,Post}(ADDR(\result), ADDR(block), \min(BlockBytes{Pre}(ADDR(block)), size));
    ensures  class:    \result != NULL ==> BlockOf(ADDR(\result), size);
    ensures  aligned:  AlignedForSize(ADDR(\result), size);
    ensures  error:    errno == (\result == NULL ? ENOMEM : \old(errno));
    ENSURES_NOTHING_LOST(\result == NULL);
    ensures  out:      \result == NULL ==> MallocNull(size, 1);
*/
static inline void *realloc_live(void *block, size_t size)
{
    (void)thread_get();
    uint64_t bytes_now = block_asked((uint64_t)block, "realloc");
    /*@ assert now: bytes_now == BlockBytes{Pre}(ADDR(block)); */
    /*@ assert live: \forall integer b; BlockLive{Pre}(b) ==> BlockLive(b) && BlockBytes(b) == BlockBytes{Pre}(b); */
    /* A size in the upper part of the block's class is above the class below, so the block keeps its class. */
    bool same = size <= bytes_now && bytes_now - size < bytes_now / (2 * SC_NGROUP);
    /*@ ghost if (same) { block_lemma_upper(size, block_szind[ADDR(block)]); } */
    if (same || request_in_place((uint64_t)block, bytes_now, size_class_index(size))) {
        /*@ ghost block_lemma_found(ADDR(block), size); */
        /*@ assert bytes: PrefixKept{Pre,Here}(ADDR(block), ADDR(block), \min(bytes_now, size)); */
        return block;
    }
    return realloc_move(block, bytes_now, size);
}

/* Counts a block that is to have no bytes, and frees it where that is what the setting says. Returns whether it has. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(ADDR(block));
    assigns            MALLOC_ASSIGNS, errno, realloc_zero_count;
    exits    asked:    live_on == 1 || modes_realloc_zero == MODES_REALLOC_ENDS;
    ensures  ok:       MallocOk;
    ensures  freed:    \result <==> modes_realloc_zero == MODES_REALLOC_FREES;
    ensures  gone:     \result ==> !BlockLive(ADDR(block));
    ensures  live:     !\result ==> BlockLive(ADDR(block)) && block_szind[ADDR(block)] == \old(block_szind[ADDR(block)]);
    ENSURES_REST_KEPT(\result ? ADDR(block) : 0, 0);
    ensures  error:    errno == \old(errno);
    ensures  counted:  realloc_zero_count == (\old(realloc_zero_count) == UINT64_MAX ? 0 : \old(realloc_zero_count) + 1);
*/
static __attribute__((noinline)) bool realloc_to_zero(void *block)
{
    ATOMIC_ADD(realloc_zero_count, 1);
    if (modes_realloc_zero == MODES_REALLOC_ENDS) {
        trap_misuse("realloc", "size 0, which zero_realloc:abort forbids", (uintptr_t)block);
    }
    if (modes_realloc_zero == MODES_REALLOC_FREES) {
        qed_free(block);
        return true;
    }
    return false;
}

/* Does what realloc does where the thread's cache alone does not tell the block's class. */
/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(ADDR(block));
    assigns            MALLOC_ASSIGNS, errno, realloc_zero_count;
    exits    asked:    ReallocEnds(ADDR(block), size) || MallocEnds(size, 1) || !\old(thread_booted);
    ENSURES_REALLOC(block, size);
*/
static __attribute__((noinline)) void *realloc_slow(void *block, size_t size)
{
    if (block == NULL) {
        return qed_malloc(size);
    }
    if (size == 0 && realloc_to_zero(block)) {
        return NULL;
    }
    return realloc_live(block, size);
}

#endif
