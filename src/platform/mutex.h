/* mutex: a lock in one word, which is 0 if it is free, 1 if it is held, 2 if it is held and threads sleep on it.
 *
 * Ulrich Drepper, "Futexes Are Tricky" (2011), mutex 2. A thread spins briefly before it sleeps, because the sections
 * that the lock guards are short.
 *
 * The proofs see which locks this thread holds (spec/platform/locks.acsl). Through OTHERS_ACT they see what other
 * threads did meanwhile.
 */
#ifndef QED_PLATFORM_MUTEX_H
#define QED_PLATFORM_MUTEX_H

#include "platform/os.h"

struct mutex {
    uint32_t word;
};

#define MUTEX_INIT {0}

#include "platform/locks.acsl"

/* Declares what other threads may have done to guarded state while its lock was free. It is called right after the lock
 * is taken. For the compiler it is a function that does nothing, for the proofs a contract without a body. */
#ifdef __FRAMAC__
#define OTHERS_ACT(name) void name(void)
#else
#define OTHERS_ACT(name) static inline void name(void) {}
#endif

/* Locks that this thread holds or waits for. The handler of a signal may read it at any instruction: a lock counts from before
 * it is taken until after it is given back. */
extern __thread uint32_t mutex_count;

void mutex_lock_slow(struct mutex *m);

/*@ requires mutex:  \valid(m);
    requires rank:   rank < LOCK_RANKS;
    requires order:  LocksFree(rank);
    assigns          lock_held[rank];
    ensures  held:   LockHeld(rank);
*/
static inline void mutex_lock(struct mutex *m) /*@ ghost (uint32_t rank) */
#ifdef __FRAMAC__
;
#else
{
    uint32_t free = 0;
    mutex_count += 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (!__atomic_compare_exchange_n(&m->word, &free, 1U, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        mutex_lock_slow(m);
    }
}
#endif

/*@ requires mutex:  \valid(m);
    requires held:   rank < LOCK_RANKS && LockHeld(rank);
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
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mutex_count -= 1;
}
#endif

/* Makes the lock free in the child of a fork, where only the thread that forked is left and nobody sleeps on the
 * lock. */
/*@ requires mutex:  \valid(m);
    requires held:   rank < LOCK_RANKS && LockHeld(rank);
    assigns          lock_held[rank];
    ensures  free:   lock_held[rank] == 0;
*/
static inline void mutex_reset(struct mutex *m) /*@ ghost (uint32_t rank) */
#ifdef __FRAMAC__
;
#else
{
    __atomic_store_n(&m->word, 0U, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mutex_count -= 1;
}
#endif

/* Whether this thread is inside a lock, where a signal's handler may ask. A lock that the interrupted call waits for counts as
 * held. */
/*@ assigns          \nothing;
    ensures  inside: \result <==> !LocksFree(0);
*/
static inline bool mutex_inside(void)
#ifdef __FRAMAC__
;
#else
{
    return mutex_count != 0;
}
#endif

#endif
