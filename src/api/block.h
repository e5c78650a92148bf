/* block: what the malloc family does past the thread's cache, and what it does with the bytes of blocks. Most functions are one call, with
 * the proof that the thread's cache stays whole. */
#ifndef QED_API_BLOCK_H
#define QED_API_BLOCK_H

#include "tcache/overflow.h"
#include "tcache/refill.h"
#include "api/malloc.h"
#include "tcache/outside.h"
#include "blocks/large.h"
#include "blocks/slab.h"
#include "math/size_class.h"
#include "platform/user.h"
#include "prof/prof.h"
#include "tcache/counting.h"

#include "api/malloc_lemmas.acsl"
#include "blocks/large_lemmas.acsl"
#include "tcache/stack_lemmas.acsl"
#include "tcache/overflow_lemmas.acsl"

/* ---- past the thread's cache -------------------------------------------------------------------------------------- */

/* Counts a slow event of the thread whose cache that is. */
/*@ requires ok:       MallocOk;
    requires mine:     t == thread_cache;
    assigns            MALLOC_ASSIGNS_HEAP, *t;
    ensures  ok:       MallocOk;
    ensures  mine:     t == thread_cache;
    ensures  empty:    \old(TcacheEmptyTo(t, TCACHE_STACKS)) ==> TcacheEmptyTo(t, TCACHE_STACKS);
    ENSURES_LIVE_KEPT(0, 0);
*/
static inline void block_tick(struct tcache *t)
{
    refill_tick(t);
    /*@ assert arena: t->arena == \at(t->arena,Pre); */
    /*@ assert mine: ThreadMine; */
}

/* Gives back all blocks that the thread's cache holds, so that a call without memory can ask once more. What the OS has refused before does not
 * count any more, so that the call fails only where the OS refuses again. */
/*@ requires ok:       MallocOk;
    requires mine:     t == thread_cache;
    assigns            MALLOC_ASSIGNS_HEAP, *t;
    ensures  ok:       MallocOk;
    ensures  same:     thread_cache == t;
    ensures  empty:    \forall integer b; TCACHE_STACK(b) ==> t->top[b] == t->floor[b];
    ensures  again:    os_refused == 0;
    ENSURES_LIVE_KEPT(0, 0);
*/
static inline void block_flush(struct tcache *t)
{
    refill_flush(t);
    /*@ ghost os_refused = 0; */
    /*@ assert arena: t->arena == \at(t->arena,Pre); */
    /*@ assert mine: ThreadMine; */
}

/* Returns a sampled block of that class, aligned to align_bytes, for a request that is due, or 0 where the program is to get an ordinary one. */
/*@ requires ok:       MallocOk;
    requires mine:     t == thread_cache;
    requires power:    IsPowerOfTwo(align_bytes);
    requires class:    szind < SC_NSIZES;
    requires zeroed:   \valid(zeroed);
    assigns            MALLOC_ASSIGNS_HEAP, *t, *zeroed;
    ensures  ok:       MallocOk;
    ENSURES_NEW_ADDRESS;
    ensures  class:    \result != 0 ==> block_szind[\result] == szind;
    ensures  aligned:  \result % align_bytes == 0;
    ensures  zero:     \result != 0 && *zeroed ==> OsZeroRun(\result, \result + ScBytes(szind));
*/
static inline uint64_t block_sample(struct tcache *t, uint32_t szind, uint64_t align_bytes, bool *zeroed)
{
    uint64_t block = prof_take(t, szind, align_bytes, zeroed);
    /*@ assert arena: t->arena == \at(t->arena,Pre); */
    /*@ assert mine: ThreadMine; */
    return block;
}

