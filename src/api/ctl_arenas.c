/* ctl_arenas: see ctl_arenas.h. */
#include "api/ctl_arenas.h"

#include <errno.h>
#include <string.h>

#include "api/config.h"
#include "api/thread.h"
#include "blocks/arena_reset.h"
#include "blocks/slab.h"
#include "ds/radix_tree.h"
#include "platform/hooks.h"
#include "tcache/outside.h"
#include "tcache/refill.h"

#define DECAY_MS_MAX (INT64_C(1) << 40)

static int64_t new_dirty_ms, new_muzzy_ms;                  /* the times of arenas that will be made, under the lock of mallctl */
static char    names[ARENAS_MAX][ARENA_NAME_BYTES];         /* under it too. An arena without one has a name of its number. */

void ctl_arenas_boot(void)
{
    new_dirty_ms = config.dirty_decay_ms;
    new_muzzy_ms = config.muzzy_decay_ms;
}

static bool is_there(size_t arena)
{
    return arena < ctl_arenas() && (arena < bin_shared || ATOMIC_LOAD(arena_kind[arena]) != ARENA_UNUSED);
}

int read_initialized(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n;
    *value = is_there(index[0]) || index[0] == CTL_ALL ? 1 : 0;
    return 0;
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

int read_decay(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    *value = (uint64_t)ctl_decay_ms(n->at + ctl_cache(index[0]));
    return 0;
}

/* Sets one of the times of the page caches from .. to - 1, and that of arenas that will be made if it is to be theirs too. */
static int set_decays(uint32_t at, uint32_t from, uint32_t to, bool later, uint64_t value)
{
    int64_t ms = (int64_t)value;
    if (ms < -1 || ms > DECAY_MS_MAX) {
        return EFAULT;
    }
    ctl_lock();
    for (uint32_t c = from; c < to; c++) {
        pages_set_decay(c, at == DECAY_DIRTY ? ms : ATOMIC_LOAD(decay_ms[DECAY_DIRTY + c]),
                        at == DECAY_MUZZY ? ms : ATOMIC_LOAD(decay_ms[DECAY_MUZZY + c]));
    }
    if (later) {
        *(at == DECAY_DIRTY ? &new_dirty_ms : &new_muzzy_ms) = ms;
    }
    ctl_unlock();
    pages_decay();
    return 0;
}

int write_decay(const struct ctl_name *n, const size_t *index, uint64_t value)
{
    uint32_t cache = ctl_cache(index[0]);
    return index[0] < ctl_arenas() ? set_decays(n->at, cache, cache + 1, false, value) : set_decays(n->at, 0, PAGE_CACHES, true, value);
}

int read_decays(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)index;
    ctl_lock();
    *value = (uint64_t)(n->at == DECAY_DIRTY ? new_dirty_ms : new_muzzy_ms);
    ctl_unlock();
    return 0;
}

int write_decays(const struct ctl_name *n, const size_t *index, uint64_t value)
{
    (void)index;
    bool oversize = large_oversize_npages != UINT64_MAX;
    return set_decays(n->at, PAGES_SHARED, oversize ? PAGES_OVERSIZE + 1 : PAGES_SHARED + 1, true, value);
}

/* ---- growth ------------------------------------------------------------------------------------------------------ */

int read_growth(const struct ctl_name *n, const size_t *index, uint64_t *value)
{
    (void)n;
    uint64_t npages = pages_growth(ctl_cache(index[0]));
    *value = npages == 0 ? SC_LARGE_MAXCLASS : npages * PAGE;
    return 0;
}

