/* stats_page: what the allocator holds, in memory that other processes of the same user can read. qed-top shows it.
 *
 * A program asks for it by the setting stats_page. Then a thread of the library takes a sample each second, all signals blocked, and
 * writes it to a file in memory that only this thread has open: the program can neither see nor close the file, exec and fork do not pass
 * it on, and it is gone when the process is. Others find it as /proc/PID/task/TID/fd/0 where the kernel lets them, which is the same
 * user and root. Nobody else can write to it. A process that does not ask has neither thread nor file.
 *
 * A forked child gets a thread and a page of its own if the thread that forked was the only one beside the library's, and no page
 * otherwise: another thread may have held a lock of the C library that a new thread needs.
 */
#ifndef QED_API_STATS_PAGE_H
#define QED_API_STATS_PAGE_H

#include "blocks/bin.h"
#include "tcache/stats.h"
#include "tcache/tcache.h"

#define STATS_PAGE_MAGIC   "QEDSTATS"
#define STATS_PAGE_VERSION 2U
#define STATS_PAGE_CLASSES (TCACHE_STACKS - 1U)         /* those that pass through thread caches; the first SC_NBINS have slabs */
#define STATS_PAGE_SAMPLES 3U

struct stats_page_class {
    uint64_t bytes;                                     /* of a block */
    uint64_t slab_bytes;                                /* of a slab, 0 for a large class */
};

struct stats_page_sample {
    uint64_t         time_ms;                           /* CLOCK_MONOTONIC_COARSE */
    uint64_t         large_freed;                       /* count of large blocks taken back */
    struct stats     totals;
    uint64_t         cached[STATS_PAGE_CLASSES];        /* blocks that threads keep ready */
    struct bin_stats bin[BINS];                         /* SC_NBINS for each arena; only those of arenas in use are written */
};

/* Sample i is sample[i % STATS_PAGE_SAMPLES], counted from 1. While `samples` is n, the samples n and n - 1 stay as they are. */
struct stats_page {
    char                     magic[8];                  /* STATS_PAGE_MAGIC, without an end */
    uint32_t                 version;
    uint32_t                 arenas;
    uint32_t                 bins;                      /* SC_NBINS */
    uint32_t                 classes;
    uint32_t                 first_sample;              /* where sample[0] begins, and how long one is, in bytes */
    uint32_t                 sample_bytes;
    uint64_t                 samples;
    struct stats_page_class  class[STATS_PAGE_CLASSES];
    struct stats_page_sample sample[STATS_PAGE_SAMPLES];
};

void stats_page_fill(struct stats_page *page);          /* writes what does not change */
void stats_page_sample(struct stats_page *page);        /* takes the next sample */

/* Begins the thread and returns its page, which has a sample. Without one a line on standard error says so, and the result is NULL. */
const struct stats_page *stats_page_start(void);

/* Ends the thread and its page, if there are any. */
void stats_page_stop(void);

#endif
