/* eacsl_run: what checked code calls and Frama-C does not see: copies of memory, and the parts of the platform that the
 * proofs know by contract only. Tables always have memory. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "eacsl.h"
#include "platform/os.h"

extern uint64_t os_refused;             /* a ghost, of which the checks make a variable */

bool table_grow(uint64_t chunk);
bool pool_grant(void);
bool pool_place(uintptr_t address, size_t bytes);

void eacsl_copy(void *to, const void *from, unsigned long bytes)
{
    memcpy(to, from, bytes);
}

bool table_grow(uint64_t chunk)
{
    (void)chunk;
    return true;
}

bool pool_grant(void)
{
    bool granted = os_map_metadata(1) != NULL;
    os_refused = granted ? os_refused : 1;
    return granted;
}

bool pool_place(uintptr_t address, size_t bytes)
{
    (void)bytes;
    return address != 0;
}
