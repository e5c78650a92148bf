/* own_thread: see own_thread.h. */
#include "api/own_thread.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "api/thread.h"
#include "platform/atomic.h"
#include "platform/os.h"

#define OWN_STACK_BYTES (256UL * 1024UL)        /* addresses; a thread touches a few pages of them */
#define OWN_STACK_MOST_BYTES (64UL << 20)       /* for programs with large thread-local variables, which lie in the stack too */
#define OWN_THREADS_MAX 2U

enum { OWN_STARTING, OWN_RUNNING, OWN_FAILED };

/* ---- the thread -------------------------------------------------------------------------------------------------- */

static void own_say(struct own_thread *t, uint32_t state)
{
    ATOMIC_STORE_RELEASE(t->state, state);
    os_futex_wake(&t->state);
}

static void own_sleep(struct own_thread *t, uint32_t ms)
{
    const struct timespec time = {(time_t)(ms / 1000U), (long)(ms % 1000U) * 1000000L};
    (void)syscall(SYS_futex, &t->stop, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, &time, NULL, 0);
}

static void *own_run(void *at)
{
    struct own_thread *t = at;
    (void)prctl(PR_SET_NAME, t->name);
    if (t->begin != NULL && !t->begin()) {
        own_say(t, OWN_FAILED);
        return NULL;
    }
    uint32_t ms = t->turn();
    own_say(t, OWN_RUNNING);
    while (ATOMIC_LOAD(t->stop) == 0) {
        own_sleep(t, ms);
        ms = t->turn();
    }
    return NULL;
}

/* ---- begin and end ----------------------------------------------------------------------------------------------- */

static bool own_thread_create(struct own_thread *t, size_t stack_bytes, pthread_attr_t *attributes)
{
    return pthread_attr_setstacksize(attributes, stack_bytes) == 0 && pthread_create(&t->id, attributes, own_run, t) == 0;
}

bool own_thread_begin(struct own_thread *t)
{
    pthread_attr_t attributes;
    sigset_t       all, before;
    t->state = OWN_STARTING;
    t->stop = 0;
    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool begun = own_thread_create(t, OWN_STACK_BYTES, &attributes) || own_thread_create(t, OWN_STACK_MOST_BYTES, &attributes);
    while (begun && ATOMIC_LOAD_ACQUIRE(t->state) == OWN_STARTING) {
        os_futex_wait(&t->state, OWN_STARTING);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    bool runs = begun && t->state == OWN_RUNNING;
    ATOMIC_STORE(t->runs, runs);
    if (begun && !runs) {
        (void)pthread_join(t->id, NULL);
    }
    return runs;
}

void own_thread_end(struct own_thread *t)
{
    if (t->runs) {
        ATOMIC_STORE(t->runs, false);
        ATOMIC_STORE(t->stop, 1U);
        os_futex_wake(&t->stop);
        (void)pthread_join(t->id, NULL);
    }
}

/* ---- fork -------------------------------------------------------------------------------------------------------- */

static struct own_thread *kept[OWN_THREADS_MAX];
static uint32_t           kept_count;
static bool               forks_alone;          /* the thread that forks is the only one beside the library's */

static void own_fork_prepare(void)
{
    int         keep = errno;
    nlink_t     links = 3;                      /* of the folder, if it has one thread */
    struct stat tasks;
    for (uint32_t i = 0; i < kept_count; i++) {
        links += ATOMIC_LOAD(kept[i]->runs) ? 1 : 0;
    }
    forks_alone = !lock_inside() && stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == links;
    errno = keep;
}

/* A handler of a signal may fork. What it has interrupted may be changing the thread's cache, so the blocks for the new thread come from past
 * the caches. */
static void own_fork_child(void)
{
    int            keep = errno;
    struct tcache *cache = thread_cache;
    thread_cache = &tcache_dead;
    for (uint32_t i = 0; i < kept_count; i++) {
        bool ran = ATOMIC_LOAD(kept[i]->runs);
        ATOMIC_STORE(kept[i]->runs, false);
        if (ran && kept[i]->forget != NULL) {
            kept[i]->forget();
        }
        if (ran && forks_alone) {
            (void)own_thread_begin(kept[i]);
        }
    }
    thread_cache = cache;
    errno = keep;
}

bool own_thread_keep(struct own_thread *t)
{
    for (uint32_t i = 0; i < kept_count; i++) {
        if (kept[i] == t) {
            return true;
        }
    }
    if (kept_count == 0 && pthread_atfork(own_fork_prepare, NULL, own_fork_child) != 0) {
        return false;
    }
    kept[kept_count++] = t;
    return true;
}
