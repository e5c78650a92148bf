/* thread: boot, and what a thread owns: one pointer to its cache. */
#ifndef QED_API_THREAD_H
#define QED_API_THREAD_H

#include "api/config.h"
#include "heap/large.h"
#include "heap/tcache_threads.h"
#include "platform/user.h"

/* The only thread-local variable, 8 bytes of static TLS, so that the library can also be opened with dlopen. */
extern __thread struct tcache *thread_cache;

extern bool thread_booted;      /* set once, under the lock of boot */

/* What the C library passes back; by its address, which the proofs can follow. */
#define THREAD_CACHE(cache) ((struct tcache *)(uintptr_t)(cache))

#include "thread.acsl"
#include "malloc.acsl"

/* The calling thread's cache, made at its first slow path; a stand-in when there is no memory for one, or when the
 * thread is past its end. Boots the allocator the first time, which ends the program if the OS's page is too large. */
/*@ requires state:    ThreadStart || MallocOk;
    terminates         \true;
    exits    first:    !\old(thread_booted);
    assigns            MALLOC_ASSIGNS_HEAP;
    ensures  ok:       MallocOk;
    ensures  mine:     \result == thread_cache;
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(0);
*/
struct tcache *thread_get(void);

/* The thread, whose cache that is, ends: stack by stack its blocks go back. It may allocate still, as destructors of other
 * keys do. */
/*@ requires ok:       MallocOk;
    requires mine:     ThreadsMine(THREAD_CACHE(cache));
    requires arena:    ArenaOnly(THREAD_CACHE(cache)->arena);
    requires cache:    TcacheOk(THREAD_CACHE(cache));
    requires standin:  ThreadDead;
    terminates         \true;
    exits              \false;
    assigns            thread_cache, TCACHE_ASSIGNS_LIFE, HEAP_ASSIGNS, large_allocated, large_freed;
    ensures  ok:       MallocOk;
    ensures  dead:     thread_cache == &tcache_dead;
    ensures  none:     tcache_mine == TCACHE_NONE;
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(0);
*/
void thread_exit(void *cache);

/* The C library calls thread_exit when this thread ends. It may allocate, as any caller of malloc. */
/*@ requires ok:       MallocOk;
    terminates         \true;
    exits              \false;
    assigns            MALLOC_ASSIGNS_HEAP;
    ensures  ok:       MallocOk;
    ensures  same:     thread_cache == \old(thread_cache);
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(0);
*/
void thread_watch(struct tcache *t);

/* Around fork: every lock in the order of its rank, so that the child finds each structure whole. */
/*@ requires lock:     LocksFree(0);
    requires heap:     HeapOk;
    requires arenas:   ArenaOk && bin_arenas <= ARENAS_MAX;
    terminates         \true;
    exits              \false;
    assigns            THREAD_ASSIGNS_FORK;
    ensures  held:     ForkHeld;
    ensures  ok:       ForkOk;
*/
void thread_fork_prepare(void);

/*@ requires held:     ForkHeld;
    requires ok:       ForkOk;
    terminates         \true;
    exits              \false;
    assigns            lock_held[0 .. LOCK_RANKS - 1];
    ensures  free:     LocksFree(0);
    ensures  heap:     HeapOk;
*/
void thread_fork_parent(void);

/*@ requires held:     ForkHeld;
    requires ok:       ForkOk;
    requires mine:     tcache_mine == TCACHE_NONE <==> thread_cache == &tcache_unborn || thread_cache == &tcache_dead;
    terminates         \true;
    exits              \false;
    assigns            lock_held[0 .. LOCK_RANKS - 1], pages_purging, tcache_live_count;
    ensures  free:     LocksFree(0);
    ensures  heap:     HeapOk;
    ensures  threads:  ThreadsOk;
*/
void thread_fork_child(void);

#endif
