/* malloc: the malloc family. Fast paths here, slow ones in tcache; this is the only layer that knows errno, and the
 * only one that turns addresses into pointers. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/export.h"
#include "api/thread.h"
#include "heap/large.h"
#include "math/align.h"
#include "math/size_class.h"
#include "platform/trap.h"
#include "platform/user.h"

#include "qedmalloc/qedmalloc.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)

/* ---- taking ------------------------------------------------------------------------------------------------------ */

static uint64_t block_or_enomem(uint64_t block)
{
    if (block == 0) {
        errno = ENOMEM;
    }
    return block;
}

/* A block of the class, aligned to align_bytes, a power of two; its class's blocks are, if align_bytes <= PAGE. */
static uint64_t block_take(uint32_t szind, uint64_t align_bytes, bool *zeroed)
{
    struct tcache *t = thread_get();
    uint32_t       bin = szind + 1;
    *zeroed = false;
    if (bin >= TCACHE_BINS || align_bytes > PAGE) {
        uint32_t large = szind < SC_NBINS ? SC_NBINS : szind;
        tcache_tick(t);
        return large < SC_NSIZES ? large_alloc(large, align_bytes, large + 1 < TCACHE_BINS, zeroed) : 0;
    }
    uint64_t block = tcache_pop(t, bin);
    return block != 0 ? block : tcache_refill(t, bin);
}

static __attribute__((noinline)) void *malloc_slow(size_t size)
{
    bool zeroed;
    return (void *)block_or_enomem(block_take(size_class_index(size), 1, &zeroed));
}

PUBLIC void *qed_malloc(size_t size)
{
    if (LIKELY(size <= SC_LOOKUP_MAX)) {
        struct tcache *t = thread_cache;
        uint64_t       block = tcache_pop(t, tcache_bin_of(t, size));
        if (LIKELY(block != 0)) {
            return (void *)block;
        }
    }
    return malloc_slow(size);
}

PUBLIC void *qed_calloc(size_t count, size_t size)
{
    size_t bytes;
    bool   zeroed;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    uint64_t block = block_or_enomem(block_take(size_class_index(bytes), 1, &zeroed));
    if (block != 0) {
        user_zero(block, bytes, zeroed);
    }
    return (void *)block;
}

/* Class of a block that is aligned to align_bytes, a power of two. A class of at least align_up(size) bytes whose spacing
 * is smaller than the alignment is a multiple of it, and slabs begin at a page. */
static uint32_t class_aligned(size_t align_bytes, size_t size)
{
    size_t least = size == 0 ? 1 : size;
    if (least > SC_LARGE_MAXCLASS || align_bytes > SC_LARGE_MAXCLASS) {
        return SC_NSIZES;
    }
    return size_class_index(align_bytes <= PAGE ? align_up(least, align_bytes) : least);
}

static uint64_t block_take_aligned(size_t align_bytes, size_t size)
{
    bool     zeroed;
    uint32_t szind = class_aligned(align_bytes, size);
    return szind < SC_NSIZES ? block_take(szind, align_bytes, &zeroed) : 0;
}

PUBLIC void *qed_aligned_alloc(size_t alignment, size_t size)
{
    if (!is_power_of_two(alignment)) {
        errno = EINVAL;
        return NULL;
    }
    return (void *)block_or_enomem(block_take_aligned(alignment, size));
}

PUBLIC int qed_posix_memalign(void **block, size_t alignment, size_t size)
{
    if (!is_power_of_two(alignment) || alignment < sizeof(void *)) {
        return EINVAL;
    }
    int      keep = errno;
    uint64_t taken = block_take_aligned(alignment, size);
    errno = keep;
    if (taken == 0) {
        return ENOMEM;
    }
    *block = (void *)taken;
    return 0;
}

PUBLIC void *qed_memalign(size_t alignment, size_t size)
{
    size_t power = 1;
    if (alignment > SC_LARGE_MAXCLASS) {
        errno = EINVAL;
        return NULL;
    }
    while (power < alignment) {
        power *= 2;
    }
    return qed_aligned_alloc(power, size);
}

