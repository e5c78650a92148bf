/* qedmalloc.h: the public functions under their prefix, for programs that embed the library beside another malloc.
 * The drop-in library exports the same functions under the standard names, which the system's headers declare.
 *
 * Sizes and alignments are bytes. A function that returns a block returns NULL with errno ENOMEM when there is no memory
 * or the size exceeds PTRDIFF_MAX. A block is at least as large as asked and aligned for every type that fits in it;
 * it is released with qed_free by any thread.
 *
 * jemalloc/jemalloc.h, in the folder of this file, includes it and declares the names without the prefix that the system's headers do not have.
 */
#ifndef QEDMALLOC_H
#define QEDMALLOC_H

#define QEDMALLOC_VERSION "0.9.0"       /* the build and the packages read it here */

#include <malloc.h>     /* struct mallinfo, struct mallinfo2 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifndef __GLIBC__       /* other C libraries have neither, nor the parameters of mallopt(3) */
#define M_MXFAST         1
#define M_TRIM_THRESHOLD (-1)
#define M_TOP_PAD        (-2)
#define M_MMAP_THRESHOLD (-3)
#define M_MMAP_MAX       (-4)
#define M_CHECK_ACTION   (-5)
#define M_PERTURB        (-6)
#define M_ARENA_TEST     (-7)
#define M_ARENA_MAX      (-8)
struct mallinfo {
    int arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
struct mallinfo2 {
    size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
#endif

#ifdef __cplusplus
extern "C" {
#endif

void  *qed_malloc(size_t size);                                     /* size 0: a block of its own */
void  *qed_calloc(size_t count, size_t size);                       /* all bytes zero; ENOMEM if the product overflows */
void  *qed_realloc(void *block, size_t size);                       /* failure leaves the block as it is; size 0 frees */
void  *qed_reallocarray(void *block, size_t count, size_t size);    /* realloc(count * size), ENOMEM if that overflows */
void   qed_free(void *block);                                       /* keeps errno; NULL is fine */
void   qed_free_sized(void *block, size_t size);                    /* C23: size as asked of malloc, calloc or realloc */
void   qed_free_aligned_sized(void *block, size_t alignment, size_t size);  /* C23: both as asked of aligned_alloc */

/* alignment: a power of two, else EINVAL. */
void  *qed_aligned_alloc(size_t alignment, size_t size);
void  *qed_memalign(size_t alignment, size_t size);                 /* as glibc: rounded up; EINVAL above 2^63 */
int    qed_posix_memalign(void **block, size_t alignment, size_t size);     /* 0, EINVAL or ENOMEM; errno untouched */
void  *qed_valloc(size_t size);                                     /* aligned to the allocator's page */
void  *qed_pvalloc(size_t size);                                    /* the same, size rounded up to whole pages */

size_t qed_malloc_usable_size(void *block);                         /* 0 for NULL */

/* The extended API, as jemalloc's. Flags are added: an alignment, MALLOCX_ZERO, and hints that choose a cache or an arena and change nothing. */
void  *qed_mallocx(size_t size, int flags);                         /* size 0: a block of its own */
void  *qed_rallocx(void *block, size_t size, int flags);            /* failure leaves the block as it is; never frees it alone */
size_t qed_xallocx(void *block, size_t size, size_t extra, int flags);      /* in place; returns the usable size then */
size_t qed_sallocx(const void *block, int flags);                   /* the usable size; 0 for NULL */
void   qed_dallocx(void *block, int flags);
void   qed_sdallocx(void *block, size_t size, int flags);           /* size and alignment as asked; a wrong size ends the program */
size_t qed_nallocx(size_t size, int flags);                         /* the usable size that mallocx would give; 0: none */

#ifndef MALLOCX_ZERO
#define MALLOCX_LG_ALIGN(lg) ((int)(lg))                            /* the logarithm of the alignment, 0 to 63 */
#define MALLOCX_ALIGN(a) ((int)__builtin_ctzll((unsigned long long)(a)))    /* the alignment, a power of two */
#define MALLOCX_ZERO ((int)0x40)                                    /* bytes that are new are zero */
#define MALLOCX_TCACHE(t) ((int)(((t) + 2) << 8))
#define MALLOCX_TCACHE_NONE MALLOCX_TCACHE(-1)
#define MALLOCX_ARENA(a) ((((int)(a)) + 1) << 20)
#endif

/* What the allocator is and holds, by name, as jemalloc's: 0, or ENOENT, EPERM, EINVAL, EFAULT. qedmalloc(3) lists the names. */
int    qed_mallctl(const char *name, void *old, size_t *old_bytes, void *new_value, size_t new_bytes);
int    qed_mallctlnametomib(const char *name, size_t *mib, size_t *mib_count);
int    qed_mallctlbymib(const size_t *mib, size_t mib_count, void *old, size_t *old_bytes, void *new_value, size_t new_bytes);

/* Functions of the program that give and take the pages of an arena: the value of arena.<i>.extent_hooks. qedmalloc(3) says when they are
 * called. */
typedef struct extent_hooks_s extent_hooks_t;
typedef void *(extent_alloc_t)(extent_hooks_t *hooks, void *address, size_t size, size_t alignment, bool *zero, bool *commit, unsigned arena);
typedef bool  (extent_dalloc_t)(extent_hooks_t *hooks, void *address, size_t size, bool committed, unsigned arena);
typedef void  (extent_destroy_t)(extent_hooks_t *hooks, void *address, size_t size, bool committed, unsigned arena);
typedef bool  (extent_commit_t)(extent_hooks_t *hooks, void *address, size_t size, size_t offset, size_t length, unsigned arena);
typedef bool  (extent_decommit_t)(extent_hooks_t *hooks, void *address, size_t size, size_t offset, size_t length, unsigned arena);
typedef bool  (extent_purge_t)(extent_hooks_t *hooks, void *address, size_t size, size_t offset, size_t length, unsigned arena);
typedef bool  (extent_split_t)(extent_hooks_t *hooks, void *address, size_t size, size_t size_a, size_t size_b, bool committed, unsigned arena);
typedef bool  (extent_merge_t)(extent_hooks_t *hooks, void *a, size_t size_a, void *b, size_t size_b, bool committed, unsigned arena);
struct extent_hooks_s {
    extent_alloc_t    *alloc;
    extent_dalloc_t   *dalloc;
    extent_destroy_t  *destroy;
    extent_commit_t   *commit;
    extent_decommit_t *decommit;
    extent_purge_t    *purge_lazy;
    extent_purge_t    *purge_forced;
    extent_split_t    *split;
    extent_merge_t    *merge;
};

/* Statistics, by the callback or to qed_malloc_message or on standard error. Letters: J JSON; without g general information, m all arenas
 * together, a each arena, b classes. */
void qed_malloc_stats_print(void (*write)(void *opaque, const char *text), void *opaque, const char *options);
extern void (*qed_malloc_message)(void *opaque, const char *text);      /* where text goes without a callback, if it is set */

/* A program may define it: settings that are read at the start, name:value pairs with commas between them (QEDMALLOC_CONF). */
extern const char *qed_malloc_conf;

int              qed_malloc_trim(size_t pad);                       /* 1 if memory went back to the OS, else 0 */
int              qed_mallopt(int parameter, int value);             /* 1 for those of mallopt(3), else 0 */
struct mallinfo  qed_mallinfo(void);
struct mallinfo2 qed_mallinfo2(void);
int              qed_malloc_info(int options, FILE *stream);        /* XML; options must be 0, else EINVAL */
void             qed_malloc_stats(void);                            /* a table on stderr */

#ifdef __cplusplus
}
#endif

#endif