/* Returns a large block of that class from the arena, aligned to align_bytes, or 0 without memory. */
/*@ requires ok:       MallocOk;
    requires power:    IsPowerOfTwo(align_bytes);
    requires class:    SC_NBINS <= szind < SC_NSIZES;
    requires zeroed:   \valid(zeroed);
    assigns            LARGE_ASSIGNS, large_allocated, *zeroed;
    ensures  ok:       MallocOk;
    ENSURES_NEW_ADDRESS;
    ensures  class:    \result != 0 ==> block_szind[\result] == szind;
    ensures  aligned:  \result % align_bytes == 0;
    ensures  zero:     LargeZero(\result, szind, *zeroed);
    ensures  from:     \result != 0 ==> BlockFrom(\result, arena);
    ensures  out:      \result == 0 ==> NoBlock(szind, align_bytes);
*/
static inline uint64_t block_take_extent(uint32_t arena, uint32_t szind, uint64_t align_bytes, bool *zeroed)
{
    /*@ assert were: TcacheOthers(thread_cache, TCACHE_STACKS); */
    /*@ ghost tcache_lemma_types(thread_cache); */
    /*@ assert range: \forall integer b, i; TCACHE_IN(thread_cache, b, i) ==> i < TCACHE_SLOTS; */
    uint64_t block = large_alloc(arena_pages(arena), szind, align_bytes, szind + 1 < TCACHE_STACKS, zeroed);
    /*@ assert same: TcacheShapeSame{Pre,Here}(thread_cache); */
    /*@ ghost tcache_lemma_shape(thread_cache); */
    /*@ assert stacks: TcacheSame{Pre,Here}(thread_cache); */
    /*@ assert out: \forall integer b, i; TCACHE_IN(thread_cache, b, i) ==> BlockOut{Pre}(thread_cache->slot[i]); */
    /*@ assert are: TcacheOthers(thread_cache, TCACHE_STACKS); */
    /*@ ghost stack_lemma_kept(thread_cache); */
    /*@ ghost stack_lemma_null(); */
    /*@ assert all: TcacheAll(thread_cache); */
    return block;
}

/* Returns a block of a class that passes through the thread caches, or 0 without memory. */
/*@ requires ok:       MallocOk;
    requires mine:     t == thread_cache;
    requires stack:    0 < stack < TCACHE_STACKS;
    assigns            MALLOC_ASSIGNS_HEAP, *t;
    ensures  ok:       MallocOk;
    ensures  same:     thread_cache == t;
    ENSURES_NEW_ADDRESS;
    ensures  class:    \result != 0 ==> block_szind[\result] == stack - 1;
    ensures  empty:    \result == 0 && \old(TcacheEmptyTo(t, TCACHE_STACKS)) ==> TcacheEmptyTo(t, TCACHE_STACKS);
    ensures  out:      \result == 0 ==> NoBlock(stack - 1, 1);
*/
static inline uint64_t block_take_cached(struct tcache *t, uint32_t stack)
{
    uint64_t block = tcache_pop(t, stack);
    block = block != 0 ? block : refill(t, stack);
    /*@ assert arena: t->arena == \at(t->arena,Pre); */
    /*@ assert mine: ThreadMine; */
    return block;
}

/* Counts a slow event and returns a large block of that class, or 0 without memory. Class SC_NSIZES is no class, and gives 0. */
/*@ requires ok:       MallocOk;
    requires mine:     t == thread_cache;
    requires power:    IsPowerOfTwo(align_bytes);
    requires class:    SC_NBINS <= szind <= SC_NSIZES;
    requires zeroed:   \valid(zeroed);
    assigns            MALLOC_ASSIGNS_HEAP, *t, *zeroed;
    ensures  ok:       MallocOk;
    ensures  same:     thread_cache == t;
    ENSURES_NEW_ADDRESS;
    ensures  class:    \result != 0 ==> block_szind[\result] == szind;
    ensures  aligned:  \result % align_bytes == 0;
    ensures  zero:     LargeZero(\result, szind, *zeroed);
    ensures  empty:    \result == 0 && \old(TcacheEmptyTo(t, TCACHE_STACKS)) ==> TcacheEmptyTo(t, TCACHE_STACKS);
    ensures  out:      \result == 0 ==> NoBlock(szind, align_bytes);
*/
static inline uint64_t block_take_large(struct tcache *t, uint32_t szind, uint64_t align_bytes, bool *zeroed)
{
    /*@ ghost align_lemma_range(align_bytes); */
    block_tick(t);
    return szind < SC_NSIZES ? block_take_extent(t->arena, szind, align_bytes, zeroed) : 0;
}

