/* table: an array of up to TABLE_MAX entries, or of up to TABLE_FEW_MAX, that grows chunk by chunk and never moves.
 *
 * Entry i of a table t is written AT(t, i). The proofs see the array itself. The compiler sees a directory of chunks
 * that TABLE_GROW fills from the OS. The first chunk has TABLE_FIRST entries, and each other one twice as many as the
 * one before it. So a directory is a few pointers, the table of a small process is small, and to find an entry is to
 * find the highest bit of a number.
 * An entry exists once TABLE_GROW has returned true for it. Entry 0 stands for "none" and is never used.
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
#define TABLE_LG_FIRST 7
#define TABLE_FIRST (1UL << TABLE_LG_FIRST)         /* entries of the first chunk */
#define TABLE_CHUNKS 31                             /* the last entries of TABLE_MAX stand in a chunk of their own */
#define TABLE_FEW_CHUNKS 25

#ifdef __FRAMAC__
#define TABLE(type, name) type name[TABLE_MAX]
#define TABLE_FEW(type, name) type name[TABLE_FEW_MAX]
#define AT(name, i) name[i]
#define TABLE_GROW(name, i) table_grow(i)
/*@ requires range:   i < TABLE_MAX;
    assigns           os_refused, \result \from i;
    ensures  refused: os_refused == (\result ? \old(os_refused) : 1);
*/
bool table_grow(uint64_t i);
#else
#define TABLE(type, name) type *name[TABLE_CHUNKS]
#define TABLE_FEW(type, name) type *name[TABLE_FEW_CHUNKS]
#define AT(name, i) name[table_chunk(i)][table_place(i)]

/* Chunk c has the 2^c entries i for which bit c is the highest of i + TABLE_FIRST. The bits below say which one i is. The chunks before that of
 * entry 0 are none. */
static inline uint64_t table_chunk(uint64_t i)
{
    return 63U ^ (uint32_t)__builtin_clzl(i + TABLE_FIRST);         /* which compilers see to be one instruction */
}

static inline uint64_t table_place(uint64_t i)
{
    return (i + TABLE_FIRST) ^ (1UL << table_chunk(i));
}

/* Makes entry i of the table usable. Returns false if the OS has no memory. The caller holds the table's lock. */
#define TABLE_GROW(name, i) table_fill((void **)(name), sizeof(name) / sizeof(void *), table_chunk(i), sizeof(**(name)))
bool table_fill(void **directory, uint64_t chunks, uint64_t chunk, size_t entry_bytes);

_Static_assert(TABLE_MAX == 1UL << (TABLE_CHUNKS - 1) && TABLE_FEW_MAX == 1UL << (TABLE_FEW_CHUNKS - 1), "all entries have chunks");
#endif

#endif
