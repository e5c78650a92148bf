/* thread: boot, and what a thread owns: one pointer to its cache. */
#ifndef QED_API_THREAD_H
#define QED_API_THREAD_H

#include "heap/large.h"
#include "heap/tcache_threads.h"
#include "platform/user.h"

/* The only thread-local variable, 8 bytes of static TLS, so that the library can also be opened with dlopen. */
extern __thread struct tcache *thread_cache;

#include "malloc.acsl"

/* The calling thread's cache, made at its first slow path; a stand-in when there is no memory for one, or when the
 * thread is past its end. Boots the allocator the first time. */
/*@ requires ok:       MallocOk;
    terminates         \true;
    exits              \false;
    assigns            HEAP_ASSIGNS, large_allocated, large_freed, MALLOC_ASSIGNS_THREAD;
    ensures  ok:       MallocOk;
    ensures  mine:     \result == thread_cache;
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(0);
*/
struct tcache *thread_get(void);

#endif
