/* holes: the pages of slabs in which no region is out. Their memory goes back to the OS, as that of free extents does.
 *
 * A slab keeps such pages, and its regions there stay free to be taken. When they are, the OS gives zero pages as for new memory. Which
 * pages these are, the bitmap says. It is asked under the lock of the slab's bin, which is held until the pages are gone.
 */
#ifndef QED_BLOCKS_HOLES_H
#define QED_BLOCKS_HOLES_H

#include <stdbool.h>

#include "blocks/bin.h"

/* Gives the pages of all holes back, of one bin after the other. Returns whether the OS took any, be it that it has had them already. */
/*@ BINS_FREE(requires);
    requires arenas:   arenas <= ARENAS_MAX;
    assigns            BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS;
    BINS_FREE(ensures);
*/
bool holes_trim(uint32_t arenas);

#endif
