/* ctl_counts: what the names of mallctl about bins, large blocks, free extents and purges have. The names stand in ctl_names. */
#ifndef QED_API_CTL_COUNTS_H
#define QED_API_CTL_COUNTS_H

#include "api/ctl.h"

/* Of bins. A fill is one time that a bin handed out blocks, for a request that a thread's stacks could not serve. */
enum { LIVE, SLABS, FILLED, FLUSHED, FILLS, FLUSHES, SLABS_MADE, SLABS_AGAIN, SLABS_NONFULL };
uint64_t bin_part(const struct bin_stats *b, uint32_t part);
int read_arena_bin(const struct ctl_name *n, const size_t *index, uint64_t *value);
int read_small(const struct ctl_name *n, const size_t *index, uint64_t *value);
int read_small_bytes(const struct ctl_name *n, const size_t *index, uint64_t *value);

/* Of large blocks. Each is asked for alone and goes back alone. */
enum { LARGE_MADE, LARGE_GONE, LARGE_NOW };
int read_lextents(const struct ctl_name *n, const size_t *index, uint64_t *value);
int read_large(const struct ctl_name *n, const size_t *index, uint64_t *value);

/* Of free extents. at: their state in page cache 0, and for their bytes EXTENT_STATES more. */
int read_extents(const struct ctl_name *n, const size_t *index, uint64_t *value);
int read_extent_avail(const struct ctl_name *n, const size_t *index, uint64_t *value);

/* Of purges. at: DECAY_DIRTY or DECAY_MUZZY, and DECAY_COUNT times one of these. */
enum { PURGE_SWEEPS, PURGE_CALLS, PURGE_NPAGES };
int read_purges(const struct ctl_name *n, const size_t *index, uint64_t *value);

int read_zero_reallocs(const struct ctl_name *n, const size_t *index, uint64_t *value);

#endif
