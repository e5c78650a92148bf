/* lock: the table of all locks. */
#include "platform/lock.h"

struct lock lock_table[LOCK_RANKS];

void lock_read_stats(uint32_t rank, struct mutex_stats *stats)
{
    mutex_lock(LOCK_MUTEX(rank));
    mutex_read_stats(LOCK_MUTEX(rank), stats);
    mutex_unlock(LOCK_MUTEX(rank));
}

void lock_reset_stats(uint32_t rank)
{
    mutex_reset_stats(LOCK_MUTEX(rank));
}
