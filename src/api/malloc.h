/* malloc: the contracts of the malloc family, for clients and proofs. The functions are those of qedmalloc.h.
 *
 * A result is an address in the model of blocks (spec/blocks/blocks.acsl). NULL is address 0, which is never a block, so a clause
 * that leaves out block 0 leaves out none. The contracts hold from the program's first call on, which boots the library if it has
 * to, and may end the program then.
 */
#ifndef QED_API_MALLOC_H
#define QED_API_MALLOC_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "api/thread.h"
#include "math/align.h"
#include "platform/live.h"
#include "platform/lock.h"
#include "platform/modes.h"

#include "include/qedmalloc/qedmalloc.h"

extern uint64_t realloc_zero_count;     /* calls of realloc with a block and size 0 */

/* Each function of the family begins with what other threads have done since this thread's last call. Proven as threads_theorem_others. */
/*@ OTHERS_MEANWHILE; */
OTHERS_ACT(malloc_others);

/*@ requires ready:    MallocReady;
    EXITS_OUT(size, 1);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_READY;
    ENSURES_NEW_BLOCK;
    ensures  class:    \result != NULL ==> BlockOf(ADDR(\result), size);
    ensures  aligned:  AlignedForSize(ADDR(\result), size);
    ensures  error:    errno == (\result == NULL ? ENOMEM : \old(errno));
    ensures  out:      \result == NULL ==> MallocNull(size, 1);
*/
void *qed_malloc(size_t size);

/*@ requires ready:    MallocReady;
    EXITS_OUT(count * size, 1);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_READY;
    ENSURES_NEW_BLOCK;
    ensures  class:    \result != NULL ==> BlockOf(ADDR(\result), count * size);
    ensures  zero:     \result != NULL ==> ZeroBytes(ADDR(\result), ADDR(\result) + count * size);
    ensures  aligned:  AlignedForSize(ADDR(\result), count * size);
    ensures  overflow: count * size > SIZE_MAX ==> \result == NULL;
    ensures  error:    errno == (\result == NULL ? ENOMEM : \old(errno));
    ensures  out:      \result == NULL ==> MallocNull(count * size, 1);
*/
void *qed_calloc(size_t count, size_t size);

/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(ADDR(block));
    EXITS_CHECKED;
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_FREED(ADDR(block));
    ensures  error:    errno == \old(errno);
*/
void qed_free(void *block);

/* size is the one that malloc, calloc or realloc was called with. */
/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(ADDR(block));
    requires size:     block != NULL ==> BlockOf(ADDR(block), size);
    EXITS_CHECKED;
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_FREED(ADDR(block));
    ensures  error:    errno == \old(errno);
*/
void qed_free_sized(void *block, size_t size);

/* alignment and size are those that aligned_alloc was called with. */
/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(ADDR(block));
    requires power:    block != NULL ==> IsPowerOfTwo(alignment);
    requires aligned:  block != NULL ==> ADDR(block) % alignment == 0;
    requires size:     block != NULL ==> BlockOf(ADDR(block), AlignedSize(alignment, size));
    EXITS_CHECKED;
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_FREED(ADDR(block));
    ensures  error:    errno == \old(errno);
*/
void qed_free_aligned_sized(void *block, size_t alignment, size_t size);

/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(ADDR(block));
    EXITS_CHECKED;
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_READY;
    ensures  bytes:    \result == (block == NULL ? 0 : BlockBytes(ADDR(block)));
    ENSURES_REST_KEPT(0, 0);
    ensures  error:    errno == \old(errno);
*/
size_t qed_malloc_usable_size(void *block);

/*@ // With no bytes realloc frees the block, or ends the program, if the setting zero_realloc says so.
    predicate ReallocFrees(integer bytes) = bytes == 0 && modes_realloc_zero == MODES_REALLOC_FREES;
    // It may end the program where frees are checked, too.
    predicate ReallocEnds(integer block, integer bytes) =
        live_on == 1 || (modes_realloc_zero == MODES_REALLOC_ENDS && block != 0 && bytes == 0);
*/

/* Returns a block with as much of the old contents as both blocks hold. Where it returns NULL, the block is as it was, unless size
 * is 0, which frees it. The setting zero_realloc can say otherwise of size 0: that the block stays, or that the program ends. */
/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(ADDR(block));
    assigns            MALLOC_ASSIGNS, errno, realloc_zero_count;
    exits    asked:    ReallocEnds(ADDR(block), size) || MallocEnds(size, 1) || !\old(thread_booted);
    ENSURES_REALLOC(block, size);
*/
void *qed_realloc(void *block, size_t size);

/* Does what realloc does with count * size bytes, or returns NULL if that is more than SIZE_MAX. */
/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(ADDR(block));
    assigns            MALLOC_ASSIGNS, errno, realloc_zero_count;
    exits    asked:    ReallocEnds(ADDR(block), count * size) || MallocEnds(count * size, 1) || !\old(thread_booted);
    ENSURES_REALLOC(block, count * size);
    ensures  overflow: count * size > SIZE_MAX ==> \result == NULL;
*/
void *qed_reallocarray(void *block, size_t count, size_t size);

