/* explicit: thread caches that the program makes, flushes and destroys by number, and names in calls of the extended API.
 *
 * An explicit cache is one of the depot's (tcache/depot.h). Each of the depot's caches is a thread's, idle, or explicit. A call that names
 * an explicit one is lent it, and returns it before it ends. Meanwhile the thread's own cache is aside. The program orders the calls that
 * name one cache; a call that comes while the cache is lent gets none.
 * `own` is the cache of the calling thread, which may be a stand-in.
 */
#ifndef QED_TCACHE_EXPLICIT_H
#define QED_TCACHE_EXPLICIT_H

#include "tcache/depot.h"

/* What the use of an explicit cache changes. */
#define EXPLICIT_ASSIGNS                                                                                               \
    BLOCKS_ASSIGNS, DEPOT_ASSIGNS_GUARDED, depot_pool[0 .. DEPOT_POOL - 1], depot_mine, depot_aside, lock_held[LOCK_DEPOT]

#include "tcache/explicit.acsl"

/* Makes an explicit cache and returns its number, the least that is not in use. Returns DEPOT_EXPLICIT where all are in use, or without
 * memory. */
/*@ EXPLICIT_CALM(requires, own);
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    assigns           EXPLICIT_ASSIGNS;
    EXPLICIT_CALM(ensures, own);
    ensures  number:  \result <= DEPOT_EXPLICIT;
    ensures  named:   \result < DEPOT_EXPLICIT ==> ExplicitRests(\result);
    ensures  empty:   \result < DEPOT_EXPLICIT ==> TcacheEmpty(&depot_pool[depot_explicit_of[\result] - 1]);
    ensures  least:   \result < DEPOT_EXPLICIT ==> \forall integer i; 0 <= i < \result ==> depot_explicit_of[i] != 0;
    LIVE_KEPT(ensures, 0, 0);
*/
uint32_t explicit_create(void) /*@ ghost (struct tcache *own) */;

/* Lends that cache to the calling thread. Blocks that it does not have come from the arena. Returns NULL where there is no such cache, or it is
 * lent. */
/*@ EXPLICIT_CALM(requires, own);
    requires arena:   arena < ARENAS_MAX;
    assigns           EXPLICIT_ASSIGNS;
    ensures  lock:    LocksFree(LOCK_DEPOT);
    ensures  blocks:  BlocksOk;
    ensures  mine:    \result == \null ==> TcacheOk(own) && TcacheAll(own);
    ensures  cache:   \result == \null ==> ExplicitOwn(own);
    ensures  lent:    \result != \null ==> ExplicitLent(\result, number);
    ensures  ok:      \result != \null ==> TcacheOk(\result);
    ensures  all:     \result != \null ==> TcacheAll(\result);
    ensures  aside:   \result != \null ==> ExplicitAside(own);
    ensures  not:     \result == \null ==> !ExplicitRests(number);
    ensures  arena:   own->arena == \old(own->arena);
    LIVE_KEPT(ensures, 0, 0);
*/
struct tcache *explicit_lend(uint32_t number, uint32_t arena) /*@ ghost (struct tcache *own) */;

/* Returns the cache that has been lent. The thread has its own one again. */
/*@ requires blocks:  BlocksOk;
    EXPLICIT_WHOLE(requires, t);
    requires lock:    LocksFree(LOCK_DEPOT);
    requires lent:    ExplicitLent(t, number);
    requires aside:   ExplicitAside(own);
    assigns           EXPLICIT_ASSIGNS;
    EXPLICIT_CALM(ensures, own);
    ensures  rests:   ExplicitRests(number) && depot_explicit_of[number] == \old(depot_mine) + 1;
    ensures  empty:   \old(TcacheBlank(t)) ==> TcacheEmpty(t);
    ensures  arena:   own->arena == \old(own->arena);
    LIVE_KEPT(ensures, 0, 0);
*/
void explicit_return(uint32_t number) /*@ ghost (struct tcache *own, struct tcache *t) */;

/* Gives the blocks of that cache back. Returns false where there is no such cache, or it is lent. */
/*@ EXPLICIT_CALM(requires, own);
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    assigns           EXPLICIT_ASSIGNS, large_allocated, large_freed;
    EXPLICIT_CALM(ensures, own);
    ensures  rests:   \result <==> ExplicitRests(number);
    ensures  empty:   \result ==> TcacheEmpty(&depot_pool[depot_explicit_of[number] - 1]);
    LIVE_KEPT(ensures, 0, 0);
*/
bool explicit_flush(uint32_t number) /*@ ghost (struct tcache *own) */;

/* Gives the blocks of that cache back, and leaves the cache to the idle ones. The number may be that of a later cache. Returns false where
 * there is no such cache, or it is lent. */
/*@ EXPLICIT_CALM(requires, own);
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    assigns           EXPLICIT_ASSIGNS, large_allocated, large_freed;
    EXPLICIT_CALM(ensures, own);
    ensures  gone:    \result ==> number < DEPOT_EXPLICIT && depot_explicit_of[number] == 0;
    ensures  not:     !\result ==> !ExplicitRests(number);
    LIVE_KEPT(ensures, 0, 0);
*/
bool explicit_destroy(uint32_t number) /*@ ghost (struct tcache *own) */;

#endif
