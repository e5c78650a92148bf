/* none: what prof.h is in a library that is built without the profiler (QED_PROF=0). Nothing is ever sampled. */
#ifndef QED_PROF_NONE_H
#define QED_PROF_NONE_H

#include <errno.h>

#define prof_take(t, szind, align_bytes, zeroed) ((void)(t), (void)(szind), (void)(align_bytes), (void)(zeroed), UINT64_C(0))
#define prof_usable(block) UINT64_C(0)
#define prof_free(t, block) ((void)(t))
#define prof_resize(t, block, szind) ((void)(t), PROF_ORDINARY)

static const struct prof_options prof_options __attribute__((unused)) = {.prof = false};

#define prof_start(t, o) ((void)(t), (void)(o))
#define prof_stop() false
#define prof_thread_end(t) ((void)(t))
#define prof_read_stats(s) ((void)(*(s) = (struct prof_stats){.contexts = 0}))
#define prof_read_totals() stats_read()
#define prof_set_active(t, active) ((void)(t))
#define prof_set_gdump(on) ((void)(on))
#define prof_thread_active(t) ((void)(t), false)
#define prof_set_thread_active(t, active) ((void)(t), ENOENT)
#define prof_thread_name(t) ((void)(t), "")
#define prof_set_thread_name(t, name) ((void)(t), ENOENT)
#define prof_set_thread_active_init(active) ((void)(active))
#define prof_set_prefix(prefix) ((void)(prefix), ENOENT)
#define prof_reset(lg_sample) ((void)(lg_sample))
#define prof_dump(path) ((void)(path), ENOENT)
#define prof_prefork() ((void)0)
#define prof_postfork_parent() ((void)0)
#define prof_postfork_child(t) ((void)(t))

#endif
