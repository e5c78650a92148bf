/* malloc: the contracts of the malloc family, for clients and proofs. The functions are those of qedmalloc.h.
 *
 * A result is an address in the heap model (spec/heap.acsl). NULL is address 0, which is never a block: a clause that
 * leaves out one block leaves out none if that is 0.
 */
#ifndef QED_API_MALLOC_H
#define QED_API_MALLOC_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "api/thread.h"
#include "math/align.h"

#include "include/qedmalloc/qedmalloc.h"

/*@ requires ok:       MallocOk;
    terminates         \true;
    exits              \false;
    assigns            MALLOC_ASSIGNS, errno;
    ensures  ok:       MallocOk;
    ensures  live:     \result != NULL ==> BlockLive(ADDR(\result));
    ensures  new:      !BlockLive{Pre}(ADDR(\result));
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(ADDR(\result));
    ensures  contents: ContentsKeptBut{Pre,Post}(0);
    ensures  class:    \result != NULL ==> BlockOf(ADDR(\result), size);
    ensures  apart:    \result != NULL ==> LiveApart(ADDR(\result));
    ensures  ends:     \result != NULL ==> BlockEnds(ADDR(\result));
    ensures  aligned:  AlignedForSize(ADDR(\result), size);
    ensures  error:    errno == (\result == NULL ? ENOMEM : \old(errno));
*/
void *qed_malloc(size_t size);

/*@ requires ok:       MallocOk;
    terminates         \true;
    exits              \false;
    assigns            MALLOC_ASSIGNS, errno;
    ensures  ok:       MallocOk;
    ensures  live:     \result != NULL ==> BlockLive(ADDR(\result));
    ensures  new:      !BlockLive{Pre}(ADDR(\result));
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(ADDR(\result));
    ensures  contents: ContentsKeptBut{Pre,Post}(0);
    ensures  class:    \result != NULL ==> BlockOf(ADDR(\result), count * size);
    ensures  zero:     \result != NULL ==> ZeroBytes(ADDR(\result), ADDR(\result) + count * size);
    ensures  apart:    \result != NULL ==> LiveApart(ADDR(\result));
    ensures  ends:     \result != NULL ==> BlockEnds(ADDR(\result));
    ensures  aligned:  AlignedForSize(ADDR(\result), count * size);
    ensures  overflow: count * size > SIZE_MAX ==> \result == NULL;
    ensures  error:    errno == (\result == NULL ? ENOMEM : \old(errno));
*/
void *qed_calloc(size_t count, size_t size);

/*@ requires ok:       MallocOk;
    requires valid:    BlockOrNull(ADDR(block));
    terminates         \true;
    exits              \false;
    assigns            MALLOC_ASSIGNS, errno;
    ensures  ok:       MallocOk;
    ensures  gone:     !BlockLive(ADDR(block));
    ensures  kept:     LiveKeptBut{Pre,Post}(ADDR(block));
    ensures  only:     LiveNoneNewBut{Pre,Post}(0);
    ensures  contents: ContentsKeptBut{Pre,Post}(ADDR(block));
    ensures  error:    errno == \old(errno);
*/
void qed_free(void *block);

/* The size that the block was asked with, of malloc, calloc or realloc. */
/*@ requires ok:       MallocOk;
    requires valid:    BlockOrNull(ADDR(block));
    requires size:     block != NULL ==> BlockOf(ADDR(block), size);
    terminates         \true;
    exits              \false;
    assigns            MALLOC_ASSIGNS, errno;
    ensures  ok:       MallocOk;
    ensures  gone:     !BlockLive(ADDR(block));
    ensures  kept:     LiveKeptBut{Pre,Post}(ADDR(block));
    ensures  only:     LiveNoneNewBut{Pre,Post}(0);
    ensures  contents: ContentsKeptBut{Pre,Post}(ADDR(block));
    ensures  error:    errno == \old(errno);
*/
void qed_free_sized(void *block, size_t size);

/* The alignment and size that the block was asked with, of aligned_alloc. */
/*@ requires ok:       MallocOk;
    requires valid:    BlockOrNull(ADDR(block));
    requires power:    block != NULL ==> IsPowerOfTwo(alignment);
    requires aligned:  block != NULL ==> ADDR(block) % alignment == 0;
    requires size:     block != NULL ==> BlockOf(ADDR(block), AlignedSize(alignment, size));
    terminates         \true;
    exits              \false;
    assigns            MALLOC_ASSIGNS, errno;
    ensures  ok:       MallocOk;
    ensures  gone:     !BlockLive(ADDR(block));
    ensures  kept:     LiveKeptBut{Pre,Post}(ADDR(block));
    ensures  only:     LiveNoneNewBut{Pre,Post}(0);
    ensures  contents: ContentsKeptBut{Pre,Post}(ADDR(block));
    ensures  error:    errno == \old(errno);
*/
void qed_free_aligned_sized(void *block, size_t alignment, size_t size);

