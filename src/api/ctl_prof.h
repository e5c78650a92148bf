/* ctl_prof: what the names of mallctl about heap profiling have (src/prof). The names stand in ctl_names. */
#ifndef QED_API_CTL_PROF_H
#define QED_API_CTL_PROF_H

#include "api/ctl.h"

int read_prof_bool(const struct ctl_name *n, const size_t *index, uint64_t *value);     /* at: 0 active, 1 gdump,
    2 thread_active_init, 3 thread's */
int write_prof_bool(const struct ctl_name *n, const size_t *index, uint64_t value);
int read_prof_name(const struct ctl_name *n, const size_t *index, uint64_t *value);
int write_prof_name(const struct ctl_name *n, const size_t *index, uint64_t value);
int write_prof_dump(const struct ctl_name *n, const size_t *index, uint64_t value);
int write_prof_prefix(const struct ctl_name *n, const size_t *index, uint64_t value);
int write_prof_reset(const struct ctl_name *n, const size_t *index, uint64_t value);
int read_prof_lg_sample(const struct ctl_name *n, const size_t *index, uint64_t *value);
int read_prof_interval(const struct ctl_name *n, const size_t *index, uint64_t *value);
int read_prof_stats(const struct ctl_name *n, const size_t *index, uint64_t *value);    /* at: the part, in the order of the names */

#endif
