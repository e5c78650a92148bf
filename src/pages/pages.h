/* pages: the page cache behind its lock, with decay. All arenas share it: no free page is stranded in one of them.
 *
 * Rank of the lock: above every bin's, below base's. System calls that purge run without it.
 */
#ifndef QED_PAGES_PAGES_H
#define QED_PAGES_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "pages/extent.h"

struct pages_stats {
    uint64_t npages[EXTENT_STATES];     /* pages by extent state; BUSY ones are being purged */
    uint64_t purges;                    /* purging system calls so far */
    uint64_t purged_npages;             /* pages they returned so far */
};

void     pages_boot(int64_t dirty_decay_ms, int64_t muzzy_decay_ms);
void     pages_set_decay(int64_t dirty_ms, int64_t muzzy_ms);                /* -1 never, 0 at once; forgets the past */
uint32_t pages_alloc(uint64_t npages, uint64_t align_npages, bool *zeroed); /* ACTIVE extent, 0: out of memory */
void     pages_free(uint32_t e);
uint32_t pages_find(uint64_t page);                     /* the ACTIVE extent that starts at page, 0 if there is none */
bool     pages_release(uint64_t page);                  /* frees the ACTIVE extent that starts at page; false: none does */
bool     pages_resize(uint32_t e, uint64_t npages);     /* in place, either way; false: nothing changed */
void     pages_decay(void);                             /* purges what the decay curves no longer allow */
bool     pages_trim(void);                              /* purges everything free; true if there was any */
void     pages_read_stats(struct pages_stats *stats);

void pages_prefork(void);
void pages_postfork_parent(void);
void pages_postfork_child(void);

#endif
