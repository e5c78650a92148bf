/* depot: the caches of all threads. A cache is made for a thread, left at the thread's end, and claimed by a later thread.
 *
 * A cache that was made stays for ever in the list of all caches. While no thread has it, it is empty, and is in the list of idle
 * caches too. The pages of its slots may then be the OS's. Or it is an explicit one (tcache/explicit.h), which the program has made: it has a
 * number, and keeps its blocks while no thread uses it. The lock guards the lists, the numbers and base. What a cache holds is its
 * thread's own, except for its link in the list.
 */
#ifndef QED_TCACHE_DEPOT_H
#define QED_TCACHE_DEPOT_H

#include "blocks/arena.h"
#include "tcache/holds.h"
#include "tcache/tcache.h"
#include "pages/base.h"
#include "platform/lock.h"
#include "platform/pool.h"

#define DEPOT_POOL (1UL << 20)                         /* the most caches there can be. A thread without one uses the bins. */
POOL(struct tcache, depot_pool, DEPOT_POOL);          /* the caches, in the order in which they were made */

#define DEPOT_READY 8U                                  /* idle caches that keep their pages. Those beyond give them back. */

#define TCACHE_DEPTH_MIN 16UL                           /* blocks that every stack of a small class has slots for */

#define DEPOT_EXPLICIT 4094U                            /* explicit caches that there can be, as many as flags have numbers for */

/* Guarded by the lock, and used by no other module but explicit. */
extern struct tcache *depot_list;                      /* every cache that was made, the last one first */
extern struct tcache *depot_idle;                      /* caches that threads have left, the last one first */
extern uint32_t       depot_made;                      /* how many are in the first list */
extern uint32_t       depot_live_count;                /* caches that threads have, and explicit ones */
extern struct tcache *depot_explicit[DEPOT_EXPLICIT];  /* the explicit caches by their numbers, NULL where there is none */
extern bool           depot_lent[DEPOT_EXPLICIT];      /* whether a thread uses that one now */
extern uint32_t       depot_explicit_count;            /* how many there are */

extern divide_magic_t tcache_magic[TCACHE_STACKS];        /* reciprocals of the classes, which nothing changes after boot */

#include "tcache/depot.acsl"

/* Makes the stand-ins, and the table of reciprocals. Boot calls it once, while static memory is still zero. */
/*@ requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires lists:   DepotEmpty;
    requires zero:    DepotUnmade;
    requires base:    BaseOk;
    requires static:  TcacheStatic(&tcache_unborn) && TcacheStatic(&tcache_dead);
    assigns           tcache_unborn.lookup_end, tcache_dead.lookup_end, tcache_magic[0 .. TCACHE_STACKS - 1],
                      tcache_bytes[0 .. TCACHE_STACKS - 1];
    ensures  unmade:  DepotUnmade;
    ensures  bytes:   DepotBytes && DepotMagic;
    ensures  shape:   TcacheShape(&tcache_unborn) && TcacheShape(&tcache_dead);
    ensures  lookup:  TcacheLookup(&tcache_unborn) && TcacheLookup(&tcache_dead);
    ensures  bottom:  TcacheBottom(&tcache_unborn) && TcacheBottom(&tcache_dead);
    ensures  hollow:  TcacheHollow(&tcache_unborn) && TcacheHollow(&tcache_dead);
    ensures  fill:    TcacheFill(&tcache_unborn) && TcacheFill(&tcache_dead);
    ensures  turn:    TcacheTurn(&tcache_unborn) && TcacheTurn(&tcache_dead);
    ensures  counts:  tcache_unborn.lookup_end != 0 && tcache_dead.lookup_end != 0;
*/
void depot_boot(void);

/* Returns a cache for a thread that has none, or NULL without memory. The thread joins an arena with it. */
/*@ requires lock:    LocksFree(LOCK_DEPOT);
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires arenas:  ArenaOk && ArenaNone;
    requires none:    depot_mine == DEPOT_NONE;
    assigns           DEPOT_ASSIGNS_LIFE;
    ensures  lock:    LocksFree(LOCK_DEPOT);
    ensures  arenas:  ArenaOk;
    ensures  mine:    \result != \null ==> DepotMine(\result);
    ensures  ok:      \result != \null ==> TcacheOk(\result);
    ensures  only:    \result != \null ==> ArenaOnly(\result->arena);
    ensures  empty:   \result != \null ==> TcacheEmpty(\result);
    ensures  none:    \result == \null ==> depot_mine == DEPOT_NONE && ArenaNone;
*/
struct tcache *depot_create(void);

