/* pages_model: what the page cache with decay owes its callers, said slowly: the set of live runs with their contents
 * (tests/blocks_model.h), where every page is, and how long a free page may stay. The unit test and the fuzzer do every
 * operation through it; it stops at the first difference. */
#ifndef QED_TESTS_PAGES_MODEL_H
#define QED_TESTS_PAGES_MODEL_H

#include "blocks_model.h"
#include "math/size_class.h"
#include "math/smoothstep.h"
#include "pages/pages.h"
#include "platform/limit.h"
#include "platform/os_fake.h"

#define PAGES_MODEL_MAPPED_NPAGES ((256UL << 20) / PAGE)

static struct blocks_model pages_model;
static int64_t           pages_model_dirty_ms, pages_model_muzzy_ms;

static inline uint64_t pages_model_compare(uint32_t state)         /* dirty or muzzy pages */
{
    struct pages_stats p;
    pages_read_stats(&p);
    if (p.active != pages_model.usable / PAGE) {
        blocks_model_fail("active pages are not those of the live runs", (void *)p.active);
    }
    if (p.active + p.dirty + p.muzzy + p.retained != os_fake.mapped_npages
        || p.busy != 0) {
        blocks_model_fail("pages are lost", (void *)os_fake.mapped_npages);
    }
    bool refused = os_fake.fail_count[OS_FAKE_PURGE] + os_fake.fail_count[OS_FAKE_PURGE_LAZY] > 0;
    if (!refused && p.dirty + p.muzzy > limit_dirty / PAGE) {
        blocks_model_fail("more pages are free and in memory than may be", (void *)(p.dirty + p.muzzy));
    }
    return state == EXTENT_DIRTY ? p.dirty : p.muzzy;
}

static inline void pages_model_set_decay(int64_t dirty_ms, int64_t muzzy_ms)
{
    for (uint32_t c = 0; c < PAGE_CACHES; c++) {
        pages_set_decay(c, dirty_ms, muzzy_ms);
    }
    pages_model_dirty_ms = dirty_ms;
    pages_model_muzzy_ms = muzzy_ms;
}

/* From now on so many free pages may stay in memory. */
static inline void pages_model_set_limit(uint64_t dirty_bytes)
{
    limit_set_pages(LIMIT_NONE, dirty_bytes);
    pages_decay();
}

static inline void pages_model_boot(void)
{
    size_class_boot();
    pages_boot(1000, 0);
}

static inline void pages_model_controls(void)
{
    uint64_t clock_ms = os_fake.clock_ms;
    os_fake_reset();
    os_fake.clock_ms = clock_ms;
    os_fake.mapped_npages_max = PAGES_MODEL_MAPPED_NPAGES;
}

static inline void pages_model_alloc(uint64_t npages, uint64_t align_npages, uint8_t seed)
{
    bool     zeroed = false;
    uint64_t calls = os_fake.calls[OS_FAKE_MAP] + os_fake.calls[OS_FAKE_METADATA];
    uint32_t e = pages_model.count < BLOCKS_MODEL_COUNT ? pages_alloc(seed % PAGE_CACHES, npages, align_npages, &zeroed) : 0;
    if (e != 0) {
        void *p = (void *)(AT(ext_page, e) * PAGE);
        AT(ext_npages, e) != npages ? blocks_model_fail("a run of another length", p) : (void)0;
        zeroed ? blocks_model_check_zero(p, npages * PAGE) : (void)0;
        blocks_model_add(&pages_model, p, npages * PAGE, npages * PAGE, align_npages * PAGE, seed);
    } else if (pages_model.count < BLOCKS_MODEL_COUNT && os_fake.calls[OS_FAKE_MAP] + os_fake.calls[OS_FAKE_METADATA] == calls) {
        blocks_model_fail("no pages, and the OS was not asked", NULL);
    }
}

