/* tcache_model: what thread caches, arenas and large blocks owe their callers, said slowly: the set of live blocks
 * (tests/blocks_model.h), and the sum over all: what the bins gave is live or in a cache, and every page is somewhere. The
 * unit test and the fuzzer do every operation through it; it stops at the first difference. Slot 0 has no cache: it works
 * through a stand-in. */
#ifndef QED_TESTS_TCACHE_MODEL_H
#define QED_TESTS_TCACHE_MODEL_H

#include "blocks/arena.h"
#include "blocks/bin.h"
#include "blocks/large.h"
#include "blocks/slab.h"
#include "tcache/counting.h"
#include "tcache/depot.h"
#include "tcache/depth.h"
#include "tcache/overflow.h"
#include "tcache/refill.h"
#include "blocks_model.h"
#include "pages/pages.h"
#include "platform/os_fake.h"

#define TCACHE_MODEL_CACHES 5U
#define TCACHE_MODEL_ARENAS 2U
#define TCACHE_MODEL_MAPPED_NPAGES ((256UL << 20) / PAGE)

static struct blocks_model tcache_model;
static struct tcache    *tcache_model_cache[TCACHE_MODEL_CACHES];       /* NULL: none */
static bool              tcache_model_dead;                             /* which stand-in */
static uint32_t          tcache_model_others;                           /* threads that are not the model's */

static inline struct tcache *tcache_model_of(uint32_t k)
{
    struct tcache *standin = tcache_model_dead ? &tcache_dead : &tcache_unborn;
    return tcache_model_cache[k] == NULL ? standin : tcache_model_cache[k];
}

static inline void tcache_model_boot(void)
{
    size_class_boot();
    slab_boot();
    pages_boot(1000, 500);
    arena_boot(TCACHE_MODEL_ARENAS, false);
    depot_boot();
    tcache_model_others = depot_live();
}

static inline void tcache_model_controls(void)
{
    uint64_t clock_ms = os_fake.clock_ms;
    os_fake_reset();
    os_fake.clock_ms = clock_ms;
    os_fake.mapped_npages_max = TCACHE_MODEL_MAPPED_NPAGES;
}

/* All counts, and where every page is. */
static inline void tcache_model_compare(void)
{
    static uint64_t    live[SC_NSIZES];
    struct pages_stats p;
    struct large_stats l;
    uint64_t           npages = 0, large = 0;
    uint32_t           threads = tcache_model_others, joined = 0;
    memset(live, 0, sizeof live);
    for (uint32_t i = 0; i < tcache_model.count; i++) {
        live[size_class_index(tcache_model.block[i].usable)] += 1;
    }
    for (uint32_t c = 0; c < SC_NSIZES; c++) {
        uint64_t out = live[c] + (c + 1 < TCACHE_STACKS ? depot_blocks(c + 1) : 0), regions = 0;
        for (uint32_t a = 0; a < TCACHE_MODEL_ARENAS && c < SC_NBINS; a++) {
            struct bin_stats s;
            bin_read_stats(a, c, &s);
            regions += s.regions_live;
            npages += s.slabs * slab_npages[c];
        }
        if (c < SC_NBINS && regions != out) {
            blocks_model_fail("blocks outside their slabs are neither live nor cached", (void *)(uintptr_t)c);
        }
        npages += c < SC_NBINS ? 0 : out * (size_class_bytes(c) / PAGE);
        large += c < SC_NBINS ? 0 : out;
    }
    pages_read_stats(&p);
    large_read_stats(&l);
    if (p.active != npages) {
        blocks_model_fail("active pages are not those of slabs and large blocks", (void *)p.active);
    }
    if (npages + p.dirty + p.muzzy + p.retained != os_fake.mapped_npages) {
        blocks_model_fail("pages are lost", (void *)os_fake.mapped_npages);
    }
    if (l.allocated - l.freed != large) {
        blocks_model_fail("the count of large blocks", (void *)(l.allocated - l.freed));
    }
    for (uint32_t k = 0; k < TCACHE_MODEL_CACHES; k++) {
        threads += tcache_model_cache[k] != NULL ? 1 : 0;
    }
    for (uint32_t a = 0; a < TCACHE_MODEL_ARENAS; a++) {
        joined += arena_thread_count[a];
    }
    if (depot_live() != threads || joined != threads) {
        blocks_model_fail("the count of threads", (void *)(uintptr_t)joined);
    }
}

static inline void tcache_model_added(uint64_t block, uint64_t bytes, uint64_t alignment, uint64_t os_calls, uint8_t seed)
{
    if (block != 0) {
        blocks_model_add(&tcache_model, (void *)block, bytes, overflow_usable(block, "model"), alignment, seed);
        tcache_model.block[tcache_model.count - 1].usable != bytes ? blocks_model_fail("of another class", (void *)block) : (void)0;
    } else if (os_fake.calls[OS_FAKE_MAP] + os_fake.calls[OS_FAKE_METADATA] == os_calls) {
        blocks_model_fail("no block, and the OS was not asked", NULL);
    }
}

