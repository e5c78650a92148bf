/* arena: how many arenas there are, and how many threads use each. */
#include "blocks/arena.h"

#include "platform/atomic.h"

uint32_t arena_total = 1;
uint32_t arena_thread_count[ARENAS_MAX];

/* Other threads have come and gone. There are fewer of them than a count can hold. */
/*@ requires locked:  LockHeld(LOCK_ARENA);
    requires ok:      ArenaOk;
    assigns           arena_thread_count[0 .. ARENAS_MAX - 1];
    ensures  ok:      ArenaOk;
    ensures  few:     \forall integer a; 0 <= a < ARENAS_MAX ==> arena_thread_count[a] < UINT32_MAX;
*/
OTHERS_ACT(arena_others);

/*@ requires free:    LocksFree(LOCK_ARENA);
    requires ok:      ArenaOk;
    assigns           ARENA_ASSIGNS;
    ensures  locked:  LockHeld(LOCK_ARENA);
    ensures  ok:      ArenaOk;
    ensures  few:     \forall integer a; 0 <= a < ARENAS_MAX ==> arena_thread_count[a] < UINT32_MAX;
*/
static inline void arena_enter(void)
{
    lock_take(LOCK_ARENA);
    arena_others();
}

/*@ requires locked:  LockHeld(LOCK_ARENA);
    requires ok:      ArenaOk;
    assigns           lock_held[LOCK_ARENA];
    ensures  free:    lock_held[LOCK_ARENA] == 0;
*/
static inline void arena_leave_lock(void)
{
    lock_give(LOCK_ARENA);
}

/*@ requires locked:  LockHeld(LOCK_ARENA);
    requires ok:      ArenaOk;
    assigns           \nothing;
    ensures  range:   \result < arena_total;
    ensures  least:   \forall integer a; 0 <= a < arena_total ==> arena_thread_count[\result] <= arena_thread_count[a];
*/
static uint32_t arena_least(void)
{
    uint32_t least = 0;
    /*@ loop invariant range: 1 <= a <= arena_total && least < a;
        loop invariant least: \forall integer b; 0 <= b < a ==> arena_thread_count[least] <= arena_thread_count[b];
        loop assigns   a, least;
        loop variant   arena_total - a;
    */
    for (uint32_t a = 1; a < arena_total; a++) {
        if (arena_thread_count[a] < arena_thread_count[least]) {
            least = a;
        }
    }
    return least;
}

/*@ requires locked:  LockHeld(LOCK_ARENA);
    requires range:   arena < ARENAS_MAX;
    assigns           \nothing;
    ensures  count:   \result == arena_thread_count[arena];
*/
static uint32_t arena_load(uint32_t arena)
{
    return arena_thread_count[arena];
}

/*@ requires locked:  LockHeld(LOCK_ARENA);
    requires range:   arena < ARENAS_MAX;
    assigns           arena_thread_count[arena];
    ensures  count:   arena_thread_count[arena] == count;
*/
static void arena_store(uint32_t arena, uint32_t count)
{
    ATOMIC_STORE(arena_thread_count[arena], count);     /* mallctl reads it without the lock */
}

void arena_boot(uint32_t arenas)
{
    arena_total = arenas < 1 ? 1 : arenas > ARENAS_MAX ? ARENAS_MAX : arenas;
    bin_boot(arena_total);
}

uint32_t arena_count(void)
{
    return arena_total;
}

uint32_t arena_join(void)
{
    arena_enter();
    uint32_t least = arena_least();
    arena_store(least, arena_load(least) + 1);
    /*@ ghost arena_joined[least] = 1; */
    arena_leave_lock();
    return least;
}

void arena_leave(uint32_t arena)
{
    arena_enter();
    arena_store(arena, arena_load(arena) - 1);
    /*@ ghost arena_joined[arena] = 0; */
    arena_leave_lock();
}

void arena_move(uint32_t from, uint32_t to)
{
    arena_enter();
    arena_store(from, arena_load(from) - 1);
    arena_store(to, arena_load(to) + 1);
    /*@ ghost arena_joined[from] = 0; */
    /*@ ghost arena_joined[to] = 1; */
    arena_leave_lock();
}

void arena_prefork(void)
{
    arena_enter();
}

void arena_postfork_parent(void)
{
    arena_leave_lock();
}

void arena_postfork_child(void)
{
    lock_reset(LOCK_ARENA);
}
