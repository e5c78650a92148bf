/* thread: boot, and what a thread owns: one pointer to its cache. */
#ifndef QED_API_THREAD_H
#define QED_API_THREAD_H

#include "heap/tcache.h"

/* The only thread-local variable, 8 bytes of static TLS, so that the library can also be opened with dlopen. */
extern __thread struct tcache *thread_cache;

/* The calling thread's cache, made at its first slow path; a stand-in when there is no memory for one, or when the
 * thread is past its end. Boots the allocator the first time. */
struct tcache *thread_get(void);

#endif
