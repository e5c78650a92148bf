/* arena_reset: how all blocks of an arena end at once.
 *
 * The arena is one with a page cache of its own. Its slabs and its large blocks are found by the ids of extents, each looked at under a lock of
 * its own: no lock is held for longer than one slab or one large block needs. Other threads do not use the arena meanwhile, and no cache of a
 * thread has a block of it. The caller sees to that (depot_holds).
 */
#ifndef QED_BLOCKS_ARENA_RESET_H
#define QED_BLOCKS_ARENA_RESET_H

#include "blocks/arena.h"
#include "blocks/large.h"

#include "blocks/arena_reset.acsl"

/* Ends all blocks of the arena. Their pages go back to its page cache, those of slabs without a block too. */
/*@ BINS_FREE(requires);
    requires arena:    0 < arena && ArenaOwnRange(arena);
    requires cached:   \forall integer a; ResetBlock(arena, a) ==> block_state[a] == BLOCK_LIVE;
    assigns            BLOCKS_ASSIGNS, large_freed;
    BINS_FREE(ensures);
    ensures  gone:     \forall integer a; \old(ResetBlock(arena, a)) ==> block_state[a] == BLOCK_NONE;
    ensures  kept:     ResetKept{Pre,Post}(arena);
    ensures  none:     BlocksNoneNew{Pre,Post};
*/
void arena_reset(uint32_t arena);

#endif
