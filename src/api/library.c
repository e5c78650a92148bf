/* library: the library's start and end, and the C library's hooks for the end of a thread and for fork. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/background.h"
#include "api/config.h"
#include "api/ctl.h"
#include "api/report.h"
#include "api/stats_page.h"
#include "api/stats_print.h"
#include "api/thread.h"
#include "platform/atomic.h"
#include "platform/mutex.h"
#include "platform/os.h"
#include "prof/prof.h"
#include "tcache/counting.h"
#include "tcache/stats.h"

/* Only a copy that is embedded in a plugin can be unloaded. The shared library stays until the process has ended, and serves whoever still
 * calls it then. */
#ifdef QED_PREFIX_ONLY
#define UNLOADABLE true
#else
#define UNLOADABLE false
#endif

static pthread_key_t exit_key;
static bool          exit_key_made;

/* The thread that registers holds a lock. No fork waits for it, since glibc's pthread_atfork and fork wait for each other. So a fork may come in
 * the middle. Its child makes the lock free, and registers what is not there. */
static struct mutex register_lock;
static bool         registered, fork_registered;

/* A program that ends calls its handlers of atexit, then destructors. Where the library alone is unloaded, its first destructors
 * run before its handlers of atexit. */
static bool library_left;
static bool library_exits;

static void library_leave(void)
{
    library_left = true;
}

static void library_thread_end(void *cache)
{
    prof_thread_end(thread_cache);
    counting_end(thread_cache, COUNTER_ALLOCATES);
    counting_end(thread_cache, COUNTER_PEAKS);
    counting_end(thread_cache, COUNTER_FILLS);
    thread_exit(cache);
}

/* The profiler's lock comes after all others: it is taken last before a fork, and given back first after it. */
static void library_prepare(void)
{
    thread_fork_prepare();
    if (fork_quiet == 0) {
        prof_prefork();
    }
}

static void library_parent(void)
{
    if (fork_quiet == 0) {
        prof_postfork_parent();
    }
    thread_fork_parent();
}

static void library_child(void)
{
    if (fork_quiet == 0) {
        prof_postfork_child(thread_cache);
    }
    thread_fork_child();
    fork_registered = true;
    __atomic_store_n(&register_lock.word, 0U, __ATOMIC_RELEASE);
    ctl_postfork_child();
    background_postfork_child();
}

/* Is called with the first call of all, which may come from the constructor of a library that is there before this one. Handlers of fork
 * that such a constructor registers then find the locks free: they run before these ones, and after them in the parent and the child. */
static void library_register(void)
{
    if (ATOMIC_LOAD_ACQUIRE(registered)) {
        return;
    }
    mutex_lock(&register_lock);
    if (!ATOMIC_LOAD(registered)) {
        exit_key_made = exit_key_made || pthread_key_create(&exit_key, library_thread_end) == 0;
        fork_registered = fork_registered || pthread_atfork(library_prepare, library_parent, library_child) == 0;
        ctl_boot();
        ATOMIC_STORE_RELEASE(registered, true);
    }
    mutex_unlock(&register_lock);
}

/* May allocate: the cache is in place. */
void thread_watch(struct tcache *t)
{
    int keep = errno;
    library_register();
    if (exit_key_made) {
        pthread_setspecific(exit_key, t);
    }
    errno = keep;
}

static void library_profile(void)
{
    const struct prof_options o = {
        .prof = config.prof,
        .active = config.prof_active,
        .thread_active = config.prof_thread_active_init,
        .accum = config.prof_accum,
        .gdump = config.prof_gdump,
        .final = config.prof_final,
        .leak = config.prof_leak || config.prof_leak_error,
        .leak_error = config.prof_leak_error,
        .lg_sample = (uint32_t)config.lg_prof_sample,
        .lg_interval = config.lg_prof_interval,
        .depth = config.prof_bt_max,
        .prefix = config.prof_prefix,
        .backtrace = config.prof_backtrace,
    };
    prof_start(thread_get(), &o);
}

__attribute__((constructor(101))) static void library_start(void)
{
    (void)thread_get();
    library_register();
    atexit(library_leave);
    library_profile();
    if (config.stats_page) {
        (void)stats_page_start();
    }
    if (config.background_thread && !background_switch(true)) {
        static const char message[] = "qedmalloc: background_thread: the system refuses the thread\n";
        os_write_error(message, sizeof message - 1);
    }
}

/* glibc's exit can be called again: it goes on with the handlers that are left, and flushes the files that no thread is reading. */
static _Noreturn void leave_with_error(void)
{
#ifdef __GLIBC__
    exit(1);
#else
    (void)fflush(NULL);
    _exit(1);
#endif
}

__attribute__((destructor)) static void library_end(void)
{
    library_exits = library_left;
    if (prof_stop()) {
        static const char message[] = "qedmalloc: prof_leak_error: the program ends with status 1\n";
        os_write_error(message, sizeof message - 1);
        leave_with_error();
    }
    if (config.stats_print) {
        config.stats_jemalloc ? stats_print_at_exit() : report_print();
    }
}

/* The last of all destructors, after those that may still allocate. A library that is unloaded, which only one that is embedded
 * in a plugin can be, takes with it what would call or hold it: the C library takes the fork handlers away. Threads that have a
 * cache in it live on without. */
__attribute__((destructor(101))) static void library_unload(void)
{
    if (library_exits || !UNLOADABLE) {
        return;
    }
    stats_page_stop();
    (void)background_switch(false);
    if (exit_key_made) {
        exit_key_made = false;
        pthread_key_delete(exit_key);
    }
    if (stats_read().allocated == 0) {
        os_unmap_all();
    }
}
