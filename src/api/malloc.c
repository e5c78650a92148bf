/* malloc: the malloc family. The fast paths are inlined here, and the slow ones are in tcache. Only this layer knows errno, and only this
 * layer turns addresses into pointers. */
#include "api/malloc.h"

#include <stdbool.h>

#include "api/export.h"
#include "api/fail.h"
#include "api/free.h"
#include "api/hit.h"
#include "api/realloc.h"
#include "api/request.h"
#include "blocks/slab.h"
#include "math/product.h"
#include "math/size_class.h"
#include "platform/countdown.h"
#include "platform/hints.h"
#include "platform/trap.h"

uint64_t realloc_zero_count;

/* ---- taking ------------------------------------------------------------------------------------------------------ */

/* Returns a block of that class that is no sample, aligned to align_bytes, or 0 without memory. Where there is none, the blocks that the
 * thread's cache holds go back, and their memory serves. */
/*@ requires ready:    MallocReady;
    requires power:    IsPowerOfTwo(align_bytes);
    requires class:    szind <= SC_NSIZES;
    REQUIRES_ALIGNS(szind, align_bytes);
    requires zeroed:   \valid(zeroed);
    EXITS_BOOT;
    assigns            MALLOC_ASSIGNS_HEAP, *zeroed;
    ensures  ok:       MallocOk;
    ENSURES_NEW_ADDRESS;
    ensures  empty:    \result == 0 ==> TcacheEmptyTo(thread_cache, TCACHE_STACKS);
    ENSURES_OF_CLASS(szind, align_bytes, zeroed);
*/
static __attribute__((noinline)) uint64_t block_take_unsampled(uint32_t szind, uint64_t align_bytes, bool *zeroed)
{
    struct tcache *t = thread_get();
    uint64_t       block = block_take_once(t, szind, align_bytes, zeroed);
    if (block == 0) {
        block_flush(t);
        block = block_take_once(t, szind, align_bytes, zeroed);
    }
    return block;
}

/* block_take for a block that is counted, and not due: from the thread's stack of its class if that has one. */
/*@ requires ready:    MallocReady;
    requires power:    IsPowerOfTwo(align_bytes);
    requires class:    szind <= SC_NSIZES;
    REQUIRES_ALIGNS(szind, align_bytes);
    requires zeroed:   \valid(zeroed);
    EXITS_BOOT;
    assigns            MALLOC_ASSIGNS_HEAP, *zeroed;
    ensures  ok:       MallocOk;
    ENSURES_NEW_ADDRESS;
    ENSURES_OF_CLASS(szind, align_bytes, zeroed);
*/
static inline uint64_t block_take_counted(uint32_t szind, uint64_t align_bytes, bool *zeroed)
{
    uint64_t block = szind + 1 < TCACHE_STACKS && align_bytes <= PAGE ? hit_pop(thread_cache, szind + 1) : 0;
    if (block == 0) {
        return block_take_unsampled(szind, align_bytes, zeroed);
    }
    /*@ ghost block_lemma_power(block, align_bytes); */
    *zeroed = false;
    return block;
}

/* Does what comes before a block that is due. The thread's calls go where the modes ask for it, and the thread comes past the clock if it
 * waits for pages. Returns its cache. */
/*@ requires ready:    MallocReady;
    requires class:    szind < SC_NSIZES;
    EXITS_BOOT;
    assigns            MALLOC_ASSIGNS_HEAP;
    ensures  ok:       MallocOk;
    ensures  mine:     \result == thread_cache;
    ENSURES_LIVE_KEPT(0, 0);
*/
static inline struct tcache *block_turn(uint32_t szind)
{
    struct tcache *t = thread_get();
    /*@ assert place: ThreadCache(t); */
    fill_meet(t);
    if (szind + 1 < TCACHE_STACKS && counting_for(t, COUNTER_WAITS)) {      /* larger ones come past the clock by themselves */
        block_tick(t);
    }
    return t;
}

/* Returns a block that is sampled, or another one. In a thread that checks what it frees, and counts for no sample, it comes from the thread's
 * stack if that has one. The rest is as above. */
