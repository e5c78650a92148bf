/* pool: metadata from the OS, as the proofs see it: each piece is zero, disjoint from all else, and never given back.
 *
 * POOL(type, name, count) stands for `type name[count]`, of which an element comes into being when POOL_NEW first asks
 * for it. The proofs see that array; the compiler sees one call of the OS per element, so that an element costs nothing
 * before. Naming the new memory by its key is sound as long as each key is made once: the caller keeps the address,
 * and makes an element only where it has none. POOL_PLACE does the same with zero memory that the caller has already.
 */
#ifndef QED_PLATFORM_POOL_H
#define QED_PLATFORM_POOL_H

#include "platform/os.h"

#ifdef __FRAMAC__
#define POOL(type, name, count) extern type name[count]
#define POOL_NEW(type, name, key) (pool_grant() ? &name[key] : NULL)
#define POOL_PLACE(type, name, key, address) ((address) != 0 ? &name[key] : NULL)
/*@ terminates \true; exits \false; assigns \nothing; */
bool pool_grant(void);                              /* whether the OS has memory left */
#else
#define POOL(type, name, count) _Static_assert(sizeof(type) * (count) != 0, "a pool of " #count)
#define POOL_NEW(type, name, key) ((type *)os_map_metadata(sizeof(type)))
#define POOL_PLACE(type, name, key, address) ((type *)(address))
#endif

/*@ ghost uint8_t pool_mapped[1UL << (LG_VADDR - 6)]; */   /* cache line -> belongs to a block of pool_map */

/* A block of zero bytes as an address, 0 if the OS has none. */
/*@ requires length:  0 < bytes < (1UL << LG_VADDR) && bytes % PAGE == 0;
    terminates        \true;
    exits             \false;
    assigns           pool_mapped[0 .. (1UL << (LG_VADDR - 6)) - 1];
    ensures  in:      \result + bytes <= (1UL << LG_VADDR);
    ensures  aligned: \result % 4096 == 0;
    ensures  fresh:   \result != 0 ==> \forall integer l; \result <= l * 64 < \result + bytes ==>
                          \old(pool_mapped[l]) == 0 && pool_mapped[l] == 1;
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

#endif
