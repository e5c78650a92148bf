/* mallocx: the extended API of jemalloc, made of the malloc family and of what that rests on. */
#include "api/mallocx.h"

#include "api/check.h"
#include "api/export.h"
#include "api/fail.h"
#include "api/hit.h"
#include "api/placed.h"
#include "api/request.h"
#include "blocks/arena.h"
#include "platform/trap.h"

#include "api/mallocx_lemmas.acsl"

/* ---- zeroes ------------------------------------------------------------------------------------------------------ */

/* Makes what a block has from there on zero. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    requires bytes:    bytes == BlockBytes(block) && from <= bytes;
    assigns            user_mem[0 .. USER_END - 1];
    ensures  ok:       MallocOk;
    ensures  zero:     ZeroBytes(block + from, block + bytes);
    ensures  prefix:   PrefixKept{Pre,Post}(block, block, from);
    ensures  contents: ContentsKeptBut{Pre,Post}(block);
    ensures  outside:  BytesKeptBeside{Pre,Post}(block, block + bytes);
*/
static inline void zero_rest(uint64_t block, uint64_t from, uint64_t bytes)
{
    /*@ ghost block_lemma_ends(); block_lemma_found(block, bytes); */
    user_zero(block + from, bytes - from, false);
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

/* Returns a block of that class whose usable bytes are all zero. Up to a page the blocks of a class whose size is a multiple of the alignment
 * are aligned by themselves, so that calloc serves, which does not write to pages that are zero. */
/*@ requires ready:    MallocReady;
    requires power:    IsPowerOfTwo(align_bytes) && align_bytes <= PAGE;
    requires class:    szind < SC_NSIZES;
    requires whole:    ScBytes(szind) % align_bytes == 0;
    EXITS_OUT(ScBytes(szind), 1);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_READY;
    ENSURES_NEW_BLOCK;
    ensures  class:    \result != NULL ==> block_szind[ADDR(\result)] == szind;
    ensures  aligned:  ADDR(\result) % align_bytes == 0;
    ensures  zero:     \result != NULL ==> ZeroBytes(ADDR(\result), ADDR(\result) + ScBytes(szind));
    ensures  error:    errno == (\result == NULL ? ENOMEM : \old(errno));
    ensures  out:      \result == NULL ==> MallocNull(ScBytes(szind), 1);
*/
static void *zero_of_class(uint32_t szind) /*@ ghost (uint64_t align_bytes) */
{
    /*@ ghost align_lemma_range(align_bytes); */
    void *block = qed_calloc(1, size_class_bytes(szind));
    /*@ ghost if (block != NULL) { block_lemma_own(ADDR(block), szind); block_lemma_power(ADDR(block), align_bytes); } */
    return block;
}

/* Returns a block of that class, aligned to more than a page, whose usable bytes are all zero. */
/*@ requires ready:    MallocReady;
    requires power:    IsPowerOfTwo(align_bytes) && PAGE < align_bytes;
    requires class:    szind < SC_NSIZES && ClassOf(AlignedSize(align_bytes, size), szind);
    EXITS_OUT(size, align_bytes);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_READY;
    ENSURES_NEW_BLOCK;
    ensures  class:    \result != NULL ==> block_szind[ADDR(\result)] == szind;
    ensures  aligned:  ADDR(\result) % align_bytes == 0;
    ensures  zero:     \result != NULL ==> ZeroBytes(ADDR(\result), ADDR(\result) + ScBytes(szind));
    ensures  error:    errno == (\result == NULL ? ENOMEM : \old(errno));
    ensures  out:      \result == NULL ==> MallocNull(size, align_bytes);
*/
static void *zero_above_page(uint64_t align_bytes, size_t size, uint32_t szind)
{
    void *block = qed_aligned_alloc(align_bytes, size);
    if (block != NULL) {
        /*@ ghost block_lemma_least(size < SC_LARGE_MINCLASS ? SC_LARGE_MINCLASS : size, block_szind[ADDR(block)], szind); */
        zero_rest((uint64_t)block, 0, size_class_bytes(szind));
        /*@ assert rest: ContentsKeptBut{Pre,Here}(0) && BytesKeptOutside{Pre,Here}(0, ADDR(block)); */
    }
    return block;
}

/* Returns a block whose usable bytes are all zero. */
/*@ requires ready:    MallocReady;
    requires power:    IsPowerOfTwo(align_bytes);
    EXITS_OUT(4 * size, 4 * align_bytes);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_READY;
    ENSURES_NEW_BLOCK;
    ensures  class:    \result != NULL ==> BlockOf(ADDR(\result), AlignedSize(align_bytes, size));
    ensures  fits:     \result != NULL ==> size <= BlockBytes(ADDR(\result));
    ensures  aligned:  ADDR(\result) % align_bytes == 0;
    ensures  zero:     \result != NULL ==> ZeroBytes(ADDR(\result), ADDR(\result) + BlockBytes(ADDR(\result)));
    ensures  error:    errno == (\result == NULL ? ENOMEM : \old(errno));
    ensures  out:      \result == NULL ==> MallocNull(4 * size, 4 * align_bytes);
*/
static void *mallocx_zero(uint64_t align_bytes, size_t size)
{
    uint32_t szind = request_class(align_bytes, size);
    /*@ ghost align_lemma_range(align_bytes); */
    /*@ ghost if (size <= SC_LARGE_MAXCLASS && align_bytes <= SC_LARGE_MAXCLASS) { block_lemma_waste_aligned(size, szind, align_bytes); } */
    if (szind >= SC_NSIZES) {
        fail_large("mallocx", size);
        return NULL;
    }
    return align_bytes > PAGE ? zero_above_page(align_bytes, size, szind) : zero_of_class(szind) /*@ ghost (align_bytes) */;
}

/* Returns a block of that class from the arena, past the thread's cache, aligned to align_bytes, or 0 without memory. */
/*@ REQUIRES_OF_ARENA(arena, szind, align_bytes);
    assigns            BLOCKS_ASSIGNS, large_allocated;
    ensures  ok:       MallocOk;
    ENSURES_NEW_ADDRESS;
    ensures  class:    \result != 0 ==> block_szind[\result] == szind;
    ensures  aligned:  \result % align_bytes == 0;
    ensures  from:     \result != 0 ==> BlockFrom(\result, arena);
    ensures  out:      \result == 0 ==> NoBlock(szind, align_bytes);
*/
static uint64_t mallocx_take_once(uint32_t arena, uint32_t szind, uint64_t align_bytes)
{
    bool zeroed;
    /*@ ghost align_lemma_range(align_bytes); */
    if (szind >= SC_NBINS) {
        return block_take_extent(arena, szind, align_bytes, &zeroed);
    }
    uint64_t block = block_take_region(arena, szind);
    /*@ ghost if (block != 0) { block_lemma_power(block, align_bytes); } */
    return block;
}

/* Counts a slow event and returns such a block. Where there is none, what the thread's cache holds goes back, and its memory serves. */
/*@ REQUIRES_OF_ARENA(arena, szind, align_bytes);
    assigns            MALLOC_ASSIGNS_HEAP;
    ensures  ok:       MallocOk;
    ENSURES_NEW_ADDRESS;
    ensures  class:    \result != 0 ==> block_szind[\result] == szind;
    ensures  aligned:  \result % align_bytes == 0;
    ensures  from:     \result != 0 ==> BlockFrom(\result, arena);
    ensures  empty:    \result == 0 ==> TcacheEmptyTo(thread_cache, TCACHE_STACKS);
    ensures  out:      \result == 0 ==> NoBlock(szind, align_bytes);
*/
static uint64_t mallocx_take(uint32_t arena, uint32_t szind, uint64_t align_bytes)
{
    struct tcache *t = thread_get();
    /*@ assert place: ThreadCache(t); */
    block_tick(t);
    uint64_t       block = mallocx_take_once(arena, szind, align_bytes);
    if (block == 0) {
        block_flush(t);
        /*@ assert empty: TcacheEmptyTo(t, TCACHE_STACKS); */
        block = mallocx_take_once(arena, szind, align_bytes);
        /*@ assert empty: TcacheEmptyTo(t, TCACHE_STACKS); */
    }
    return block;
}

/* Returns a block from the arena, past all caches or by way of the explicit cache that the flags name, or 0 without memory. Where that cache has
 * none and gets none, the arena is asked for this one block. */
/*@ REQUIRES_OF_ARENA(arena, szind, align_bytes);
    exits    cache:    FLAGS_CACHE_FIRST <= cache;
    assigns            MALLOC_ASSIGNS_HEAP;
    ensures  ok:       MallocOk;
    ENSURES_NEW_ADDRESS;
    ensures  class:    \result != 0 ==> block_szind[\result] == szind;
    ensures  aligned:  \result % align_bytes == 0;
    ensures  from:     \result != 0 && cache < FLAGS_CACHE_FIRST ==> BlockFrom(\result, arena);
    ensures  out:      \result == 0 ==> NoBlock(szind, align_bytes);
*/
static inline uint64_t mallocx_take_placed(uint32_t cache, uint32_t arena, uint32_t szind, uint64_t align_bytes)
{
    uint64_t block = 0;
    if (cache >= FLAGS_CACHE_FIRST && szind + 1 < TCACHE_STACKS && align_bytes <= PAGE) {
        block = cache_take_block(cache, arena, szind) /*@ ghost (align_bytes) */;
    }
    return block != 0 ? block : mallocx_take(arena, szind, align_bytes);
}

/* Returns a block from the arena, by way of the explicit cache if the flags name one, or NULL. If asked for, all usable bytes are zero. */
/*@ requires ok:       MallocOk;
    requires arena:    arena < ARENAS_MAX;
    requires power:    IsPowerOfTwo(align_bytes);
    exits    cache:    FLAGS_CACHE_FIRST <= cache || MallocEnds(4 * size, 4 * align_bytes);
    assigns            MALLOC_ASSIGNS, errno;
    ensures  ok:       MallocOk;
    ENSURES_NEW_BLOCK;
    ensures  class:    \result != NULL ==> BlockOf(ADDR(\result), AlignedSize(align_bytes, size));
    ensures  fits:     \result != NULL ==> size <= BlockBytes(ADDR(\result));
    ensures  aligned:  ADDR(\result) % align_bytes == 0;
    ensures  from:     \result != NULL && cache < FLAGS_CACHE_FIRST ==> BlockFrom(ADDR(\result), arena);
    ensures  zero:     \result != NULL && zero ==> ZeroBytes(ADDR(\result), ADDR(\result) + BlockBytes(ADDR(\result)));
    ensures  error:    errno == (\result == NULL ? ENOMEM : \old(errno));
    ensures  out:      \result == NULL ==> MallocNull(4 * size, 4 * align_bytes);
*/
static void *mallocx_from(uint32_t cache, uint32_t arena, uint64_t align_bytes, size_t size, bool zero)
{
    uint32_t szind = request_class(align_bytes, size);
    /*@ ghost align_lemma_range(align_bytes); */
    /*@ ghost if (size <= SC_LARGE_MAXCLASS && align_bytes <= SC_LARGE_MAXCLASS) { block_lemma_waste_aligned(size, szind, align_bytes); } */
    uint64_t block = szind < SC_NSIZES ? mallocx_take_placed(cache, arena, szind, align_bytes) : 0;
    if (block == 0) {
        fail_out("mallocx", size);
        return NULL;
    }
    /*@ ghost block_lemma_found(block, size); */
    if (counting(thread_cache)) {
        (void)block_tell(block, szind);
    }
    if (zero) {
        zero_rest(block, 0, size_class_bytes(szind));
    } else {
        bool zeroed = false;
        fill_new(block, size_class_bytes(szind), modes_new_byte(), &zeroed);
    }
    check_take(block);
    /*@ assert rest: ContentsKeptBut{Pre,Here}(0) && BytesKeptOutside{Pre,Here}(0, block); */
    return (void *)block;
}

/* mallocx without an arena and a cache. */
/*@ requires ready:    MallocReady;
    requires power:    IsPowerOfTwo(align_bytes);
    EXITS_OUT(4 * size, 4 * align_bytes);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_READY;
    ENSURES_NEW_BLOCK;
    ensures  class:    \result != NULL ==> BlockOf(ADDR(\result), AlignedSize(align_bytes, size));
    ensures  fits:     \result != NULL ==> size <= BlockBytes(ADDR(\result));
    ensures  aligned:  ADDR(\result) % align_bytes == 0;
    ensures  zero:     \result != NULL && zero ==> ZeroBytes(ADDR(\result), ADDR(\result) + BlockBytes(ADDR(\result)));
    ensures  error:    errno == (\result == NULL ? ENOMEM : \old(errno));
    ensures  out:      \result == NULL ==> MallocNull(4 * size, 4 * align_bytes);
*/
static inline void *mallocx_plain(uint64_t align_bytes, size_t size, bool zero)
{
    if (zero) {
        return mallocx_zero(align_bytes, size);
    }
    if (align_bytes == 1) {
        void *block = qed_malloc(size);
        /*@ ghost if (block != NULL && size == 0) { block_lemma_nothing(ADDR(block)); } */
        return block;
    }
    return qed_aligned_alloc(align_bytes, size);
}

/* mallocx for flags that name an arena or a cache. An arena that is not there, without a cache, changes nothing. */
/*@ requires ready:    MallocReady;
    requires align:    align_bytes == FlagsAlign(flags) && IsPowerOfTwo(align_bytes);
    exits    cache:    FlagsExplicit(flags) || MallocEnds(4 * size, 4 * FlagsAlign(flags)) || !\old(thread_booted);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_READY;
    ENSURES_NEW_BLOCK;
    ensures  class:    \result != NULL ==> BlockOf(ADDR(\result), FlagsSize(size, flags));
    ensures  fits:     \result != NULL ==> size <= BlockBytes(ADDR(\result));
    ensures  aligned:  ADDR(\result) % FlagsAlign(flags) == 0;
    ensures  from:     \result != NULL && \old(FlagsShared(flags)) && !FlagsExplicit(flags) ==> BlockFrom(ADDR(\result), FlagsArena(flags) - 1);
    ensures  zero:     \result != NULL && FlagsZero(flags) ==> ZeroBytes(ADDR(\result), ADDR(\result) + BlockBytes(ADDR(\result)));
    ensures  error:    errno == (\result == NULL ? ENOMEM : \old(errno));
    ensures  out:      \result == NULL ==> MallocNull(4 * size, 4 * FlagsAlign(flags));
*/
static __attribute__((noinline)) void *mallocx_placed(uint64_t align_bytes, size_t size, int flags)
{
    uint32_t cache = flags_cache(flags), named = flags_arena(flags);
    if (cache == 0 && named == ARENAS_MAX) {
        return mallocx_plain(align_bytes, size, flags_zero(flags));
    }
    uint32_t arena = thread_get()->arena;
    return mallocx_from(cache, named < ARENAS_MAX ? named : arena, align_bytes, size, flags_zero(flags));
}

PUBLIC void *qed_mallocx(size_t size, int flags)
{
    malloc_others();
    uint64_t align_bytes = flags_align(flags);
    return flags_place(flags) ? mallocx_placed(align_bytes, size, flags) : mallocx_plain(align_bytes, size, flags_zero(flags));
}

PUBLIC size_t qed_nallocx(size_t size, int flags)
{
    uint32_t szind = request_class(flags_align(flags), size);
    return szind < SC_NSIZES ? size_class_bytes(szind) : 0;
}

/* ---- giving back ------------------------------------------------------------------------------------------------- */

PUBLIC size_t qed_sallocx(const void *block, int flags)
{
    malloc_others();
    (void)flags;
    return block_size((uint64_t)block, "sallocx");
}

/* Fills a block that is to be freed, and counts it, as far as that is asked for. The block stays. */
/*@ requires ok:       MallocOk;
    requires mine:     own == thread_cache;
    requires live:     BlockLive(block);
    assigns            MALLOC_ASSIGNS;
    ensures  ok:       MallocOk;
    ensures  mine:     own == thread_cache;
    ensures  live:     BlockLive(block);
    ENSURES_REST_KEPT(block, 0);
*/
static inline void free_note(struct tcache *own, uint64_t block, const char *call)
{
    int32_t byte = modes_freed_byte();
    if (byte != MODES_NO_BYTE) {
        fill_freed(own, block, (uint8_t)byte, call);
    }
    if (counting_bytes(own)) {
        counting_give(own, block_usable(block, call)) /*@ ghost (block) */;
    }
}

/* Gives a block back to the explicit cache that the flags name, or past all caches. */
/*@ requires ok:       MallocOk;
    requires mine:     own == thread_cache;
    requires live:     BlockLive(block);
    requires cache:    FLAGS_CACHE_NONE <= cache;
    exits    unknown:  FLAGS_CACHE_FIRST <= cache;
    assigns            MALLOC_ASSIGNS_HEAP;
    ensures  ok:       MallocOk;
    ensures  gone:     !BlockLive(block);
    ENSURES_LIVE_KEPT(block, 0);
*/
static inline void free_give(struct tcache *own, uint64_t block, uint32_t cache, const char *call)
{
    /*@ assert place: ThreadCache(own); */
    if (cache == FLAGS_CACHE_NONE) {
        overflow_free_past(own, block, call);
    } else {
        cache_free(block, cache, call);
    }
}

/* Frees a block by way of the explicit cache that the flags name, or past all caches. One that is sampled goes the way of free. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    requires cache:    FLAGS_CACHE_NONE <= cache;
    exits    unknown:  live_on == 1 || FLAGS_CACHE_FIRST <= cache;
    assigns            MALLOC_ASSIGNS, errno;
    ensures  ok:       MallocOk;
    ensures  gone:     !BlockLive(block);
    ENSURES_REST_KEPT(block, 0);
    ensures  error:    errno == \old(errno);
*/
static __attribute__((noinline)) void free_placed(uint64_t block, uint32_t cache, const char *call)
{
    struct tcache *own = thread_get();
    if (prof_usable(block) != 0) {
        qed_free((void *)block);
    } else {
        if (live_asked()) {
            check_give(block, call);
        }
        free_note(own, block, call);
        free_give(own, block, cache, call);
    }
}

PUBLIC void qed_dallocx(void *block, int flags)
{
    malloc_others();
    uint32_t cache = flags_cache(flags);
    if (cache == 0) {
        qed_free(block);
    } else if (block != NULL) {
        free_placed((uint64_t)block, cache, "dallocx");
    }
}

/* Frees a block of that class, which the thread's stacks have not taken, or which the flags send elsewhere. */
/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(block);
    requires class:    block != 0 ==> szind < SC_NSIZES && block_szind[block] == szind;
    exits    cache:    live_on == 1 || FlagsExplicit(flags);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_FREED(block);
    ensures  error:    errno == \old(errno);
*/
static inline void sdallocx_past(uint64_t block, uint32_t szind, int flags)
{
    if (block == 0) {
        return;
    }
    (void)thread_get();
    check_ask(block, "sdallocx");
    if (szind >= SC_NSIZES || size_class_bytes(szind) != block_usable(block, "sdallocx")) {
        trap_misuse("sdallocx", "wrong size", block);
    }
    uint32_t cache = flags_cache(flags);
    if (cache == 0) {
        qed_free((void *)block);
    } else {
        free_placed(block, cache, "sdallocx");
    }
}

/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(ADDR(block));
    requires aligned:  ADDR(block) % FlagsAlign(flags) == 0;
    requires size:     block != NULL ==> BlockOf(ADDR(block), FlagsSize(size, flags));
    exits    cache:    live_on == 1 || FlagsExplicit(flags);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_FREED(ADDR(block));
    ensures  error:    errno == \old(errno);
*/
static __attribute__((noinline)) void sdallocx_slow(void *block, size_t size, int flags)
{
    uint64_t align_bytes = flags_align(flags);
    uint32_t szind = request_class(align_bytes, size);
    /*@ ghost if (block != NULL) {
            block_lemma_whole(ADDR(block), align_bytes);
            block_lemma_asked(align_bytes, size, block_szind[ADDR(block)], szind);
        } */
    if (flags_cache(flags) != 0 || !hit_give_class((uint64_t)block, szind)) {
        sdallocx_past((uint64_t)block, szind, flags);
    }
}

PUBLIC void qed_sdallocx(void *block, size_t size, int flags)
{
    malloc_others();
    if (!LIKELY(flags == 0 && hit_give_sized((uint64_t)block, size))) {
        sdallocx_slow(block, size, flags);
    }
}

/* ---- resizing ---------------------------------------------------------------------------------------------------- */

/* Moves the contents of a block to a new one and returns that, or returns NULL and keeps the block. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(ADDR(block));
    requires now:      bytes_now == BlockBytes(ADDR(block));
    exits    cache:    live_on == 1 || FlagsExplicit(flags) || MallocEnds(4 * size, 4 * FlagsAlign(flags));
    assigns            MALLOC_ASSIGNS, errno;
    ensures  ok:       MallocOk;
    ENSURES_BLOCK(\result != NULL, ADDR(\result));
    ensures  new:      !BlockLive{Pre}(ADDR(\result));
    ensures  gone:     \result != NULL ==> !BlockLive(ADDR(block));
    ENSURES_REST_KEPT(ADDR(block), ADDR(\result));
    ensures  prefix:   \result != NULL ==> PrefixKept{Pre,Post}(ADDR(\result), ADDR(block), \min(bytes_now, BlockBytes(ADDR(\result))));
    ensures  class:    \result != NULL ==> BlockOf(ADDR(\result), FlagsSize(size, flags));
    ensures  fits:     \result != NULL ==> size <= BlockBytes(ADDR(\result));
    ensures  aligned:  ADDR(\result) % FlagsAlign(flags) == 0;
    ensures  zero:     \result != NULL && FlagsZero(flags) ==> ZeroBytes(ADDR(\result) + bytes_now, ADDR(\result) + BlockBytes(ADDR(\result)));
    ensures  error:    errno == (\result == NULL ? ENOMEM : \old(errno));
    ENSURES_NOTHING_LOST(\result == NULL);
    ensures  out:      \result == NULL ==> MallocNull(4 * size, 4 * FlagsAlign(flags));
*/
static void *rallocx_move(void *block, uint64_t bytes_now, size_t size, int flags)
{
    void *moved = qed_mallocx(size, flags);
    if (moved != NULL) {
        uint64_t bytes = block_usable((uint64_t)moved, "rallocx");
        block_move((uint64_t)moved, (uint64_t)block, bytes_now < bytes ? bytes_now : bytes);
        /*@ assert rest: ContentsKeptBut{Pre,Here}(ADDR(block)) && BytesKeptOutside{Pre,Here}(ADDR(block), ADDR(moved)); */
        qed_dallocx(block, flags);
    }
    return moved;
}

/* Makes what a block that has stayed in place has beyond its old usable size zero, if that is asked for. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    requires bytes:    bytes == BlockBytes(block);
    assigns            user_mem[0 .. USER_END - 1];
    ensures  ok:       MallocOk;
    ensures  zero:     zero ==> ZeroBytes(block + bytes_now, block + bytes);
    ensures  prefix:   PrefixKept{Pre,Post}(block, block, \min(bytes_now, bytes));
    ensures  contents: ContentsKeptBut{Pre,Post}(block);
    ensures  outside:  BytesKeptBeside{Pre,Post}(block, block + bytes);
*/
static inline void rallocx_stay(uint64_t block, uint64_t bytes_now, uint64_t bytes, bool zero)
{
    if (zero && bytes > bytes_now) {
        zero_rest(block, bytes_now, bytes);
    }
}

/*@ requires ready:    MallocReady;
    requires valid:    BlockOrNull(ADDR(block));
    exits    cache:    live_on == 1 || FlagsExplicit(flags) || MallocEnds(4 * size, 4 * FlagsAlign(flags)) || !\old(thread_booted);
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_RALLOCX(block, size, flags);
*/
static __attribute__((noinline)) void *rallocx_slow(void *block, size_t size, int flags)
{
    if (block == NULL) {
        return qed_mallocx(size, flags);
    }
    (void)thread_get();
    uint64_t bytes_now = block_asked((uint64_t)block, "rallocx");
    /*@ assert now: bytes_now == BlockBytes{Pre}(ADDR(block)); */
    uint64_t align_bytes = flags_align(flags);
    uint32_t szind = request_class(align_bytes, size);
    if (align_down((uint64_t)block, align_bytes) != (uint64_t)block || !request_in_place((uint64_t)block, bytes_now, szind)) {
        return rallocx_move(block, bytes_now, size, flags);
    }
    /*@ ghost block_lemma_found(ADDR(block), size); */
    uint64_t bytes = size_class_bytes(szind);
    rallocx_stay((uint64_t)block, bytes_now, bytes, flags_zero(flags));
    /*@ assert bytes: PrefixKept{Pre,Here}(ADDR(block), ADDR(block), \min(bytes_now, bytes)); */
    return block;
}

PUBLIC void *qed_rallocx(void *block, size_t size, int flags)
{
    malloc_others();
    if (LIKELY(flags == 0 && size != 0 && size <= SC_LOOKUP_MAX)) {
        const struct tcache *t = thread_cache;
        /*@ ghost malloc_lemma_ready(); */
        uint64_t             stack = tcache_stack_at(t, (uint64_t)block);
        if (LIKELY(stack != 0 && tcache_stack_of(t, size) == stack)) {
            /*@ ghost block_lemma_found(ADDR(block), size); */
            return block;
        }
    }
    return rallocx_slow(block, size, flags);
}

/* Gives the block the class of the larger size, or of the smaller one, where it is, and returns its bytes then. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    requires now:      bytes_now == BlockBytes(block);
    requires order:    least <= most;
    assigns            BLOCKS_ASSIGNS, large_allocated, large_freed, user_mem[0 .. USER_END - 1];
    ensures  ok:       MallocOk;
    ensures  live:     BlockLive(block);
    ensures  bytes:    \result == BlockBytes(block);
    ensures  fits:     \result == bytes_now || least <= \result;
    ensures  most:     \result == bytes_now || BlockOf(block, least) || BlockOf(block, most);
    ensures  prefix:   PrefixKept{Pre,Post}(block, block, bytes_now);
    ENSURES_REST_KEPT(block, block);
*/
static uint64_t xallocx_in_place(uint64_t block, uint64_t bytes_now, uint64_t least, uint64_t most)
{
    uint32_t szind = size_class_index(most);
    if (request_in_place(block, bytes_now, szind)) {
        return size_class_bytes(szind);
    }
    szind = size_class_index(least);
    if (least < most && least > bytes_now && request_in_place(block, bytes_now, szind)) {
        return size_class_bytes(szind);
    }
    return bytes_now;
}

/*@ requires ok:       MallocOk;
    requires live:     BlockLive(ADDR(block));
    EXITS_CHECKED;
    assigns            MALLOC_ASSIGNS, errno;
    ENSURES_XALLOCX(block, size, extra, flags);
*/
static __attribute__((noinline)) size_t xallocx_slow(void *block, size_t size, size_t extra, int flags)
{
    (void)thread_get();
    uint64_t bytes_now = block_asked((uint64_t)block, "xallocx");
    if (align_down((uint64_t)block, flags_align(flags)) != (uint64_t)block) {
        return bytes_now;
    }
    uint64_t most = extra < SC_LARGE_MAXCLASS && size < SC_LARGE_MAXCLASS - extra ? size + extra : SC_LARGE_MAXCLASS;
    uint64_t bytes = xallocx_in_place((uint64_t)block, bytes_now, size < most ? size : most, most);
    /*@ assert fits: bytes == bytes_now || size <= bytes; */
    if (flags_zero(flags) && bytes > bytes_now) {
        zero_rest((uint64_t)block, bytes_now, bytes);
    }
    return bytes;
}

PUBLIC size_t qed_xallocx(void *block, size_t size, size_t extra, int flags)
{
    malloc_others();
    /*@ ghost malloc_lemma_ready(); */
    uint64_t stack = tcache_stack_at(thread_cache, (uint64_t)block);
    if (LIKELY(stack != 0 && stack <= SC_NBINS)) {              /* a small block keeps its class */
        return size_class_bytes((uint32_t)stack - 1);
    }
    return xallocx_slow(block, size, extra, flags);
}

/* ---- jemalloc's names -------------------------------------------------------------------------------------------- */

EXPORT(void *, mallocx, (size_t size, int flags));
EXPORT(void *, rallocx, (void *block, size_t size, int flags));
EXPORT(size_t, xallocx, (void *block, size_t size, size_t extra, int flags));
EXPORT(size_t, sallocx, (const void *block, int flags));
EXPORT(void, dallocx, (void *block, int flags));
EXPORT(void, sdallocx, (void *block, size_t size, int flags));
EXPORT(size_t, nallocx, (size_t size, int flags));
