/* ctl: the names of mallctl, what each has, and the statistics as they were at the last epoch.
 *
 * A name is pieces with dots between them. Some pieces are a number: an arena, a small class, a large class. An index of names (mib) has a
 * number for each piece: for such a piece that number itself, for another one the row of the table that begins with the same pieces first.
 */
#ifndef QED_API_CTL_H
#define QED_API_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/background.h"
#include "blocks/arena.h"
#include "blocks/bin.h"
#include "blocks/large.h"
#include "pages/pages.h"
#include "tcache/stats.h"

#define CTL_ALL 4096U               /* stands for all arenas, as jemalloc's MALLCTL_ARENAS_ALL */
#define CTL_PIECES_MAX 7U
#define CTL_NO_VALUE UINT64_MAX     /* what a name gets that can only be written, where a call has no value */

/* Locks that have names of their own. Who waits for pages waits for one lock, and who makes or leaves a thread cache for another. */
enum ctl_lock { CTL_LOCK_CTL, CTL_LOCK_BACKGROUND, CTL_LOCK_PAGES, CTL_LOCK_DEPOT, CTL_LOCKS };

/* What the allocator held at the last epoch. A block that a thread keeps ready counts as out in bins, and not in totals.allocated. */
struct ctl_stats {
    uint64_t           epoch;
    struct stats       totals;
    struct large_stats large[LARGE_COUNTERS];
    struct large_stats large_sum;       /* of all of these */
    struct pages_details details;
    uint64_t           zero_reallocs;
    struct pages_stats pages[PAGE_CACHES];
    struct background_stats background;
    struct mutex_stats locks[CTL_LOCKS];
    struct mutex_stats bin_locks[ARENAS_MAX * SC_NBINS];
    uint32_t           threads[ARENAS_MAX];
    struct bin_stats   bins[ARENAS_MAX * SC_NBINS];
};

extern struct ctl_stats *ctl_stats; /* read and made new under the lock */
bool ctl_ready(void);               /* makes it and begins the first epoch, if there was none; false if there is no memory */
void ctl_lock(void);
void ctl_unlock(void);
void ctl_refresh(void);
void ctl_reset_locks(void);         /* called without the lock */
int64_t ctl_decay_ms(uint32_t decay);   /* its interval now */

void ctl_boot(void);                /* at the library's start: uptime counts from here */
void ctl_postfork_child(void);      /* a thread that is gone may have held the lock */

/* Arenas have numbers. After those that share a page cache come, if the program asks for it, the one that has the oversize blocks, and then
 * those that have been made. */
uint32_t ctl_arenas(void);
uint32_t ctl_arenas_from(size_t arena);     /* the arenas that a number stands for, this one ... */
uint32_t ctl_arenas_to(size_t arena);       /* ... and others below that one: itself, or all */
uint32_t ctl_cache(size_t arena);   /* its page cache */
uint32_t ctl_caches_from(size_t arena);     /* the page caches whose figures stand under it: this one ... */
uint32_t ctl_caches_to(size_t arena);       /* ... and others below that one. The shared one stands under arena 0. */

uint64_t ctl_small_bytes(uint32_t first, uint32_t end);     /* in blocks of slabs of these arenas, those that are kept ready too */
uint64_t ctl_slab_bytes(uint32_t first, uint32_t end);

/* Figures of the last epoch. Bytes, but for the pages of the last row. */
enum ctl_total {
    ALLOCATED, ACTIVE, METADATA,
    RESIDENT, MAPPED, RETAINED,
    LARGE_BYTES,
    PACTIVE, PDIRTY, PMUZZY
};

uint64_t ctl_total(enum ctl_total which);       /* of all arenas */
uint64_t ctl_own(uint32_t arena, enum ctl_total which);     /* of an arena with a page cache of its own */
uint64_t ctl_shared(enum ctl_total which);      /* of the page cache that the others share */

/* ---- the table --------------------------------------------------------------------------------------------------- */

enum ctl_type { CTL_BOOL, CTL_UNSIGNED, CTL_UINT32, CTL_SIZE, CTL_SSIZE, CTL_UINT64, CTL_TEXT, CTL_VOID };

struct ctl_name {
    const char   *name;             /* a piece that is a number stands as %a (arena), %b (small class), %l (large class), %e (class of pages) */
    enum ctl_type type;
    uint32_t      at;               /* what read makes of it */
    bool          first;            /* a call that writes and reads writes first */
    /* index has the name's numbers, in their order. A void name has act. The others can be read if they have read,
     * and written if they have write; both return 0 or an errno. */
    int (*read)(const struct ctl_name *n, const size_t *index, uint64_t *value);
    int (*write)(const struct ctl_name *n, const size_t *index, uint64_t value);
    int (*act)(const size_t *index);
    int (*call)(const size_t *index, void *old, size_t *old_bytes, const void *new_value, size_t new_bytes);    /* does all of it itself */
};

/* Copies a value into the caller's buffer, if there is one. A shorter buffer gets what it has room for, and the result is EINVAL. */
int ctl_give(const void *value, size_t bytes, void *old, size_t *old_bytes);

extern const char            ctl_version[];
extern const struct ctl_name ctl_names[];
extern const uint32_t        ctl_name_count;

#endif
