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

/*@ ghost
  /@ requires chunk:   chunk < TABLE_CHUNKS;
     assigns           \nothing;
     ensures  entries: 1 <= (1 << chunk) <= TABLE_MAX;
  @/
  void table_lemma_entries(uint64_t chunk)
  {
    switch (chunk) {
    case 0: break; case 1: break; case 2: break; case 3: break; case 4: break; case 5: break; case 6: break; case 7: break;
    case 8: break; case 9: break; case 10: break; case 11: break; case 12: break; case 13: break; case 14: break; case 15: break;
    case 16: break; case 17: break; case 18: break; case 19: break; case 20: break; case 21: break; case 22: break; case 23: break;
    case 24: break; case 25: break; case 26: break; case 27: break; case 28: break; case 29: break; case 30: break;
    }
  }
*/

/* Makes a chunk of the directory, which has so many, unless it is there or there is no memory. Returns whether it is there. */
/*@ requires valid:   \valid(directory + (0 .. chunks - 1));
    requires few:     chunks <= TABLE_CHUNKS;
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
        /*@ ghost table_lemma_entries(chunk); */
        size_t bytes = (1UL << chunk) * entry_bytes;
        table_publish(directory, chunk, os_map_metadata(bytes)) /*@ ghost (bytes) */;
    }
    return chunk < chunks && directory[chunk] != NULL;
}
