/* pages: lock, page cache call, unlock; and the purging that decay asks for. */
#include "pages/pages.h"

#include "pages/decay.h"
#include "pages/page_cache.h"
#include "platform/mutex.h"
#include "platform/os.h"

#define PURGE_NPAGES_MAX (1UL << (26 - LG_PAGE))        /* at most 64 MiB leave the cache at a time */

static struct mutex pages_lock = MUTEX_INIT;

bool     pages_purging;
bool     pages_keep_muzzy;
uint64_t pages_purge_count;
uint64_t pages_purged_npages;

void pages_boot(int64_t dirty_decay_ms, int64_t muzzy_decay_ms)
{
    page_cache_boot();
    decay_boot();
    pages_set_decay(dirty_decay_ms, muzzy_decay_ms);
}

void pages_set_decay(int64_t dirty_ms, int64_t muzzy_ms)
{
    mutex_lock(&pages_lock);
    decay_set(0, dirty_ms);
    decay_set(1, muzzy_ms);
    pages_keep_muzzy = muzzy_ms != 0;
    mutex_unlock(&pages_lock);
}

uint32_t pages_alloc(uint64_t npages, uint64_t align_npages, bool *zeroed)
{
    mutex_lock(&pages_lock);
    uint32_t e = page_cache_alloc(npages, align_npages);
    *zeroed = e != 0 && AT(ext_zeroed, e) != 0;
    mutex_unlock(&pages_lock);
    return e;
}

void pages_free(uint32_t e)
{
    mutex_lock(&pages_lock);
    page_cache_free(e);
    mutex_unlock(&pages_lock);
}

static uint32_t pages_find_locked(uint64_t page)
{
    uint32_t e = page < PAGE_COUNT_MAX ? extent_at(page) : 0;
    return e != 0 && AT(ext_state, e) == EXTENT_ACTIVE ? e : 0;
}

uint32_t pages_find(uint64_t page)
{
    mutex_lock(&pages_lock);
    uint32_t e = pages_find_locked(page);
    mutex_unlock(&pages_lock);
    return e;
}

bool pages_release(uint64_t page)
{
    mutex_lock(&pages_lock);
    uint32_t e = pages_find_locked(page);
    if (e != 0) {
        page_cache_free(e);
    }
    mutex_unlock(&pages_lock);
    return e != 0;
}

bool pages_resize(uint32_t e, uint64_t npages)
{
    mutex_lock(&pages_lock);
    uint64_t now = AT(ext_npages, e);
    bool     done = npages == now || (npages < now ? page_cache_shrink(e, npages) : page_cache_expand(e, npages));
    mutex_unlock(&pages_lock);
    return done;
}

/* Takes one free extent of the given state out, purges it without the lock, and puts it back one state further.
 * Called and left with the lock held; the pages are BUSY in between, so nobody else can touch them. */
static bool pages_purge_one(uint8_t state, uint64_t npages_max, bool lazily)
{
    uint32_t e = page_cache_take(state, npages_max);
    if (e == 0) {
        return false;
    }
    uint64_t page = AT(ext_page, e);
    uint64_t npages = AT(ext_npages, e);
    mutex_unlock(&pages_lock);
    bool lazy_done = lazily && os_purge_lazy(page, npages);
    bool done = !lazy_done && os_purge(page, npages);
    mutex_lock(&pages_lock);
    pages_purge_count += 1;
    pages_purged_npages += lazy_done || done ? npages : 0;
    page_cache_give(e, lazy_done ? EXTENT_MUZZY : done ? EXTENT_RETAINED : state);
    return lazy_done || done;
}

/* Until no more than npages_limit pages of that state are left, or the OS refuses. */
static void pages_purge_to(uint8_t state, uint64_t npages_limit, bool lazily)
{
    while (extent_npages_total[state] > npages_limit) {
        uint64_t excess = extent_npages_total[state] - npages_limit;
        if (!pages_purge_one(state, excess < PURGE_NPAGES_MAX ? excess : PURGE_NPAGES_MAX, lazily)) {
            return;
        }
    }
}

/* While another thread purges, its BUSY pages are missing from the counts: that thread sees to the curve. */
void pages_decay(void)
{
    uint64_t now_ms = os_clock_ms();
    mutex_lock(&pages_lock);
    if (!pages_purging) {
        uint64_t dirty_max = decay_advance(0, now_ms, extent_npages_total[EXTENT_DIRTY]);
        uint64_t muzzy_max = decay_advance(1, now_ms, extent_npages_total[EXTENT_MUZZY]);
        pages_purging = true;
        pages_purge_to(EXTENT_DIRTY, dirty_max, pages_keep_muzzy);
        pages_purge_to(EXTENT_MUZZY, muzzy_max, false);
        pages_purging = false;
    }
    mutex_unlock(&pages_lock);
}

bool pages_trim(void)
{
    mutex_lock(&pages_lock);
    uint64_t before = pages_purged_npages;
    pages_purge_to(EXTENT_DIRTY, 0, false);
    pages_purge_to(EXTENT_MUZZY, 0, false);
    bool any = pages_purged_npages != before;
    mutex_unlock(&pages_lock);
    return any;
}

void pages_read_stats(struct pages_stats *stats)
{
    mutex_lock(&pages_lock);
    for (uint32_t s = 0; s < EXTENT_STATES; s++) {
        stats->npages[s] = extent_npages_total[s];
    }
    stats->purges = pages_purge_count;
    stats->purged_npages = pages_purged_npages;
    mutex_unlock(&pages_lock);
}

void pages_prefork(void)
{
    mutex_lock(&pages_lock);
}

void pages_postfork_parent(void)
{
    mutex_unlock(&pages_lock);
}

/* A purge that another thread had under way is lost with that thread: its BUSY pages stay out of the cache. */
void pages_postfork_child(void)
{
    mutex_reset(&pages_lock);
    pages_purging = false;
}
