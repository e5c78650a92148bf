/* fail: how a call ends that gets no memory. It returns NULL, or ends the program where the setting xmalloc asks for that, which boot reads. */
#ifndef QED_API_FAIL_H
#define QED_API_FAIL_H

#include <errno.h>
#include <stdint.h>

#include "api/thread.h"
#include "platform/modes.h"
#include "platform/trap.h"

/* Ends the program where xmalloc asks for that. The message has the call's name, and the bytes that it was asked for or those of their class. */
/*@ requires booted:   thread_booted;
    assigns            \nothing;
    exits    asked:    modes_xmalloc != 0;
    ensures  not:      modes_xmalloc == 0;
*/
static __attribute__((noinline)) void fail_ends(const char *call, uint64_t bytes)
{
    if (modes_xmalloc != 0) {
        trap_misuse(call, "no memory, which xmalloc:true forbids", bytes);
    }
}

/* Sets errno for a call that returns NULL, where it does not end the program. */
/*@ requires booted:   thread_booted;
    assigns            errno;
    exits    asked:    modes_xmalloc != 0;
    ensures  not:      modes_xmalloc == 0;
    ensures  error:    errno == ENOMEM;
*/
static __attribute__((noinline)) void fail_out(const char *call, uint64_t bytes)
{
    fail_ends(call, bytes);
    errno = ENOMEM;
}

/* Does so for a request that is too large for any class, perhaps as the program's first call. */
/*@ requires ready:    MallocReady;
    exits    asked:    modes_xmalloc != 0 || !\old(thread_booted);
    assigns            MALLOC_ASSIGNS_HEAP, errno;
    ensures  ok:       MallocOk;
    ENSURES_LIVE_KEPT(0, 0);
    ensures  not:      modes_xmalloc == 0;
    ensures  error:    errno == ENOMEM;
*/
static __attribute__((noinline)) void fail_large(const char *call, uint64_t bytes)
{
    (void)thread_get();
    fail_out(call, bytes);
}

/* Returns the address of a block. Where it is 0, sets errno, or ends the program. */
/*@ requires booted:   thread_booted;
    assigns            errno;
    exits    asked:    block == 0 && modes_xmalloc != 0;
    ensures  same:     \result == block;
    ensures  not:      block == 0 ==> modes_xmalloc == 0;
    ensures  error:    errno == (block == 0 ? ENOMEM : \old(errno));
*/
static inline uint64_t block_or_fail(uint64_t block, const char *call, size_t size)
{
    if (block == 0) {
        fail_out(call, size);
    }
    return block;
}

#endif