int write_growth(const struct ctl_name *n, const size_t *index, uint64_t value)
{
    (void)n;
    bool     all = index[0] >= ctl_arenas();
    uint32_t from = all ? 0 : ctl_cache(index[0]), to = all ? PAGE_CACHES : from + 1;
    uint32_t above = ladder_above(value / PAGE);
    if (above == 0) {
        return EFAULT;
    }
    uint64_t npages = value >= SC_LARGE_MAXCLASS ? 0 : ladder_rung(above - 1);
    for (uint32_t c = from; c < to; c++) {
        pages_set_growth(c, npages);
    }
    return 0;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Writes what jemalloc calls an arena that has been given no name. */
static void default_name(char *name, uint32_t arena)
{
    char     digits[ARENA_NAME_BYTES];
    uint32_t count = 0;
    strcpy(name, arena < bin_shared ? "auto_" : "manual_");
    do {
        digits[count++] = (char)('0' + arena % 10);
        arena /= 10;
    } while (arena != 0);
    for (name += strlen(name); count > 0; count--) {
        *name++ = digits[count - 1];
    }
    *name = '\0';
}

static int read_name(uint32_t arena, void *old, const size_t *old_bytes)
{
    char *room = NULL;
    if (*old_bytes != sizeof room) {
        return EINVAL;
    }
    memcpy(&room, old, sizeof room);
    if (room == NULL) {
        return EINVAL;
    }
    ctl_lock();
    if (names[arena][0] == '\0') {
        default_name(room, arena);
    } else {
        strcpy(room, names[arena]);
    }
    ctl_unlock();
    return 0;
}

static int write_name(uint32_t arena, const void *new_value, size_t new_bytes)
{
    const char *name = NULL;
    if (new_bytes != sizeof name) {
        return EINVAL;
    }
    memcpy(&name, new_value, sizeof name);
    if (name == NULL) {
        return EINVAL;
    }
    ctl_lock();
    strncpy(names[arena], name, ARENA_NAME_BYTES - 1);
    ctl_unlock();
    return 0;
}

int call_arena_name(const size_t *index, void *old, size_t *old_bytes, const void *new_value, size_t new_bytes)
{
    uint32_t arena = (uint32_t)index[0];
    if (index[0] >= ctl_arenas()) {
        return EINVAL;
    }
    if (!is_there(arena)) {
        return EFAULT;
    }
    int result = old != NULL && old_bytes != NULL ? read_name(arena, old, old_bytes) : 0;
    return result != 0 || new_value == NULL ? result : write_name(arena, new_value, new_bytes);
}

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

/* Reads a pointer to hooks that the program passes. */
static int read_hooks(extent_hooks_t **hooks, const void *new_value, size_t new_bytes)
{
    if (new_bytes != sizeof(void *)) {
        return EINVAL;
    }
    memcpy(hooks, new_value, sizeof(void *));
    return *hooks == NULL || hooks_valid(*hooks) ? 0 : EINVAL;
}

int call_arena_hooks(const size_t *index, void *old, size_t *old_bytes, const void *new_value, size_t new_bytes)
{
    extent_hooks_t *hooks = NULL;
    if (!is_there(index[0])) {
        return EFAULT;
    }
    int result = new_value == NULL ? 0 : read_hooks(&hooks, new_value, new_bytes);
    if (result != 0 || (new_value != NULL && hooks == NULL)) {
        return EINVAL;
    }
    uint32_t cache = ctl_cache(index[0]);
    ctl_lock();
    extent_hooks_t *was = hooks_get(cache);
    if (hooks != NULL) {
        hooks_set(cache, hooks, (unsigned)index[0]);
    }
    ctl_unlock();
    if (old != NULL && old_bytes != NULL) {
        size_t given = *old_bytes < sizeof(void *) ? *old_bytes : sizeof(void *);
        result = *old_bytes == sizeof(void *) ? 0 : EINVAL;
        memcpy(old, (void *)&was, given);
        *old_bytes = given;
    }
    return result;
}

/* ---- arenas come ------------------------------------------------------------------------------------------------- */

int call_arenas_create(const size_t *index, void *old, size_t *old_bytes, const void *new_value, size_t new_bytes)
{
    (void)index;
    extent_hooks_t *hooks = NULL;
    if (old == NULL || old_bytes == NULL || *old_bytes != sizeof(unsigned)) {
        if (old_bytes != NULL) {
            *old_bytes = 0;
        }
        return EINVAL;
    }
    if (new_value != NULL && read_hooks(&hooks, new_value, new_bytes) != 0) {
        return EINVAL;
    }
    ctl_lock();
    unsigned arena = arena_create();
    if (arena != 0) {
        names[arena][0] = '\0';
        pages_set_decay(arena_pages(arena), new_dirty_ms, new_muzzy_ms);
        pages_set_growth(arena_pages(arena), 0);
        hooks_set(arena_pages(arena), hooks == NULL ? &hooks_default : hooks, arena);
        memcpy(old, &arena, sizeof arena);
    }
    ctl_unlock();
    return arena != 0 ? 0 : EAGAIN;
}

/* ---- arenas end -------------------------------------------------------------------------------------------------- */

/* Says whether the blocks of the arena can end, and holds mallctl's lock then. Blocks that are in the caches of threads cannot: a thread would
 * hand them out again. This thread's own cache gives its blocks back. */
static int begin_reset(size_t arena)
{
    struct tcache *t = thread_get();
    if (arena >= ctl_arenas() || ATOMIC_LOAD(arena_kind[arena]) != ARENA_MADE) {
        return EFAULT;
    }
    if (!tcache_is_standin(t)) {
        refill_flush(t);
    }
    ctl_lock();
    if (depot_holds(arena_pages((uint32_t)arena))) {
        ctl_unlock();
        return EAGAIN;
    }
    return 0;
}

int act_arena_reset(const size_t *index)
{
    int result = begin_reset(index[0]);
    if (result == 0) {
        arena_reset((uint32_t)index[0]);
        ctl_unlock();
    }
    return result;
}

/* Pages that the OS, or hooks, would not purge go too. */
static void unmap_all(uint32_t cache)
{
    (void)pages_unmap(cache, EXTENT_DIRTY, true);
    (void)pages_unmap(cache, EXTENT_MUZZY, true);
    (void)pages_unmap(cache, EXTENT_RETAINED, true);
}

int act_arena_destroy(const size_t *index)
{
    uint32_t arena = (uint32_t)index[0];
    int      result = begin_reset(index[0]);
    if (result != 0) {
        return result;
    }
    if (arena_destroy(arena)) {
        arena_reset(arena);
        unmap_all(arena_pages(arena));
        hooks_set(arena_pages(arena), &hooks_default, arena);
    } else {
        result = EFAULT;
    }
    ctl_unlock();
    return result;
}

/* ---- arenas are found -------------------------------------------------------------------------------------------- */

/* Finds the arena of the block at an address, or inside of whose slab it lies. Large blocks of the arenas that share a page cache count as
 * arena 0's. Returns false where there is no block. */
static bool find_arena(uint64_t address, unsigned *arena)
{
    if (address >= PAGE_COUNT_MAX * PAGE) {
        return false;
    }
    uint64_t tag = radix_tree_tag(address / PAGE);
    bool     small = 0 < tag_stack(tag) && tag_stack(tag) <= SC_NBINS;
    uint64_t first = small ? address - half_distance((uint32_t)tag, (uint32_t)address) : address;
    uint32_t e = pages_find(first / PAGE);
    if (e == 0) {
        return false;
    }
    uint32_t cache = AT(ext_state, e) - (uint32_t)EXTENT_ACTIVE;
    *arena = small ? AT(slab_bin, e) / SC_NBINS : cache == PAGES_SHARED ? 0 : bin_shared + cache - PAGES_OVERSIZE;
    return true;
}

int call_arenas_lookup(const size_t *index, void *old, size_t *old_bytes, const void *new_value, size_t new_bytes)
{
    (void)index;
    uint64_t address = 0;
    unsigned arena = 0;
    if (new_value == NULL || new_bytes != sizeof address) {
        return EINVAL;
    }
    memcpy(&address, new_value, sizeof address);
    if (!find_arena(address, &arena)) {
        return EINVAL;
    }
    return ctl_give(&arena, sizeof arena, old, old_bytes);
}
