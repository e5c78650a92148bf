/* tcache: misses, full stacks, checks that fail, collection, and the life of a thread's cache. */
#include "heap/tcache.h"

#include <stddef.h>
#include <string.h>

#include "heap/arena.h"
#include "heap/bin.h"
#include "heap/large.h"
#include "pages/base.h"
#include "pages/pages.h"
#include "platform/mutex.h"
#include "platform/trap.h"

#define TCACHE_BYTES 65536UL            /* a stack holds about this much, within the two depths below */
#define TCACHE_DEPTH_MIN 16UL
#define TCACHE_LARGE_BYTES 131072UL     /* the same for large classes */
#define TCACHE_FILL_FIRST 8U            /* blocks of a thread's first fill; doubles at each miss */
#define TCACHE_TICKS 32U                /* slow events between two collections */

struct tcache tcache_unborn;
struct tcache tcache_dead;

static struct mutex   tcache_lock = MUTEX_INIT;     /* guards the lists and base; rank below the bins' */
static struct tcache *tcache_list;                  /* every cache that was ever made */
static struct tcache *tcache_idle;                  /* those that threads have left */
static uint32_t       tcache_live_count;

/* ---- shape ------------------------------------------------------------------------------------------------------ */

static bool tcache_is_standin(const struct tcache *t)
{
    return t == &tcache_unborn || t == &tcache_dead;
}

static uint32_t tcache_szind(uint32_t bin)
{
    return bin - 1;
}

static bool tcache_is_small(uint32_t bin)
{
    return bin <= SC_NBINS;
}

static uint32_t tcache_depth(uint32_t bin)
{
    uint64_t bytes = size_class_bytes(tcache_szind(bin));
    uint64_t most = tcache_is_small(bin) ? TCACHE_BYTES / bytes : TCACHE_LARGE_BYTES / bytes;
    uint64_t least = tcache_is_small(bin) ? TCACHE_DEPTH_MIN : 1;
    return (uint32_t)(most < least ? least : most > TCACHE_DEPTH_MAX ? TCACHE_DEPTH_MAX : most);
}

static void tcache_shape(struct tcache *t, bool room)
{
    uint32_t floor = 0;
    for (uint64_t bytes = 0; bytes <= SC_LOOKUP_MAX; bytes++) {
        t->bin_of[bytes] = (uint8_t)(size_class_lookup(bytes) + 1);
    }
    for (uint32_t b = 0; b < TCACHE_BINS; b++) {
        t->floor[b] = floor;
        t->top[b] = floor;
        t->limit[b] = floor;
        t->fill[b] = TCACHE_FILL_FIRST;
        if (b > 0 && room) {
            t->limit[b] = floor + tcache_depth(b);
            t->magic[b] = divide_magic((uint32_t)size_class_bytes(tcache_szind(b)));
            t->negated[b] = word_negate(t->magic[b]);
            floor = t->limit[b] + 1;
        }
    }
    t->ticks = TCACHE_TICKS;
}

void tcache_boot(void)
{
    tcache_shape(&tcache_unborn, false);
    tcache_shape(&tcache_dead, false);
}

/* ---- misses ----------------------------------------------------------------------------------------------------- */

static void tcache_give_back(uint32_t bin, uint64_t *blocks, uint32_t n)
{
    if (tcache_is_small(bin)) {
        bin_flush(tcache_szind(bin), blocks, n);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!large_free(blocks[i])) {
            trap_misuse("free", "double free", blocks[i]);
        }
    }
}

/* The n blocks longest in the stack leave. */
static void tcache_flush_oldest(struct tcache *t, uint32_t bin, uint32_t n)
{
    uint32_t first = t->floor[bin] + 1;
    uint32_t left = (uint32_t)t->top[bin] - t->floor[bin] - n;
    if (n > 0) {
        tcache_give_back(bin, &t->slot[first], n);
        memmove(&t->slot[first], &t->slot[first + n], left * sizeof t->slot[0]);
        t->top[bin] -= n;
    }
}

void tcache_flush(struct tcache *t)
{
    for (uint32_t b = 1; b < TCACHE_BINS && !tcache_is_standin(t); b++) {
        tcache_flush_oldest(t, b, (uint32_t)t->top[b] - t->floor[b]);
    }
}

/* A stack without a miss since its last turn is longer than the thread needs. */
static void tcache_collect(struct tcache *t, uint32_t bin)
{
    uint32_t n = (uint32_t)t->top[bin] - t->floor[bin];
    if (t->missed[bin] == 0 && n > 0) {
        tcache_flush_oldest(t, bin, n - n * 3 / 4);
        t->fill[bin] = t->fill[bin] > TCACHE_FILL_FIRST ? (uint16_t)(t->fill[bin] / 2) : (uint16_t)TCACHE_FILL_FIRST;
    }
    t->missed[bin] = 0;
}

void tcache_tick(struct tcache *t)
{
    if (tcache_is_standin(t)) {
        return;
    }
    t->ticks = (uint16_t)(t->ticks - 1);
    if (t->ticks == 0) {
        t->ticks = TCACHE_TICKS;
        t->collect = (uint16_t)(t->collect + 1U < TCACHE_BINS ? t->collect + 1U : 1U);
        tcache_collect(t, t->collect);
        pages_decay();
    }
}

