/* hooks: see hooks.h. */
#include "platform/hooks.h"

#include <string.h>

#include "platform/limit.h"
#include "platform/mutex.h"
#include "platform/os.h"

/* ---- the default ones -------------------------------------------------------------------------------------------- */

static void *default_alloc(extent_hooks_t *hooks, void *address, size_t size, size_t alignment, bool *zero, bool *commit, unsigned arena)
{
    (void)hooks, (void)arena;
    if (address != NULL) {
        return NULL;                                    /* there is no asking for a place */
    }
    *zero = *commit = true;
    return (void *)os_map_outside(size, alignment < PAGE ? PAGE : alignment);
}

/* Addresses stay for the next extent, as jemalloc has it where it retains them. */
static bool default_dalloc(extent_hooks_t *hooks, void *address, size_t size, bool committed, unsigned arena)
{
    (void)hooks, (void)address, (void)size, (void)committed, (void)arena;
    return true;
}

static void default_destroy(extent_hooks_t *hooks, void *address, size_t size, bool committed, unsigned arena)
{
    (void)hooks, (void)committed, (void)arena;
    os_unmap_outside((uintptr_t)address, size);
}

/* Linux commits pages when they are touched, so neither has anything to do. */
static bool default_commit(extent_hooks_t *hooks, void *address, size_t size, size_t offset, size_t length, unsigned arena)
{
    (void)hooks, (void)address, (void)size, (void)offset, (void)length, (void)arena;
    return true;
}

static bool default_purge_lazy(extent_hooks_t *hooks, void *address, size_t size, size_t offset, size_t length, unsigned arena)
{
    (void)hooks, (void)size, (void)arena;
    return !os_purge_outside((uintptr_t)address + offset, length, true);
}

static bool default_purge_forced(extent_hooks_t *hooks, void *address, size_t size, size_t offset, size_t length, unsigned arena)
{
    (void)hooks, (void)size, (void)arena;
    return !os_purge_outside((uintptr_t)address + offset, length, false);
}

static bool default_split(extent_hooks_t *hooks, void *address, size_t size, size_t size_a, size_t size_b, bool committed, unsigned arena)
{
    (void)hooks, (void)address, (void)size, (void)size_a, (void)size_b, (void)committed, (void)arena;
    return false;
}

static bool default_merge(extent_hooks_t *hooks, void *a, size_t size_a, void *b, size_t size_b, bool committed, unsigned arena)
{
    (void)hooks, (void)a, (void)size_a, (void)b, (void)size_b, (void)committed, (void)arena;
    return false;
}

extent_hooks_t hooks_default = {default_alloc, default_dalloc, default_destroy, default_commit, default_commit, default_purge_lazy,
                                default_purge_forced, default_split, default_merge};

/* ---- whose ------------------------------------------------------------------------------------------------------- */

bool            hooks_were_set;
extent_hooks_t *hooks_of[PAGE_CACHES];
static unsigned hooks_arena[PAGE_CACHES];

static bool own_dalloc(const extent_hooks_t *hooks)
{
    return hooks->dalloc != NULL && hooks->dalloc != default_dalloc;
}

static bool own_destroy(const extent_hooks_t *hooks)
{
    return hooks->destroy != NULL && hooks->destroy != default_destroy;
}

bool hooks_valid(const extent_hooks_t *hooks)
{
    bool told = hooks->split != NULL && hooks->merge != NULL;
    return hooks->alloc != NULL && (told || (!own_dalloc(hooks) && !own_destroy(hooks)));
}

void hooks_set(uint32_t cache, extent_hooks_t *hooks, unsigned arena)
{
    if (hooks != &hooks_default) {
        ATOMIC_STORE(hooks_were_set, true);
    }
    ATOMIC_STORE(hooks_arena[cache], arena);
    ATOMIC_STORE_RELEASE(hooks_of[cache], hooks == &hooks_default ? NULL : hooks);
}

