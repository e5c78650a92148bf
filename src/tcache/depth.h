/* depth: how many blocks the stacks of a thread's cache may hold. The classes say it at first (shape.h), and a thread may set it for its own
 * stacks. */
#ifndef QED_TCACHE_DEPTH_H
#define QED_TCACHE_DEPTH_H

#include "tcache/tcache.h"

/* Has the stack hold at most n blocks, or as many as it has slots for. Those above go back. With 0 it has none, as if its class were not
 * cached. */
/*@ TCACHE_CALM(requires, t);
    requires stack:   0 < stack < TCACHE_STACKS;
    assigns           TCACHE_ASSIGNS(t), t->least[stack], t->most[stack];
    TCACHE_CALM(ensures, t);
    ensures  most:    t->most[stack] == \min(t->floor[stack] + n, t->room[stack]);
    ensures  some:    t->least[stack] == t->floor[stack] <==> t->most[stack] == t->floor[stack];
    ensures  others:  \forall integer b; TCACHE_STACK(b) && b != stack ==> t->most[b] == \old(t->most[b]);
    ensures  less:    TcacheLess{Pre,Post}(t);
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, 0, 0);
*/
void depth_set(struct tcache *t, uint32_t stack, uint32_t n);

/* Has the empty stacks hold as many blocks as their classes say. */
/*@ TCACHE_WHOLE(requires, t);
    requires empty:   TcacheEmptyTo(t, TCACHE_STACKS);
    assigns           t->least[0 .. TCACHE_STACKS - 1], t->limit[0 .. TCACHE_STACKS - 1], t->most[0 .. TCACHE_STACKS - 1];
    TCACHE_WHOLE(ensures, t);
    ensures  empty:   TcacheEmptyTo(t, TCACHE_STACKS);
    ensures  most:    \forall integer b; 0 < b < TCACHE_STACKS ==> t->most[b] == t->room[b];
*/
void depth_restore(struct tcache *t);

#endif