/* Returns a block of that class that is no sample, aligned to align_bytes, which is a power of two, or 0 without memory. Class SC_NSIZES is no
 * class, and gives 0. Up to PAGE the blocks of a class whose size is a multiple of align_bytes are aligned to it. Above
 * PAGE only large blocks can be. */
/*@ requires ok:       MallocOk;
    requires mine:     t == thread_cache;
    requires power:    IsPowerOfTwo(align_bytes);
    requires class:    szind <= SC_NSIZES;
    REQUIRES_ALIGNS(szind, align_bytes);
    requires zeroed:   \valid(zeroed);
    assigns            MALLOC_ASSIGNS_HEAP, *t, *zeroed;
    ensures  ok:       MallocOk;
    ensures  same:     thread_cache == t;
    ENSURES_NEW_ADDRESS;
    ensures  empty:    \result == 0 && \old(TcacheEmptyTo(t, TCACHE_STACKS)) ==> TcacheEmptyTo(t, TCACHE_STACKS);
    ENSURES_OF_CLASS(szind, align_bytes, zeroed);
*/
static inline uint64_t block_take_once(struct tcache *t, uint32_t szind, uint64_t align_bytes, bool *zeroed)
{
    /*@ ghost align_lemma_range(align_bytes); */
    *zeroed = false;
    if (szind + 1 >= TCACHE_STACKS || align_bytes > PAGE) {
        return block_take_large(t, szind, align_bytes, zeroed);
    }
    uint64_t block = block_take_cached(t, szind + 1);
    /*@ ghost if (block != 0) { block_lemma_power(block, align_bytes); } */
    return block;
}

/* Returns a small block of that class from the arena's bin, or 0 without memory. */
/*@ requires ok:       MallocOk;
    requires arena:    arena < ARENAS_MAX;
    requires class:    szind < SC_NBINS;
    assigns            BLOCKS_ASSIGNS;
    ensures  ok:       MallocOk;
    ENSURES_NEW_ADDRESS;
    ensures  class:    \result != 0 ==> block_szind[\result] == szind;
    ensures  from:     \result != 0 ==> BlockFrom(\result, arena);
    ensures  out:      \result == 0 ==> MemoryOut(PAGE_COUNT_MAX);
*/
static inline uint64_t block_take_region(uint32_t arena, uint32_t szind)
{
    /*@ assert were: TcacheOthers(thread_cache, TCACHE_STACKS); */
    /*@ ghost tcache_lemma_types(thread_cache); */
    /*@ assert range: \forall integer b, i; TCACHE_IN(thread_cache, b, i) ==> i < TCACHE_SLOTS; */
    uint64_t block = outside_take_small(arena, szind + 1);
    /*@ assert same: TcacheShapeSame{Pre,Here}(thread_cache); */
    /*@ ghost tcache_lemma_shape(thread_cache); */
    /*@ assert stacks: TcacheSame{Pre,Here}(thread_cache); */
    /*@ assert out: \forall integer b, i; TCACHE_IN(thread_cache, b, i) ==> BlockOut{Pre}(thread_cache->slot[i]); */
    /*@ assert are: TcacheOthers(thread_cache, TCACHE_STACKS); */
    /*@ ghost stack_lemma_kept(thread_cache); */
    /*@ ghost stack_lemma_null(); */
    /*@ assert all: TcacheAll(thread_cache); */
    return block;
}

