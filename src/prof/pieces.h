/* pieces: memory for the profiler's own data, from the OS. A piece that is given back is taken again for the next request of its size. The
 * caller holds the profiler's lock. */
#ifndef QED_PROF_PIECES_H
#define QED_PROF_PIECES_H

#include <stddef.h>

void *pieces_take(size_t bytes);                /* zero bytes, or NULL without memory */
void  pieces_give(void *piece, size_t bytes);   /* as many as were taken */

#endif