/* Takes the thread's cache from it. All blocks in it go back, and the thread leaves its arena. */
/*@ requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires lock:    LocksFree(LOCK_DEPOT);
    requires blocks:  BlocksOk;
    requires arenas:  ArenaOk;
    requires mine:    DepotMine(t);
    requires only:    ArenaOnly(t->arena);
    requires ok:      TcacheOk(t);
    assigns           DEPOT_ASSIGNS_LIFE, BLOCKS_ASSIGNS, large_allocated, large_freed;
    ensures  lock:    LocksFree(LOCK_DEPOT);
    ensures  blocks:  BlocksOk;
    ensures  arenas:  ArenaOk;
    ensures  mine:    depot_mine == DEPOT_NONE;
    ensures  left:    ArenaNone;
    ensures  gone:    \old(TcacheAll(t)) ==> TcacheNone;
    LIVE_KEPT(ensures, 0, 0);
*/
void depot_destroy(struct tcache *t);

/* Returns how many threads have a cache now. */
/*@ requires lock:    LocksFree(LOCK_DEPOT);
    assigns           DEPOT_ASSIGNS_LISTS, lock_held[LOCK_DEPOT];
    ensures  lock:    LocksFree(LOCK_DEPOT);
    ensures  count:   \result == depot_live_count - depot_explicit_count <= DEPOT_POOL;
    ensures  heap:    \old(BlocksOk) ==> BlocksOk;
*/
uint32_t depot_live(void);

/* Returns how many blocks are in that stack of all caches together. The count is approximate while other threads run. */
/*@ requires lock:    LocksFree(LOCK_DEPOT);
    requires stack:   stack < TCACHE_STACKS;
    requires mine:    DepotHeight;
    assigns           DEPOT_ASSIGNS_LISTS, lock_held[LOCK_DEPOT];
    ensures  lock:    LocksFree(LOCK_DEPOT);
    ensures  most:    \result <= DEPOT_POOL * TCACHE_SLOTS;
    ensures  mine:    DepotHeight;
    ensures  heap:    \old(BlocksOk) ==> BlocksOk;
*/
uint64_t depot_blocks(uint32_t stack);

/* Returns whether some cache has a block in pages of that page cache. What a thread does with its cache meanwhile may be missed. */
/*@ requires lock:    LocksFree(LOCK_DEPOT);
    requires cache:   cache < PAGE_CACHES;
    requires blocks:  BlocksOk;
    requires mine:    DepotHeight;
    assigns           DEPOT_ASSIGNS_LISTS, lock_held[LOCK_DEPOT];
    ensures  lock:    LocksFree(LOCK_DEPOT);
    ensures  is:      \result <==> \exists integer k; 0 <= k < depot_made && HoldsSome(&depot_pool[k], cache);
    ensures  blocks:  BlocksOk;
*/
bool depot_holds(uint32_t cache);

/* Takes the lock before fork. The parent and the child give it back after fork. */
/*@ requires lock:    LocksFree(LOCK_DEPOT);
    assigns           DEPOT_ASSIGNS_LISTS, lock_held[LOCK_DEPOT];
    ensures  lock:    LockHeld(LOCK_DEPOT);
    ensures  ok:      DepotOk;
    ensures  own:     DepotOwnKept{Pre,Post};
    ensures  stays:   DepotStays{Pre,Post};
    ensures  heap:    \old(BlocksOk) ==> BlocksOk;
*/
void depot_prefork(void);

/*@ requires lock:    LockHeld(LOCK_DEPOT);
    requires ok:      DepotOk;
    assigns           lock_held[LOCK_DEPOT];
    ensures  lock:    lock_held[LOCK_DEPOT] == 0;
*/
void depot_postfork_parent(void);

/* Gives the lock back in the child. mine is the cache of the thread that forked. The other threads do not exist in the child. Their
 * stacks may have been in the middle of a change, so the blocks in them stay where they are, and no thread claims these caches again. An
 * explicit cache that none of them used is there in the child. */
/*@ requires lock:    LockHeld(LOCK_DEPOT);
    requires ok:      DepotOk;
    requires mine:    depot_mine == DEPOT_NONE <==> mine == &tcache_unborn || mine == &tcache_dead;
    requires thread:  depot_mine != DEPOT_NONE ==> depot_place[depot_mine] == 0;
    assigns           lock_held[LOCK_DEPOT], depot_live_count;
    ensures  lock:    lock_held[LOCK_DEPOT] == 0;
    ensures  ok:      DepotOk;
    ensures  live:    depot_live_count == depot_explicit_count + (depot_mine == DEPOT_NONE ? 0 : 1);
*/
void depot_postfork_child(struct tcache *mine);

#endif
