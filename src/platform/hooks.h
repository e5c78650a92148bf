/* hooks: functions of the program that give and take the pages of a page cache in the place of the OS, as jemalloc has them: the value of
 * arena.<i>.extent_hooks, whose type stands in the public header.
 *
 * The proofs do not see them. To them pages come from the OS, whoever gives them, and the program promises that its functions do what those of
 * the OS would: alloc gives fresh zero pages that nobody else has, a forced purge leaves zero pages, and pages stay until dalloc or destroy
 * has had them. Extents split and join as they like, and the hooks split and merge are told of it. What these two answer changes nothing.
 *
 * alloc, dalloc, destroy, split and merge are called with the lock of the pages held, so they cannot allocate from the arena that they
 * serve, nor from another one.
 */
#ifndef QED_PLATFORM_HOOKS_H
#define QED_PLATFORM_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/atomic.h"
#include "platform/config.h"
#include "qedmalloc/qedmalloc.h"

extern extent_hooks_t hooks_default;                    /* what mmap and madvise do */
extern bool           hooks_were_set;                   /* somebody has set other ones, once */
extern extent_hooks_t *hooks_of[PAGE_CACHES];           /* NULL for the default ones */

/* Returns whether pages can come from these hooks. They need an alloc. If dalloc or destroy is the program's own, it gets extents that have been
 * split and joined, so split and merge must be there. */
bool hooks_valid(const extent_hooks_t *hooks);

/* Sets the hooks of a page cache, which is that of the arena. Pages that others have given stay. */
void hooks_set(uint32_t cache, extent_hooks_t *hooks, unsigned arena);

/* Returns the hooks of a page cache. */
extent_hooks_t *hooks_get(uint32_t cache);

/* The following stand for the functions of os.h that have these names, where a page cache has hooks. */
uint64_t hooks_map(uint32_t cache, uint64_t npages);
bool     hooks_unmap(uint32_t cache, uint64_t page, uint64_t npages, bool must);
bool     hooks_take_back(uint32_t cache);
bool     hooks_purge(uint32_t cache, uint64_t page, uint64_t npages, bool lazily);
void     hooks_tell_seam(uint32_t cache, uint64_t page, uint64_t npages, uint64_t npages_behind, bool joined);

/* Returns whether the page cache has hooks of the program. */
static inline bool hooks_on(uint32_t cache)
{
    return __builtin_expect(ATOMIC_LOAD_ACQUIRE(hooks_of[cache]) != NULL, 0);
}

/* Returns whether there may be pages that hooks have given. */
static inline bool hooks_any(void)
{
    return ATOMIC_LOAD(hooks_were_set);
}

#endif