/*@ requires ready:    MallocReady;
    requires power:    IsPowerOfTwo(align_bytes);
    requires class:    szind < SC_NSIZES;
    REQUIRES_ALIGNS(szind, align_bytes);
    requires zeroed:   \valid(zeroed);
    EXITS_BOOT;
    assigns            MALLOC_ASSIGNS_HEAP, *zeroed;
    ensures  ok:       MallocOk;
    ENSURES_NEW_ADDRESS;
    ENSURES_OF_CLASS(szind, align_bytes, zeroed);
*/
static inline uint64_t block_take_sampled(uint32_t szind, uint64_t align_bytes, bool *zeroed)
{
    uint64_t block = szind < SC_NBINS ? check_pop(thread_get(), szind) : 0;
    if (block != 0) {
        /*@ ghost if (szind < SC_NBINS) { block_lemma_power(block, align_bytes); } */
        *zeroed = false;
        return block;
    }
    struct tcache *t = block_turn(szind);
    /*@ assert place: ThreadCache(t); */
    uint64_t       sampled = block_sample(t, szind, align_bytes, zeroed);
    return sampled != 0 ? sampled : block_take_counted(szind, align_bytes, zeroed);
}

/* Returns a block that is due: one that may be sampled, and is filled and noted as live where modes ask for that. The rest is as above. */
/*@ requires ready:    MallocReady;
    requires power:    IsPowerOfTwo(align_bytes);
    requires class:    szind < SC_NSIZES;
    REQUIRES_ALIGNS(szind, align_bytes);
    requires zeroed:   \valid(zeroed);
    EXITS_BOOT;
    assigns            MALLOC_ASSIGNS, *zeroed;
    ensures  ok:       MallocOk;
    ENSURES_NEW_ADDRESS;
    ensures  contents: ContentsKeptBut{Pre,Post}(0);
    ensures  outside:  BytesKeptOutside{Pre,Post}(0, \result);
    ENSURES_OF_CLASS(szind, align_bytes, zeroed);
*/
static __attribute__((noinline)) uint64_t block_take_due(uint32_t szind, uint64_t align_bytes, bool *zeroed)
{
    uint64_t block = block_take_sampled(szind, align_bytes, zeroed);
    if (block != 0) {
        fill_new(block, size_class_bytes(szind), modes_new_byte(), zeroed);
        check_take(block);
        /*@ assert rest: ContentsKeptBut{Pre,Here}(0) && BytesKeptOutside{Pre,Here}(0, block); */
    }
    return block;
}

/* Counts the block, and returns one that is due or one that is not. The rest is as above. */
/*@ requires ready:    MallocReady;
    requires power:    IsPowerOfTwo(align_bytes);
    requires class:    szind <= SC_NSIZES;
    REQUIRES_ALIGNS(szind, align_bytes);
    requires zeroed:   \valid(zeroed);
    EXITS_BOOT;
    assigns            MALLOC_ASSIGNS, *zeroed;
    ensures  ok:       MallocOk;
    ENSURES_NEW_ADDRESS;
    ensures  contents: ContentsKeptBut{Pre,Post}(0);
    ensures  outside:  BytesKeptOutside{Pre,Post}(0, \result);
    ENSURES_OF_CLASS(szind, align_bytes, zeroed);
*/
static inline uint64_t block_take(uint32_t szind, uint64_t align_bytes, bool *zeroed)
{
    bool     due = szind < SC_NSIZES && countdown_due(size_class_bytes(szind));
    uint64_t block = due ? block_take_due(szind, align_bytes, zeroed) : block_take_counted(szind, align_bytes, zeroed);
    return block != 0 && counting(thread_cache) ? block_tell(block, szind) : block;
}