uint64_t tcache_refill(struct tcache *t, uint32_t bin)
{
    uint64_t block = 0;
    tcache_tick(t);
    if (!tcache_is_small(bin)) {
        bool zeroed;
        return large_alloc(tcache_szind(bin), 1, true, &zeroed);
    }
    if (tcache_is_standin(t)) {
        return bin_fill(0, tcache_szind(bin), &block, 1) == 1 ? block : 0;
    }
    uint32_t depth = t->limit[bin] - t->floor[bin];
    uint32_t want = t->fill[bin] < depth ? t->fill[bin] : depth;
    uint32_t n = bin_fill(t->arena, tcache_szind(bin), &t->slot[t->floor[bin] + 1], want);
    t->top[bin] = t->floor[bin] + n;
    t->fill[bin] = (uint16_t)(want * 2 <= depth ? want * 2 : want);
    t->missed[bin] = 1;
    return tcache_pop(t, bin);
}

/* ---- free, slowly ----------------------------------------------------------------------------------------------- */

/* Bin of the block of a cached class that begins there; 0: none does, but perhaps an uncached large one. */
static uint32_t tcache_bin_checked(uint64_t block, const char *call)
{
    if (block / PAGE >= PAGE_COUNT_MAX) {
        return 0;
    }
    uint64_t word = radix_tree_word(block / PAGE);
    uint32_t bin = word_bin(word);
    if (bin == 0) {
        return 0;
    }
    divide_magic_t magic = divide_magic((uint32_t)size_class_bytes(tcache_szind(bin)));
    if (!divide_is_multiple(word_offset(word, block), magic)) {
        trap_misuse(call, "interior pointer", block);
    }
    return bin;
}

uint64_t tcache_usable(uint64_t block, const char *call)
{
    uint32_t bin = tcache_bin_checked(block, call);
    uint64_t bytes = bin != 0 ? size_class_bytes(tcache_szind(bin)) : large_bytes(block);
    if (bytes == 0) {
        trap_misuse(call, "not a block", block);
    }
    return bytes;
}

void tcache_free_slow(struct tcache *t, uint64_t block, const char *call)
{
    uint32_t bin = tcache_bin_checked(block, call);
    if (bin == 0) {
        if (!large_free(block)) {
            trap_misuse(call, "not a block", block);
        }
        tcache_tick(t);
        return;
    }
    if (tcache_is_standin(t)) {
        tcache_give_back(bin, &block, 1);
        return;
    }
    uint64_t window = block / (1UL << RADIX_LG_WINDOW);
    t->leaf = radix_tree_leaf(window);
    t->window = window * (1UL << RADIX_LG_WINDOW);
    t->window_pages = RADIX_WINDOW_PAGES;
    uint64_t top = t->top[bin];
    if (t->slot[top] == block) {
        trap_misuse(call, "double free", block);
    }
    if (top >= t->limit[bin]) {
        uint32_t n = t->limit[bin] - t->floor[bin];
        tcache_flush_oldest(t, bin, n - n / 2);
        t->missed[bin] = 1;
        tcache_tick(t);
        top = t->top[bin];
    }
    t->slot[top + 1] = block;
    t->top[bin] = top + 1;
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

/* A cache that a thread has left, or a new one. */
static struct tcache *tcache_claim(void)
{
    struct tcache *t = tcache_idle;
    if (t != NULL) {
        tcache_idle = t->next_idle;
        for (uint32_t b = 0; b < TCACHE_BINS; b++) {
            t->fill[b] = TCACHE_FILL_FIRST;
        }
        return t;
    }
    t = (struct tcache *)base_alloc(sizeof *t, 64);
    if (t != NULL) {
        tcache_shape(t, true);
        t->next = tcache_list;
        tcache_list = t;
    }
    return t;
}

struct tcache *tcache_create(void)
{
    mutex_lock(&tcache_lock);
    struct tcache *t = tcache_claim();
    tcache_live_count += t != NULL ? 1 : 0;
    mutex_unlock(&tcache_lock);
    if (t != NULL) {
        t->arena = (uint16_t)arena_join();
    }
    return t;
}

void tcache_destroy(struct tcache *t)
{
    tcache_flush(t);
    arena_leave(t->arena);
    mutex_lock(&tcache_lock);
    t->next_idle = tcache_idle;
    tcache_idle = t;
    tcache_live_count -= 1;
    mutex_unlock(&tcache_lock);
}

uint32_t tcache_live(void)
{
    mutex_lock(&tcache_lock);
    uint32_t n = tcache_live_count;
    mutex_unlock(&tcache_lock);
    return n;
}

uint64_t tcache_blocks(uint32_t bin)
{
    uint64_t n = 0;
    mutex_lock(&tcache_lock);
    for (const struct tcache *t = tcache_list; t != NULL; t = t->next) {
        n += __atomic_load_n(&t->top[bin], __ATOMIC_RELAXED) - t->floor[bin];
    }
    mutex_unlock(&tcache_lock);
    return n;
}

void tcache_prefork(void)
{
    mutex_lock(&tcache_lock);
}

void tcache_postfork_parent(void)
{
    mutex_unlock(&tcache_lock);
}

/* The other threads do not exist in the child. Their stacks may have been in the middle of a change, so the blocks in
 * them stay where they are; the caches are never claimed again. */
void tcache_postfork_child(struct tcache *mine)
{
    mutex_reset(&tcache_lock);
    tcache_live_count = tcache_is_standin(mine) ? 0 : 1;
}
