/* ctl_thread: see ctl_thread.h. */
#include "api/ctl_thread.h"

#include <errno.h>

#include "api/thread.h"
#include "tcache/counting.h"
#include "tcache/outside.h"

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
