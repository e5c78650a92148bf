/* depth: see depth.h. */
#include "tcache/depth.h"

#include "tcache/shape.h"
#include "tcache/stack.h"

#include "math/size_class_align_lemmas.acsl"
#include "blocks/large_lemmas.acsl"

/* Writes how many blocks the stack may hold. It does not hold more now. It begins as shallow as its class says, if that is less. */
/*@ TCACHE_WHOLE(requires, t);
    requires stack:   0 < stack < TCACHE_STACKS;
    requires slots:   t->floor[stack] + depth <= t->room[stack];
    requires height:  t->top[stack] <= t->floor[stack] + depth;
    assigns           t->least[stack], t->limit[stack], t->most[stack];
    TCACHE_WHOLE(ensures, t);
    ensures  most:    t->most[stack] == t->floor[stack] + depth;
    ensures  some:    t->least[stack] == t->floor[stack] <==> depth == 0;
    ensures  least:   t->least[stack] == t->floor[stack] +
                          \min(TcacheDepth(stack, (stack <= SC_NBINS ? TCACHE_BYTES : TCACHE_LARGE_BYTES) / ScBytes(stack - 1)), depth);
    TCACHE_NONE_LOST(ensures, t);
*/
static void depth_write(struct tcache *t, uint32_t stack, uint32_t depth)
{
    uint32_t first = shape_depth(stack, TCACHE_BYTES, TCACHE_LARGE_BYTES), least = first < depth ? first : depth;
    uint32_t now = t->limit[stack] - t->floor[stack];
    t->limit[stack] = (uint16_t)(t->floor[stack] + (now < least ? least : now > depth ? depth : now));
    t->least[stack] = t->floor[stack] + least;
    t->most[stack] = t->floor[stack] + depth;
    /*@ assert limits: TcacheLimits(t); */
    /*@ assert rooms: \forall integer b; TCACHE_STACK(b) ==> t->room[b] == \at(t->room[b],Pre) && t->floor[b] == \at(t->floor[b],Pre); */
    /*@ assert apart: TcacheApart(t); */
    /*@ assert magic: TcacheMagic(t); */
    /*@ assert bytes: TcacheBytes(t); */
    /*@ assert negated: TcacheNegated(t); */
    /*@ assert fixed: TcacheFixed(t); */
    /*@ assert radix: RadixOk; */
    /*@ assert cache: PageCacheOk; */
    /*@ ghost large_lemma_ok(); */
    /*@ assert outside: TcacheOutside(t); */
    /*@ assert lookup: TcacheLookup(t); */
    /*@ assert tops: TcacheTops(t); */
    /*@ ghost tcache_lemma_ok(t); */
}

void depth_set(struct tcache *t, uint32_t stack, uint32_t n)
{
    uint32_t slots = t->room[stack] - t->floor[stack], depth = n < slots ? n : slots;
    uint32_t height = (uint32_t)t->top[stack] - t->floor[stack];
    stack_flush_oldest(t, stack, height > depth ? height - depth : 0);
    depth_write(t, stack, depth);
}

void depth_restore(struct tcache *t)
{
    /*@ loop invariant range: 1 <= b <= TCACHE_STACKS;
        TCACHE_WHOLE(loop invariant, t);
        loop invariant empty: TcacheEmptyTo(t, TCACHE_STACKS);
        loop invariant most:  \forall integer a; 0 < a < b ==> t->most[a] == t->room[a];
        loop assigns   b, t->least[0 .. TCACHE_STACKS - 1], t->limit[0 .. TCACHE_STACKS - 1], t->most[0 .. TCACHE_STACKS - 1];
        loop variant   TCACHE_STACKS - b;
    */
    for (uint32_t b = 1; b < TCACHE_STACKS; b++) {
        depth_write(t, b, t->room[b] - t->floor[b]);
    }
}
