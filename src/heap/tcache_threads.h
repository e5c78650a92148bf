/* tcache_threads: the shape of a cache, and its life with threads: made, left, claimed again.
 *
 * A cache that was made stays for ever: in the list of all, and, while no thread has it, empty in the list of idle ones.
 * The lock guards both lists and base; what a cache holds is its thread's own, but for the link that lists it.
 */
#ifndef QED_HEAP_TCACHE_THREADS_H
#define QED_HEAP_TCACHE_THREADS_H

#include "heap/arena.h"
#include "heap/tcache.h"
#include "pages/base.h"
#include "platform/mutex.h"
#include "platform/pool.h"

#define THREAD_POOL (1UL << 20)                         /* caches at most; a thread without one uses the bins */
POOL(struct tcache, thread_pool, THREAD_POOL);          /* the caches, in the order in which they were made */

#define TCACHE_DEPTH_MIN 16UL                           /* blocks that every stack of a small class has slots for */

/* Guarded by the lock; nobody else's business. */
extern struct tcache *tcache_list;                      /* every cache that was ever made, the last one first */
extern struct tcache *tcache_idle;                      /* those that threads have left, the last one first */
extern uint32_t       tcache_made;                      /* in the first list */
extern uint32_t       tcache_live_count;                /* threads that have one */

extern divide_magic_t tcache_magic[TCACHE_BINS];        /* reciprocals of the classes; read-only after boot */

#include "tcache_threads.acsl"

/* Fills both stand-ins. Static memory is zero. Once, at start. */
/*@ requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires lists:   ThreadsEmpty;
    requires zero:    ThreadsUnmade;
    requires base:    BaseOk;
    requires blank:   TcacheZero(&tcache_unborn) && TcacheZero(&tcache_dead);
    terminates        \true;
    exits             \false;
    assigns           tcache_unborn, tcache_dead, tcache_magic[0 .. TCACHE_BINS - 1], tcache_bytes[0 .. TCACHE_BINS - 1];
    ensures  unmade:  ThreadsUnmade;
    ensures  bytes:   ThreadsBytes && ThreadsMagic;
    ensures  shape:   TcacheShape(&tcache_unborn) && TcacheShape(&tcache_dead);
    ensures  lookup:  TcacheLookup(&tcache_unborn) && TcacheLookup(&tcache_dead);
    ensures  bottom:  TcacheBottom(&tcache_unborn) && TcacheBottom(&tcache_dead);
    ensures  hollow:  TcacheHollow(&tcache_unborn) && TcacheHollow(&tcache_dead);
    ensures  fill:    TcacheFill(&tcache_unborn) && TcacheFill(&tcache_dead);
    ensures  turn:    TcacheTurn(&tcache_unborn) && TcacheTurn(&tcache_dead);
*/
void tcache_boot(void);

/* A cache for a thread that has none; NULL: out of memory. */
/*@ requires lock:    LocksFree(LOCK_TCACHE);
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires arenas:  ArenaOk && ArenaNone;
    requires none:    tcache_mine == TCACHE_NONE;
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS_LIFE;
    ensures  lock:    LocksFree(LOCK_TCACHE);
    ensures  arenas:  ArenaOk;
    ensures  mine:    \result != \null ==> ThreadsMine(\result);
    ensures  ok:      \result != \null ==> TcacheOk(\result);
    ensures  only:    \result != \null ==> ArenaOnly(\result->arena);
    ensures  empty:   \result != \null ==> TcacheEmpty(\result);
    ensures  none:    \result == \null ==> tcache_mine == TCACHE_NONE && ArenaNone;
*/
struct tcache *tcache_create(void);

/* The thread leaves its cache: all its blocks go back to their bins. */
/*@ requires lock:    LocksFree(LOCK_TCACHE);
    requires heap:    HeapOk;
    requires arenas:  ArenaOk;
    requires mine:    ThreadsMine(t);
    requires only:    ArenaOnly(t->arena);
    requires ok:      TcacheOk(t);
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS_LIFE, HEAP_ASSIGNS, large_allocated, large_freed;
    ensures  lock:    LocksFree(LOCK_TCACHE);
    ensures  heap:    HeapOk;
    ensures  arenas:  ArenaOk;
    ensures  none:    tcache_mine == TCACHE_NONE;
    ensures  left:    ArenaNone;
    ensures  kept:    LiveSame{Pre,Post}(0);
    ensures  new:     LiveNoneNew{Pre,Post}(0);
*/
void tcache_destroy(struct tcache *t);

/* Threads that have a cache now. */
/*@ requires lock:    LocksFree(LOCK_TCACHE);
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS_LISTS, lock_held[LOCK_TCACHE];
    ensures  lock:    LocksFree(LOCK_TCACHE);
    ensures  count:   \result == tcache_live_count <= THREAD_POOL;
    ensures  heap:    \old(HeapOk) ==> HeapOk;
*/
uint32_t tcache_live(void);

/* Blocks of that bin in all caches, approximate while threads run. */
/*@ requires lock:    LocksFree(LOCK_TCACHE);
    requires bin:     bin < TCACHE_BINS;
    requires mine:    ThreadsHeight;
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS_LISTS, lock_held[LOCK_TCACHE];
    ensures  lock:    LocksFree(LOCK_TCACHE);
    ensures  most:    \result <= THREAD_POOL * TCACHE_SLOTS;
    ensures  mine:    ThreadsHeight;
    ensures  heap:    \old(HeapOk) ==> HeapOk;
*/
uint64_t tcache_blocks(uint32_t bin);

/* Around fork: the lock is held from before to after it, in the parent and in the child. */
/*@ requires lock:    LocksFree(LOCK_TCACHE);
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS_LISTS, lock_held[LOCK_TCACHE];
    ensures  lock:    LockHeld(LOCK_TCACHE);
    ensures  ok:      ThreadsOk;
    ensures  heap:    \old(HeapOk) ==> HeapOk;
*/
void tcache_prefork(void);

/*@ requires lock:    LockHeld(LOCK_TCACHE);
    requires ok:      ThreadsOk;
    terminates        \true;
    exits             \false;
    assigns           lock_held[LOCK_TCACHE];
    ensures  lock:    lock_held[LOCK_TCACHE] == 0;
*/
void tcache_postfork_parent(void);

/* mine: the cache of the thread that forked. The other threads do not exist in the child. Their stacks may have been in the
 * middle of a change, so the blocks in them stay where they are; the caches are never claimed again. */
/*@ requires lock:    LockHeld(LOCK_TCACHE);
    requires ok:      ThreadsOk;
    requires mine:    tcache_mine == TCACHE_NONE <==> mine == &tcache_unborn || mine == &tcache_dead;
    terminates        \true;
    exits             \false;
    assigns           lock_held[LOCK_TCACHE], tcache_live_count;
    ensures  lock:    lock_held[LOCK_TCACHE] == 0;
    ensures  ok:      ThreadsOk;
*/
void tcache_postfork_child(struct tcache *mine);

#endif
