/* table: directories of chunks. The pointer to a chunk is set once and never changes, so that readers need no lock. */
#include "platform/table.h"

#include "platform/os.h"

bool table_grow(void **directory, uint64_t chunk, size_t entry_bytes)
{
    if (chunk < TABLE_CHUNKS && __atomic_load_n(&directory[chunk], __ATOMIC_RELAXED) == NULL) {
        __atomic_store_n(&directory[chunk], os_map_metadata(TABLE_CHUNK * entry_bytes), __ATOMIC_RELEASE);
    }
    return chunk < TABLE_CHUNKS && directory[chunk] != NULL;
}