/* Returns the bytes of the block. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    assigns            BLOCKS_ASSIGNS;
    ensures  ok:       MallocOk;
    ensures  live:     BlockLive(block);
    ensures  bytes:    \result == BlockBytes{Pre}(block);
    ensures  class:    block_szind[block] == \old(block_szind[block]);
    ENSURES_LIVE_KEPT(0, 0);
*/
static inline uint64_t block_usable(uint64_t block, const char *call)
{
    /*@ assert were: TcacheOthers(thread_cache, TCACHE_STACKS); */
    /*@ ghost tcache_lemma_types(thread_cache); */
    /*@ assert range: \forall integer b, i; TCACHE_IN(thread_cache, b, i) ==> i < TCACHE_SLOTS; */
    /*@ ghost overflow_lemma_out(block); */
    uint64_t sampled = prof_usable(block);
    uint64_t bytes = sampled != 0 ? sampled : overflow_usable(block, call);
    /*@ assert same: TcacheShapeSame{Pre,Here}(thread_cache); */
    /*@ ghost tcache_lemma_shape(thread_cache); */
    /*@ assert stacks: TcacheSame{Pre,Here}(thread_cache); */
    /*@ assert out: \forall integer b, i; TCACHE_IN(thread_cache, b, i) ==> BlockOut{Pre}(thread_cache->slot[i]); */
    /*@ assert are: TcacheOthers(thread_cache, TCACHE_STACKS); */
    /*@ ghost stack_lemma_kept(thread_cache); */
    /*@ ghost stack_lemma_null(); */
    /*@ assert all: TcacheAll(thread_cache); */
    return bytes;
}

/* Gives a large block another class where it is, and returns true. Returns false where it has to keep its own. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    requires large:    SC_NBINS <= block_szind[block];
    requires class:    SC_NBINS <= szind < SC_NSIZES;
    assigns            LARGE_ASSIGNS, large_allocated, large_freed;
    ensures  ok:       MallocOk;
    ensures  live:     BlockLive(block);
    ensures  class:    block_szind[block] == (\result ? szind : \old(block_szind[block]));
    ENSURES_LIVE_KEPT(block, 0);
*/
static inline bool block_resize(uint64_t block, uint32_t szind)
{
    /*@ assert were: TcacheOthers(thread_cache, TCACHE_STACKS); */
    /*@ ghost tcache_lemma_types(thread_cache); */
    /*@ assert absent: \forall integer b, i; TCACHE_IN(thread_cache, b, i) ==> thread_cache->slot[i] != block && i < TCACHE_SLOTS; */
    enum prof_resized said = prof_resize(thread_cache, block, szind);
    bool done = said == PROF_RESIZED || (said == PROF_ORDINARY && large_resize(block, szind));
    /*@ assert same: TcacheShapeSame{Pre,Here}(thread_cache); */
    /*@ ghost tcache_lemma_shape(thread_cache); */
    /*@ assert stacks: TcacheSame{Pre,Here}(thread_cache); */
    /*@ assert out: \forall integer b, i; TCACHE_IN(thread_cache, b, i) ==> BlockOut{Pre}(thread_cache->slot[i]); */
    /*@ assert are: TcacheOthers(thread_cache, TCACHE_STACKS); */
    /*@ ghost stack_lemma_kept(thread_cache); */
    /*@ ghost stack_lemma_null(); */
    /*@ assert cached: \forall integer a; 0 <= a < ADDRESS_MAX && block_state[a] == BLOCK_CACHED ==> a != block && BlockSame{Pre,Here}(a); */
    /*@ assert all: TcacheAll(thread_cache); */
    return done;
}