/*@ requires ok:       MallocOk;
    requires valid:    BlockOrNull(ADDR(block));
    terminates         \true;
    exits              \false;
    assigns            MALLOC_ASSIGNS, errno;
    ensures  ok:       MallocOk;
    ensures  bytes:    \result == (block == NULL ? 0 : BlockBytes(ADDR(block)));
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(0);
    ensures  contents: ContentsKeptBut{Pre,Post}(0);
    ensures  error:    errno == \old(errno);
*/
size_t qed_malloc_usable_size(void *block);

/* NULL, and then the block is as it was unless size is 0; or a block with as much of the old contents as both hold. */
/*@ requires ok:       MallocOk;
    requires valid:    BlockOrNull(ADDR(block));
    terminates         \true;
    exits              \false;
    assigns            MALLOC_ASSIGNS, errno;
    ensures  ok:       MallocOk;
    ensures  live:     \result != NULL ==> BlockLive(ADDR(\result));
    ensures  new:      ADDR(\result) != ADDR(block) ==> !BlockLive{Pre}(ADDR(\result));
    ensures  gone:     ADDR(\result) != ADDR(block) && (\result != NULL || size == 0) ==> !BlockLive(ADDR(block));
    ensures  kept:     LiveKeptBut{Pre,Post}(ADDR(block));
    ensures  only:     LiveNoneNewBut{Pre,Post}(ADDR(\result));
    ensures  contents: ContentsKeptBut{Pre,Post}(ADDR(block));
    ensures  prefix:   \result != NULL && block != NULL ==>
                       PrefixKept{Pre,Post}(ADDR(\result), ADDR(block), \min(BlockBytes{Pre}(ADDR(block)), size));
    ensures  class:    \result != NULL ==> BlockOf(ADDR(\result), size);
    ensures  apart:    \result != NULL ==> LiveApart(ADDR(\result));
    ensures  ends:     \result != NULL ==> BlockEnds(ADDR(\result));
    ensures  aligned:  AlignedForSize(ADDR(\result), size);
    ensures  failed:   \result == NULL && (block == NULL || size != 0) ==> errno == ENOMEM;
    ensures  error:    \result != NULL || (block != NULL && size == 0) ==> errno == \old(errno);
    ensures  still:    \result == NULL && size != 0 ==> LiveKeptBut{Pre,Post}(0);
    ensures  same:     \result == NULL && size != 0 ==> ContentsKeptBut{Pre,Post}(0);
*/
void *qed_realloc(void *block, size_t size);

/* As realloc of count * size bytes; NULL if that is too large a number. */
/*@ requires ok:       MallocOk;
    requires valid:    BlockOrNull(ADDR(block));
    terminates         \true;
    exits              \false;
    assigns            MALLOC_ASSIGNS, errno;
    ensures  ok:       MallocOk;
    ensures  live:     \result != NULL ==> BlockLive(ADDR(\result));
    ensures  new:      ADDR(\result) != ADDR(block) ==> !BlockLive{Pre}(ADDR(\result));
    ensures  gone:     ADDR(\result) != ADDR(block) && (\result != NULL || count * size == 0) ==> !BlockLive(ADDR(block));
    ensures  kept:     LiveKeptBut{Pre,Post}(ADDR(block));
    ensures  only:     LiveNoneNewBut{Pre,Post}(ADDR(\result));
    ensures  contents: ContentsKeptBut{Pre,Post}(ADDR(block));
    ensures  prefix:   \result != NULL && block != NULL ==>
                       PrefixKept{Pre,Post}(ADDR(\result), ADDR(block), \min(BlockBytes{Pre}(ADDR(block)), count * size));
    ensures  class:    \result != NULL ==> BlockOf(ADDR(\result), count * size);
    ensures  apart:    \result != NULL ==> LiveApart(ADDR(\result));
    ensures  ends:     \result != NULL ==> BlockEnds(ADDR(\result));
    ensures  overflow: count * size > SIZE_MAX ==> \result == NULL;
    ensures  failed:   \result == NULL && (block == NULL || count * size != 0) ==> errno == ENOMEM;
    ensures  error:    \result != NULL || (block != NULL && count * size == 0) ==> errno == \old(errno);
    ensures  still:    \result == NULL && count * size != 0 ==> LiveKeptBut{Pre,Post}(0);
    ensures  same:     \result == NULL && count * size != 0 ==> ContentsKeptBut{Pre,Post}(0);
*/
void *qed_reallocarray(void *block, size_t count, size_t size);

/* EINVAL: the alignment is no power of two. */
/*@ requires ok:       MallocOk;
    terminates         \true;
    exits              \false;
    assigns            MALLOC_ASSIGNS, errno;
    ensures  ok:       MallocOk;
    ensures  live:     \result != NULL ==> BlockLive(ADDR(\result));
    ensures  new:      !BlockLive{Pre}(ADDR(\result));
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(ADDR(\result));
    ensures  contents: ContentsKeptBut{Pre,Post}(0);
    ensures  class:    \result != NULL ==> BlockOf(ADDR(\result), AlignedSize(alignment, size));
    ensures  fits:     \result != NULL ==> size <= BlockBytes(ADDR(\result));
    ensures  apart:    \result != NULL ==> LiveApart(ADDR(\result));
    ensures  ends:     \result != NULL ==> BlockEnds(ADDR(\result));
    ensures  aligned:  IsPowerOfTwo(alignment) ==> ADDR(\result) % alignment == 0;
    ensures  power:    !IsPowerOfTwo(alignment) ==> \result == NULL && errno == EINVAL;
    ensures  error:    IsPowerOfTwo(alignment) ==> errno == (\result == NULL ? ENOMEM : \old(errno));
*/
void *qed_aligned_alloc(size_t alignment, size_t size);

