/* holds: whether a cache has blocks of a page cache, which a call is about to end all at once (blocks/arena_reset.h). */
#ifndef QED_TCACHE_HOLDS_H
#define QED_TCACHE_HOLDS_H

#include "tcache/tcache.h"

#include "tcache/holds.acsl"

/* Returns whether the block at that address is in pages of the page cache. The address is one from a slot, and may be any where the cache's
 * thread runs. */
/*@ requires blocks:  BlocksOk;
    requires cache:   cache < PAGE_CACHES;
    assigns           \nothing;
    ensures  is:      \result <==> HoldsBlock(block, cache);
*/
static inline bool holds_block(uint64_t block, uint32_t cache)
{
    if (block >= ADDRESS_MAX) {
        return false;
    }
    uint64_t tag = radix_tree_tag(block / PAGE);
    uint64_t offset = tag_offset(tag, block);
    if (tag_stack(tag) == 0 || offset > block) {
        return false;
    }
    uint32_t e = radix_tree_extent((block - offset) / PAGE);
    return e != 0 && AT(ext_state, e) == EXTENT_ACTIVE + cache;
}

/* Returns whether the slots from .. to have a block in pages of the page cache. */
/*@ requires blocks:  BlocksOk;
    requires cache:   cache < PAGE_CACHES;
    requires valid:   \valid_read(t);
    requires slots:   to < TCACHE_SLOTS;
    assigns           \nothing;
    ensures  is:      \result <==> \exists integer i; from <= i <= to && HoldsBlock(t->slot[i], cache);
*/
static inline bool holds_run(const struct tcache *t, uint64_t from, uint64_t to, uint32_t cache)
{
    /*@ loop invariant range: from <= i;
        loop invariant none:  \forall integer j; from <= j < i ==> !HoldsBlock(t->slot[j], cache);
        loop assigns   i;
        loop variant   to - i;
    */
    for (uint64_t i = from; i <= to; i++) {
        if (holds_block(ATOMIC_LOAD(t->slot[i]), cache)) {
            return true;
        }
    }
    return false;
}

/* Returns whether a stack has a block in pages of the page cache. */
/*@ requires blocks:  BlocksOk;
    requires cache:   cache < PAGE_CACHES;
    requires valid:   \valid_read(t);
    requires height:  TcacheLimits(t) && TcacheTops(t);
    assigns           \nothing;
    ensures  is:      \result <==> HoldsSome(t, cache);
*/
static inline bool holds_some(const struct tcache *t, uint32_t cache)
{
    /*@ loop invariant range: 1 <= b <= TCACHE_STACKS;
        loop invariant none:  \forall integer a, i; 1 <= a < b && t->floor[a] < i <= t->top[a] ==> !HoldsBlock(t->slot[i], cache);
        loop assigns   b;
        loop variant   TCACHE_STACKS - b;
    */
    for (uint32_t b = 1; b < TCACHE_STACKS; b++) {
        if (holds_run(t, t->floor[b] + 1UL, ATOMIC_LOAD(t->top[b]), cache)) {
            return true;
        }
    }
    return false;
}

#endif
