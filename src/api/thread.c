/* thread: boot once, a cache per thread, thread exit, fork. */
#include "api/thread.h"

#include <stddef.h>

#include "ds/radix_tree.h"
#include "heap/arena.h"
#include "heap/bin.h"
#include "heap/slab.h"
#include "pages/base.h"
#include "pages/pages.h"
#include "platform/atomic.h"
#include "platform/mutex.h"

__thread struct tcache *thread_cache = &tcache_unborn;

static struct mutex boot_lock = MUTEX_INIT;

bool thread_booted;

/* ---- boot ------------------------------------------------------------------------------------------------------- */

/* Another thread may have booted. */
/*@ requires locked:  LockHeld(LOCK_BOOT);
    requires ok:      BootOk;
    requires none:    ThreadNone;
    terminates        \true;
    exits             \false;
    assigns           THREAD_ASSIGNS_BOOT;
    ensures  ok:      BootOk;
    ensures  stays:   \old(thread_booted) ==> thread_booted;
*/
OTHERS_ACT(boot_others);

/* The layers, from the lowest up: static memory becomes a heap. Runs before main, before constructors, perhaps before the C
 * library is ready: nothing here allocates or calls a function that could. */
/*@ requires locked:  LockHeld(LOCK_BOOT);
    requires start:   Start;
    requires none:    ThreadNone;
    terminates        \true;
    exits    page:    \true;
    assigns           THREAD_ASSIGNS_BOOT;
    ensures  same:    thread_booted == \old(thread_booted);
    ensures  heap:    HeapOk;
    ensures  arenas:  ArenaOk && ArenaNone;
    ensures  table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    ensures  unborn:  TcacheOk(&tcache_unborn);
    ensures  dead:    TcacheOk(&tcache_dead);
*/
static void boot_layers(void)
{
    config_boot();
    size_class_boot();
    base_boot();
    tcache_boot();
    radix_tree_boot();
    slab_boot();
    pages_boot(config.dirty_decay_ms, config.muzzy_decay_ms);
    arena_boot(config.narenas);
}

/*@ requires free:    LocksFree(0);
    requires ok:      BootOk;
    requires none:    ThreadNone;
    terminates        \true;
    exits    first:   !\old(thread_booted);
    assigns           THREAD_ASSIGNS_BOOT, lock_held[LOCK_BOOT];
    ensures  free:    LocksFree(0);
    ensures  booted:  thread_booted;
    ensures  ok:      BootOk;
*/
static void boot(void)
{
    mutex_lock(&boot_lock) /*@ ghost (LOCK_BOOT) */;
    boot_others();
    if (!thread_booted) {
        boot_layers();
        ATOMIC_STORE_RELEASE(thread_booted, true);
    }
    mutex_unlock(&boot_lock) /*@ ghost (LOCK_BOOT) */;
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

void thread_exit(void *cache)
{
    thread_cache = &tcache_dead;
    tcache_destroy((struct tcache *)cache);
}

/* A cache for the calling thread, which has none. */
/*@ requires state:    ThreadStart || (MallocOk && ThreadOk);
    requires unborn:   thread_cache == &tcache_unborn;
    terminates         \true;
    exits    first:    !\old(thread_booted);
    assigns            THREAD_ASSIGNS, HEAP_ASSIGNS, large_allocated, large_freed, MALLOC_ASSIGNS_THREAD;
    ensures  ok:       MallocOk;
    ensures  thread:   ThreadOk;
    ensures  mine:     \result == thread_cache;
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(0);
*/
static __attribute__((noinline)) struct tcache *thread_make(void)
{
    if (!ATOMIC_LOAD_ACQUIRE(thread_booted)) {
        boot();
    }
    struct tcache *t = tcache_create();
    if (t == NULL) {
        return &tcache_unborn;
    }
    thread_cache = t;
    thread_watch(t);
    return t;
}

struct tcache *thread_get(void)
{
    return thread_cache != &tcache_unborn ? thread_cache : thread_make();
}

/* ---- fork ------------------------------------------------------------------------------------------------------- */

void thread_fork_prepare(void)
{
    mutex_lock(&boot_lock) /*@ ghost (LOCK_BOOT) */;
    tcache_prefork();
    arena_prefork();
    bin_prefork();
    pages_prefork();
}

void thread_fork_parent(void)
{
    pages_postfork_parent();
    bin_postfork_parent();
    arena_postfork_parent();
    tcache_postfork_parent();
    mutex_unlock(&boot_lock) /*@ ghost (LOCK_BOOT) */;
}

void thread_fork_child(void)
{
    pages_postfork_child();
    bin_postfork_child();
    arena_postfork_child();
    tcache_postfork_child(thread_cache);
    mutex_reset(&boot_lock) /*@ ghost (LOCK_BOOT) */;
}