/* *block, none of the allocator's own data, is written only on success; errno never is. */
/*@ requires ok:       MallocOk;
    requires valid:    \valid(block);
    requires outside:  ThreadOutside(block);
    terminates         \true;
    exits              \false;
    assigns            MALLOC_ASSIGNS, errno, *block;
    ensures  ok:       MallocOk;
    ensures  result:   \result == 0 || \result == EINVAL || \result == ENOMEM;
    ensures  invalid:  \result == EINVAL <==> !IsPowerOfTwo(alignment) || alignment < sizeof(void *);
    ensures  alone:    \result != 0 ==> *block == \old(*block);
    ensures  live:     \result == 0 ==> BlockLive(ADDR(*block));
    ensures  new:      \result == 0 ==> !BlockLive{Pre}(ADDR(*block));
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(\result == 0 ? ADDR(*block) : 0);
    ensures  contents: ContentsKeptBut{Pre,Post}(0);
    ensures  class:    \result == 0 ==> BlockOf(ADDR(*block), AlignedSize(alignment, size));
    ensures  fits:     \result == 0 ==> size <= BlockBytes(ADDR(*block));
    ensures  apart:    \result == 0 ==> LiveApart(ADDR(*block));
    ensures  ends:     \result == 0 ==> BlockEnds(ADDR(*block));
    ensures  aligned:  \result == 0 ==> ADDR(*block) % alignment == 0;
    ensures  error:    errno == \old(errno);
*/
int qed_posix_memalign(void **block, size_t alignment, size_t size);

/* As glibc: the alignment is rounded up to a power of two. */
/*@ requires ok:       MallocOk;
    terminates         \true;
    exits              \false;
    assigns            MALLOC_ASSIGNS, errno;
    ensures  ok:       MallocOk;
    ensures  live:     \result != NULL ==> BlockLive(ADDR(\result));
    ensures  new:      !BlockLive{Pre}(ADDR(\result));
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(ADDR(\result));
    ensures  contents: ContentsKeptBut{Pre,Post}(0);
    ensures  fits:     \result != NULL ==> size <= BlockBytes(ADDR(\result));
    ensures  apart:    \result != NULL ==> LiveApart(ADDR(\result));
    ensures  ends:     \result != NULL ==> BlockEnds(ADDR(\result));
    ensures  aligned:  IsPowerOfTwo(alignment) ==> ADDR(\result) % alignment == 0;
    ensures  error:    \result != NULL ==> errno == \old(errno);
    ensures  failed:   \result == NULL ==> errno == (alignment > SC_LARGE_MAXCLASS ? EINVAL : ENOMEM);
*/
void *qed_memalign(size_t alignment, size_t size);

/*@ requires ok:       MallocOk;
    terminates         \true;
    exits              \false;
    assigns            MALLOC_ASSIGNS, errno;
    ensures  ok:       MallocOk;
    ensures  live:     \result != NULL ==> BlockLive(ADDR(\result));
    ensures  new:      !BlockLive{Pre}(ADDR(\result));
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(ADDR(\result));
    ensures  contents: ContentsKeptBut{Pre,Post}(0);
    ensures  class:    \result != NULL ==> BlockOf(ADDR(\result), AlignedSize(PAGE, size));
    ensures  fits:     \result != NULL ==> size <= BlockBytes(ADDR(\result));
    ensures  apart:    \result != NULL ==> LiveApart(ADDR(\result));
    ensures  ends:     \result != NULL ==> BlockEnds(ADDR(\result));
    ensures  aligned:  ADDR(\result) % PAGE == 0;
    ensures  error:    errno == (\result == NULL ? ENOMEM : \old(errno));
*/
void *qed_valloc(size_t size);

/*@ requires ok:       MallocOk;
    terminates         \true;
    exits              \false;
    assigns            MALLOC_ASSIGNS, errno;
    ensures  ok:       MallocOk;
    ensures  live:     \result != NULL ==> BlockLive(ADDR(\result));
    ensures  new:      !BlockLive{Pre}(ADDR(\result));
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(ADDR(\result));
    ensures  contents: ContentsKeptBut{Pre,Post}(0);
    ensures  fits:     \result != NULL ==> RoundUp(size, PAGE) <= BlockBytes(ADDR(\result));
    ensures  apart:    \result != NULL ==> LiveApart(ADDR(\result));
    ensures  ends:     \result != NULL ==> BlockEnds(ADDR(\result));
    ensures  aligned:  ADDR(\result) % PAGE == 0;
    ensures  error:    errno == (\result == NULL ? ENOMEM : \old(errno));
*/
void *qed_pvalloc(size_t size);

#endif
