/* page_cache: hands out runs of pages and keeps the free ones.
 *
 * Every page that came from the OS belongs to one extent. Free extents are DIRTY (used before), MUZZY (purged lazily) or
 * RETAINED (known to be zero); each is in the pairing heap of its state and page size class, lowest address first, and no
 * two neighbours are free in the same state. ACTIVE extents are a caller's, BUSY ones are being purged.
 *
 * The cache does no locking: its caller holds the lock of the pages (pages.h), which also guards the extent table.
 */
#ifndef QED_PAGES_PAGE_CACHE_H
#define QED_PAGES_PAGE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "math/size_class.h"
#include "pages/extent.h"

#define PAGE_CACHE_STATES 3U                                    /* DIRTY, MUZZY, RETAINED */
#define PAGE_CACHE_HEAPS (1U + PAGE_CACHE_STATES * SC_NPSIZES)  /* heap ids from here on are for others */

extern uint64_t page_cache_mapped_npages;                       /* that the OS has given so far */

/* Empties no heap: once, at start. */
void page_cache_boot(void);

/* ACTIVE extent of exactly npages whose first page number is a multiple of align_npages; 0: out of memory, then every
 * page is as before or newly retained. Dirty pages are reused first, then muzzy, then retained ones, then the OS's. */
uint32_t page_cache_alloc(uint64_t npages, uint64_t align_npages);

/* ACTIVE e becomes DIRTY and joins its dirty neighbours. */
void page_cache_free(uint32_t e);

/* ACTIVE e gets npages in place, with pages of the free extent behind it; false: nothing changed. */
bool page_cache_expand(uint32_t e, uint64_t npages);

/* ACTIVE e keeps its first npages and the others become DIRTY; false (no memory for an extent): nothing changed. */
bool page_cache_shrink(uint32_t e, uint64_t npages);

/* Takes out a free extent of that state, at most npages_max long where memory allows: BUSY, 0 if there is none. */
uint32_t page_cache_take(uint8_t state, uint64_t npages_max);

/* BUSY e becomes free in that state and joins its neighbours of that state. */
void page_cache_give(uint32_t e, uint8_t state);

#endif