/* Fails with EINVAL where the alignment is not a power of two. */
/*@ requires ready:    MallocReady;
    exits    out:      IsPowerOfTwo(alignment) && (MallocEnds(size, alignment) || !\old(thread_booted));
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_READY;
    ENSURES_NEW_BLOCK;
    ensures  class:    \result != NULL ==> BlockOf(ADDR(\result), AlignedSize(alignment, size));
    ensures  fits:     \result != NULL ==> size <= BlockBytes(ADDR(\result));
    ensures  aligned:  IsPowerOfTwo(alignment) ==> ADDR(\result) % alignment == 0;
    ensures  power:    !IsPowerOfTwo(alignment) ==> \result == NULL && errno == EINVAL;
    ensures  error:    IsPowerOfTwo(alignment) ==> errno == (\result == NULL ? ENOMEM : \old(errno));
    ensures  out:      IsPowerOfTwo(alignment) && \result == NULL ==> MallocNull(size, alignment);
*/
void *qed_aligned_alloc(size_t alignment, size_t size);

/* Writes *block, which is not part of the allocator's own data, only on success. It never writes errno. */
/*@ requires ready:    MallocReady;
    requires valid:    \valid(block);
    requires outside:  ThreadOutside(block);
    exits    out:      IsPowerOfTwo(alignment) && (MallocEnds(size, alignment) || !\old(thread_booted));
    assigns            MALLOC_ASSIGNS, errno, *block;
    ENSURES_READY;
    ensures  result:   \result == 0 || \result == EINVAL || \result == ENOMEM;
    ensures  invalid:  \result == EINVAL <==> !IsPowerOfTwo(alignment) || alignment < sizeof(void *);
    ensures  alone:    \result != 0 ==> *block == \old(*block);
    ENSURES_BLOCK(\result == 0, ADDR(*block));
    ensures  new:      \result == 0 ==> !BlockLive{Pre}(ADDR(*block));
    ENSURES_LIVE_KEPT(0, \result == 0 ? ADDR(*block) : 0);
    ensures  contents: ContentsKeptBeside{Pre,Post}(ADDR(block), ADDR(block) + sizeof(void *));
    ensures  failed:   \result != 0 ==> ContentsKeptBut{Pre,Post}(0);
    ensures  outside:  \forall integer a; 0 <= a < USER_END && !(ADDR(block) <= a < ADDR(block) + sizeof(void *)) &&
                       !(\result == 0 && BlockHas(ADDR(*block), a)) ==> user_mem[a] == \old(user_mem[a]);
    ensures  class:    \result == 0 ==> BlockOf(ADDR(*block), AlignedSize(alignment, size));
    ensures  fits:     \result == 0 ==> size <= BlockBytes(ADDR(*block));
    ensures  aligned:  \result == 0 ==> ADDR(*block) % alignment == 0;
    ensures  error:    errno == \old(errno);
    ensures  out:      \result == ENOMEM ==> MallocNull(size, alignment);
*/
int qed_posix_memalign(void **block, size_t alignment, size_t size);

/* Rounds the alignment up to a power of two, as glibc does. Fails with EINVAL where there is none so large. */
/*@ requires ready:    MallocReady;
    exits    out:      !\old(thread_booted) || (modes_xmalloc != 0 && (IsPowerOfTwo(alignment) ==> MallocOut(size, alignment)));
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_READY;
    ENSURES_NEW_BLOCK;
    ensures  fits:     \result != NULL ==> size <= BlockBytes(ADDR(\result));
    ensures  aligned:  IsPowerOfTwo(alignment) ==> ADDR(\result) % alignment == 0;
    ensures  error:    \result != NULL ==> errno == \old(errno);
    ensures  failed:   \result == NULL ==> errno == (alignment > SIZE_MAX / 2 + 1 ? EINVAL : ENOMEM);
    ensures  out:      IsPowerOfTwo(alignment) && \result == NULL ==> MallocNull(size, alignment);
*/
void *qed_memalign(size_t alignment, size_t size);

/*@ requires ready:    MallocReady;
    EXITS_OUT(size, PAGE);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_READY;
    ENSURES_NEW_BLOCK;
    ensures  class:    \result != NULL ==> BlockOf(ADDR(\result), AlignedSize(PAGE, size));
    ensures  fits:     \result != NULL ==> size <= BlockBytes(ADDR(\result));
    ensures  aligned:  ADDR(\result) % PAGE == 0;
    ensures  error:    errno == (\result == NULL ? ENOMEM : \old(errno));
    ensures  out:      \result == NULL ==> MallocNull(size, PAGE);
*/
void *qed_valloc(size_t size);

/*@ requires ready:    MallocReady;
    EXITS_OUT(size, 2 * PAGE);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_READY;
    ENSURES_NEW_BLOCK;
    ensures  fits:     \result != NULL ==> RoundUp(size, PAGE) <= BlockBytes(ADDR(\result));
    ensures  aligned:  ADDR(\result) % PAGE == 0;
    ensures  error:    errno == (\result == NULL ? ENOMEM : \old(errno));
    ensures  out:      \result == NULL ==> MallocNull(size, 2 * PAGE);
*/
void *qed_pvalloc(size_t size);

#endif
