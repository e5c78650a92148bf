/* ctl_locks: what the names of mallctl about locks have. The names stand in ctl_names. */
#ifndef QED_API_CTL_LOCKS_H
#define QED_API_CTL_LOCKS_H

#include "api/ctl.h"

enum { OPS, WAITS, SPINS, SWITCHES, WAIT_TOTAL, WAIT_MAX, THREADS_MAX, COUNTERS };

#define NO_LOCK CTL_LOCKS       /* stands for what no lock of its own guards */

/* at: the lock, times COUNTERS, and which counter */
int read_lock(const struct ctl_name *n, const size_t *index, uint64_t *value);
int read_arena_lock(const struct ctl_name *n, const size_t *index, uint64_t *value);
int read_bin_lock(const struct ctl_name *n, const size_t *index, uint64_t *value);
int act_reset_locks(const size_t *index);

#endif
