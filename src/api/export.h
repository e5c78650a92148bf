/* export: every public function is defined once as qed_NAME. The drop-in library also exports it as NAME. The library for
 * embedding, which is built with QED_PREFIX_ONLY, does not. */
#ifndef QED_API_EXPORT_H
#define QED_API_EXPORT_H

#include <stddef.h>
#include <stdint.h>

#define PUBLIC __attribute__((visibility("default")))

#ifdef QED_PREFIX_ONLY
#define EXPORT(result, name, parameters) _Static_assert(1, "")
#else
#define EXPORT(result, name, parameters) PUBLIC result name parameters __attribute__((alias("qed_" #name)))
#endif

/* Another name of the function, which glibc has too. It is weak, so that tools which show one name for an address show the first one. */
#if defined QED_PREFIX_ONLY || !defined __GLIBC__
#define EXPORT_AS(also, result, name, parameters) _Static_assert(1, "")
#else
#define EXPORT_AS(also, result, name, parameters) PUBLIC result also parameters __attribute__((weak, alias("qed_" #name)))
#endif

/* The malloc family. A block that comes by one name goes back by any other. */
#define EXPORT_FAMILY                                                                      \
    EXPORT(void *, malloc, (size_t size));                                                 \
    EXPORT(void *, calloc, (size_t count, size_t size));                                   \
    EXPORT(void *, realloc, (void *block, size_t size));                                   \
    EXPORT(void *, reallocarray, (void *block, size_t count, size_t size));                \
    EXPORT(void, free, (void *block));                                                     \
    EXPORT(void, free_sized, (void *block, size_t size));                                  \
    EXPORT(void, free_aligned_sized, (void *block, size_t alignment, size_t size));        \
    EXPORT(void *, aligned_alloc, (size_t alignment, size_t size));                        \
    EXPORT(int, posix_memalign, (void **block, size_t alignment, size_t size));            \
    EXPORT(void *, memalign, (size_t alignment, size_t size));                             \
    EXPORT(void *, valloc, (size_t size));                                                 \
    EXPORT(void *, pvalloc, (size_t size));                                                \
    EXPORT(size_t, malloc_usable_size, (void *block));                                     \
    EXPORT_AS(cfree, void, free, (void *block));                                           \
    EXPORT_AS(__libc_malloc, void *, malloc, (size_t size));                               \
    EXPORT_AS(__libc_calloc, void *, calloc, (size_t count, size_t size));                 \
    EXPORT_AS(__libc_realloc, void *, realloc, (void *block, size_t size));                \
    EXPORT_AS(__libc_free, void, free, (void *block));                                     \
    EXPORT_AS(__libc_memalign, void *, memalign, (size_t alignment, size_t size));         \
    EXPORT_AS(__libc_valloc, void *, valloc, (size_t size));                               \
    EXPORT_AS(__libc_pvalloc, void *, pvalloc, (size_t size))

#endif
