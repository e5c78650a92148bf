/* holes: the pages of slabs in which no region is out. Their memory goes back to the OS, as that of free extents does.
 *
 * A slab keeps such pages, and its regions there stay free to be taken. When they are, the OS gives zero pages as for new memory. Which
 * pages these are, the bitmap says. It is asked under the lock of the slab's bin, which is held until the pages are gone.
 *
 * Holes wait before they go back. The age of a slab is 1 when regions are taken from it, and each round over all bins adds one to it. The slab's
 * holes go in the third round. So a slab from which blocks are taken now and then keeps them. One whose holes are gone is passed by
 * while it has as many free regions as then. When more have come back, it begins at 1 again.
 */
#ifndef QED_BLOCKS_HOLES_H
#define QED_BLOCKS_HOLES_H

#include <stdbool.h>

#include "blocks/bin.h"

#define HOLES_ROUNDS 3U                         /* that the holes of a slab wait; they go in the last one */

/* Gives the pages of all holes back, of one bin after the other. Returns whether the OS took any, be it that it has had them already. */
/*@ BINS_FREE(requires);
    requires arenas:   arenas <= ARENAS_MAX;
    assigns            BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS;
    BINS_FREE(ensures);
*/
bool holes_trim(uint32_t arenas);

/* Goes on with the round over the bins of each page cache, or begins a new one where a quarter of its dirty_decay_ms has passed since the
 * last one began. Visits some thousand slabs of each at most, and few of them while it holds a bin's lock. Gives the holes back that have
 * waited for three rounds. Returns whether more is left of a round. Where the decay time is -1 nothing happens. Where it is 0 holes wait for one
 * round, of 64 ms. */
/*@ BINS_FREE(requires);
    assigns            BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS;
    BINS_FREE(ensures);
*/
bool holes_decay(void);

#endif
