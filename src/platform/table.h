/* table: an array of up to TABLE_MAX entries, or of up to TABLE_FEW_MAX, that grows chunk by chunk and never moves.
 *
 * Entry i of a table t is written AT(t, i). The proofs see the array itself. The compiler sees a directory of chunks
 * that TABLE_GROW fills from the OS, so that an untouched table costs address space only for the chunks in use.
 * An entry exists once TABLE_GROW has returned true for its chunk. Entry 0 stands for "none" and is never used.
 * A new entry reads as zero. The pointer to a chunk is set once and never changes, so that readers need no lock.
 */
#ifndef QED_PLATFORM_TABLE_H
#define QED_PLATFORM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/os.h"

#define TABLE_MAX (1UL << 30)                       /* entries */
#define TABLE_FEW_MAX (1UL << 24)                   /* of a table that has a small directory */
#define TABLE_CHUNK (1UL << 15)                     /* entries per chunk */
#define TABLE_CHUNKS (TABLE_MAX / TABLE_CHUNK)

#ifdef __FRAMAC__
#define TABLE(type, name) type name[TABLE_MAX]
#define TABLE_FEW(type, name) type name[TABLE_FEW_MAX]
#define AT(name, i) name[i]
#define TABLE_GROW(name, i) table_grow((i) / TABLE_CHUNK)
/*@ requires range:   chunk < TABLE_CHUNKS;
    assigns           os_refused, \result \from chunk;
    ensures  refused: os_refused == (\result ? \old(os_refused) : 1);
*/
bool table_grow(uint64_t chunk);
#else
#define TABLE(type, name) type *name[TABLE_CHUNKS]
#define TABLE_FEW(type, name) type *name[TABLE_FEW_MAX / TABLE_CHUNK]
#define AT(name, i) name[(i) / TABLE_CHUNK][(i) % TABLE_CHUNK]
/* Makes entry i of the table usable. Returns false if the OS has no memory. The caller holds the table's lock. */
#define TABLE_GROW(name, i) table_fill((void **)(name), sizeof(name) / sizeof(void *), (i) / TABLE_CHUNK, sizeof(**(name)))
bool table_fill(void **directory, uint64_t chunks, uint64_t chunk, size_t entry_bytes);
#endif

#endif
