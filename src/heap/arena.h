/* arena: a set of bins. Threads are spread over the arenas, so that their fills and flushes rarely meet at a lock. */
#ifndef QED_HEAP_ARENA_H
#define QED_HEAP_ARENA_H

#include <stdint.h>

#include "heap/bin.h"
#include "platform/mutex.h"

extern uint32_t arena_total;                        /* how many there are; set once, at boot */
extern uint32_t arena_thread_count[ARENAS_MAX];     /* threads that have joined each; guarded by the arenas' lock */

#include "arena.acsl"

/* How many there are to be, cut to 1 .. ARENAS_MAX, and their bins. Static memory is zero. Once, at start. */
/*@ requires zero:    \forall integer a; 0 <= a < ARENAS_MAX ==> arena_thread_count[a] == 0 && arena_joined[a] == 0;
    requires cache:   PageCacheOk;
    requires shape:   SlabGeometryOk;
    requires kinds:   \forall integer e; 0 <= e < TABLE_MAX ==> ext_kind[e] == KIND_NONE;
    requires blocks:  \forall integer a; 0 <= a < ADDRESS_MAX ==> block_state[a] == BLOCK_NONE;
    requires lists:   \forall integer x; PhNode(x) ==> ph_own[x] == 0;
    requires current: \forall integer b; BinRange(b) ==> bin_current[b] == 0;
    terminates        \true;
    exits             \false;
    assigns           arena_total, bin_arenas;
    ensures  ok:      ArenaOk && ArenaNone;
    ensures  heap:    HeapOk;
    ensures  bins:    \forall integer b; BinRange(b) ==> BinOk(b);
    ensures  cut:     arena_total == (arenas < 1 ? 1 : arenas > ARENAS_MAX ? ARENAS_MAX : arenas);
*/
void arena_boot(uint32_t arenas);

/*@ requires ok:      ArenaOk;
    terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  total:   \result == arena_total && 1 <= \result <= ARENAS_MAX;
*/
uint32_t arena_count(void);

/* The arena with the fewest threads, for a thread that has joined none. */
/*@ requires lock:    LocksFree(LOCK_ARENA);
    requires ok:      ArenaOk;
    requires none:    ArenaNone;
    terminates        \true;
    exits             \false;
    assigns           ARENA_ASSIGNS, arena_joined[0 .. ARENAS_MAX - 1];
    ensures  lock:    LocksFree(LOCK_ARENA);
    ensures  ok:      ArenaOk;
    ensures  range:   \result < arena_total;
    ensures  least:   \forall integer a; 0 <= a < arena_total ==>
                          arena_thread_count[\result] <= arena_thread_count[a] + 1;
    ensures  joined:  \forall integer a; 0 <= a < ARENAS_MAX ==> arena_joined[a] == (a == \result ? 1 : 0);
*/
uint32_t arena_join(void);

/* The thread, which has joined that arena, leaves it. */
/*@ requires lock:    LocksFree(LOCK_ARENA);
    requires ok:      ArenaOk;
    requires joined:  arena < ARENAS_MAX && arena_joined[arena] == 1;
    terminates        \true;
    exits             \false;
    assigns           ARENA_ASSIGNS, arena_joined[arena];
    ensures  lock:    LocksFree(LOCK_ARENA);
    ensures  ok:      ArenaOk;
    ensures  left:    arena_joined[arena] == 0;
*/
void arena_leave(uint32_t arena);

/*@ requires lock:    LocksFree(LOCK_ARENA);
    requires ok:      ArenaOk;
    requires range:   arena < ARENAS_MAX;
    terminates        \true;
    exits             \false;
    assigns           ARENA_ASSIGNS;
    ensures  lock:    LocksFree(LOCK_ARENA);
    ensures  ok:      ArenaOk;
    ensures  count:   \result == arena_thread_count[arena] && \result >= arena_joined[arena];
*/
uint32_t arena_threads(uint32_t arena);

/* Around fork: the lock is held from before to after it, in the parent and in the child. */
/*@ requires lock:    LocksFree(LOCK_ARENA);
    requires ok:      ArenaOk;
    terminates        \true;
    exits             \false;
    assigns           ARENA_ASSIGNS;
    ensures  lock:    LockHeld(LOCK_ARENA);
    ensures  ok:      ArenaOk;
*/
void arena_prefork(void);

/*@ requires lock:    LockHeld(LOCK_ARENA);
    requires ok:      ArenaOk;
    terminates        \true;
    exits             \false;
    assigns           lock_held[LOCK_ARENA];
    ensures  lock:    lock_held[LOCK_ARENA] == 0;
*/
void arena_postfork_parent(void);

/*@ requires lock:    LockHeld(LOCK_ARENA);
    requires ok:      ArenaOk;
    terminates        \true;
    exits             \false;
    assigns           lock_held[LOCK_ARENA];
    ensures  lock:    lock_held[LOCK_ARENA] == 0;
*/
void arena_postfork_child(void);

#endif
