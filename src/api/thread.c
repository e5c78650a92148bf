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

#include "size_class_align_lemmas.acsl"
#include "large_lemmas.acsl"
#include "tcache_steps_lemmas.acsl"

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
    /*@ assert shape: TcacheShape(&tcache_unborn) && TcacheShape(&tcache_dead); */
    /*@ ghost tcache_lemma_ok(&tcache_unborn); */
    /*@ ghost tcache_lemma_ok(&tcache_dead); */
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

/* A cache for a thread without one, NULL if out of memory. Blocks and stand-ins stay as they are. */
/*@ requires ok:       MallocOk;
    requires unborn:   thread_cache == &tcache_unborn;
    terminates         \true;
    exits              \false;
    assigns            TCACHE_ASSIGNS_LIFE;
    ensures  lock:     LocksFree(0);
    ensures  heap:     HeapOk;
    ensures  arenas:   ArenaOk;
    ensures  unborn:   TcacheOk(&tcache_unborn);
    ensures  mine:     \result != NULL ==> ThreadsMine(\result);
    ensures  ok:       \result != NULL ==> TcacheOk(\result);
    ensures  none:     \result == NULL ==> ThreadNone;
*/
static inline struct tcache *thread_take(void)
{
    struct tcache *t = tcache_create();
    /*@ assert radix: RadixOk; */
    /*@ assert cache: PageCacheOk; */
    /*@ ghost large_lemma_ok(); */
    /*@ assert same: TcacheShapeSame{Pre,Here}(&tcache_unborn) && TcacheSame{Pre,Here}(&tcache_unborn); */
    /*@ ghost tcache_lemma_shape(&tcache_unborn); */
    /*@ ghost tcache_lemma_ok(&tcache_unborn); */
    return t;
}

/* The thread, which has none, gets a cache. */
/*@ requires state:    ThreadStart || MallocOk;
    requires unborn:   thread_cache == &tcache_unborn;
    terminates         \true;
    exits    first:    !\old(thread_booted);
    assigns            MALLOC_ASSIGNS_HEAP;
    ensures  ok:       MallocOk;
    ensures  mine:     \result == thread_cache;
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(0);
*/
static __attribute__((noinline)) struct tcache *thread_make(void)
{
    if (!ATOMIC_LOAD_ACQUIRE(thread_booted)) {
        boot();
    }
    /*@ assert ready: MallocOk; */
    struct tcache *t = thread_take();
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
