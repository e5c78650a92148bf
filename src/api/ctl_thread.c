/* ctl_thread: see ctl_thread.h. */
#include "api/ctl_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/thread.h"
#include "platform/countdown.h"
#include "prof/prof.h"
#include "tcache/counting.h"
#include "tcache/depth.h"
#include "tcache/explicit.h"
#include "tcache/outside.h"
#include "tcache/refill.h"

/* Begins to count, if the thread does not do so yet, and to note peaks where they are asked for. Returns NULL for a stand-in. */
static struct counter *counter_of(struct tcache *t, bool peaks)
{
    if (tcache_is_standin(t)) {
        return NULL;
    }
    if (!counting_bytes(t)) {
        counting_begin(t, COUNTER_ALLOCATES);
    }
    if (peaks && !counting_for(t, COUNTER_PEAKS)) {
        counting_begin(t, COUNTER_PEAKS);
    }
    return (struct counter *)COUNTING_PLACE(t);
}

int read_thread_count(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)index;
    const struct counter *c = counter_of(thread_get(), n->at == THREAD_PEAK);
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
    struct counter *c = counter_of(thread_get(), true);
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
    counting_end(t, COUNTER_PEAKS);
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

int read_tcache_most(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n, (void)index;
    const struct tcache *t = thread_get();
    uint32_t             stack = TCACHE_STACKS - 1;
    if (tcache_is_standin(t)) {
        return ENOENT;
    }
    while (stack > 0 && t->most[stack] == t->floor[stack]) {
        stack--;
    }
    *value = stack == 0 ? 0 : size_class_bytes(stack - 1);
    return 0;
}

int write_tcache_most(const struct ctl_name *n, const size_t *index, uint64_t value)
{
    (void)n, (void)index;
    struct tcache *t = thread_get();
    uint32_t       last = size_class_index(value) + 1;
    if (tcache_is_standin(t)) {
        return ENOENT;
    }
    for (uint32_t stack = 1; stack < TCACHE_STACKS; stack++) {
        if (stack > last) {
            depth_set(t, stack, 0);
        } else if (t->most[stack] == t->floor[stack]) {
            depth_set(t, stack, UINT32_MAX);
        }
    }
    return 0;
}

int call_ncached_max(const size_t *index, void *old, size_t *old_bytes, const void *new_value, size_t new_bytes)
{
    (void)index;
    const struct tcache *t = thread_get();
    size_t               size = 0, most = 0;
    if (tcache_is_standin(t)) {
        return ENOENT;
    }
    if (new_value == NULL || new_bytes != sizeof size) {
        return EINVAL;
    }
    memcpy(&size, new_value, sizeof size);
    uint32_t szind = size_class_index(size);
    if (szind == SC_NSIZES) {
        return EINVAL;
    }
    if (szind + 1 < TCACHE_STACKS) {
        most = t->most[szind + 1] - t->floor[szind + 1];
    }
    return ctl_give(&most, sizeof most, old, old_bytes);
}

/* Reads a number and the character behind it. Returns the text behind both, or NULL where there is none. */
static const char *number_before(const char *text, char end, uint64_t *number)
{
    char *rest = NULL;
    errno = 0;
    *number = *text >= '0' && *text <= '9' ? strtoull(text, &rest, 10) : 0;
    return rest == NULL || errno != 0 || *rest != end ? NULL : rest + 1;
}

/* Reads a range of sizes and how many blocks of each of its classes there may be. Returns the text behind it, or NULL where there is none. */
static const char *range_read(const char *text, uint64_t *from, uint64_t *to, uint64_t *most)
{
    const char *rest = number_before(text, '-', from);
    rest = rest == NULL ? NULL : number_before(rest, ':', to);
    if (rest == NULL || *from > *to) {
        return NULL;
    }
    const char *next = number_before(rest, '|', most);
    return next != NULL ? next : number_before(rest, '\0', most);
}

/* Reads all ranges, and sets what they say if t is not NULL. */
static bool ranges_read(const char *text, struct tcache *t)
{
    uint64_t from, to, most;
    do {
        text = range_read(text, &from, &to, &most);
        if (text == NULL) {
            return false;
        }
        for (uint32_t stack = size_class_index(from) + 1; t != NULL && stack < TCACHE_STACKS && stack <= size_class_index(to) + 1; stack++) {
            depth_set(t, stack, most < UINT32_MAX ? (uint32_t)most : UINT32_MAX);
        }
    } while (text[-1] != '\0');
    return true;
}

int write_ncached_max(const struct ctl_name *n, const size_t *index, uint64_t value)
{
    (void)n, (void)index;
    struct tcache *t = thread_get();
    const char    *text = value == CTL_NO_VALUE ? NULL : (const char *)(uintptr_t)value;
    if (tcache_is_standin(t)) {
        return ENOENT;
    }
    int  keep = errno;
    bool right = text != NULL && ranges_read(text, NULL) && ranges_read(text, t);
    errno = keep;
    return right ? 0 : EINVAL;
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
