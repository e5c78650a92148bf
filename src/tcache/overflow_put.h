/* overflow_put: how a block that the program frees comes into its stack, where the fast path of free has refused it. */
#ifndef QED_TCACHE_OVERFLOW_PUT_H
#define QED_TCACHE_OVERFLOW_PUT_H

#include "blocks/tag.h"
#include "ds/radix_tree.h"
#include "tcache/tcache.h"

/* Puts a live block on top of its stack, which has room. */
/*@ TCACHE_WHOLE(requires, t);
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    requires class:   0 < stack < TCACHE_STACKS && block_szind[block] == stack - 1;
    requires room:    t->top[stack] < t->limit[stack];
    assigns           TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block];
    TCACHE_WHOLE(ensures, t);
    ensures  cached:  block_state[block] == BLOCK_CACHED;
    ensures  up:      t->top[stack] == \old(t->top[stack]) + 1;
    ensures  stands:  t->slot[t->top[stack]] == block;
    TCACHE_NONE_LOST(ensures, t);
*/
static inline void overflow_add(struct tcache *t, uint32_t stack, uint64_t block)
{
    uint64_t top = t->top[stack];
    tcache_put(t, top, block) /*@ ghost (stack) */;
    /*@ assert absent: TcacheAbsent(t, block); */
    /*@ ghost block_set_cached(block, (uint32_t)top + 1); */
    /*@ assert above: top == t->top[stack] && TcacheAbove(t, stack, top + 1); */
    tcache_raise(t, stack);
}

/* Puts a live block on top of its stack, whatever the thread's window, and returns true. Does not look whether a block begins there. Returns
 * false where the stack is full, or the block's class has none. */
/*@ TCACHE_WHOLE(requires, t);
    requires live:    0 < block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    assigns           TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block];
    TCACHE_WHOLE(ensures, t);
    ensures  cached:  \result ==> block_state[block] == BLOCK_CACHED;
    ensures  stands:  \result ==> t->slot[t->top[block_szind[block] + 1]] == block;
    ensures  none:    !\result ==> block_state[block] == BLOCK_LIVE;
    TCACHE_NONE_LOST(ensures, t);
*/
static inline bool overflow_put(struct tcache *t, uint64_t block)
{
    /*@ ghost tcache_lemma_tag(block); */
    uint64_t           window = block / (1UL << RADIX_LG_WINDOW);
    struct radix_leaf *leaf = radix_tree_leaf(window);
    if (leaf == NULL) {
        return false;
    }
    uint32_t stack = radix_leaf_high(leaf, block / PAGE % RADIX_WINDOW_PAGES) /*@ ghost (window) */;
    /*@ assert page: window * RADIX_WINDOW_PAGES + block / PAGE % RADIX_WINDOW_PAGES == block / PAGE; */
    /*@ assert stack: stack == radix_tag_of[block / PAGE] / RADIX_HALF; */
    if (stack == 0 || t->top[stack] >= t->limit[stack]) {
        return false;
    }
    overflow_add(t, stack, block);
    return true;
}

#endif
