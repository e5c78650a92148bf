/* arena: which arenas there are, and how many threads use each. */
#include "blocks/arena.h"

#include "platform/atomic.h"

uint32_t arena_open = ARENAS_MAX;
uint32_t arena_thread_count[ARENAS_MAX];
uint8_t  arena_kind[ARENAS_MAX];

/* Other threads have come and gone, and have made arenas. There are fewer threads than a count can hold. */
/*@ requires locked:  LockHeld(LOCK_ARENA);
    requires ok:      ArenaOk;
    assigns           ARENA_ASSIGNS_GUARDED;
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
    ensures  range:   \result < bin_shared;
    ensures  open:    \result == 0 || \result < arena_open;
    ensures  least:   \forall integer a; 0 <= a < bin_shared && a < arena_open ==>
                          arena_thread_count[\result] <= arena_thread_count[a];
*/
static uint32_t arena_least(void)
{
    uint32_t open = ATOMIC_LOAD(arena_open);
    uint32_t least = 0;
    /*@ loop invariant range: 1 <= a <= bin_shared && least < a;
        loop invariant open:  least == 0 || least < open;
        loop invariant least: \forall integer b; 0 <= b < a ==> arena_thread_count[least] <= arena_thread_count[b];
        loop assigns   a, least;
        loop variant   bin_shared - a;
    */
    for (uint32_t a = 1; a < bin_shared && a < open; a++) {
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

void arena_boot(uint32_t arenas, bool oversize)
{
    uint32_t most = oversize ? ARENAS_MAX - 1 : ARENAS_MAX;
    bin_boot(arenas < 1 ? 1 : arenas > most ? most : arenas);
    if (oversize) {
        arena_kind[bin_shared] = ARENA_OVERSIZE;
        bin_arenas = bin_shared + 1;
    }
}

uint32_t arena_count(void)
{
    return ATOMIC_LOAD(bin_arenas);
}

bool arena_serves(uint32_t arena)
{
    return arena < ARENAS_MAX && (arena < bin_shared || ATOMIC_LOAD(arena_kind[arena]) == ARENA_MADE);
}

/* Returns the first number of an arena with a page cache of its own that no arena has, or 0 if there is none. */
/*@ requires locked:  LockHeld(LOCK_ARENA);
    requires ok:      ArenaOk;
    assigns           \nothing;
    ensures  range:   \result != 0 ==> ArenaOwnRange(\result);
    ensures  unused:  \result != 0 ==> arena_kind[\result] == ARENA_UNUSED;
    ensures  none:    \result == 0 ==> \forall integer a; ArenaOwnRange(a) ==> arena_kind[a] != ARENA_UNUSED;
*/
static uint32_t arena_unused(void)
{
    /*@ loop invariant range: bin_shared <= a <= ARENAS_MAX && a <= bin_shared + ARENAS_OWN;
        loop invariant used:  \forall integer b; bin_shared <= b < a ==> arena_kind[b] != ARENA_UNUSED;
        loop assigns   a;
        loop variant   ARENAS_MAX - a;
    */
    for (uint32_t a = bin_shared; a < ARENAS_MAX && a - bin_shared < ARENAS_OWN; a++) {
        if (arena_kind[a] == ARENA_UNUSED) {
            return a;
        }
    }
    return 0;
}

/* Gives the number, which is that of no arena, to one that is made. Its bins are whole: static memory is zero, or they have been emptied. */
/*@ requires locked:  LockHeld(LOCK_ARENA);
    requires ok:      ArenaOk;
    requires range:   ArenaOwnRange(arena);
    assigns           arena_kind[arena], bin_arenas;
    ensures  ok:      ArenaOk;
    ensures  made:    arena < bin_arenas && arena_kind[arena] == ARENA_MADE;
*/
static void arena_make(uint32_t arena)
{
    ATOMIC_STORE(bin_arenas, bin_arenas > arena ? bin_arenas : arena + 1);
    ATOMIC_STORE(arena_kind[arena], ARENA_MADE);
}

uint32_t arena_create(void)
{
    arena_enter();
    uint32_t arena = arena_unused();
    if (arena != 0) {
        arena_make(arena);
    }
    arena_leave_lock();
    return arena;
}

/* Takes the number from the arena that has it, if that one was made and no thread has joined it. Returns whether it did. */
/*@ requires locked:  LockHeld(LOCK_ARENA);
    requires ok:      ArenaOk;
    requires range:   arena < ARENAS_MAX;
    assigns           arena_kind[arena];
    ensures  ok:      ArenaOk;
    ensures  is:      \result <==> \old(arena_kind[arena]) == ARENA_MADE && arena_thread_count[arena] == 0;
    ensures  kind:    arena_kind[arena] == (\result ? ARENA_UNUSED : \old(arena_kind[arena]));
*/
static bool arena_unmake(uint32_t arena)
{
    bool free = arena_kind[arena] == ARENA_MADE && arena_load(arena) == 0;
    if (free) {
        ATOMIC_STORE(arena_kind[arena], ARENA_UNUSED);
    }
    return free;
}

bool arena_destroy(uint32_t arena)
{
    arena_enter();
    bool destroyed = arena_unmake(arena);
    arena_leave_lock();
    return destroyed;
}

uint32_t arena_join(void)
{
    arena_enter();
    uint32_t least = arena_least();
    /*@ ghost uint32_t before = arena_thread_count[least]; */
    arena_store(least, arena_load(least) + 1);
    /*@ assert more: arena_thread_count[least] == before + 1; */
    /*@ ghost arena_joined[least] = 1; */
    arena_leave_lock();
    return least;
}

void arena_leave(uint32_t arena)
{
    arena_enter();
    /*@ ghost uint32_t before = arena_thread_count[arena]; */
    arena_store(arena, arena_load(arena) - 1);
    /*@ assert fewer: arena_thread_count[arena] == before - 1; */
    /*@ ghost arena_joined[arena] = 0; */
    arena_leave_lock();
}

bool arena_move(uint32_t from, uint32_t to)
{
    arena_enter();
    bool serves = arena_serves(to);
    if (serves) {
        /*@ ghost uint32_t left = arena_thread_count[from]; */
        /*@ ghost uint32_t joined = arena_thread_count[to]; */
        arena_store(from, arena_load(from) - 1);
        arena_store(to, arena_load(to) + 1);
        /*@ assert fewer: arena_thread_count[from] == left - 1; */
        /*@ assert more: arena_thread_count[to] == joined + 1; */
        /*@ ghost arena_joined[from] = 0; */
        /*@ ghost arena_joined[to] = 1; */
    }
    arena_leave_lock();
    return serves;
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
