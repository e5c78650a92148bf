/* user: the bytes of the program's blocks. Only realloc, which moves them, calloc, which zeroes them, and
 * the modes that fill them touch them.
 *
 * Blocks are addresses, so the contracts speak of addresses too. Here they become pointers for the C library.
 */
#ifndef QED_PLATFORM_USER_H
#define QED_PLATFORM_USER_H

#include <string.h>

#include "platform/os.h"

#define USER_END (1UL << LG_VADDR)                      /* addresses are below this */
#define USER_MOVE_MIN (4UL << 20)                       /* in bytes. To copy fewer costs less where all pages stay in use. */
#define USER_SPARSE_MIN (4 * PAGE)                      /* shorter copies are not looked through for pages of zeros */

/*@ ghost unsigned char user_mem[USER_END]; */          /* address -> byte, where a live block is */

/* Writes an address into the program's pointer, which may lie in a block. */
/*@ requires valid:    \valid(pointer);
    assigns            *pointer, user_mem[0 .. USER_END - 1], os_zero_over;
    ensures  stored:   (uint64_t)*pointer == address;
    ensures  rest:     \forall integer a; 0 <= a < USER_END && !((uint64_t)pointer <= a < (uint64_t)pointer + sizeof(void *)) ==>
                           user_mem[a] == \old(user_mem[a]);
*/
static inline void user_store(void **pointer, uint64_t address)
#ifdef __FRAMAC__
;
#else
{
    *pointer = (void *)address;
}
#endif

#ifndef __FRAMAC__
/* Returns whether a page reads as zero. */
static inline bool user_page_is_zero(uint64_t page)
{
    const uint64_t *word = (const uint64_t *)page;
    return word[0] == 0 && memcmp(word, word + 1, PAGE - sizeof *word) == 0;
}

/* Copies bytes from page to page. A page of zeros is not written over another one, so that pages which the program has never written
 * take no memory in the copy either. */
static inline void user_copy_pages(uint64_t to, uint64_t from, uint64_t bytes)
{
    uint64_t done = 0;
    for (uint64_t at = 0; at + PAGE <= bytes; at += PAGE) {
        if (user_page_is_zero(from + at) && user_page_is_zero(to + at)) {
            memcpy((void *)(to + done), (const void *)(from + done), at - done);
            done = at + PAGE;
        }
    }
    memcpy((void *)(to + done), (const void *)(from + done), bytes - done);
}
#endif

/* Moves bytes from a block to another one. The content of the first is unspecified afterwards. A long block consists of
 * whole pages and gives these to the other one, by halves where the OS refuses to move all at once. */
/*@ requires from_in:  from + bytes <= USER_END;
    requires to_in:    to + bytes <= USER_END;
    requires apart:    to + bytes <= from || from + bytes <= to;
    assigns            user_mem[to .. to + bytes - 1], user_mem[from .. from + bytes - 1], os_zero_over;
    ensures  moved:    \forall integer a; to <= a < to + bytes ==> user_mem[a] == \old(user_mem[a - to + from]);
*/
static inline void user_move(uint64_t to, uint64_t from, uint64_t bytes)
#ifdef __FRAMAC__
;
#else
{
    uint64_t half = bytes / 2 / PAGE * PAGE;
    if (bytes < USER_SPARSE_MIN || (to | from) % PAGE != 0) {
        memcpy((void *)to, (const void *)from, bytes);
    } else if (bytes < USER_MOVE_MIN || bytes % PAGE != 0) {
        user_copy_pages(to, from, bytes);
    } else if (!os_move(to / PAGE, from / PAGE, bytes / PAGE)) {
        user_move(to, from, half);
        user_move(to + half, from + half, bytes - half);
    }
}
#endif

/* Zeroes bytes of a block. If already is true, the pages that they are on were zero when the block was taken and nobody has written to them
 * since, so that nothing has to be done. */
/*@ requires in:       at + bytes <= USER_END;
    requires already:  already ==> OsZeroRun(at, at + bytes);
    assigns            user_mem[at .. at + bytes - 1];
    ensures  zero:     \forall integer a; at <= a < at + bytes ==> user_mem[a] == 0;
*/
static inline void user_zero(uint64_t at, uint64_t bytes, bool already)
#ifdef __FRAMAC__
;
#else
{
    if (!already) {
        memset((void *)at, 0, bytes);
    }
}
#endif

/* Gives bytes of a block one value. */
/*@ requires in:       at + bytes <= USER_END;
    assigns            user_mem[at .. at + bytes - 1], os_zero_over;
    ensures  filled:   \forall integer a; at <= a < at + bytes ==> user_mem[a] == byte;
*/
static inline void user_fill(uint64_t at, uint64_t bytes, uint8_t byte)
#ifdef __FRAMAC__
;
#else
{
    memset((void *)at, byte, bytes);
}
#endif

#endif
