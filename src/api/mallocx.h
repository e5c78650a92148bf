/* mallocx: the contracts of the extended API, for clients and proofs. The functions are those of qedmalloc.h.
 *
 * Flags say an alignment, and whether new bytes are zero. A flag that names an arena has the
 * block taken from there, past the thread's cache. One that names an arena which is not there changes nothing. One that names an explicit
 * thread cache (tcache/explicit.h) has a block of a cached class taken from that one, and given back to it. The program orders the calls
 * that name one cache. Where there is no such cache, or another call uses it, the program ends with a message, and no block has changed.
 * Every form of free takes every block back.
 */
#ifndef QED_API_MALLOCX_H
#define QED_API_MALLOCX_H

#include "api/malloc.h"

#include "api/mallocx.acsl"

/* Size 0 asks for a block of the least class. All usable bytes are zero where the flags ask for that. */
/*@ requires ready:    MallocReady;
    exits    cache:    FlagsExplicit(flags) || MallocEnds(4 * size, 4 * FlagsAlign(flags)) || !\old(thread_booted);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_READY;
    ENSURES_NEW_BLOCK;
    ensures  class:    \result != NULL ==> BlockOf(ADDR(\result), FlagsSize(size, flags));
    ensures  fits:     \result != NULL ==> size <= BlockBytes(ADDR(\result));
    ensures  aligned:  ADDR(\result) % FlagsAlign(flags) == 0;
    ensures  from:     \result != NULL && \old(FlagsShared(flags)) && !FlagsExplicit(flags) ==>
                       BlockFrom(ADDR(\result), FlagsArena(flags) - 1);
    ensures  zero:     \result != NULL && FlagsZero(flags) ==> ZeroBytes(ADDR(\result), ADDR(\result) + BlockBytes(ADDR(\result)));
    ensures  error:    errno == (\result == NULL ? ENOMEM : \old(errno));
    ensures  out:      \result == NULL ==> MallocNull(4 * size, 4 * FlagsAlign(flags));
*/
void *qed_mallocx(size_t size, int flags);

/* Returns a block of that size and alignment with as much of the old contents as both blocks hold, and zeroes where the flags ask for that
 * what it has beyond the old usable size. Where it returns NULL, the block is as it was. Without a block it is mallocx. */
/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(ADDR(block));
    exits    cache:    live_on == 1 || FlagsExplicit(flags) || MallocEnds(4 * size, 4 * FlagsAlign(flags)) || !\old(thread_booted);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_RALLOCX(block, size, flags);
*/
void *qed_rallocx(void *block, size_t size, int flags);

/* Gives the block, where it is, the class of size + extra bytes, or of at least size bytes if that is refused. Returns the usable size that it
 * has then. */
/*@ requires ready:    MallocReady;
    requires live:     BlockLive(ADDR(block));
    EXITS_CHECKED;
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_XALLOCX(block, size, extra, flags);
*/
size_t qed_xallocx(void *block, size_t size, size_t extra, int flags);

/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(ADDR(block));
    EXITS_CHECKED;
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_READY;
    ensures  bytes:    \result == (block == NULL ? 0 : BlockBytes(ADDR(block)));
    ENSURES_REST_KEPT(0, 0);
    ensures  error:    errno == \old(errno);
*/
size_t qed_sallocx(const void *block, int flags);

/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(ADDR(block));
    exits    cache:    live_on == 1 || FlagsExplicit(flags);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_FREED(ADDR(block));
    ensures  error:    errno == \old(errno);
*/
void qed_dallocx(void *block, int flags);

/* The size lies between what was asked for and what nallocx says of that. The flags have the alignment that was asked for. */
/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(ADDR(block));
    requires aligned:  ADDR(block) % FlagsAlign(flags) == 0;
    requires size:     block != NULL ==> BlockOf(ADDR(block), FlagsSize(size, flags));
    exits    cache:    live_on == 1 || FlagsExplicit(flags);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_FREED(ADDR(block));
    ensures  error:    errno == \old(errno);
*/
void qed_sdallocx(void *block, size_t size, int flags);

/* Returns the usable size that mallocx would give, or 0 where there is no such class. */
/*@ assigns            \nothing;
    ensures  class:    \result != 0 ==> \forall integer i; 0 <= i < SC_NSIZES && ClassOf(FlagsSize(size, flags), i) ==> \result == ScBytes(i);
    ensures  fits:     \result != 0 ==> size <= \result;
    ensures  none:     \result == 0 ==> SC_LARGE_MAXCLASS < FlagsAlign(flags) || SC_LARGE_MAXCLASS < size ||
                       SC_LARGE_MAXCLASS < FlagsSize(size, flags);
*/
size_t qed_nallocx(size_t size, int flags);

#endif