/* Returns a block for so many bytes, or 0 without memory. Like malloc, it counts small blocks only while the thread samples. */
/*@ requires ready:    MallocReady;
    requires zeroed:   \valid(zeroed);
    EXITS_BOOT;
    assigns            MALLOC_ASSIGNS, *zeroed;
    ensures  ok:       MallocOk;
    ENSURES_NEW_ADDRESS;
    ensures  contents: ContentsKeptBut{Pre,Post}(0);
    ensures  outside:  BytesKeptOutside{Pre,Post}(0, \result);
    ensures  class:    \result != 0 ==> BlockOf(\result, bytes);
    ensures  zero:     \result != 0 && *zeroed ==> OsZeroRun(\result, \result + BlockBytes(\result));
    ensures  out:      \result == 0 ==> MallocOut(bytes, 1);
*/
static inline uint64_t block_take_bytes(uint64_t bytes, bool *zeroed)
{
    *zeroed = false;
    uint64_t block = hit_take(thread_cache, bytes);
    if (block != 0) {
        return block;
    }
    /*@ ghost block_lemma_is_power(1, 0); */
    uint32_t szind = size_class_index(bytes);
    block = block_take(szind, 1, zeroed);
    /*@ ghost if (block == 0) { block_lemma_out(bytes, szind, 1); } */
    return block;
}

/* Returns a block of a cached class for a request that has been counted, and has found the thread's stack empty. */
/*@ requires ready:    MallocReady;
    requires class:    szind + 1 < TCACHE_STACKS && ClassOf(size, szind);
    EXITS_OUT(size, 1);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_MALLOC(size);
*/
static __attribute__((noinline)) void *malloc_counted(uint32_t szind) /*@ ghost (size_t size) */
{
    bool     zeroed;
    /*@ ghost block_lemma_is_power(1, 0); */
    uint64_t block = block_take_unsampled(szind, 1, &zeroed);
    block = block != 0 && counting_bytes(thread_cache) ? block_count(block, szind) : block;
    /*@ ghost if (block != 0) { block_lemma_found(block, size); } else { block_lemma_out(size, szind, 1); } */
    return (void *)block_or_fail(block, "malloc", size_class_bytes(szind));
}

/* Returns a block of a cached class for a request that has been counted. */
/*@ requires ready:    MallocReady;
    requires mine:     t == thread_cache;
    requires class:    szind + 1 < TCACHE_STACKS && ClassOf(size, szind);
    EXITS_OUT(size, 1);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_MALLOC(size);
*/
static inline void *malloc_cached(struct tcache *t, uint32_t szind) /*@ ghost (size_t size) */
{
    uint64_t block = hit_pop(t, szind + 1);
    /*@ ghost if (block != 0) { block_lemma_found(block, size); } */
    return block == 0 ? malloc_counted(szind) /*@ ghost (size) */
           : (void *)(counting_bytes(t) ? block_count(block, szind) : block);
}

/* Counts the request, and returns a block of any class. */
/*@ requires ready:    MallocReady;
    EXITS_OUT(size, 1);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_MALLOC(size);
*/
static __attribute__((noinline)) void *malloc_uncounted(size_t size)
{
    bool     zeroed;
    /*@ ghost block_lemma_is_power(1, 0); */
    uint32_t szind = size_class_index(size);
    uint64_t block = block_take(szind, 1, &zeroed);
    /*@ ghost if (block != 0) { block_lemma_found(block, size); } else { block_lemma_out(size, szind, 1); } */
    return (void *)block_or_fail(block, "malloc", size);
}

/*@ requires ready:    MallocReady;
    requires mine:     t == thread_cache;
    EXITS_OUT(size, 1);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_MALLOC(size);
*/
static __attribute__((noinline)) void *malloc_slow(size_t size, struct tcache *t)
{
    /*@ ghost malloc_lemma_ready(); */
    if (size > SC_LOOKUP_MAX) {
        bool runs = !COUNTDOWN_RUNS || countdown_runs();                /* not before boot, when tables tell nothing */
        if (size <= TCACHE_MAX && runs) {
            uint32_t szind = size_class_index(size);
            /*@ ghost ladder_lemma_rung(LG_PAGE - LG_QUANTUM + (LARGE_CACHED - 1) / SC_NGROUP, SC_NGROUP - 1); */
            /*@ assert last: ScBytes(TCACHE_STACKS - 2) == TCACHE_MAX; */
            /*@ assert cached: szind + 1 < TCACHE_STACKS; */
            if (!countdown_due(block_class_bytes(szind))) {
                return malloc_cached(t, szind) /*@ ghost (size) */;
            }
        }
    } else if (countdown_runs()) {                                      /* not while a mode asks for all allocations */
        /* The fast path has found no block, or a thread that counts down to its next sample comes from there. */
        uint64_t stack = tcache_stack_of(t, size);
        if (stack != 0 && !countdown_due(slab_bytes[stack - 1])) {
            return malloc_cached(t, (uint32_t)stack - 1) /*@ ghost (size) */;
        }
    }
    return malloc_uncounted(size);
}

