/* arena: a set of bins. Threads are spread over the arenas, so that their fills and flushes rarely meet at a lock.
 *
 * The first arenas are there from boot on. They share a page cache, and every thread joins one of them. Each of the others has a page cache
 * of its own (arena_pages). They are made by calls, but for the one that has the oversize blocks. A thread joins them only when it says so.
 */
#ifndef QED_BLOCKS_ARENA_H
#define QED_BLOCKS_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "blocks/bin.h"
#include "platform/lock.h"

#define ARENA_UNUSED 0U                             /* the number of an arena that has not been made, or is gone, or is from boot on */
#define ARENA_MADE 1U                               /* of one that a call has made */
#define ARENA_OVERSIZE 2U                           /* of the one that has the oversize blocks. It serves no thread. */

extern uint32_t arena_open;                         /* threads join arenas below it; ARENAS_MAX, or what mallopt says */

/* Guarded by the arenas' lock. */
extern uint32_t arena_thread_count[ARENAS_MAX];     /* threads that have joined the arena */
extern uint8_t  arena_kind[ARENAS_MAX];

#include "blocks/arena.acsl"

/* Makes so many arenas that share a page cache, at least 1 and at most ARENAS_MAX, with their bins, and behind them one for oversize
 * blocks if there is to be one. Is called once, at boot, when static memory is zero. */
/*@ requires zero:    \forall integer a; 0 <= a < ARENAS_MAX ==>
                          arena_thread_count[a] == 0 && arena_joined[a] == 0 && arena_kind[a] == ARENA_UNUSED;
    REQUIRES_NO_BLOCKS;
    assigns           bin_shared, bin_arenas, arena_kind[0 .. ARENAS_MAX - 1];
    ensures  ok:      ArenaOk && ArenaNone;
    ensures  blocks:  BlocksOk;
    ensures  bins:    \forall integer b; BinRange(b) ==> BinOk(b);
    ensures  cut:     bin_shared == (arenas < 1 ? 1 : arenas > ARENAS_MAX - (oversize ? 1 : 0) ? ARENAS_MAX - (oversize ? 1 : 0) : arenas);
    ensures  count:   bin_arenas == bin_shared + (oversize ? 1 : 0);
*/
void arena_boot(uint32_t arenas, bool oversize);

/* Returns how many arenas there have been so far. Their numbers are below that. */
/*@ requires ok:      ArenaOk;
    assigns           \nothing;
    ensures  range:   1 <= \result <= ARENAS_MAX;
*/
uint32_t arena_count(void);

/* Tells whether a thread may take blocks from the arena of that number now. */
/*@ assigns           \nothing;
    ensures  is:      \result <==> arena < ARENAS_MAX && (arena < bin_shared || arena_kind[arena] == ARENA_MADE);
*/
bool arena_serves(uint32_t arena);

/* Makes an arena with a page cache of its own. Returns its number, or 0 if all are there. */
/*@ requires lock:    LocksFree(LOCK_ARENA);
    requires ok:      ArenaOk;
    assigns           ARENA_ASSIGNS;
    ensures  lock:    LocksFree(LOCK_ARENA);
    ensures  ok:      ArenaOk;
    ensures  made:    \result != 0 ==> \result < bin_arenas && arena_kind[\result] == ARENA_MADE;
    ensures  own:     \result != 0 ==> ArenaPages(\result) > PAGES_SHARED;
    ensures  none:    \result == 0 ==> \forall integer a; ArenaOwnRange(a) ==> arena_kind[a] != ARENA_UNUSED;
*/
uint32_t arena_create(void);

/* Makes the number, which arena_create has returned, that of no arena. Returns false, and changes nothing, if it is that of none, or a thread
 * has joined it. Its blocks have to end before another arena gets the number. */
/*@ requires lock:    LocksFree(LOCK_ARENA);
    requires ok:      ArenaOk;
    requires range:   arena < ARENAS_MAX;
    assigns           ARENA_ASSIGNS;
    ensures  lock:    LocksFree(LOCK_ARENA);
    ensures  ok:      ArenaOk;
    ensures  gone:    \result ==> arena_kind[arena] == ARENA_UNUSED && arena_thread_count[arena] == 0;
    ensures  not:     \result ==> bin_shared <= arena < bin_arenas;
    ensures  stays:   !\result ==> arena_kind[arena] != ARENA_MADE || arena_thread_count[arena] != 0;
    ensures  mine:    arena_joined[arena] == 1 ==> !\result;
*/
bool arena_destroy(uint32_t arena);

/* Lets the thread, which has joined no arena, join the one with the fewest threads of those that are there from boot on, and open.
 * Returns which it is. */
/*@ requires lock:    LocksFree(LOCK_ARENA);
    requires ok:      ArenaOk;
    requires none:    ArenaNone;
    assigns           ARENA_ASSIGNS, arena_joined[0 .. ARENAS_MAX - 1];
    ensures  lock:    LocksFree(LOCK_ARENA);
    ensures  ok:      ArenaOk;
    ensures  range:   \result < bin_shared;
    ensures  open:    \result == 0 || \result < arena_open;
    ensures  least:   \forall integer a; 0 <= a < bin_shared && a < arena_open ==>
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

/* Lets the thread leave the arena that it has joined, and join another one. Returns false, and does nothing, if that one serves no thread. */
/*@ requires lock:    LocksFree(LOCK_ARENA);
    requires ok:      ArenaOk;
    requires joined:  from < ARENAS_MAX && arena_joined[from] == 1;
    requires range:   to < ARENAS_MAX;
    requires apart:   from != to && arena_joined[to] == 0;
    assigns           ARENA_ASSIGNS, arena_joined[from], arena_joined[to];
    ensures  lock:    LocksFree(LOCK_ARENA);
    ensures  ok:      ArenaOk;
    ensures  left:    arena_joined[from] == (\result ? 0 : 1);
    ensures  moved:   arena_joined[to] == (\result ? 1 : 0);
    ensures  serves:  \result ==> to < bin_shared || arena_kind[to] == ARENA_MADE;
    ensures  shared:  to < bin_shared ==> \result;
*/
bool arena_move(uint32_t from, uint32_t to);

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
