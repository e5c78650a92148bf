/* large: blocks of a whole extent each, page aligned. Small ones of them (cached large classes) pass through the thread
 * caches like small blocks: the radix word of their first page names their class, with the block as its only region. */
#ifndef QED_HEAP_LARGE_H
#define QED_HEAP_LARGE_H

#include <stdbool.h>
#include <stdint.h>

struct large_stats {
    uint64_t allocated;         /* blocks so far */
    uint64_t freed;             /* blocks so far */
};

/* Address of a block of the class, 0 if out of memory; cached says that its class has a bin in the thread caches. */
uint64_t large_alloc(uint32_t szind, uint64_t align_bytes, bool cached, bool *zeroed);
bool     large_free(uint64_t block);                /* false: no large block begins there, nothing changed */
uint64_t large_bytes(uint64_t block);               /* usable size, 0 if no large block begins there */
bool     large_resize(uint64_t block, uint32_t szind);  /* of an uncached class, in place; false: nothing changed */
void     large_read_stats(struct large_stats *stats);

#endif
