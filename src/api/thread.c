/* thread: boot once, a cache per thread, thread exit, fork. */
#include "api/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#include "api/config.h"
#include "api/stats.h"
#include "ds/pairing_heap.h"
#include "ds/radix_tree.h"
#include "heap/arena.h"
#include "heap/bin.h"
#include "heap/slab.h"
#include "pages/pages.h"
#include "platform/mutex.h"
#include "platform/os.h"
#include "platform/trap.h"

__thread struct tcache *thread_cache = &tcache_unborn;

static struct mutex  boot_lock = MUTEX_INIT;
static bool          booted;
static pthread_key_t exit_key;
static bool          exit_key_made;

/* ---- boot ------------------------------------------------------------------------------------------------------- */

/* Runs before main, before constructors, perhaps before the C library is ready: nothing here allocates or calls a
 * function that could. */
static void boot(void)
{
    mutex_lock(&boot_lock);
    if (!booted) {
        if (os_page_bytes() > PAGE) {
            static const char message[] = "qedmalloc: the system's page is larger than LG_PAGE: build with a larger one\n";
            os_write_error(message, sizeof message - 1);
            os_abort();
        }
        config_boot();
        size_class_boot();
        slab_boot();
        pages_boot(config.dirty_decay_ms, config.muzzy_decay_ms);
        arena_boot(config.narenas);
        tcache_boot();
        __atomic_store_n(&booted, true, __ATOMIC_RELEASE);
    }
    mutex_unlock(&boot_lock);
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

static void thread_exit(void *cache)
{
    thread_cache = &tcache_dead;
    tcache_destroy((struct tcache *)cache);
}

struct tcache *thread_get(void)
{
    if (thread_cache != &tcache_unborn) {
        return thread_cache;
    }
    if (!__atomic_load_n(&booted, __ATOMIC_ACQUIRE)) {
        boot();
    }
    struct tcache *t = tcache_create();
    if (t == NULL) {
        return &tcache_unborn;
    }
    thread_cache = t;
    if (exit_key_made) {
        int keep = errno;
        pthread_setspecific(exit_key, t);       /* may allocate: the cache is in place */
        errno = keep;
    }
    return t;
}

/* ---- fork: every lock in the order of its rank, so that the child finds each structure whole ---------------------- */

static void fork_prepare(void)
{
    mutex_lock(&boot_lock);
    tcache_prefork();
    arena_prefork();
    bin_prefork();
    pages_prefork();
}

static void fork_parent(void)
{
    pages_postfork_parent();
    bin_postfork_parent();
    arena_postfork_parent();
    tcache_postfork_parent();
    mutex_unlock(&boot_lock);
}

static void fork_child(void)
{
    pages_postfork_child();
    bin_postfork_child();
    arena_postfork_child();
    tcache_postfork_child(thread_cache);
    mutex_reset(&boot_lock);
}

/* ---- the library's own start and end ----------------------------------------------------------------------------- */

__attribute__((constructor(101))) static void library_start(void)
{
    (void)thread_get();
    exit_key_made = pthread_key_create(&exit_key, thread_exit) == 0;
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}

__attribute__((destructor)) static void library_end(void)
{
    if (config.stats_print) {
        stats_print();
    }
}
