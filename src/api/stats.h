/* stats: what the allocator holds, from the same counters that the page cache and the bins work with. */
#ifndef QED_API_STATS_H
#define QED_API_STATS_H

#include <stdint.h>

/* Bytes, but for the counts. A consistent snapshot of each module; approximate across modules while threads run. */
struct stats {
    uint64_t allocated;         /* in live blocks, by usable size */
    uint64_t cached;            /* in blocks that threads keep ready */
    uint64_t active;            /* in extents that hold blocks */
    uint64_t dirty;             /* free, not yet returned to the OS */
    uint64_t muzzy;             /* free, the OS takes it when it needs it */
    uint64_t retained;          /* free address space without memory */
    uint64_t mapped;            /* all of these */
    uint64_t metadata;          /* the allocator's own structures */
    uint64_t small_filled;      /* count of small blocks handed to threads */
    uint64_t large_allocated;   /* count of large blocks handed out */
    uint64_t purges;            /* count of system calls that returned memory */
    uint64_t purged;            /* returned by them so far */
    uint32_t slabs;
    uint32_t threads;
};

void stats_read(struct stats *s);
void stats_print(void);         /* a table on standard error */

#endif
