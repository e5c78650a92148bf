/* heap: what the modules of this layer share, and the model of the heap that their contracts speak of (spec/heap.acsl):
 * which blocks are out, which class each has, and how that rests on extents, slabs, bins and the radix tree. No code.
 *
 * A bin is numbered arena * SC_NBINS + szind.
 */
#ifndef QED_HEAP_HEAP_H
#define QED_HEAP_HEAP_H

#include <stdint.h>

#include "ds/pairing_heap.h"
#include "ds/radix_tree.h"
#include "heap/slab.h"
#include "heap/word.h"
#include "math/size_class.h"
#include "pages/pages.h"
#include "platform/table.h"

#define ARENAS_MAX 64U
#define BINS (ARENAS_MAX * SC_NBINS)
#define HEAP_LARGE_CACHED 17U                   /* large classes that thread caches hold: 16 to 256 KiB by default */

_Static_assert(PAGE_CACHE_HEAPS + BINS <= PAIRING_HEAP_COUNT_MAX, "one heap for each bin");
_Static_assert(BINS <= UINT16_MAX, "slab_bin holds a bin in two bytes");

struct bin_stats {
    uint64_t regions_live;                      /* regions outside their slab: live or in a thread cache */
    uint64_t slabs;                             /* slabs that exist now */
    uint64_t filled;                            /* regions handed out so far */
    uint64_t flushed;                           /* regions taken back so far */
};

extern TABLE(uint16_t, slab_bin);               /* the bin that the slab belongs to */
extern uint32_t bin_current[BINS];              /* slab that blocks are taken from, 0 = none */
extern struct bin_stats bin_stats[BINS];

#include "heap.acsl"
#include "heap_lemmas.acsl"

#endif
