/* hit: the steps of the malloc family for which the thread's cache is enough. They serve from the program's first call on. Before boot
 * the thread has the stand-in, which has no block, no room and no window, so that none of them finds anything. */
#ifndef QED_API_HIT_H
#define QED_API_HIT_H

#include <stdbool.h>

#include "api/malloc.h"
#include "platform/hints.h"
#include "tcache/counting.h"
#include "tcache/tcache.h"

#include "api/malloc_lemmas.acsl"

/* ---- taking ------------------------------------------------------------------------------------------------------ */

/* Returns a block for so many bytes, or 0 where the slow path has to look. */
/*@ requires ready:    MallocReady;
    requires mine:     t == thread_cache;
    assigns            TCACHE_ASSIGNS_STACKS(t), block_state[0 .. ADDRESS_MAX - 1];
    ensures  ready:    MallocReady;
    ENSURES_NEW_ADDRESS;
    ensures  class:    \result != 0 ==> BlockOf(\result, bytes);
*/
static inline uint64_t hit_take(struct tcache *t, uint64_t bytes)
{
    /*@ ghost malloc_lemma_ready(); */
    uint64_t block = tcache_take(t, bytes);
    /*@ ghost START_KEPT */
    return block;
}

/* Returns the block on top of that stack, or 0 where it is empty. */
/*@ requires ready:    MallocReady;
    requires mine:     t == thread_cache;
    requires stack:    0 < stack < TCACHE_STACKS;
    assigns            TCACHE_ASSIGNS_STACKS(t), block_state[0 .. ADDRESS_MAX - 1];
    ensures  ready:    MallocReady;
    ENSURES_NEW_ADDRESS;
    ensures  class:    \result != 0 ==> block_szind[\result] == stack - 1;
*/
static inline uint64_t hit_pop(struct tcache *t, uint64_t stack)
{
    /*@ ghost malloc_lemma_ready(); */
    uint64_t block = tcache_pop(t, stack);
    /*@ ghost START_KEPT */
    return block;
}

/* ---- giving back ------------------------------------------------------------------------------------------------- */

/* Puts a block that the program frees into the stack of its class and returns true, or returns false where the slow path has to look. */
/*@ requires ready:    MallocReady;
    requires mine:     t == thread_cache;
    requires valid:    BlockOrNull(block);
    assigns            TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block];
    ensures  ready:    MallocReady;
    ENSURES_HIT(block);
*/
static inline bool hit_give(struct tcache *t, uint64_t block)
{
    /*@ ghost malloc_lemma_ready(); */
    bool open = LIKELY(tcache_window_page(t, block) < t->window_pages);
    bool done = LIKELY(open ? tcache_push(t, block) : counting_push(t, block));
    /*@ ghost START_KEPT */
    return done;
}

/* Does so with a block of which the program says, by its size, that it is of that class. */
/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(block);
    requires class:    block != 0 ==> szind < SC_NSIZES && block_szind[block] == szind;
    assigns            TCACHE_ASSIGNS_STACKS(thread_cache), block_state[block], block_pos[block];
    ensures  ready:    MallocReady;
    ENSURES_HIT(block);
*/
static inline bool hit_give_class(uint64_t block, uint32_t szind)
{
    /*@ ghost malloc_lemma_ready(); */
    struct tcache *t = thread_cache;
    bool           done = szind < TCACHE_STACKS - 1 && (tcache_push_class(t, block, szind + 1) || counting_push_class(t, block, szind + 1));
    /*@ ghost START_KEPT */
    return done;
}

/* Does so with a block of which the program tells the size. */
/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(block);
    assigns            TCACHE_ASSIGNS_STACKS(thread_cache), block_state[block], block_pos[block];
    ensures  ready:    MallocReady;
    ENSURES_HIT(block);
*/
static inline bool hit_give_sized(uint64_t block, uint64_t bytes)
{
    /*@ ghost malloc_lemma_ready(); */
    bool done = bytes <= SC_LOOKUP_MAX && tcache_push_sized(thread_cache, block, bytes);
    /*@ ghost START_KEPT */
    return done;
}

#endif