/* Writes the address of a block into the program's pointer. */
/*@ requires ok:       MallocOk;
    requires valid:    \valid(pointer);
    requires outside:  ThreadOutside(pointer);
    assigns            *pointer, user_mem[0 .. USER_END - 1], os_zero_over;
    ensures  ok:       MallocOk;
    ensures  set:      ADDR(*pointer) == block;
    ensures  rest:     BytesKeptBeside{Pre,Post}(ADDR(pointer), ADDR(pointer) + sizeof(void *));
*/
static inline void block_store(void **pointer, uint64_t block)
{
    user_store(pointer, block);
    /*@ assert radix: RadixOk; */
    /*@ assert cache: PageCacheOk; */
    /*@ ghost large_lemma_ok(); */
    /*@ assert window: TcacheWindow(thread_cache); */
    /*@ ghost tcache_lemma_ok(thread_cache); */
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

/* Makes the first bytes of a block zero. already says that they are. */
/*@ requires blocks:   BlocksOk;
    requires live:     BlockLive(block);
    requires fits:     bytes <= BlockBytes(block);
    requires already:  already ==> OsZeroRun(block, block + bytes);
    assigns            user_mem[0 .. USER_END - 1];
    ensures  zero:     ZeroBytes(block, block + bytes);
    ensures  contents: ContentsKeptBut{Pre,Post}(block);
    ensures  outside:  BytesKeptBeside{Pre,Post}(block, block + bytes);
*/
static inline void block_zero(uint64_t block, uint64_t bytes, bool already)
{
    /*@ ghost block_lemma_ends(); */
    /*@ ghost block_lemma_found(block, bytes); */
    user_zero(block, bytes, already);
}

/* Copies the first bytes of a block into another block. */
/*@ requires blocks:   BlocksOk;
    requires live:     BlockLive(to) && BlockLive(from) && to != from;
    requires fits:     bytes <= BlockBytes(to) && bytes <= BlockBytes(from);
    assigns            user_mem[0 .. USER_END - 1], os_zero_over;
    ensures  prefix:   PrefixKept{Pre,Post}(to, from, bytes);
    ensures  tail:     \forall integer a; to + bytes <= a < to + BlockBytes(to) ==> user_mem[a] == \old(user_mem[a]);
    ensures  contents: \forall integer b; b != to && b != from && BlockLive(b) ==> BytesKept{Pre,Post}(b);
    ensures  outside:  \forall integer a; 0 <= a < USER_END && !(to <= a < to + bytes) && !(from <= a < from + bytes) ==>
                           user_mem[a] == \old(user_mem[a]);
*/
static inline void block_move(uint64_t to, uint64_t from, uint64_t bytes)
{
    /*@ ghost block_lemma_ends(); */
    /*@ ghost block_lemma_found(to, bytes); */
    /*@ ghost block_lemma_found(from, bytes); */
    user_move(to, from, bytes);
}

/* Returns the bytes of a block of that class. Those of small classes stand in a table, which boot fills. */
/*@ requires ready:    MallocReady;
    requires class:    szind < SC_NSIZES;
    assigns            \nothing;
    ensures  bytes:    thread_booted ==> \result == ScBytes(szind);
*/
static inline uint64_t block_class_bytes(uint32_t szind)
{
    return szind < SC_NBINS ? slab_bytes[szind] : size_class_bytes(szind);
}

/* Counts the bytes of a block that the program has just got, in a thread that counts. Returns the block. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    requires class:    szind < SC_NSIZES && block_szind[block] == szind;
    requires counts:   thread_cache->lookup_end == 0;
    assigns            \nothing;
    ensures  same:     \result == block;
*/
static __attribute__((noinline)) uint64_t block_count(uint64_t block, uint32_t szind)
{
    counting_take(thread_cache, block_class_bytes(szind)) /*@ ghost (block) */;
    return block;
}

/* Counts the bytes of a block that the program has just got, if its thread counts. Returns the block. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    requires class:    szind < SC_NSIZES && block_szind[block] == szind;
    assigns            \nothing;
    ensures  same:     \result == block;
*/
static __attribute__((noinline)) uint64_t block_tell(uint64_t block, uint32_t szind)
{
    return counting_bytes(thread_cache) ? block_count(block, szind) : block;
}

#endif
