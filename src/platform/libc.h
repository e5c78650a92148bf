/* libc: what the C library says of threads, and its lock that fork waits for.
 *
 * glibc's fork runs the handlers, then takes the lock of stdio's list of streams, where the process has more than one thread.
 * Who has that lock may wait for a stream (fflush(NULL)), and who has a stream may allocate (getline): so the handlers take it
 * before any of the allocator's own. It is recursive. A C library without these names answers as if it had no such lock.
 */
#ifndef QED_PLATFORM_LIBC_H
#define QED_PLATFORM_LIBC_H

#include "platform/lock.h"

/*@ ghost uint8_t libc_single; */                       /* 1 if the process has one thread */
/*@ ghost uint8_t libc_stdio_held; */                   /* 1 if this thread's fork holds the lock of stdio's list */

/* Tells whether the process has one thread only. If that cannot be found out, the answer is no. */
/*@ assigns            \nothing;
    ensures  single:   \result <==> libc_single != 0;
*/
bool libc_single_threaded(void);

/*@ requires order:    LocksFree(0) && libc_stdio_held == 0;
    assigns            libc_stdio_held;
    ensures  held:     libc_stdio_held == 1;
*/
void libc_stdio_lock(void);

/*@ requires held:     libc_stdio_held == 1;
    assigns            libc_stdio_held;
    ensures  free:     libc_stdio_held == 0;
*/
void libc_stdio_unlock(void);

/* Frees the lock in the child of a fork, whatever the C library has done about it. */
/*@ requires held:     libc_stdio_held == 1;
    assigns            libc_stdio_held;
    ensures  free:     libc_stdio_held == 0;
*/
void libc_stdio_reset(void);

#endif