/* Returns a block for a request that the thread counts down, and nothing else. */
/*@ requires ok:       MallocOk;
    requires mine:     t == thread_cache;
    requires small:    size <= SC_LOOKUP_MAX;
    EXITS_OUT(size, 1);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_MALLOC(size);
*/
static inline void *malloc_paced(size_t size, struct tcache *t)
{
    uint64_t stack = tcache_stack_of(t, size);
    if (!counting_passes(t, stack)) {
        return malloc_slow(size, t);
    }
    uint64_t block = tcache_pop(t, stack);
    /*@ ghost if (block != 0) { block_lemma_found(block, size); } */
    if (block == 0 && stack != 0) {
        return malloc_counted((uint32_t)stack - 1) /*@ ghost (size) */;
    }
    return block != 0 ? (void *)block : malloc_slow(size, t);
}

/* Returns a block for a request of a thread that counts its bytes, and nothing else. */
/*@ requires ok:       MallocOk;
    requires mine:     t == thread_cache;
    requires small:    size <= SC_LOOKUP_MAX;
    EXITS_OUT(size, 1);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_MALLOC(size);
*/
static inline void *malloc_added(size_t size, struct tcache *t)
{
    uint64_t stack = tcache_stack_of(t, size);
    uint64_t block = tcache_pop(t, stack);
    if (!LIKELY(block != 0)) {
        return malloc_slow(size, t);
    }
    /*@ ghost block_lemma_found(block, size); */
    counting_took(t, stack) /*@ ghost (block) */;
    return (void *)block;
}

/* Returns a block for a request of a thread whose frees are checked, and which counts it down. */
/*@ requires ok:       MallocOk;
    requires mine:     t == thread_cache;
    requires small:    size <= SC_LOOKUP_MAX;
    EXITS_OUT(size, 1);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_MALLOC(size);
*/
static inline void *malloc_checked(size_t size, struct tcache *t)
{
    uint64_t stack = tcache_stack_of(t, size);
    uint64_t block = !COUNTDOWN_RUNS || counting_passes(t, stack) ? tcache_pop(t, stack) : 0;
    if (!LIKELY(block != 0)) {
        return malloc_slow(size, t);
    }
    /*@ ghost block_lemma_found(block, size); */
    live_set(block);
    return (void *)block;
}

PUBLIC void *qed_malloc(size_t size)
{
    malloc_others();
    struct tcache *t = thread_cache;
    uint64_t       block = hit_take(t, size);
    if (LIKELY(block != 0)) {
        /*@ ghost block_lemma_found(block, size); */
        return (void *)block;
    }
    if (counting_paces(t, size)) {
        return malloc_paced(size, t);
    }
    if (counting_adds(t, size)) {
        return malloc_added(size, t);
    }
    return counting_checks(t, size) ? malloc_checked(size, t) : malloc_slow(size, t);
}

PUBLIC void *qed_calloc(size_t count, size_t size)
{
    malloc_others();
    bool zeroed;
    if (product_overflows(count, size)) {
        fail_large("calloc", SIZE_MAX);
        return NULL;
    }
    /*@ ghost align_lemma_product(0, count, size); */
    size_t bytes = count * size;
    uint64_t block = block_take_bytes(bytes, &zeroed);
    if (LIKELY(block != 0)) {
        /*@ ghost block_lemma_found(block, bytes); */
        block_zero(block, bytes, zeroed);
        /*@ assert rest: ContentsKeptBut{Pre,Here}(0) && BytesKeptOutside{Pre,Here}(0, block); */
    }
    return (void *)block_or_fail(block, "calloc", bytes);
}

