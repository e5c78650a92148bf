/* stats_thread: the thread that keeps the statistics page (stats_page.h). */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "api/stats_page.h"
#include "api/text.h"
#include "api/thread.h"
#include "platform/atomic.h"
#include "platform/os.h"

#define STATS_STACK_BYTES (256UL * 1024UL)        /* addresses; the thread touches a few pages of them */

/* Newer than some headers. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

enum { STATS_STARTING, STATS_RUNNING, STATS_FAILED };

static pthread_t          stats_thread;
static uint32_t           stats_state;
static uint32_t           stats_stop;       /* 1: the thread shall end */
static struct stats_page *stats_page;       /* NULL: there is no thread */
static bool               stats_alone;      /* the thread that forks is the only one beside this one */

/* Makes the page in a file that this thread alone has open, as descriptor 0 of its own: the descriptors of the program stay the program's,
 * and what it closes is closed. The seals, and the mode, leave the mapping as the only way to write. */
static struct stats_page *stats_map(void)
{
    const size_t bytes = sizeof(struct stats_page);
    if (syscall(SYS_close_range, 0U, ~0U, CLOSE_RANGE_UNSHARE) != 0) {
        return NULL;                        /* Linux before 5.9 */
    }
    int file = memfd_create("qedmalloc-stats", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file != 0 || fchmod(file, S_IRUSR) != 0 || ftruncate(file, (off_t)bytes) != 0) {
        return NULL;
    }
    void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) {
        return NULL;
    }
    (void)fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    (void)fcntl(file, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
    if (madvise(page, bytes, MADV_DONTFORK) != 0) {
        (void)munmap(page, bytes);
        return NULL;
    }
    return page;
}

static void stats_say(uint32_t state)
{
    ATOMIC_STORE_RELEASE(stats_state, state);
    os_futex_wake(&stats_state);
}

static void *stats_run(void *unused)
{
    const struct timespec second = {1, 0};
    struct stats_page    *page = stats_map();
    (void)prctl(PR_SET_NAME, "qed-stats");
    if (page == NULL) {
        stats_say(STATS_FAILED);
        return unused;
    }
    stats_page_fill(page);
    stats_page_sample(page);
    stats_page = page;
    stats_say(STATS_RUNNING);
    while (ATOMIC_LOAD(stats_stop) == 0) {
        (void)syscall(SYS_futex, &stats_stop, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, &second, NULL, 0);
        stats_page_sample(page);
    }
    return unused;
}

/* Returns once there is a page with a sample, or none. */
static bool stats_begin(void)
{
    pthread_attr_t attributes;
    sigset_t       all, before;
    stats_state = STATS_STARTING;
    stats_stop = 0;
    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool begun = pthread_attr_setstacksize(&attributes, STATS_STACK_BYTES) == 0
                 && pthread_create(&stats_thread, &attributes, stats_run, NULL) == 0;
    while (begun && ATOMIC_LOAD_ACQUIRE(stats_state) == STATS_STARTING) {
        os_futex_wait(&stats_state, STATS_STARTING);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    if (begun && stats_page == NULL) {
        (void)pthread_join(stats_thread, NULL);
    }
    return stats_page != NULL;
}

/* ---- fork -------------------------------------------------------------------------------------------------------- */

static void stats_fork_prepare(void)
{
    int         keep = errno;
    struct stat tasks;
    stats_alone = !lock_inside() && stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == (stats_page != NULL ? 4U : 3U);
    errno = keep;
}

/* A handler of a signal may fork. What it has interrupted may be changing the thread's cache, so the blocks for the new thread come from past
 * the caches. */
static void stats_fork_child(void)
{
    int            keep = errno;
    struct tcache *cache = thread_cache;
    stats_page = NULL;
    if (stats_alone) {
        thread_cache = &tcache_dead;
        (void)stats_begin();
        thread_cache = cache;
    }
    errno = keep;
}

/* ---- begin and end ----------------------------------------------------------------------------------------------- */

const struct stats_page *stats_page_start(void)
{
    if (!stats_begin() || pthread_atfork(stats_fork_prepare, NULL, stats_fork_child) != 0) {
        struct text t = {.length = 0};
        stats_page_stop();
        text_add(&t, "qedmalloc: QEDMALLOC_CONF: stats_page: no page: it takes Linux 5.9, a thread and a file in memory\n");
        text_write(&t);
    }
    return stats_page;
}

void stats_page_stop(void)
{
    if (stats_page != NULL) {
        ATOMIC_STORE(stats_stop, 1U);
        (void)syscall(SYS_futex, &stats_stop, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
        (void)pthread_join(stats_thread, NULL);
        (void)munmap(stats_page, sizeof *stats_page);
        stats_page = NULL;
    }
}
