/* lock: the allocator's locks. Each is named by its rank, so that a call cannot take, give back or reset another lock than its
 * contract says.
 *
 * The proofs see which locks this thread holds (spec/platform/locks.acsl). Through OTHERS_ACT they see what other
 * threads did meanwhile.
 */
#ifndef QED_PLATFORM_LOCK_H
#define QED_PLATFORM_LOCK_H

#include "platform/mutex.h"

#include "platform/locks.acsl"

/* Declares what other threads may have done to guarded state while its lock was free. It is called right after the lock is taken, and before
 * each call of the malloc family. For the compiler it is a function that does nothing, for the proofs a contract without a body. */
#ifdef __FRAMAC__
#define OTHERS_ACT(name) void name(void)
#else
#define OTHERS_ACT(name) static inline void name(void) {}
#endif

/* Each lock has a cache line of its own. The last one stands first, since it shares a page with others that every program takes. */
struct lock {
    struct mutex mutex;
} __attribute__((aligned(64)));

extern struct lock lock_table[LOCK_RANKS];

#define LOCK_MUTEX(rank) (&lock_table[((rank) + 1) % LOCK_RANKS].mutex)

/*@ requires rank:   rank < LOCK_RANKS;
    requires order:  LocksFree(rank);
    assigns          lock_held[rank];
    ensures  held:   LockHeld(rank);
*/
static inline void lock_take(uint32_t rank)
#ifdef __FRAMAC__
;
#else
{
    mutex_lock(LOCK_MUTEX(rank));
}
#endif

/*@ requires held:   rank < LOCK_RANKS && LockHeld(rank);
    assigns          lock_held[rank];
    ensures  free:   lock_held[rank] == 0;
*/
static inline void lock_give(uint32_t rank)
#ifdef __FRAMAC__
;
#else
{
    mutex_unlock(LOCK_MUTEX(rank));
}
#endif

/* Makes the lock free in the child of a fork, where only the thread that forked is left and nobody sleeps on the
 * lock. */
/*@ requires held:   rank < LOCK_RANKS && LockHeld(rank);
    assigns          lock_held[rank];
    ensures  free:   lock_held[rank] == 0;
*/
static inline void lock_reset(uint32_t rank)
#ifdef __FRAMAC__
;
#else
{
    mutex_reset(LOCK_MUTEX(rank));
}
#endif

/* Whether this thread is inside a lock, where a signal's handler may ask. A lock that the interrupted call waits for counts as
 * held. */
/*@ assigns          \nothing;
    ensures  inside: \result <==> !LocksFree(0);
*/
static inline bool lock_inside(void)
#ifdef __FRAMAC__
;
#else
{
    return mutex_count != 0;
}
#endif

/* The counters of the lock, which the caller may take. */
void lock_read_stats(uint32_t rank, struct mutex_stats *stats);
void lock_reset_stats(uint32_t rank);

#endif
