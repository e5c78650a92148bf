/* mutex: a lock of one word, fair enough, without memory of its own. 0 free, 1 held, 2 held with sleepers.
 *
 * Ulrich Drepper, "Futexes Are Tricky" (2011), mutex 2. Spins briefly first: the sections it guards are short.
 *
 * The proofs see which locks this thread holds (spec/locks.acsl), and what others did meanwhile through OTHERS_ACT.
 */
#ifndef QED_PLATFORM_MUTEX_H
#define QED_PLATFORM_MUTEX_H

#include "platform/os.h"

struct mutex {
    uint32_t word;
};

#define MUTEX_INIT {0}

#include "locks.acsl"

/* Declares what other threads may have done to guarded state while its lock was free: to be called right after the lock is
 * taken. For the compiler a function that does nothing, for the proofs a contract without a body. */
#ifdef __FRAMAC__
#define OTHERS_ACT(name) void name(void)
#else
#define OTHERS_ACT(name) static inline void name(void) {}
#endif

void mutex_lock_slow(struct mutex *m);

/*@ requires mutex:  \valid(m);
    requires rank:   rank < LOCK_RANKS;
    requires order:  LocksFree(rank);
    terminates       \true;
    exits            \false;
    assigns          lock_held[rank];
    ensures  held:   LockHeld(rank);
*/
static inline void mutex_lock(struct mutex *m) /*@ ghost (uint32_t rank) */
#ifdef __FRAMAC__
;
#else
{
    uint32_t free = 0;
    if (!__atomic_compare_exchange_n(&m->word, &free, 1U, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        mutex_lock_slow(m);
    }
}
#endif

/*@ requires mutex:  \valid(m);
    requires held:   rank < LOCK_RANKS && LockHeld(rank);
    terminates       \true;
    exits            \false;
    assigns          lock_held[rank];
    ensures  free:   lock_held[rank] == 0;
*/
static inline void mutex_unlock(struct mutex *m) /*@ ghost (uint32_t rank) */
#ifdef __FRAMAC__
;
#else
{
    if (__atomic_exchange_n(&m->word, 0U, __ATOMIC_RELEASE) == 2U) {
        os_futex_wake(&m->word);
    }
}
#endif

/* In the child of a fork only the forking thread is left: whoever slept on the lock is gone. */
/*@ requires mutex:  \valid(m);
    requires held:   rank < LOCK_RANKS && LockHeld(rank);
    terminates       \true;
    exits            \false;
    assigns          lock_held[rank];
    ensures  free:   lock_held[rank] == 0;
*/
static inline void mutex_reset(struct mutex *m) /*@ ghost (uint32_t rank) */
#ifdef __FRAMAC__
;
#else
{
    __atomic_store_n(&m->word, 0U, __ATOMIC_RELEASE);
}
#endif

#endif
