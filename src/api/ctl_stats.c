/* ctl_stats: what the allocator held at the last epoch. */
#include "api/ctl.h"
#include "blocks/slab.h"
#include "platform/mutex.h"
#include "platform/os.h"

#include "api/thread.h"

struct ctl_stats ctl_stats;

static struct mutex lock;

/* Called with the lock. */
void ctl_refresh(void)
{
    uint32_t arenas = arena_count();
    for (uint32_t i = 0; i < arenas * SC_NBINS; i++) {
        bin_read_stats(i / SC_NBINS, i % SC_NBINS, &ctl_stats.bins[i]);
    }
    for (uint32_t a = 0; a < arenas; a++) {
        ctl_stats.threads[a] = ATOMIC_LOAD(arena_thread_count[a]);
    }
    ctl_stats.totals = stats_read();
    large_read_stats(&ctl_stats.large);
    ctl_stats.epoch += 1;
}

void ctl_lock(void)
{
    (void)thread_get();
    mutex_lock(&lock);
    if (ctl_stats.epoch == 0) {
        ctl_refresh();
    }
}

void ctl_unlock(void)
{
    mutex_unlock(&lock);
}

void ctl_postfork_child(void)
{
    __atomic_store_n(&lock.word, 0U, __ATOMIC_RELEASE);
}

uint64_t ctl_small_bytes(uint32_t first, uint32_t end)
{
    uint64_t bytes = 0;
    for (uint32_t i = first * SC_NBINS; i < end * SC_NBINS; i++) {
        bytes += ctl_stats.bins[i].regions_live * slab_bytes[i % SC_NBINS];
    }
    return bytes;
}

uint64_t ctl_slab_bytes(uint32_t first, uint32_t end)
{
    uint64_t bytes = 0;
    for (uint32_t i = first * SC_NBINS; i < end * SC_NBINS; i++) {
        bytes += ctl_stats.bins[i].slabs * slab_npages[i % SC_NBINS] * PAGE;
    }
    return bytes;
}
