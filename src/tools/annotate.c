/* annotate: the malloc family of the debug build, which tells Valgrind and AddressSanitizer where blocks begin and end.
 *
 * The library below is the object that is shipped, with its functions renamed to inner_NAME. A block is asked for with some bytes more. Behind
 * the bytes of the program lies a part that nobody may touch, and at its end how many bytes the program has asked for:
 *
 *     | bytes of the program | not accessible ...  | size |
 *     block                  block + size                 block + usable size of the inner block
 *
 * A free block is not accessible at all. The allocator itself never reads or writes the memory of blocks that are free, so nothing in it has to
 * be made known. Blocks keep their addresses, and what the allocator says of misuse it says here too. realloc always moves, so that an
 * old pointer is noticed. A block may be handed out again at once, and its old pointers are not noticed from then on.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <valgrind/memcheck.h>

#include "api/export.h"
#include "platform/config.h"
#include "qedmalloc/qedmalloc.h"

#define REDZONE_BYTES 16UL
#define EXTRA_BYTES   (REDZONE_BYTES + sizeof(size_t))

void  *inner_malloc(size_t size);
void   inner_free(void *block);
void   inner_free_sized(void *block, size_t size);
void  *inner_aligned_alloc(size_t alignment, size_t size);
void  *inner_memalign(size_t alignment, size_t size);
int    inner_posix_memalign(void **block, size_t alignment, size_t size);
void  *inner_valloc(size_t size);
size_t inner_malloc_usable_size(void *block);

/* In a program without AddressSanitizer they are NULL. */
void __asan_poison_memory_region(void const volatile *start, size_t bytes) __attribute__((weak));
void __asan_unpoison_memory_region(void const volatile *start, size_t bytes) __attribute__((weak));

static void annotate_forbid(const char *start, size_t bytes)
{
    (void)VALGRIND_MAKE_MEM_NOACCESS(start, bytes);
    if (__asan_poison_memory_region != NULL) {
        __asan_poison_memory_region(start, bytes);
    }
}

static void annotate_allow(const char *start, size_t bytes)
{
    (void)VALGRIND_MAKE_MEM_DEFINED(start, bytes);
    if (__asan_unpoison_memory_region != NULL) {
        __asan_unpoison_memory_region(start, bytes);
    }
}

/* Where the size stands that the program has asked for. */
static size_t *annotate_size_at(void *block)
{
    return (size_t *)((char *)block + inner_malloc_usable_size(block)) - 1;
}

/* The size that the program has asked for is written and read while Valgrind reports nothing, for another thread that frees the next block
 * forbids the bytes before it again. This object is not made for AddressSanitizer, which therefore does not see it. */
static void annotate_set_size(size_t *at, size_t size)
{
    VALGRIND_DISABLE_ERROR_REPORTING;
    *(volatile size_t *)at = size;
    VALGRIND_ENABLE_ERROR_REPORTING;
}

/* Returns the size that the program has asked for. */
static size_t annotate_size(void *block)
{
    VALGRIND_DISABLE_ERROR_REPORTING;
    size_t size = *(volatile size_t *)annotate_size_at(block);
    VALGRIND_ENABLE_ERROR_REPORTING;
    return size;
}

/* What to ask the allocator for; what it has not got is asked for as it is. */
static size_t annotate_room(size_t size)
{
    return size > SIZE_MAX - EXTRA_BYTES ? size : size + EXTRA_BYTES;
}

/* Makes a block of the allocator one of the program. */
static void *annotate_new(void *block, size_t size)
{
    if (block != NULL) {
        char   *end = (char *)block + size;
        size_t *at = annotate_size_at(block);
        annotate_allow(block, (size_t)((char *)(at + 1) - (char *)block));
        annotate_set_size(at, size);
        annotate_forbid(end, (size_t)((char *)(at + 1) - end));
        VALGRIND_MALLOCLIKE_BLOCK(block, size, REDZONE_BYTES, false);
    }
    return block;
}

/* Makes a block of the program one of the allocator, which takes it back next. */
static void annotate_old(void *block)
{
    VALGRIND_FREELIKE_BLOCK(block, REDZONE_BYTES);
    annotate_forbid(block, inner_malloc_usable_size(block));
}

/* ---- the malloc family ------------------------------------------------------------------------------------------- */

PUBLIC void *qed_malloc(size_t size)
{
    return annotate_new(inner_malloc(annotate_room(size)), size);
}

PUBLIC void qed_free(void *block)
{
    if (block != NULL) {
        annotate_old(block);
        inner_free(block);
    }
}

/* A size that no block has makes the allocator end the program with its message. */
PUBLIC void qed_free_sized(void *block, size_t size)
{
    if (block != NULL && annotate_size(block) != size) {
        inner_free_sized(block, SIZE_MAX);
    }
    qed_free(block);
}

PUBLIC void qed_free_aligned_sized(void *block, size_t alignment, size_t size)
{
    qed_free_sized(block, alignment == 0 || (alignment & (alignment - 1)) != 0 ? SIZE_MAX : size);
}

PUBLIC void *qed_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = qed_malloc(bytes);
    return block == NULL ? NULL : memset(block, 0, bytes);
}

PUBLIC void *qed_realloc(void *block, size_t size)
{
    if (block == NULL) {
        return qed_malloc(size);
    }
    if (size == 0) {
        qed_free(block);
        return NULL;
    }
    size_t before = annotate_size(block);
    void  *moved = qed_malloc(size);
    if (moved != NULL) {
        memcpy(moved, block, before < size ? before : size);
        qed_free(block);
    }
    return moved;
}

PUBLIC void *qed_reallocarray(void *block, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return qed_realloc(block, bytes);
}

PUBLIC void *qed_aligned_alloc(size_t alignment, size_t size)
{
    return annotate_new(inner_aligned_alloc(alignment, annotate_room(size)), size);
}

PUBLIC void *qed_memalign(size_t alignment, size_t size)
{
    return annotate_new(inner_memalign(alignment, annotate_room(size)), size);
}

PUBLIC int qed_posix_memalign(void **block, size_t alignment, size_t size)
{
    void *taken;
    int   error = inner_posix_memalign(&taken, alignment, annotate_room(size));
    if (error == 0) {
        *block = annotate_new(taken, size);
    }
    return error;
}

PUBLIC void *qed_valloc(size_t size)
{
    return annotate_new(inner_valloc(annotate_room(size)), size);
}

PUBLIC void *qed_pvalloc(size_t size)
{
    size_t bytes = size == 0 ? PAGE : size > SIZE_MAX - PAGE ? size : (size + PAGE - 1) / PAGE * PAGE;
    return qed_valloc(bytes);
}

PUBLIC size_t qed_malloc_usable_size(void *block)
{
    return block == NULL ? 0 : annotate_size(block);
}

EXPORT_FAMILY;
