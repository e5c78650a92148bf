/* thread: boot, and what a thread owns, which is one pointer to its cache. */
#ifndef QED_API_THREAD_H
#define QED_API_THREAD_H

#include "api/config.h"
#include "blocks/large.h"
#include "tcache/depot.h"
#include "platform/libc.h"
#include "platform/live.h"
#include "platform/modes.h"
#include "platform/user.h"

/* Thread-local variables are 16 bytes of static TLS in all, so that the library can also be opened with dlopen. They are this one, the
 * count of locks (platform/mutex.h), the bytes to the next sample (platform/countdown.h), and the count of forks. */
extern __thread struct tcache *thread_cache;

extern bool thread_booted;      /* set once, under the lock of boot */

/* This thread's forks, one inside the other, between whose handlers nothing is locked. */
extern __thread uint16_t fork_quiet;

/* The cache that the C library passes back, by its address, which the proofs can follow. */
#define THREAD_CACHE(cache) ((struct tcache *)(uintptr_t)(cache))

#include "api/thread.acsl"
#include "api/malloc.acsl"

/* Returns the calling thread's cache, which is made at its first slow path. Without memory for one, or after the thread's end, it is a
 * stand-in. The first call boots the allocator, which ends the program if the OS's page is too large. */
/*@ requires ready:    MallocReady;
    exits    first:    !\old(thread_booted);
    assigns            MALLOC_ASSIGNS_HEAP;
    ensures  ok:       MallocOk;
    ensures  mine:     \result == thread_cache;
    ensures  watched:  \old(thread_cache) == &tcache_unborn && \result != &tcache_unborn ==> thread_watched == \result;
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(0);
*/
struct tcache *thread_get(void);

/* Ends the thread whose cache that is, and gives all blocks of the cache back. The thread may still allocate, as destructors of other
 * keys do. */
/*@ requires ok:       MallocOk;
    requires mine:     THREAD_CACHE(cache) == thread_cache && thread_cache != &tcache_unborn && thread_cache != &tcache_dead;
    requires standin:  ThreadDead;
    assigns            thread_cache, DEPOT_ASSIGNS_LIFE, BLOCKS_ASSIGNS, large_allocated, large_freed;
    ensures  ok:       MallocOk;
    ensures  dead:     thread_cache == &tcache_dead;
    ensures  none:     depot_mine == DEPOT_NONE;
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(0);
*/
void thread_exit(void *cache);

/* The C library calls thread_exit when this thread ends. It may allocate, as any caller of malloc. */
/*@ requires ok:       MallocOk;
    assigns            MALLOC_ASSIGNS_HEAP;
    ensures  ok:       MallocOk;
    ensures  same:     thread_cache == \old(thread_cache);
    ensures  watched:  thread_watched == t;
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(0);
*/
void thread_watch(struct tcache *t);

/* Takes the lock of stdio's list before fork, then every lock in the order of its rank, so that the child finds each structure whole.
 * It waits for nothing where the process has one thread, or where a signal's handler forks that has interrupted its thread inside a
 * lock. The child then has what the interrupted call has, as the parent does. */
/*@ requires room:      fork_quiet < UINT16_MAX;
    requires ok:        !ForkQuiet ==> MallocOk;
    requires stdio:     !ForkQuiet ==> libc_stdio_held == 0;
    assigns             fork_quiet, libc_stdio_held, THREAD_ASSIGNS_FORK;
    behavior quiet:
      assumes           ForkQuiet;
      assigns           fork_quiet;
      ensures  counted: fork_quiet == \old(fork_quiet) + 1;
      ensures  same:    \old(MallocOk) ==> MallocOk;
    behavior locks:
      assumes           !ForkQuiet;
      assigns           libc_stdio_held, THREAD_ASSIGNS_FORK;
      ensures  stdio:   libc_stdio_held == 1;
      ensures  held:    ForkHeld;
      ensures  ok:      ForkOk;
      ensures  count:   fork_quiet == \old(fork_quiet);
    complete behaviors;
    disjoint behaviors;
*/
void thread_fork_prepare(void);

/*@ requires held:      fork_quiet == 0 ==> libc_stdio_held == 1 && ForkHeld;
    requires ok:        fork_quiet == 0 ==> ForkOk;
    assigns             fork_quiet, libc_stdio_held, lock_held[0 .. LOCK_RANKS - 1];
    behavior quiet:
      assumes           fork_quiet > 0;
      assigns           fork_quiet;
      ensures  counted: fork_quiet == \old(fork_quiet) - 1;
      ensures  same:    \old(MallocOk) ==> MallocOk;
    behavior locks:
      assumes           fork_quiet == 0;
      assigns           libc_stdio_held, lock_held[0 .. LOCK_RANKS - 1];
      ensures  stdio:   libc_stdio_held == 0;
      ensures  parent:  MallocOk;
    complete behaviors;
    disjoint behaviors;
*/
void thread_fork_parent(void);

/*@ requires held:      fork_quiet == 0 ==> libc_stdio_held == 1 && ForkHeld;
    requires ok:        fork_quiet == 0 ==> ForkOk;
    assigns             fork_quiet, libc_stdio_held, lock_held[0 .. LOCK_RANKS - 1], CACHE_ASSIGNS, pages_purging,
                            depot_live_count;
    behavior quiet:
      assumes           fork_quiet > 0;
      assigns           fork_quiet;
      ensures  counted: fork_quiet == \old(fork_quiet) - 1;
      ensures  same:    \old(MallocOk) ==> MallocOk;
    behavior locks:
      assumes           fork_quiet == 0;
      assigns           libc_stdio_held, lock_held[0 .. LOCK_RANKS - 1], CACHE_ASSIGNS, pages_purging,
                            depot_live_count;
      ensures  stdio:   libc_stdio_held == 0;
      ensures  child:   MallocOk;
      ensures  threads: DepotOk;
      ensures  none:    \forall integer e; ExtUsed(e) ==> !CacheBusyState(ext_state[e]);
    complete behaviors;
    disjoint behaviors;
*/
void thread_fork_child(void);

#endif
