/* ctl_thread: see ctl_thread.h. */
#include "api/ctl_thread.h"

#include <errno.h>
#include <string.h>

#include "api/thread.h"
#include "platform/countdown.h"
#include "prof/prof.h"
#include "tcache/counting.h"
#include "tcache/explicit.h"
#include "tcache/outside.h"
#include "tcache/refill.h"

/* Begins to count, if the thread does not do so yet. Returns NULL for a stand-in. */
static struct counter *counter_of(struct tcache *t)
{
    if (tcache_is_standin(t)) {
        return NULL;
    }
    if (!counting_bytes(t)) {
        counting_begin(t, COUNTER_ALLOCATES);
    }
    return (struct counter *)COUNTING_PLACE(t);
}

int read_thread_count(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)index;
    const struct counter *c = counter_of(thread_get());
    if (c == NULL) {
        return EAGAIN;
    }
    switch ((enum thread_count)n->at) {
    case THREAD_ALLOCATED: *value = c->allocated; break;
    case THREAD_ALLOCATEDP: *value = (uint64_t)(uintptr_t)&c->allocated; break;
    case THREAD_DEALLOCATED: *value = c->deallocated; break;
    case THREAD_DEALLOCATEDP: *value = (uint64_t)(uintptr_t)&c->deallocated; break;
    case THREAD_PEAK: *value = (uint64_t)(c->peak - c->start); break;
    }
    return 0;
}

int act_peak_reset(const size_t *index)
{
    (void)index;
    struct counter *c = counter_of(thread_get());
    if (c == NULL) {
        return EAGAIN;
    }
    c->start = (int64_t)(c->allocated - c->deallocated);
    c->peak = c->start;
    return 0;
}

int read_tcache_enabled(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n, (void)index;
    *value = config.tcache && thread_get() != &tcache_dead ? 1 : 0;
    return 0;
}

/* Gives the thread's cache back, with all that is known of the thread. */
static void tcache_leave(struct tcache *t)
{
    thread_watch(NULL);
    prof_thread_end(t);
    counting_end(t, COUNTER_ALLOCATES);
    counting_end(t, COUNTER_FILLS);
    thread_exit(t);
}

int write_tcache_enabled(const struct ctl_name *n, const size_t *index, uint64_t value)
{
    (void)n, (void)index;
    struct tcache *t = thread_get();
    if (value != 0 && !config.tcache) {
        return EPERM;                           /* no cache keeps blocks */
    }
    if (value != 0 && t == &tcache_dead) {
        thread_cache = &tcache_unborn;          /* as before its first call */
        countdown_restart();
        (void)thread_get();
    } else if (value == 0 && !tcache_is_standin(t)) {
        tcache_leave(t);
    } else if (value == 0) {
        thread_cache = &tcache_dead;
    }
    return 0;
}

int act_tcache_flush(const size_t *index)
{
    (void)index;
    struct tcache *t = thread_get();
    if (tcache_is_standin(t)) {
        return EFAULT;
    }
    refill_flush(t);
    return 0;
}

/* ---- explicit caches --------------------------------------------------------------------------------------------- */

int call_tcache_create(const size_t *index, void *old, size_t *old_bytes, const void *new_value, size_t new_bytes)
{
    (void)index;
    if (new_value != NULL || new_bytes != 0) {
        return EPERM;
    }
    if (old == NULL || old_bytes == NULL || *old_bytes != sizeof(unsigned)) {
        if (old_bytes != NULL) {
            *old_bytes = 0;
        }
        return EINVAL;
    }
    unsigned number = explicit_create();
    if (number == DEPOT_EXPLICIT) {
        return EFAULT;
    }
    memcpy(old, &number, sizeof number);
    return 0;
}

int write_tcache_flush(const struct ctl_name *n, const size_t *index, uint64_t value)
{
    (void)n, (void)index;
    return value == CTL_NO_VALUE ? EINVAL : explicit_flush((uint32_t)value) ? 0 : EFAULT;
}

int write_tcache_destroy(const struct ctl_name *n, const size_t *index, uint64_t value)
{
    (void)n, (void)index;
    return value == CTL_NO_VALUE ? EINVAL : explicit_destroy((uint32_t)value) ? 0 : EFAULT;
}
