/* arena: a set of bins. Threads are spread over the arenas, so that their fills and flushes rarely meet at a lock. */
#ifndef QED_BLOCKS_ARENA_H
#define QED_BLOCKS_ARENA_H

#include <stdint.h>

#include "blocks/bin.h"
#include "platform/lock.h"

extern uint32_t arena_total;                        /* arenas that there are, from boot on */
extern uint32_t arena_thread_count[ARENAS_MAX];     /* threads that have joined the arena, guarded by the arenas' lock */

#include "blocks/arena.acsl"

/* Makes so many arenas, at least 1 and at most ARENAS_MAX, with their bins. Is called once, at boot, when static memory is zero. */
/*@ requires zero:    \forall integer a; 0 <= a < ARENAS_MAX ==> arena_thread_count[a] == 0 && arena_joined[a] == 0;
    REQUIRES_NO_BLOCKS;
    assigns           arena_total, bin_arenas;
    ensures  ok:      ArenaOk && ArenaNone;
    ensures  blocks:  BlocksOk;
    ensures  bins:    \forall integer b; BinRange(b) ==> BinOk(b);
    ensures  cut:     arena_total == (arenas < 1 ? 1 : arenas > ARENAS_MAX ? ARENAS_MAX : arenas);
*/
void arena_boot(uint32_t arenas);

/*@ requires ok:      ArenaOk;
    assigns           \nothing;
    ensures  total:   \result == arena_total && 1 <= \result <= ARENAS_MAX;
*/
uint32_t arena_count(void);

/* Lets the thread, which has joined no arena, join the one with the fewest threads. Returns which it is. */
/*@ requires lock:    LocksFree(LOCK_ARENA);
    requires ok:      ArenaOk;
    requires none:    ArenaNone;
    assigns           ARENA_ASSIGNS, arena_joined[0 .. ARENAS_MAX - 1];
    ensures  lock:    LocksFree(LOCK_ARENA);
    ensures  ok:      ArenaOk;
    ensures  range:   \result < arena_total;
    ensures  least:   \forall integer a; 0 <= a < arena_total ==>
                          arena_thread_count[\result] <= arena_thread_count[a] + 1;
    ensures  joined:  \forall integer a; 0 <= a < ARENAS_MAX ==> arena_joined[a] == (a == \result ? 1 : 0);
*/
uint32_t arena_join(void);

/* Lets the thread leave the arena that it has joined. */
/*@ requires lock:    LocksFree(LOCK_ARENA);
    requires ok:      ArenaOk;
    requires joined:  arena < ARENAS_MAX && arena_joined[arena] == 1;
    assigns           ARENA_ASSIGNS, arena_joined[arena];
    ensures  lock:    LocksFree(LOCK_ARENA);
    ensures  ok:      ArenaOk;
    ensures  left:    arena_joined[arena] == 0;
*/
void arena_leave(uint32_t arena);

/* Lets the thread leave the arena that it has joined, and join another one. */
/*@ requires lock:    LocksFree(LOCK_ARENA);
    requires ok:      ArenaOk;
    requires joined:  from < ARENAS_MAX && arena_joined[from] == 1;
    requires range:   to < arena_total;
    requires apart:   from != to && arena_joined[to] == 0;
    assigns           ARENA_ASSIGNS, arena_joined[from], arena_joined[to];
    ensures  lock:    LocksFree(LOCK_ARENA);
    ensures  ok:      ArenaOk;
    ensures  left:    arena_joined[from] == 0;
    ensures  moved:   arena_joined[to] == 1;
*/
void arena_move(uint32_t from, uint32_t to);

/* Takes the lock before fork. It is held until after it, in the parent and in the child. */
/*@ requires lock:    LocksFree(LOCK_ARENA);
    requires ok:      ArenaOk;
    assigns           ARENA_ASSIGNS;
    ensures  lock:    LockHeld(LOCK_ARENA);
    ensures  ok:      ArenaOk;
*/
void arena_prefork(void);

/*@ requires lock:    LockHeld(LOCK_ARENA);
    requires ok:      ArenaOk;
    assigns           lock_held[LOCK_ARENA];
    ensures  lock:    lock_held[LOCK_ARENA] == 0;
*/
void arena_postfork_parent(void);

/*@ requires lock:    LockHeld(LOCK_ARENA);
    requires ok:      ArenaOk;
    assigns           lock_held[LOCK_ARENA];
    ensures  lock:    lock_held[LOCK_ARENA] == 0;
*/
void arena_postfork_child(void);

#endif
