/* pool: metadata from the OS, as the proofs see it. Each piece is zero, lies apart from all else, and is never given
 * back.
 *
 * POOL(type, name, count) stands for `type name[count]`, of which an element comes into being when POOL_NEW first asks
 * for it. The proofs see that array. The compiler sees one call of the OS per element, so that an element costs nothing
 * before. Naming the new memory by its key is sound as long as each key is made once: the caller keeps the address, and
 * makes an element only where it has none. POOL_PLACE does the same with zero memory that the caller has already.
 *
 * An element of POOL_NEW_SPARSE can be read at once. It is written only where POOL_OPEN has opened it, which stays so for good. POOL_OPEN opens
 * so many cells of an array in the element, from cell `at` on. The cells of that array in all elements have numbers, one element after the
 * other, from POOL_CELL_array on. Of each the proofs know by its number whether it is open.
 */
#ifndef QED_PLATFORM_POOL_H
#define QED_PLATFORM_POOL_H

#include "platform/os.h"

/* Cache line -> POOL_FRESH if it belongs to a block of pool_map and reads as zero, since nobody has had it yet. POOL_USED once an element lies
 * there, which may write to it. Otherwise 0. */
/*@ ghost uint8_t pool_mapped[1UL << (LG_VADDR - 6)]; */
#define POOL_FRESH 1U
#define POOL_USED 2U

#define POOL_CELLS (2 * PAGE_COUNT_MAX)             /* cells of sparse elements */

/* Cell -> 1 if it may be written, once POOL_OPEN has said so. Nothing changes the array: the proofs learn what it has from POOL_OPEN. */
/*@ ghost uint8_t pool_writable[POOL_CELLS]; */

#ifdef __FRAMAC__
#define POOL(type, name, count) extern type name[count]
#define POOL_NEW(type, name, key) (pool_grant() ? &name[key] : NULL)
#define POOL_NEW_SPARSE(type, name, key) POOL_NEW(type, name, key)
#define POOL_WIDTH(array) (sizeof(array) / sizeof(array)[0])
#define POOL_OPEN(element, name, key, array, at, count)                                                                \
    pool_open((element) == &name[key], POOL_WIDTH(name[key].array), at, POOL_CELL_##array + (key) * POOL_WIDTH(name[key].array) + (at), count)
#define POOL_PLACE(type, name, key, address) (pool_place(address, sizeof(type)) ? &name[key] : NULL)
/*@ assigns           os_refused;
    ensures  refused: os_refused == (\result ? \old(os_refused) : 1);
*/
bool pool_grant(void);                              /* true if the OS has memory left */
/*@ requires there:   there;
    requires in:      0 < count && at + count <= width && cell + count <= POOL_CELLS;
    assigns           os_refused;
    ensures  refused: os_refused == (\result ? \old(os_refused) : 1);
    ensures  open:    \result ==> \forall integer c; cell <= c < cell + count ==> pool_writable[c] == 1;
*/
bool pool_open(bool there, uint64_t width, uint64_t at, uint64_t cell, uint64_t count);     /* true if the cells may be written */
/*@ requires fresh:   address != 0 ==> \forall integer l; address <= l * 64 < address + bytes ==> pool_mapped[l] == POOL_FRESH;
    requires in:      address + bytes <= (1UL << LG_VADDR);
    requires aligned: address % 64 == 0;
    assigns           pool_mapped[0 .. (1UL << (LG_VADDR - 6)) - 1];
    ensures  there:   \result <==> address != 0;
    ensures  used:    address != 0 ==> \forall integer l; address <= l * 64 < address + bytes ==> pool_mapped[l] == POOL_USED;
    ensures  rest:    \forall integer l; 0 <= l < (1UL << (LG_VADDR - 6)) && !(address != 0 && address <= l * 64 < address + bytes) ==>
                          pool_mapped[l] == \old(pool_mapped[l]);
*/
bool pool_place(uintptr_t address, size_t bytes);   /* true if there are so many bytes for an element */
#else
#define POOL(type, name, count) _Static_assert(sizeof(type) * (count) != 0, "a pool of " #count)
#define POOL_NEW(type, name, key) ((type *)os_map_metadata(sizeof(type)))
#define POOL_NEW_SPARSE(type, name, key) ((type *)os_map_sparse(sizeof(type)))
#define POOL_OPEN(element, name, key, array, at, count) os_open(&(element)->array[at], (count) * sizeof((element)->array[0]))
#define POOL_PLACE(type, name, key, address) ((type *)(address))
#endif

/* Returns the address of so many zero bytes, 0 if the OS has none. */
/*@ requires length:  0 < bytes < (1UL << LG_VADDR) && bytes % PAGE == 0;
    assigns           pool_mapped[0 .. (1UL << (LG_VADDR - 6)) - 1], os_refused;
    ensures  refused: os_refused == (\result == 0 ? 1 : \old(os_refused));
    ensures  in:      \result + bytes <= (1UL << LG_VADDR);
    ensures  aligned: \result % 4096 == 0;
    ensures  fresh:   \result != 0 ==> \forall integer l; \result <= l * 64 < \result + bytes ==>
                          \old(pool_mapped[l]) == 0 && pool_mapped[l] == POOL_FRESH;
    ensures  rest:    \forall integer l; 0 <= l < (1UL << (LG_VADDR - 6)) &&
                          !(\result != 0 && \result <= l * 64 < \result + bytes) ==> pool_mapped[l] == \old(pool_mapped[l]);
*/
static inline uintptr_t pool_map(size_t bytes)
#ifdef __FRAMAC__
;
#else
{
    return (uintptr_t)os_map_metadata(bytes);
}
#endif

/* Forgets words of a pool that are not needed for now. Each is zero afterwards, or as it was. Whole pages of them go back to the OS until
 * they are touched again. */
/*@ requires valid:   \valid(words + (0 .. count - 1));
    assigns           words[0 .. count - 1];
    ensures  zero:    \forall integer i; 0 <= i < count ==> words[i] == 0 || words[i] == \old(words[i]);
*/
static inline void pool_forget(uint64_t *words, size_t count)
#ifdef __FRAMAC__
;
#else
{
    uint64_t first = ((uintptr_t)words + PAGE - 1) / PAGE;
    uint64_t end = (uintptr_t)(words + count) / PAGE;
    if (first < end) {
        os_purge_metadata(first, end - first);
    }
}
#endif

#endif
