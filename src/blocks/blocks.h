/* blocks: what slabs, bins and large blocks share, and the model that their contracts speak of (spec/blocks/blocks.acsl). The model
 * says which blocks are out, which class each has, and how that rests on extents, slabs, bins and the radix tree. There is no code.
 *
 * Bin arena * SC_NBINS + szind is that of a class in an arena.
 */
#ifndef QED_BLOCKS_BLOCKS_H
#define QED_BLOCKS_BLOCKS_H

#include <stdint.h>

#include "ds/pairing_heap.h"
#include "ds/radix_tree.h"
#include "blocks/slab.h"
#include "blocks/tag.h"
#include "math/size_class.h"
#include "pages/pages.h"
#include "platform/table.h"

#define ARENAS_MAX 96U
#define ARENAS_OWN (PAGE_CACHES - PAGES_OVERSIZE)   /* so many of them have a page cache of their own */
#define ARENAS_DEFAULT_MAX (ARENAS_MAX - ARENAS_OWN) /* where the program says nothing, these can be made, however many CPUs there are */
#define BINS (ARENAS_MAX * SC_NBINS)
#define LARGE_CACHED 17U                   /* large classes that thread caches hold: 16 to 256 KiB by default */

_Static_assert(PAGE_CACHE_HEAPS + BINS <= PAIRING_HEAP_COUNT_MAX, "one heap for each bin");
_Static_assert(BINS <= UINT16_MAX, "slab_bin holds a bin in two bytes");

#include "blocks/blocks.acsl"
#include "blocks/blocks_lemmas.acsl"

#endif