/*@ requires ready:    MallocReady;
    requires power:    IsPowerOfTwo(align_bytes);
    EXITS_BOOT;
    assigns            MALLOC_ASSIGNS;
    ensures  ok:       MallocOk;
    ENSURES_BLOCK(\result != 0, \result);
    ensures  new:      !BlockLive{Pre}(\result);
    ENSURES_REST_KEPT(0, \result);
    ensures  class:    \result != 0 ==> BlockOf(\result, AlignedSize(align_bytes, size));
    ensures  fits:     \result != 0 ==> size <= BlockBytes(\result);
    ensures  aligned:  \result % align_bytes == 0;
    ensures  out:      \result == 0 ==> MallocOut(size, align_bytes);
*/
static __attribute__((noinline)) uint64_t block_take_aligned(size_t align_bytes, size_t size)
{
    bool     zeroed;
    /*@ ghost align_lemma_range(align_bytes); */
    uint32_t szind = request_class(align_bytes, size);
    uint64_t block = block_take(szind, align_bytes, &zeroed);
    /*@ ghost if (block != 0) { block_lemma_found(block, size); } else if (size <= SC_LARGE_MAXCLASS && align_bytes <= SC_LARGE_MAXCLASS) {
            block_lemma_waste_aligned(size, szind, align_bytes);
        } */
    return block;
}

PUBLIC void *qed_aligned_alloc(size_t alignment, size_t size)
{
    malloc_others();
    if (!is_power_of_two(alignment)) {
        errno = EINVAL;
        return NULL;
    }
    return (void *)block_or_fail(block_take_aligned(alignment, size), "aligned_alloc", size);
}

PUBLIC int qed_posix_memalign(void **block, size_t alignment, size_t size)
{
    malloc_others();
    if (!is_power_of_two(alignment) || alignment < sizeof(void *)) {
        return EINVAL;
    }
    /*@ ghost if (thread_booted) { block_lemma_ends(); } */
    uint64_t taken = block_take_aligned(alignment, size);
    if (taken == 0) {
        fail_ends("posix_memalign", size);
        return ENOMEM;
    }
    block_store(block, taken);
    return 0;
}

PUBLIC void *qed_memalign(size_t alignment, size_t size)
{
    malloc_others();
    /*@ ghost align_lemma_range(alignment); */
    if (alignment > SC_LARGE_MAXCLASS) {
        if (alignment > SIZE_MAX / 2 + 1) {
            errno = EINVAL;
        } else {
            fail_large("memalign", size);
        }
        return NULL;
    }
    return (void *)block_or_fail(block_take_aligned(align_power_above(alignment), size), "memalign", size);
}

PUBLIC void *qed_valloc(size_t size)
{
    malloc_others();
    /*@ ghost block_lemma_is_power(PAGE, LG_PAGE); */
    return (void *)block_or_fail(block_take_aligned(PAGE, size), "valloc", size);
}

PUBLIC void *qed_pvalloc(size_t size)
{
    malloc_others();
    if (size > SC_LARGE_MAXCLASS) {
        fail_large("pvalloc", size);
        return NULL;
    }
    /*@ ghost block_lemma_is_power(PAGE, LG_PAGE); */
    uint64_t up = align_up(size == 0 ? 1 : size, PAGE);
    /*@ ghost block_lemma_round(size == 0 ? 1 : size, PAGE, up); */
    return (void *)block_or_fail(block_take_aligned(PAGE, up), "pvalloc", size);
}

/* ---- giving back ------------------------------------------------------------------------------------------------- */

/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(block);
    EXITS_CHECKED;
    assigns            MALLOC_ASSIGNS;
    ENSURES_FREED(block);
*/
static __attribute__((noinline)) void free_slow(uint64_t block, const char *call)
{
    if (block != 0) {
        if (live_asked()) {
            free_live(block, call);
        } else {
            free_unchecked(block, call);
        }
    }
}