PUBLIC void *qed_valloc(size_t size)
{
    return qed_aligned_alloc(PAGE, size);
}

PUBLIC void *qed_pvalloc(size_t size)
{
    if (size > SC_LARGE_MAXCLASS) {
        errno = ENOMEM;
        return NULL;
    }
    return qed_aligned_alloc(PAGE, align_up(size == 0 ? 1 : size, PAGE));
}

/* ---- giving back ------------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) void free_slow(uint64_t block, const char *call)
{
    int keep = errno;
    if (block != 0) {
        tcache_free_slow(thread_get(), block, call);
    }
    errno = keep;
}

PUBLIC void qed_free(void *block)
{
    if (!LIKELY(tcache_push(thread_cache, (uint64_t)block))) {
        free_slow((uint64_t)block, "free");
    }
}

static void free_checked(void *block, uint32_t szind, const char *call)
{
    if (block == NULL) {
        return;
    }
    (void)thread_get();
    if (szind >= SC_NSIZES || size_class_bytes(szind) != tcache_usable((uint64_t)block, call)) {
        trap_misuse(call, "wrong size", (uint64_t)block);
    }
    if (!LIKELY(tcache_push(thread_cache, (uint64_t)block))) {
        free_slow((uint64_t)block, call);
    }
}

PUBLIC void qed_free_sized(void *block, size_t size)
{
    free_checked(block, size_class_index(size), "free_sized");
}

PUBLIC void qed_free_aligned_sized(void *block, size_t alignment, size_t size)
{
    uint32_t szind = is_power_of_two(alignment) ? class_aligned(alignment, size) : SC_NSIZES;
    uint32_t large = alignment > PAGE && szind < SC_NBINS ? SC_NBINS : szind;
    free_checked(block, large, "free_aligned_sized");
}

PUBLIC size_t qed_malloc_usable_size(void *block)
{
    (void)thread_get();
    return block == NULL ? 0 : tcache_usable((uint64_t)block, "malloc_usable_size");
}

/* ---- resizing ---------------------------------------------------------------------------------------------------- */

static void *realloc_move(void *block, uint64_t bytes_now, size_t size)
{
    void *moved = qed_malloc(size);
    if (moved != NULL) {
        user_copy((uint64_t)moved, (uint64_t)block, bytes_now < size ? bytes_now : size);
        qed_free(block);
    }
    return moved;
}

PUBLIC void *qed_realloc(void *block, size_t size)
{
    if (block == NULL) {
        return qed_malloc(size);
    }
    (void)thread_get();
    uint64_t bytes_now = tcache_usable((uint64_t)block, "realloc");
    if (size == 0) {
        qed_free(block);
        return NULL;
    }
    uint32_t szind = size_class_index(size);
    if (szind < SC_NSIZES && size_class_bytes(szind) == bytes_now) {
        return block;
    }
    bool uncached = bytes_now > size_class_bytes(TCACHE_BINS - 2) && szind + 1 >= TCACHE_BINS && szind < SC_NSIZES;
    if (uncached && large_resize((uint64_t)block, szind)) {
        return block;
    }
    return realloc_move(block, bytes_now, size);
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

/* ---- the standard names ------------------------------------------------------------------------------------------ */

EXPORT(void *, malloc, (size_t size));
EXPORT(void *, calloc, (size_t count, size_t size));
EXPORT(void *, realloc, (void *block, size_t size));
EXPORT(void *, reallocarray, (void *block, size_t count, size_t size));
EXPORT(void, free, (void *block));
EXPORT(void, free_sized, (void *block, size_t size));
EXPORT(void, free_aligned_sized, (void *block, size_t alignment, size_t size));
EXPORT(void *, aligned_alloc, (size_t alignment, size_t size));
EXPORT(int, posix_memalign, (void **block, size_t alignment, size_t size));
EXPORT(void *, memalign, (size_t alignment, size_t size));
EXPORT(void *, valloc, (size_t size));
EXPORT(void *, pvalloc, (size_t size));
EXPORT(size_t, malloc_usable_size, (void *block));
