/* malloc_steps: what the malloc family does past the thread's cache, which stays whole meanwhile, and with the bytes of
 * blocks. Each step is a call with what it leaves alone. */
#ifndef QED_API_MALLOC_STEPS_H
#define QED_API_MALLOC_STEPS_H

#include "api/malloc.h"
#include "heap/large.h"
#include "platform/user.h"

#include "malloc_lemmas.acsl"
#include "large_lemmas.acsl"
#include "tcache_steps_lemmas.acsl"

/* ---- past the thread's cache -------------------------------------------------------------------------------------- */

/* A block of an extent of its own, aligned to align_bytes. */
/*@ requires ok:       MallocOk;
    requires power:    IsPowerOfTwo(align_bytes);
    requires class:    SC_NBINS <= szind < SC_NSIZES;
    requires zeroed:   \valid(zeroed);
    terminates         \true;
    exits              \false;
    assigns            LARGE_ASSIGNS, large_allocated, *zeroed;
    ensures  ok:       MallocOk;
    ensures  live:     \result != 0 ==> BlockLive(\result);
    ensures  new:      !BlockLive{Pre}(\result);
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(\result);
    ensures  class:    \result != 0 ==> block_szind[\result] == szind;
    ensures  aligned:  \result % align_bytes == 0;
*/
static inline uint64_t block_take_extent(uint32_t szind, uint64_t align_bytes, bool *zeroed)
{
    /*@ assert were: TcacheOthers(thread_cache, TCACHE_BINS); */
    /*@ assert range: \forall integer b, i; TCACHE_IN(thread_cache, b, i) ==> i < TCACHE_SLOTS; */
    uint64_t block = large_alloc(szind, align_bytes, szind + 1 < TCACHE_BINS, zeroed);
    /*@ assert same: TcacheShapeSame{Pre,Here}(thread_cache); */
    /*@ ghost tcache_lemma_shape(thread_cache); */
    /*@ assert stacks: TcacheSame{Pre,Here}(thread_cache); */
    /*@ assert out: \forall integer b, i; TCACHE_IN(thread_cache, b, i) ==> BlockOut{Pre}(thread_cache->slot[i]); */
    /*@ assert are: TcacheOthers(thread_cache, TCACHE_BINS); */
    /*@ ghost tcache_lemma_stacks(thread_cache); */
    /*@ ghost tcache_lemma_ok(thread_cache); */
    return block;
}

/* Bytes of the block. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    terminates         \true;
    exits              \false;
    assigns            HEAP_ASSIGNS;
    ensures  ok:       MallocOk;
    ensures  live:     BlockLive(block);
    ensures  bytes:    \result == BlockBytes{Pre}(block);
    ensures  class:    block_szind[block] == \old(block_szind[block]);
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(0);
*/
static inline uint64_t block_usable(uint64_t block, const char *call)
{
    /*@ assert were: TcacheOthers(thread_cache, TCACHE_BINS); */
    /*@ assert range: \forall integer b, i; TCACHE_IN(thread_cache, b, i) ==> i < TCACHE_SLOTS; */
    uint64_t bytes = tcache_usable(block, call);
    /*@ assert same: TcacheShapeSame{Pre,Here}(thread_cache); */
    /*@ ghost tcache_lemma_shape(thread_cache); */
    /*@ assert stacks: TcacheSame{Pre,Here}(thread_cache); */
    /*@ assert out: \forall integer b, i; TCACHE_IN(thread_cache, b, i) ==> BlockOut{Pre}(thread_cache->slot[i]); */
    /*@ assert are: TcacheOthers(thread_cache, TCACHE_BINS); */
    /*@ ghost tcache_lemma_stacks(thread_cache); */
    /*@ ghost tcache_lemma_ok(thread_cache); */
    return bytes;
}

/* A large block gets another class where it is; false: it keeps its own. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    requires large:    SC_NBINS <= block_szind[block];
    requires class:    SC_NBINS <= szind < SC_NSIZES;
    terminates         \true;
    exits              \false;
    assigns            LARGE_ASSIGNS;
    ensures  ok:       MallocOk;
    ensures  live:     BlockLive(block);
    ensures  class:    block_szind[block] == (\result ? szind : \old(block_szind[block]));
    ensures  kept:     LiveKeptBut{Pre,Post}(block);
    ensures  only:     LiveNoneNewBut{Pre,Post}(0);
*/
static inline bool block_resize(uint64_t block, uint32_t szind)
{
    /*@ assert were: TcacheOthers(thread_cache, TCACHE_BINS); */
    /*@ assert absent: \forall integer b, i; TCACHE_IN(thread_cache, b, i) ==> thread_cache->slot[i] != block && i < TCACHE_SLOTS; */
    bool done = large_resize(block, szind);
    /*@ assert same: TcacheShapeSame{Pre,Here}(thread_cache); */
    /*@ ghost tcache_lemma_shape(thread_cache); */
    /*@ assert stacks: TcacheSame{Pre,Here}(thread_cache); */
    /*@ assert out: \forall integer b, i; TCACHE_IN(thread_cache, b, i) ==> BlockOut{Pre}(thread_cache->slot[i]); */
    /*@ assert are: TcacheOthers(thread_cache, TCACHE_BINS); */
    /*@ ghost tcache_lemma_stacks(thread_cache); */
    /*@ ghost tcache_lemma_ok(thread_cache); */
    return done;
}

/* The program's pointer gets a block. */
/*@ requires ok:       MallocOk;
    requires valid:    \valid(pointer);
    requires outside:  ThreadOutside(pointer);
    terminates         \true;
    exits              \false;
    assigns            *pointer;
    ensures  ok:       MallocOk;
    ensures  set:      ADDR(*pointer) == block;
*/
static inline void block_store(void **pointer, uint64_t block)
{
    *pointer = (void *)block;
    /*@ assert radix: RadixOk; */
    /*@ assert cache: PageCacheOk; */
    /*@ ghost large_lemma_ok(); */
    /*@ assert window: TcacheWindow(thread_cache); */
    /*@ ghost tcache_lemma_ok(thread_cache); */
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

/* The first bytes of a block are zero now. */
/*@ requires heap:     HeapOk;
    requires live:     BlockLive(block);
    requires fits:     bytes <= BlockBytes(block);
    terminates         \true;
    exits              \false;
    assigns            user_mem[0 .. USER_END - 1];
    ensures  zero:     ZeroBytes(block, block + bytes);
    ensures  contents: ContentsKeptBut{Pre,Post}(block);
*/
static inline void block_zero(uint64_t block, uint64_t bytes, bool already)
{
    /*@ ghost block_lemma_ends(); */
    /*@ ghost block_lemma_found(block, bytes); */
    user_zero(block, bytes, already);
}

/* The first bytes of a block come into another one. */
/*@ requires heap:     HeapOk;
    requires live:     BlockLive(to) && BlockLive(from) && to != from;
    requires fits:     bytes <= BlockBytes(to) && bytes <= BlockBytes(from);
    terminates         \true;
    exits              \false;
    assigns            user_mem[0 .. USER_END - 1];
    ensures  prefix:   PrefixKept{Pre,Post}(to, from, bytes);
    ensures  contents: \forall integer b; b != to && b != from && BlockLive(b) ==> BytesKept{Pre,Post}(b);
*/
static inline void block_move(uint64_t to, uint64_t from, uint64_t bytes)
{
    /*@ ghost block_lemma_ends(); */
    /*@ ghost block_lemma_found(to, bytes); */
    /*@ ghost block_lemma_found(from, bytes); */
    user_move(to, from, bytes);
}

#endif
