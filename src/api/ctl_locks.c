/* ctl_locks: what the names of mallctl about locks have, as it was at the last epoch. */
#include "api/ctl_locks.h"

static uint64_t lock_part(const struct mutex_stats *m, uint32_t part)
{
    switch (part) {
    case OPS: return m->locked;
    case WAITS: return m->waited;
    case SPINS: return m->spun;
    case SWITCHES: return m->owner_switches;
    case WAIT_TOTAL: return m->wait_ns;
    case WAIT_MAX: return m->longest_wait_ns;
    default: return m->most_waiting;
    }
}

int read_lock(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)index;
    ctl_lock();
    *value = n->at / COUNTERS == NO_LOCK ? 0 : lock_part(&ctl_stats->locks[n->at / COUNTERS], n->at % COUNTERS);
    ctl_unlock();
    return 0;
}

int read_arena_lock(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    *value = 0;
    return ctl_arenas_from(index[0]) == 0 ? read_lock(n, index, value) : 0;
}

int read_bin_lock(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    *value = 0;
    ctl_lock();
    for (uint32_t a = ctl_arenas_from(index[0]); a < ctl_arenas_to(index[0]); a++) {
        uint64_t part = lock_part(&ctl_stats->bin_locks[a * SC_NBINS + index[1]], n->at % COUNTERS);
        bool     most = n->at % COUNTERS == WAIT_MAX || n->at % COUNTERS == THREADS_MAX;
        *value = !most ? *value + part : part > *value ? part : *value;
    }
    ctl_unlock();
    return 0;
}

int act_reset_locks(const size_t *index)
{
    (void)index;
    ctl_reset_locks();
    return 0;
}
