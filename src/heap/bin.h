/* bin: the slabs of one size class in one arena, behind a lock.
 *
 * A slab is current (blocks are taken from it), or non-full and in the bin's heap by address, or full and in no list,
 * or empty and returned to the page cache. Taking goes from the current slab to the lowest non-full one to a new one.
 * A block is an address; whose slab it is follows from the radix tree, so any thread may return it.
 */
#ifndef QED_HEAP_BIN_H
#define QED_HEAP_BIN_H

#include <stdint.h>

#include "math/size_class.h"

#define ARENAS_MAX 64U

struct bin_stats {
    uint64_t regions_live;      /* regions outside their slab: live or in a thread cache */
    uint64_t slabs;             /* slabs that exist now */
    uint64_t filled;            /* regions handed out so far */
    uint64_t flushed;           /* regions taken back so far */
};

void     bin_boot(uint32_t arenas);
uint32_t bin_fill(uint32_t arena, uint32_t szind, uint64_t *blocks, uint32_t n);    /* how many; 0: out of memory */
void     bin_flush(uint32_t szind, uint64_t *blocks, uint32_t n);                   /* reorders blocks[] */
void     bin_read_stats(uint32_t arena, uint32_t szind, struct bin_stats *stats);

void bin_prefork(void);
void bin_postfork_parent(void);
void bin_postfork_child(void);

#endif
