/* mutex: what a thread does that finds the lock held. It spins, then it sleeps. */
#include "platform/mutex.h"

#define SPINS_MAX 64U

__thread uint16_t mutex_count;

void mutex_lock_slow(struct mutex *m)
{
    for (uint32_t i = 0; i < SPINS_MAX; i++) {
        uint32_t free = 0;
        if (__atomic_load_n(&m->word, __ATOMIC_RELAXED) == 0
            && __atomic_compare_exchange_n(&m->word, &free, 1U, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            return;
        }
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    while (__atomic_exchange_n(&m->word, 2U, __ATOMIC_ACQUIRE) != 0) {
        os_futex_wait(&m->word, 2U);
    }
}