static inline uint64_t pages_model_page(uint32_t i)
{
    return (uintptr_t)pages_model.block[i].address / PAGE;
}

static inline void pages_model_free(uint32_t i, bool release)
{
    uint64_t page = pages_model_page(i);
    uint32_t e = pages_find(page);
    (void)blocks_model_remove(&pages_model, i);
    if (release) {
        pages_release(page).npages == 0 || pages_release(page).npages != 0 ? blocks_model_fail("release", (void *)(page * PAGE)) : (void)0;
    } else {
        pages_free(e);
    }
    pages_find(page) != 0 ? blocks_model_fail("found after it was freed", (void *)(page * PAGE)) : (void)0;
}

/* Only the first page of a run leads to it. */
static inline void pages_model_find(uint32_t i, uint64_t off)
{
    uint64_t page = pages_model_page(i);
    uint32_t e = pages_find(page);
    off %= pages_model.block[i].usable / PAGE;
    if (e == 0 || AT(ext_page, e) != page || (off != 0 && (pages_find(page + off) != 0 || pages_release(page + off).npages != 0))) {
        blocks_model_fail("find", (void *)(page * PAGE));
    }
}

static inline void pages_model_resize(uint32_t i, uint64_t npages)
{
    struct blocks_model_block b = blocks_model_remove(&pages_model, i);
    uint32_t                e = pages_find((uintptr_t)b.address / PAGE);
    bool                    done = pages_resize(e, npages);
    limit_dirty != LIMIT_NONE ? pages_decay() : (void)0;    /* the next slow event looks at what a shorter run has given back */
    npages = done ? npages : b.usable / PAGE;
    blocks_model_visit(&b, b.bytes, b.bytes < npages * PAGE ? b.bytes : npages * PAGE, false);
    if (AT(ext_npages, e) != npages || pages_find((uintptr_t)b.address / PAGE) != e) {
        blocks_model_fail("resized to another length", b.address);
    }
    blocks_model_add(&pages_model, b.address, npages * PAGE, npages * PAGE, PAGE, b.seed);
}

/* Nothing is used for a whole interval: no free page of that state may stay, unless the OS refuses. */
static inline void pages_model_idle(uint32_t state, int64_t ms, bool os_works)
{
    uint64_t before = pages_model_compare(state);
    for (int i = 0; i < 2; i++) {
        os_fake.clock_ms += ms > 0 ? (uint64_t)ms + (uint64_t)ms / SMOOTHSTEP_NSTEPS + 1 : 100000;
        pages_decay();
    }
    uint64_t after = pages_model_compare(state);
    if (os_works && ms >= 0 && after != 0) {
        blocks_model_fail("free pages outstay the decay", (void *)after);
    }
    if (ms < 0 && after < before && limit_dirty == LIMIT_NONE) {
        blocks_model_fail("purged although decay is off", (void *)after);
    }
}

static inline void pages_model_decay(bool os_works)
{
    pages_model_idle(EXTENT_DIRTY, pages_model_dirty_ms, os_works);
    pages_model_idle(EXTENT_MUZZY, pages_model_muzzy_ms, os_works);
}

static inline void pages_model_trim(bool os_works)
{
    uint64_t unused = pages_model_compare(EXTENT_DIRTY) + pages_model_compare(EXTENT_MUZZY);
    bool     any = pages_trim();
    uint64_t left = pages_model_compare(EXTENT_DIRTY) + pages_model_compare(EXTENT_MUZZY);
    if (any != (left != unused) || (os_works && left != 0)) {
        blocks_model_fail("trim", (void *)left);
    }
}

static inline void pages_model_finish(void)
{
    pages_model_controls();
    pages_model_set_limit(LIMIT_NONE);
    while (pages_model.count > 0) {
        pages_model_free(pages_model.count - 1, pages_model.count % 2 == 0);
    }
    pages_model_set_decay(1000, 0);
    pages_model_trim(true);
}

#endif
