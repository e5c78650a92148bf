/* countdown: the bytes that a thread may still allocate before the heap profiler (src/prof) looks at a block.
 *
 * A thread starts at 0, so its first slow call asks the profiler, which sets the number. Where profiling is off, the number is so large that
 * the next question comes after 4 GiB that went through slow calls. Where a mode asks for all allocations, each is due. The
 * proofs know nothing of the number, and so nothing of the answer. */
#ifndef QED_PLATFORM_COUNTDOWN_H
#define QED_PLATFORM_COUNTDOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/atomic.h"
#include "platform/config.h"

#define COUNTDOWN_MAX UINT32_MAX
#define COUNTDOWN_RUNS (QED_PROF != 0)          /* whether threads have a number */

#if QED_PROF
extern __thread uint32_t countdown_left;
#endif

/* The thread's next slow call asks the profiler. */
static inline void countdown_restart(void)
{
#if QED_PROF
    countdown_left = 0;
#endif
}

/* No thread's number is larger. It is 0 while a mode (platform/modes.h) asks for all allocations. Where threads have no number, it is 0 before
 * boot too. */
extern uint32_t countdown_max;

/* Makes each allocation due, in this thread and in those that start later, or only those that the numbers say. */
void countdown_stop(bool stopped);

/* Counts an allocation of so many bytes. Returns true, and counts nothing, if they are more than are left. */
/*@ assigns \nothing; */
static inline bool countdown_due(uint64_t bytes)
#ifdef __FRAMAC__
;
#else
{
#if QED_PROF
    if (__builtin_expect(bytes > countdown_left, 0)) {
        return true;
    }
    countdown_left -= (uint32_t)bytes;
    return false;
#else
    (void)bytes;
    return __builtin_expect(ATOMIC_LOAD(countdown_max) == 0, 0);
#endif
}
#endif

/* Returns whether the thread counts. Before its first slow call, which boots the library if nobody has, it does not: no table may be read
 * until then. */
/*@ assigns \nothing; */
static inline bool countdown_runs(void)
#ifdef __FRAMAC__
;
#else
{
#if QED_PROF
    return countdown_left != 0;
#else
    return false;
#endif
}
#endif

#endif