PUBLIC void qed_free(void *block)
{
    malloc_others();
    if (!LIKELY(hit_give(thread_cache, (uint64_t)block))) {
        free_slow((uint64_t)block, "free");
    }
}

/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(block);
    requires class:    block != 0 ==> szind < SC_NSIZES && block_szind[block] == szind;
    EXITS_CHECKED;
    assigns            MALLOC_ASSIGNS;
    ENSURES_FREED(block);
*/
static __attribute__((noinline)) void free_checked_slow(uint64_t block, uint32_t szind, const char *call)
{
    if (block == 0) {
        return;
    }
    (void)thread_get();
    check_ask(block, call);
    if (szind >= SC_NSIZES || size_class_bytes(szind) != block_usable(block, call)) {
        trap_misuse(call, "wrong size", block);
    }
    free_slow(block, call);
}

/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(block);
    requires class:    block != 0 ==> szind < SC_NSIZES && block_szind[block] == szind;
    EXITS_CHECKED;
    assigns            MALLOC_ASSIGNS;
    ENSURES_FREED(block);
*/
static __attribute__((noinline)) void free_checked(uint64_t block, uint32_t szind, const char *call)
{
    if (!hit_give_class(block, szind)) {
        free_checked_slow(block, szind, call);
    }
}

/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(block);
    requires size:     block != 0 ==> BlockOf(block, size);
    EXITS_CHECKED;
    assigns            MALLOC_ASSIGNS;
    ENSURES_FREED(block);
*/
static __attribute__((noinline)) void free_sized_slow(uint64_t block, size_t size)
{
    uint32_t szind = size_class_index(size);
    /*@ ghost if (block != 0) { block_lemma_least(size, block_szind[block], szind); } */
    free_checked(block, szind, "free_sized");
}

PUBLIC void qed_free_sized(void *block, size_t size)
{
    malloc_others();
    if (!LIKELY(hit_give_sized((uint64_t)block, size))) {
        free_sized_slow((uint64_t)block, size);
    }
}

PUBLIC void qed_free_aligned_sized(void *block, size_t alignment, size_t size)
{
    malloc_others();
    uint32_t szind = is_power_of_two(alignment) ? request_class(alignment, size) : SC_NSIZES;
    /*@ ghost if (block != NULL) { block_lemma_whole(ADDR(block), alignment); } */
    /*@ ghost if (block != NULL) { block_lemma_asked(alignment, size, block_szind[ADDR(block)], szind); } */
    free_checked((uint64_t)block, szind, "free_aligned_sized");
}

PUBLIC size_t qed_malloc_usable_size(void *block)
{
    malloc_others();
    return block_size((uint64_t)block, "malloc_usable_size");
}

/* ---- resizing ---------------------------------------------------------------------------------------------------- */

PUBLIC void *qed_realloc(void *block, size_t size)
{
    malloc_others();
    if (LIKELY(size != 0 && size <= SC_LOOKUP_MAX)) {
        const struct tcache *t = thread_cache;
        /*@ ghost malloc_lemma_ready(); */
        uint64_t             stack = tcache_stack_at(t, (uint64_t)block);
        if (LIKELY(stack != 0)) {
            uint64_t wanted = tcache_stack_of(t, size);
            if (LIKELY(wanted == stack)) {
                /*@ ghost block_lemma_found(ADDR(block), size); */
                return block;
            }
            if (wanted != 0) {                          /* no block gets another small class where it is */
                return realloc_move(block, size_class_bytes((uint32_t)stack - 1), size);
            }
        }
    }
    return realloc_slow(block, size);
}

PUBLIC void *qed_reallocarray(void *block, size_t count, size_t size)
{
    malloc_others();
    if (product_overflows(count, size)) {
        fail_large("reallocarray", SIZE_MAX);
        return NULL;
    }
    /*@ ghost align_lemma_product(0, count, size); */
    return qed_realloc(block, count * size);
}

/* ---- the standard names ------------------------------------------------------------------------------------------ */

EXPORT_FAMILY;
