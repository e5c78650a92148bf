/* table: directories of chunks. */
#include "platform/table.h"

#include "platform/atomic.h"

/* Shows all threads a chunk, or none if there is no memory. The store releases, so that a thread that reads the pointer reads the zeros
 * behind it. */
/*@ requires valid:   \valid(directory + chunk);
    requires once:    directory[chunk] == \null;
    requires zero:    fresh != \null ==> OsZero((char *)fresh, bytes);
    assigns           directory[chunk];
    ensures  told:    directory[chunk] == fresh;
*/
static inline void table_publish(void **directory, uint64_t chunk, void *fresh) /*@ ghost (uint64_t bytes) */
{
    ATOMIC_STORE_RELEASE(directory[chunk], fresh);
}

/* Makes a chunk of the directory, which has so many, unless it is there or there is no memory. Returns whether it is there. */
/*@ requires valid:   \valid(directory + (0 .. chunks - 1));
    requires entry:   0 < entry_bytes <= (1UL << 20);
    assigns           directory[0 .. chunks - 1], os_metadata_bytes, os_refused;
    ensures  refused: os_refused == (\result || chunk >= chunks ? \old(os_refused) : 1);
    ensures  there:   \result <==> chunk < chunks && directory[chunk] != \null;
    ensures  once:    \forall integer c; 0 <= c < chunks && \old(directory[c]) != \null ==> directory[c] == \old(directory[c]);
    ensures  others:  \forall integer c; 0 <= c < chunks && c != chunk ==> directory[c] == \old(directory[c]);
*/
bool table_fill(void **directory, uint64_t chunks, uint64_t chunk, size_t entry_bytes)
{
    if (chunk < chunks && ATOMIC_LOAD(directory[chunk]) == NULL) {
        table_publish(directory, chunk, os_map_metadata(TABLE_CHUNK * entry_bytes)) /*@ ghost (TABLE_CHUNK * entry_bytes) */;
    }
    return chunk < chunks && directory[chunk] != NULL;
}
