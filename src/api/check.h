/* check: that a block which the program frees, resizes or asks about is live, where the setting check_free asks for that. Each block has a bit
 * (platform/live.h) that is set while the program has the block. The slow paths, to which the mode sends all calls (tcache/counting.h), set it
 * where the program gets the block and clear it where it comes back. Where the bit is not set, no live block begins at the address, and the
 * call ends the program with its message.
 */
#ifndef QED_API_CHECK_H
#define QED_API_CHECK_H

#include "api/block.h"
#include "api/hit.h"
#include "platform/live.h"

_Static_assert(LIVE_SPACING == SC_TINY, "each block has a bit of its own");

/* Notes that the program gets the block. */
/*@ requires address:  block < ADDRESS_MAX;
    assigns            \nothing;
*/
static inline void check_take(uint64_t block)
{
    if (live_asked()) {
        live_set(block);
    }
}

/* Returns a block from the thread's stack of a small class. Its bit is set by the caller. Returns 0 where the stack is empty, frees are not
 * checked, or the slow path has to look for another reason. */
/*@ requires ok:       MallocOk;
    requires mine:     t == thread_cache;
    requires class:    szind < SC_NBINS;
    assigns            TCACHE_ASSIGNS_STACKS(t), block_state[0 .. ADDRESS_MAX - 1];
    ensures  ok:       MallocOk;
    ENSURES_NEW_ADDRESS;
    ensures  class:    \result != 0 ==> block_szind[\result] == szind;
*/
static inline uint64_t check_pop(struct tcache *t, uint32_t szind)
{
    if (t->checked_end == 0 || (COUNTDOWN_RUNS && !counting_passes(t, szind + 1))) {
        return 0;
    }
    return tcache_pop(t, szind + 1);
}

/* Notes that the program frees the block, while frees are checked. Ends the program if it is not live. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    requires on:       live_on == 1;
    EXITS_CHECKED;
    assigns            \nothing;
*/
static inline void check_give(uint64_t block, const char *call)
{
    /*@ ghost overflow_lemma_out(block); */
    if (!live_is(block) || !live_clear(block)) {
        overflow_dead(block, call, "double free");
    }
}

/* Ends the program if the block that it is about to free is not live. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    EXITS_CHECKED;
    assigns            \nothing;
*/
static inline void check_ask(uint64_t block, const char *call)
{
    /*@ ghost overflow_lemma_out(block); */
    if (live_asked() && !live_is(block)) {
        overflow_dead(block, call, "double free");
    }
}

/* Returns the bytes of the block, as block_usable does, to a call that asks about it. Ends the program if the block is not live. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    EXITS_CHECKED;
    assigns            BLOCKS_ASSIGNS;
    ensures  ok:       MallocOk;
    ensures  live:     BlockLive(block);
    ensures  bytes:    \result == BlockBytes{Pre}(block);
    ensures  class:    block_szind[block] == \old(block_szind[block]);
    ENSURES_LIVE_KEPT(0, 0);
*/
static inline uint64_t block_asked(uint64_t block, const char *call)
{
    /*@ assert were: TcacheOthers(thread_cache, TCACHE_STACKS); */
    /*@ ghost tcache_lemma_types(thread_cache); */
    /*@ assert range: \forall integer b, i; TCACHE_IN(thread_cache, b, i) ==> i < TCACHE_SLOTS; */
    /*@ ghost overflow_lemma_out(block); */
    uint64_t sampled = prof_usable(block);
    uint64_t bytes = sampled != 0 ? sampled : overflow_asked(block, call);
    /*@ assert same: TcacheShapeSame{Pre,Here}(thread_cache); */
    /*@ ghost tcache_lemma_shape(thread_cache); */
    /*@ assert stacks: TcacheSame{Pre,Here}(thread_cache); */
    /*@ assert out: \forall integer b, i; TCACHE_IN(thread_cache, b, i) ==> BlockOut{Pre}(thread_cache->slot[i]); */
    /*@ assert are: TcacheOthers(thread_cache, TCACHE_STACKS); */
    /*@ ghost stack_lemma_kept(thread_cache); */
    /*@ ghost stack_lemma_null(); */
    /*@ assert all: TcacheAll(thread_cache); */
    return bytes;
}

/* Returns the bytes of the block, or 0 for none, to a call that begins with this question. */
/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(block);
    EXITS_CHECKED;
    assigns            MALLOC_ASSIGNS_HEAP;
    ENSURES_READY;
    ensures  bytes:    \result == (block == 0 ? 0 : BlockBytes(block));
    ENSURES_LIVE_KEPT(0, 0);
*/
static inline uint64_t block_size(uint64_t block, const char *call)
{
    if (block == 0) {
        return 0;
    }
    (void)thread_get();
    return block_asked(block, call);
}

#endif
