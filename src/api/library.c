/* library: the library's start and end, and the C library's hooks for the end of a thread and for fork. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

#include "api/config.h"
#include "api/report.h"
#include "api/thread.h"

static pthread_key_t exit_key;
static bool          exit_key_made;

void thread_watch(struct tcache *t)
{
    if (exit_key_made) {
        int keep = errno;
        pthread_setspecific(exit_key, t);       /* may allocate: the cache is in place */
        errno = keep;
    }
}

__attribute__((constructor(101))) static void library_start(void)
{
    (void)thread_get();
    exit_key_made = pthread_key_create(&exit_key, thread_exit) == 0;
    pthread_atfork(thread_fork_prepare, thread_fork_parent, thread_fork_child);
}

__attribute__((destructor)) static void library_end(void)
{
    if (config.stats_print) {
        report_print();
    }
}
