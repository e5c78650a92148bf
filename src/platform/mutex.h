/* mutex: a lock in one word, which is 0 if it is free, 1 if it is held, 2 if it is held and threads sleep on it.
 *
 * Ulrich Drepper, "Futexes Are Tricky" (2011), mutex 2. A thread spins briefly before it sleeps, because the sections
 * that the lock guards are short.
 *
 * The proofs do not see a mutex. They see the locks that are made of them (lock.h).
 */
#ifndef QED_PLATFORM_MUTEX_H
#define QED_PLATFORM_MUTEX_H

#include "platform/os.h"

struct mutex {
    uint32_t word;
};

#define MUTEX_INIT {0}

/* Locks that this thread holds or waits for. The handler of a signal may read it at any instruction: a lock counts from before
 * it is taken until after it is given back. */
extern __thread uint16_t mutex_count;

void mutex_lock_slow(struct mutex *m);

static inline void mutex_lock(struct mutex *m)
{
    uint32_t free = 0;
    mutex_count = (uint16_t)(mutex_count + 1);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (!__atomic_compare_exchange_n(&m->word, &free, 1U, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        mutex_lock_slow(m);
    }
}

static inline void mutex_unlock(struct mutex *m)
{
    if (__atomic_exchange_n(&m->word, 0U, __ATOMIC_RELEASE) == 2U) {
        os_futex_wake(&m->word);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mutex_count = (uint16_t)(mutex_count - 1);
}

/* Makes the lock free in the child of a fork, where only the thread that forked is left and nobody sleeps on the
 * lock. */
static inline void mutex_reset(struct mutex *m)
{
    __atomic_store_n(&m->word, 0U, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mutex_count = (uint16_t)(mutex_count - 1);
}

#endif
