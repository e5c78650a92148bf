/* mutex: a lock of one word, fair enough, without memory of its own. 0 free, 1 held, 2 held with sleepers.
 *
 * Ulrich Drepper, "Futexes Are Tricky" (2011), mutex 2. Spins briefly first: the sections it guards are short.
 */
#ifndef QED_PLATFORM_MUTEX_H
#define QED_PLATFORM_MUTEX_H

#include <stdint.h>

struct mutex {
    uint32_t word;
};

#define MUTEX_INIT {0}

void mutex_lock_slow(struct mutex *m);
void mutex_unlock_slow(struct mutex *m);

static inline void mutex_lock(struct mutex *m)
{
    uint32_t free = 0;
    if (!__atomic_compare_exchange_n(&m->word, &free, 1U, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        mutex_lock_slow(m);
    }
}

static inline void mutex_unlock(struct mutex *m)
{
    if (__atomic_exchange_n(&m->word, 0U, __ATOMIC_RELEASE) == 2U) {
        mutex_unlock_slow(m);
    }
}

/* In the child of a fork only the forking thread is left: whoever slept on the lock is gone. */
static inline void mutex_reset(struct mutex *m)
{
    __atomic_store_n(&m->word, 0U, __ATOMIC_RELEASE);
}

#endif
