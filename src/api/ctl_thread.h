/* ctl_thread: what the names of mallctl about a thread have: what it has allocated (tcache/counting.h), and its cache. Those about explicit
 * caches (tcache/explicit.h) are here too. The names stand in ctl_names. */
#ifndef QED_API_CTL_THREAD_H
#define QED_API_CTL_THREAD_H

#include "api/ctl.h"

/* A thread counts from its first call here on. at: the part. EAGAIN for a thread that has no memory for a cache, or has ended. */
enum thread_count { THREAD_ALLOCATED, THREAD_ALLOCATEDP, THREAD_DEALLOCATED, THREAD_DEALLOCATEDP, THREAD_PEAK };

int read_thread_count(const struct ctl_name *n, const size_t *index, uint64_t *value);
int act_peak_reset(const size_t *index);

/* A thread without a cache is as one that has ended: a stand-in serves it, and each block comes from a bin and goes back to it at once. Where
 * it gets a cache again, that is another one. */
int read_tcache_enabled(const struct ctl_name *n, const size_t *index, uint64_t *value);
int write_tcache_enabled(const struct ctl_name *n, const size_t *index, uint64_t value);
int act_tcache_flush(const size_t *index);      /* EFAULT without a cache */

/* Bytes of the largest class of which the thread's cache holds blocks, 0 if there is none. Writing a size has it hold blocks of the classes up
 * to that of the size, and of no others. ENOENT without a cache. */
int read_tcache_most(const struct ctl_name *n, const size_t *index, uint64_t *value);
int write_tcache_most(const struct ctl_name *n, const size_t *index, uint64_t value);

/* How many blocks of a class the thread's cache holds at most. ENOENT without a cache. Reading takes a size, and gives 0 for a class that the
 * cache does not hold. Writing takes a text of ranges of sizes, "160-256:50|4096-8192:0". EINVAL for a text of another shape, which changes
 * nothing. More than a stack has slots for is as many as it has. */
int call_ncached_max(const size_t *index, void *old, size_t *old_bytes, const void *new_value, size_t new_bytes);
int write_ncached_max(const struct ctl_name *n, const size_t *index, uint64_t value);

/* EFAULT where no explicit cache can be made, and for a number of which there is none, or one that another call uses. */
int call_tcache_create(const size_t *index, void *old, size_t *old_bytes, const void *new_value, size_t new_bytes);
int write_tcache_flush(const struct ctl_name *n, const size_t *index, uint64_t value);
int write_tcache_destroy(const struct ctl_name *n, const size_t *index, uint64_t value);

#endif
