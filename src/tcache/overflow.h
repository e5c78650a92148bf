/* overflow: what free does where the fast path refuses the block. The reason is a full stack, another window, a large block, or a
 * misuse. */
#ifndef QED_TCACHE_OVERFLOW_H
#define QED_TCACHE_OVERFLOW_H

#include "platform/live.h"
#include "tcache/tcache.h"

#include "tcache/overflow.acsl"

/* Frees a block that tcache_push has refused. t may be a stand-in. Where no block begins, the program ends with a message that names
 * the call. */
/*@ TCACHE_CALM(requires, t);
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    assigns           TCACHE_ASSIGNS(t);
    TCACHE_CALM(ensures, t);
    ensures  gone:    block_state[block] != BLOCK_LIVE;
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, block, 0);
*/
void overflow_free(struct tcache *t, uint64_t block, const char *call);

/* Frees a block without a stay in a stack of the thread's cache t, which may be a stand-in. The rest is as above. */
/*@ TCACHE_CALM(requires, t);
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    assigns           TCACHE_ASSIGNS(t);
    TCACHE_CALM(ensures, t);
    ensures  gone:    block_state[block] != BLOCK_LIVE;
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, block, 0);
*/
void overflow_free_past(struct tcache *t, uint64_t block, const char *call);

/* Does what tcache_push does, in the window of the address, for a thread without a window. Returns the bytes of the block, or 0 if it is
 * refused. */
/*@ TCACHE_WHOLE(requires, t);
    requires live:    0 < block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    assigns           TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block], TCACHE_ASSIGNS_PAGES(t), t->window, t->leaf;
    TCACHE_WHOLE(ensures, t);
    ensures  cached:  \result != 0 ==> block_state[block] == BLOCK_CACHED;
    ensures  bytes:   \result != 0 ==> \result == ScBytes(block_szind[block]);
    ensures  none:    \result == 0 ==> block_state[block] == BLOCK_LIVE;
    TCACHE_NONE_LOST(ensures, t);
*/
uint64_t overflow_push(struct tcache *t, uint64_t block);

/* Returns the bytes of the block. Where no region of a slab and no large block begins, the program ends with a message that names the
 * call, and no block has changed. */
/*@ BINS_FREE(requires);
    requires known:   OverflowKnown(block);
    exits    out:     !\old(BlockOut(block));
    exits    kept:    BlocksKept{Pre,Here};
    exits    none:    BlocksNoneNew{Pre,Here};
    assigns           BLOCKS_ASSIGNS;
    BINS_FREE(ensures);
    ensures  begins:  \old(OverflowBegins(block));
    ensures  bytes:   \old(BlockOut(block)) ==> \result == ScBytes(block_szind[block]);
    ensures  kept:    BlocksKept{Pre,Post};
    ensures  none:    BlocksNoneNew{Pre,Post};
*/
uint64_t overflow_usable(uint64_t block, const char *call);

/* Ends the program, since no live block begins there. The message says that nothing does, that the address is inside a block, or, of a block
 * that has been freed, what the call has done wrong. */
/*@ requires blocks:  BlocksOk;
    requires known:   OverflowKnown(block);
    exits    stops:   \true;
    assigns           \nothing;
    ensures  never:   \false;
*/
_Noreturn __attribute__((cold)) void overflow_dead(uint64_t block, const char *call, const char *what);

/* Does what overflow_usable does, after it has been asked whether the block is live, where the setting check_free is on. */
/*@ BINS_FREE(requires);
    requires known:   OverflowKnown(block);
    exits    out:     live_on == 1 || !\old(BlockOut(block));
    exits    kept:    BlocksKept{Pre,Here};
    exits    none:    BlocksNoneNew{Pre,Here};
    assigns           BLOCKS_ASSIGNS;
    BINS_FREE(ensures);
    ensures  begins:  \old(OverflowBegins(block));
    ensures  bytes:   \old(BlockOut(block)) ==> \result == ScBytes(block_szind[block]);
    ensures  kept:    BlocksKept{Pre,Post};
    ensures  none:    BlocksNoneNew{Pre,Post};
*/
uint64_t overflow_asked(uint64_t block, const char *call);

#endif
