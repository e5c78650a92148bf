/* mutex: what a thread does that finds the lock held. It looks again some times, more and more seldom, and then it sleeps. A lock that goes to
 * and fro between two cores with each operation costs them more than the operation, for all that it guards goes with it. */
#include "platform/mutex.h"

#include "platform/trap.h"

/* So often a thread looks whether the lock is free before it sleeps. In between it pauses, so many times at first, and each time twice as long,
 * so that the holder's core gets on. fuzz/schedule.c, where one thread runs at a time, does without. */
#define SPIN_ROUNDS 6U
#ifndef SPIN_FIRST
#define SPIN_FIRST 8U
#endif

__thread uint16_t mutex_count;
uintptr_t         mutex_outside;

/* Lets the core's other threads, and its power, have a moment. */
static inline void mutex_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* Takes the lock, and sleeps while it is held. What is counted is counted by who holds it. */
static void mutex_sleep(struct mutex *m)
{
    uint64_t start_ns = os_clock_ns();
    uint32_t waiting = __atomic_fetch_add(&m->waiting, 1U, __ATOMIC_RELAXED) + 1;
    while (__atomic_exchange_n(&m->word, 2U, __ATOMIC_ACQUIRE) != 0) {
        os_futex_wait(&m->word, 2U);
    }
    ATOMIC_SUB(m->waiting, 1U);
    uint64_t ns = os_clock_ns() - start_ns;
    m->waited++;
    m->wait_ns += ns;
    m->longest_wait_ns = ns > m->longest_wait_ns ? ns : m->longest_wait_ns;
    m->most_waiting = waiting > m->most_waiting ? waiting : m->most_waiting;
}

void mutex_lock_slow(struct mutex *m)
{
    for (uint32_t i = 0; i < SPIN_ROUNDS; i++) {
        uint32_t free = 0;
        if (__atomic_load_n(&m->word, __ATOMIC_RELAXED) == 0
            && __atomic_compare_exchange_n(&m->word, &free, 1U, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            m->spun++;
            return;
        }
        for (uint32_t n = SPIN_FIRST << i; n > 0; n--) {
            mutex_pause();
        }
    }
    if (ATOMIC_LOAD(mutex_outside) == (uintptr_t)&mutex_count) {
        trap_misuse("extent_hooks", "a hook calls malloc or free", 0);
    }
    mutex_sleep(m);
}

void mutex_read_stats(const struct mutex *m, struct mutex_stats *stats)
{
    *stats = (struct mutex_stats){m->locked, m->owner_switches, m->spun, m->waited, m->wait_ns, m->longest_wait_ns, m->most_waiting};
}

void mutex_reset_stats(struct mutex *m)
{
    mutex_lock(m);
    m->locked = m->owner_switches = m->spun = m->waited = m->wait_ns = m->longest_wait_ns = 0;
    m->most_waiting = 0;
    mutex_unlock(m);
}
