/* ctl_prof: what the names of mallctl about heap profiling have. Where there is no profiling in this run, most of them can be read, and
 * cannot be changed. */
#include "api/ctl_prof.h"

#include <errno.h>

#include "api/config.h"
#include "api/thread.h"
#include "platform/atomic.h"
#include "prof/prof.h"

_Static_assert(CONFIG_PREFIX_BYTES == PROF_PREFIX_BYTES, "the setting prof_prefix and the name prof.prefix have the same room");

enum { OF_ALL, OF_GDUMP, OF_NEW_THREADS };      /* at of the names that are true or false; the last one is the thread's own */

static struct tcache *self(void)
{
    return thread_get();
}

int read_prof_bool(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)index;
    struct tcache *t = self();
    if (!config.prof) {
        *value = 0;
        return 0;
    }
    *value = n->at == OF_ALL ? ATOMIC_LOAD(prof_options.active)
             : n->at == OF_GDUMP ? ATOMIC_LOAD(prof_options.gdump)
             : n->at == OF_NEW_THREADS ? ATOMIC_LOAD(prof_options.thread_active)
                                           : prof_thread_active(t);
    return 0;
}

int write_prof_bool(const struct ctl_name *n, const size_t *index, uint64_t value)
{
    (void)index;
    struct tcache *t = self();
    bool           on = value != 0;
    if (!config.prof) {
        return on ? ENOENT : 0;
    }
    switch (n->at) {
    case OF_ALL: prof_set_active(t, on); return 0;
    case OF_GDUMP: prof_set_gdump(on); return 0;
    case OF_NEW_THREADS: prof_set_thread_active_init(on); return 0;
    default: return prof_set_thread_active(t, on);
    }
}

int read_prof_name(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n, (void)index;
    *value = (uint64_t)(uintptr_t)(config.prof ? prof_thread_name(self()) : "");
    return 0;
}

int write_prof_name(const struct ctl_name *n, const size_t *index, uint64_t value)
{
    (void)n, (void)index;
    const char *name = (const char *)(uintptr_t)value;
    return config.prof ? prof_set_thread_name(self(), name) : name != NULL && name[0] == '\0' ? 0 : ENOENT;
}

int write_prof_dump(const struct ctl_name *n, const size_t *index, uint64_t value)
{
    (void)n, (void)index;
    (void)self();
    return config.prof ? prof_dump(value == CTL_NO_VALUE ? NULL : (const char *)(uintptr_t)value) : ENOENT;
}

int write_prof_prefix(const struct ctl_name *n, const size_t *index, uint64_t value)
{
    (void)n, (void)index;
    return !config.prof ? ENOENT : value == CTL_NO_VALUE ? EINVAL : prof_set_prefix((const char *)(uintptr_t)value);
}

int write_prof_reset(const struct ctl_name *n, const size_t *index, uint64_t value)
{
    (void)n, (void)index;
    (void)self();
    uint64_t lg = value == CTL_NO_VALUE ? prof_options.lg_sample : value;
    if (!config.prof) {
        return ENOENT;
    }
    prof_reset(lg < LG_PROF_SAMPLE_MAX ? (uint32_t)lg : LG_PROF_SAMPLE_MAX);
    return 0;
}

int read_prof_lg_sample(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n, (void)index;
    *value = prof_options.lg_sample;
    return 0;
}

int read_prof_interval(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n, (void)index;
    *value = config.prof && config.lg_prof_interval >= 0 ? UINT64_C(1) << config.lg_prof_interval : 0;
    return 0;
}

int read_prof_stats(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)index;
    struct prof_stats s;
    (void)self();
    prof_read_stats(&s);
    const uint64_t part[] = {s.contexts, s.thread_contexts, s.sampled, s.dropped, s.live, s.live_bytes, s.estimate};
    *value = part[n->at];
    return 0;
}