extent_hooks_t *hooks_get(uint32_t cache)
{
    extent_hooks_t *hooks = ATOMIC_LOAD_ACQUIRE(hooks_of[cache]);
    return hooks == NULL ? &hooks_default : hooks;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Calls of the library from within a hook would wait for the lock that this thread has. They are found in mutex_lock_slow. */
static void begin(void)
{
    ATOMIC_STORE(mutex_outside, (uintptr_t)&mutex_count);
}

static void end(void)
{
    ATOMIC_STORE(mutex_outside, (uintptr_t)0);
}

/* Gives the extent back for good. */
static void let_go(extent_hooks_t *hooks, void *address, size_t bytes, unsigned arena)
{
    if ((hooks->dalloc == NULL || hooks->dalloc(hooks, address, bytes, true, arena)) && hooks->destroy != NULL) {
        hooks->destroy(hooks, address, bytes, true, arena);
    }
}

uint64_t hooks_map(uint32_t cache, uint64_t npages)
{
    extent_hooks_t *hooks = hooks_get(cache);
    unsigned        arena = ATOMIC_LOAD(hooks_arena[cache]);
    size_t          bytes = npages << LG_PAGE;
    bool            zero = true, commit = true;
    if (!limit_take(bytes)) {
        return 0;
    }
    begin();
    void *p = hooks->alloc(hooks, NULL, bytes, PAGE, &zero, &commit, arena);
    if (p != NULL && ((uintptr_t)p % PAGE != 0 || (uintptr_t)p > (1UL << LG_VADDR) - bytes)) {
        let_go(hooks, p, bytes, arena);
        p = NULL;
    }
    if (p != NULL && !commit && (hooks->commit == NULL || hooks->commit(hooks, p, bytes, 0, bytes, arena))) {
        let_go(hooks, p, bytes, arena);
        p = NULL;
    }
    end();
    if (p == NULL) {
        limit_give(bytes);
    } else if (!zero) {
        memset(p, 0, bytes);
    }
    return (uintptr_t)p >> LG_PAGE;
}

bool hooks_unmap(uint32_t cache, uint64_t page, uint64_t npages, bool must)
{
    extent_hooks_t *hooks = hooks_get(cache);
    unsigned        arena = ATOMIC_LOAD(hooks_arena[cache]);
    size_t          bytes = npages << LG_PAGE;
    void           *p = (void *)(page << LG_PAGE);
    bool            gone = true;
    begin();
    if (must) {
        let_go(hooks, p, bytes, arena);
    } else {
        gone = own_dalloc(hooks) && !hooks->dalloc(hooks, p, bytes, true, arena);
    }
    end();
    if (gone) {
        limit_give(bytes);
    }
    return gone;
}

bool hooks_take_back(uint32_t cache)
{
    return hooks_on(cache) && own_dalloc(hooks_get(cache));
}

/* Where no hook can empty pages, but one takes them back, they are zeroed here, since zero pages are what it is offered. */
bool hooks_purge(uint32_t cache, uint64_t page, uint64_t npages, bool lazily)
{
    extent_hooks_t *hooks = hooks_get(cache);
    extent_purge_t *purge = lazily ? hooks->purge_lazy : hooks->purge_forced;
    size_t          bytes = npages << LG_PAGE;
    void           *p = (void *)(page << LG_PAGE);
    if (purge != NULL && !purge(hooks, p, bytes, 0, bytes, ATOMIC_LOAD(hooks_arena[cache]))) {
        return true;
    }
    if (lazily || !own_dalloc(hooks)) {
        return false;
    }
    memset(p, 0, bytes);
    return true;
}

void hooks_tell_seam(uint32_t cache, uint64_t page, uint64_t npages, uint64_t npages_behind, bool joined)
{
    extent_hooks_t *hooks = hooks_get(cache);
    unsigned        arena = ATOMIC_LOAD(hooks_arena[cache]);
    size_t          bytes = npages << LG_PAGE, behind = npages_behind << LG_PAGE;
    char           *p = (char *)(page << LG_PAGE);
    begin();
    if (joined && hooks->merge != NULL) {
        (void)hooks->merge(hooks, p, bytes, p + bytes, behind, true, arena);
    } else if (!joined && hooks->split != NULL) {
        (void)hooks->split(hooks, p, bytes + behind, bytes, behind, true, arena);
    }
    end();
}
