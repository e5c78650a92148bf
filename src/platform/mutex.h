/* mutex: a lock in one word, which is 0 if it is free, 1 if it is held, 2 if it is held and threads sleep on it.
 *
 * Ulrich Drepper, "Futexes Are Tricky" (2011), mutex 2. A thread spins briefly before it sleeps, because the sections
 * that the lock guards are short.
 *
 * The proofs do not see a mutex. They see the locks that are made of them (lock.h).
 */
#ifndef QED_PLATFORM_MUTEX_H
#define QED_PLATFORM_MUTEX_H

#include "platform/atomic.h"
#include "platform/os.h"

struct mutex {
    uint32_t word;
    uint32_t waiting;               /* threads that sleep on it, or are about to */
    uint32_t owner;                 /* who had it last. This and the rest are written by who holds the lock. */
    uint32_t most_waiting;          /* at the same time, so far; so are the others */
    uint64_t locked;                /* times that it was taken */
    uint64_t owner_switches;        /* times that another thread had it before */
    uint64_t spun;                  /* times that it was held at first, and free while the thread spun */
    uint64_t waited;                /* times that the thread slept */
    uint64_t wait_ns;               /* time in all these */
    uint64_t longest_wait_ns;
};

_Static_assert(sizeof(struct mutex) == 64, "a lock and its counters share a cache line");

#define MUTEX_INIT {0}

struct mutex_stats {
    uint64_t locked, owner_switches, spun, waited, wait_ns, longest_wait_ns, most_waiting;
};

/* Locks that this thread holds or waits for. The handler of a signal may read it at any instruction: a lock counts from before
 * it is taken until after it is given back. */
extern __thread uint16_t mutex_count;

/* The thread that is in a function of the program while it holds a lock (hooks.h), told by the address of its mutex_count, or 0. A lock
 * for which it waits then may be its own. */
extern uintptr_t mutex_outside;

void mutex_lock_slow(struct mutex *m);

/* Reads the counters. The caller has the lock. */
void mutex_read_stats(const struct mutex *m, struct mutex_stats *stats);

/* Sets the counters to 0. */
void mutex_reset_stats(struct mutex *m);

/* Counts that this thread has taken the lock. The address of a variable of its own tells threads apart. */
static inline void mutex_count_owner(struct mutex *m)
{
    uint32_t self = (uint32_t)(uintptr_t)&mutex_count;
    m->locked++;
    if (m->owner != self) {
        m->owner = self;
        m->owner_switches++;
    }
}

static inline void mutex_lock(struct mutex *m)
{
    uint32_t free = 0;
    mutex_count = (uint16_t)(mutex_count + 1);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (!__atomic_compare_exchange_n(&m->word, &free, 1U, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        mutex_lock_slow(m);
    }
    mutex_count_owner(m);
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
    ATOMIC_STORE(m->waiting, 0U);
    __atomic_store_n(&m->word, 0U, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mutex_count = (uint16_t)(mutex_count - 1);
}

#endif