static inline void tcache_model_take(uint32_t k, uint32_t bin, uint8_t seed)
{
    uint64_t bytes = size_class_bytes(bin - 1), calls = os_fake.calls[OS_FAKE_MAP] + os_fake.calls[OS_FAKE_METADATA];
    uint64_t block = tcache_take(tcache_model_of(k), bytes);
    block != 0 && counting(tcache_model_of(k)) ? blocks_model_fail("a block that nobody counts", (void *)block) : (void)0;
    block = block != 0 ? block : tcache_pop(tcache_model_of(k), bin);
    if (bytes <= SC_LOOKUP_MAX && tcache_stack_of(tcache_model_of(k), bytes) != (tcache_model_cache[k] != NULL ? bin : 0)) {
        blocks_model_fail("a size's bin", (void *)bytes);
    }
    block = block != 0 ? block : refill(tcache_model_of(k), bin);
    tcache_model_added(block, bytes, (bytes & -bytes) < PAGE ? bytes & -bytes : PAGE, calls, seed);
}

static inline void tcache_model_take_large(uint32_t szind, uint64_t align_bytes, uint8_t seed)
{
    bool     zeroed = false;
    uint64_t bytes = size_class_bytes(szind), calls = os_fake.calls[OS_FAKE_MAP] + os_fake.calls[OS_FAKE_METADATA];
    uint64_t block = large_alloc(PAGES_SHARED, szind, align_bytes, szind + 1 < TCACHE_STACKS, &zeroed);
    block != 0 && zeroed ? blocks_model_check_zero((void *)block, bytes) : (void)0;
    tcache_model_added(block, bytes, align_bytes > PAGE ? align_bytes : PAGE, calls, seed);
}

/* Block i goes to cache k; where a push is refused, the slow path takes it. What was pushed last is popped first. */
static inline void tcache_model_give(uint32_t k, uint32_t i)
{
    struct blocks_model_block b = blocks_model_remove(&tcache_model, i);
    struct tcache          *t = tcache_model_of(k);
    uint64_t                block = (uintptr_t)b.address;
    uint32_t                bin = size_class_index(b.usable) + 1;
    if (tcache_push(t, block)) {
        tcache_push(t, block) ? blocks_model_fail("pushed twice", b.address) : (void)0;
        tcache_pop(t, bin) != block ? blocks_model_fail("another block on top", b.address) : (void)0;
    }
    overflow_free(t, block, "model");
}

static inline void tcache_model_resize(uint32_t i, uint32_t szind)
{
    struct blocks_model_block b = tcache_model.block[i];
    if (b.usable < SC_LARGE_MINCLASS) {
        return;
    }
    (void)blocks_model_remove(&tcache_model, i);
    bool     done = large_resize((uintptr_t)b.address, szind);
    uint64_t bytes = done ? size_class_bytes(szind) : b.usable;
    blocks_model_visit(&b, b.bytes, b.bytes < bytes ? b.bytes : bytes, false);
    if (large_bytes((uintptr_t)b.address) != bytes || overflow_usable((uintptr_t)b.address, "model") != bytes) {
        blocks_model_fail("resized to another size", b.address);
    }
    blocks_model_add(&tcache_model, b.address, bytes, bytes, PAGE, b.seed);
}

/* An address where no block begins is refused, and nothing changes. */
static inline void tcache_model_refuse(uint32_t k, uint32_t i, uint64_t off)
{
    struct blocks_model_block b = tcache_model.block[i];
    uint64_t                wrong = (uintptr_t)b.address + off % b.usable;
    if (off % b.usable != 0 && (tcache_push(tcache_model_of(k), wrong) || large_bytes(wrong) != 0)) {
        blocks_model_fail("a block where none begins", (void *)wrong);
    }
}

/* A thread begins or ends. */
static inline void tcache_model_toggle(uint32_t k)
{
    if (k == 0) {
        tcache_model_dead = !tcache_model_dead;
    } else if (tcache_model_cache[k] != NULL) {
        depot_destroy(tcache_model_cache[k]);
        tcache_model_cache[k] = NULL;
    } else {
        tcache_model_cache[k] = depot_create();
        for (uint32_t j = 1; j < TCACHE_MODEL_CACHES; j++) {
            if (j != k && tcache_model_cache[k] != NULL && tcache_model_cache[j] == tcache_model_cache[k]) {
                blocks_model_fail("two threads share a cache", tcache_model_cache[k]);
            }
        }
    }
}

/* A thread says how many blocks of a class it keeps. */
static inline void tcache_model_deepen(uint32_t k, uint32_t stack, uint32_t n)
{
    struct tcache *t = tcache_model_cache[k];
    if (t != NULL) {
        uint32_t slots = t->room[stack] - t->floor[stack], most = n < slots ? n : slots;
        depth_set(t, stack, n);
        if (t->most[stack] - t->floor[stack] != most || t->top[stack] > t->limit[stack] || t->limit[stack] > t->most[stack]) {
            blocks_model_fail("a stack of another depth", (void *)(uintptr_t)stack);
        }
    }
}

/* Every block freed, every thread ended, every free page returned. */
static inline void tcache_model_finish(void)
{
    tcache_model_controls();
    while (tcache_model.count > 0) {
        tcache_model_give(tcache_model.count % TCACHE_MODEL_CACHES, tcache_model.count - 1);
    }
    for (uint32_t k = 1; k < TCACHE_MODEL_CACHES; k++) {
        tcache_model_cache[k] != NULL ? tcache_model_toggle(k) : (void)0;
    }
    for (uint32_t b = 1; b < TCACHE_STACKS; b++) {
        depot_blocks(b) != 0 ? blocks_model_fail("blocks in a cache without a thread", (void *)(uintptr_t)b) : (void)0;
    }
    pages_trim();
    tcache_model_compare();
}

#endif
