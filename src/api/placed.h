/* placed: blocks for which flags of the extended API name an arena or a thread cache. */
#ifndef QED_API_PLACED_H
#define QED_API_PLACED_H

#include "api/block.h"
#include "api/mallocx.h"
#include "tcache/explicit.h"

/* ---- flags ------------------------------------------------------------------------------------------------------- */

#define FLAGS_BITS 4294967296L          /* what makes every int positive and leaves its low bits */
#define FLAGS_ARENA 1048576UL           /* the bits from here on are the number of an arena, plus 1 */
#define FLAGS_CACHE 256UL               /* the 12 bits from here on say which thread cache: 0 is the thread's own */
#define FLAGS_CACHE_NONE 1U             /* this value stands for no cache */
#define FLAGS_CACHE_FIRST 2U            /* an explicit cache is its number plus this */

/*@ assigns            \nothing;
    ensures  is:       \result == FlagsAlign(flags);
    ensures  power:    IsPowerOfTwo(\result);
*/
static inline uint64_t flags_align(int flags)
{
    uint32_t lg = (uint32_t)((uint64_t)(flags + FLAGS_BITS) % 64);
    /*@ ghost align_lemma_order(lg, 63); */
    /*@ ghost block_lemma_is_power(1UL << lg, lg); */
    return 1UL << lg;
}

/*@ assigns            \nothing;
    ensures  is:       \result <==> FlagsZero(flags);
*/
static inline bool flags_zero(int flags)
{
    return (uint64_t)(flags + FLAGS_BITS) / 64 % 2 == 1;
}

/* Returns the arena that the flags name, or ARENAS_MAX where they name none, or one that serves no thread. */
/*@ assigns            \nothing;
    ensures  range:    \result <= ARENAS_MAX;
    ensures  named:    \result < ARENAS_MAX ==> \result == FlagsArena(flags) - 1;
    ensures  shared:   FlagsShared(flags) ==> \result == FlagsArena(flags) - 1;
*/
static inline uint32_t flags_arena(int flags)
{
    uint32_t n = (uint32_t)((uint64_t)(flags + FLAGS_BITS) / FLAGS_ARENA % 4096);
    return n != 0 && arena_serves(n - 1) ? n - 1 : ARENAS_MAX;
}

/*@ assigns            \nothing;
    ensures  is:       \result == FlagsCache(flags);
*/
static inline uint32_t flags_cache(int flags)
{
    return (uint32_t)((uint64_t)(flags + FLAGS_BITS) / FLAGS_CACHE % 4096);
}

/* Returns whether the flags say anything but an alignment and zeroes. */
/*@ assigns            \nothing;
    ensures  none:     !\result ==> FlagsCache(flags) == 0;
    ensures  shared:   !\result ==> FlagsArena(flags) == 0;
*/
static inline bool flags_place(int flags)
{
    return (uint64_t)(flags + FLAGS_BITS) / FLAGS_CACHE % 16777216 != 0;
}

/* ---- explicit caches --------------------------------------------------------------------------------------------- */

/* Returns the explicit cache that the flags name, for blocks of the arena. The thread's own cache is aside then. */
/*@ requires ok:       MallocOk;
    requires arena:    arena < ARENAS_MAX;
    requires own:      own == thread_cache;
    requires cache:    FLAGS_CACHE_FIRST <= cache;
    exits    unknown:  \true;
    assigns            EXPLICIT_ASSIGNS;
    ensures  lock:     LocksFree(0);
    ensures  blocks:   BlocksOk;
    ensures  lent:     ExplicitLent(\result, cache - FLAGS_CACHE_FIRST);
    ensures  aside:    ExplicitAside(own);
    ensures  joined:   ThreadJoined(own);
    ensures  bare:     ThreadBare(own);
    ensures  cache:    TcacheOk(\result);
    ensures  all:      TcacheAll(\result);
    ENSURES_LIVE_KEPT(0, 0);
*/
static inline struct tcache *cache_begin(uint32_t cache, uint32_t arena, const char *call) /*@ ghost (struct tcache *own) */
{
    struct tcache *t = explicit_lend(cache - FLAGS_CACHE_FIRST, arena) /*@ ghost (own) */;
    if (t == NULL) {
        trap_misuse(call, "no such thread cache, or it is in use", cache - FLAGS_CACHE_FIRST);
    }
    return t;
}

/* The thread has its own cache again. */
/*@ requires lock:     LocksFree(0);
    requires blocks:   BlocksOk;
    requires lent:     ExplicitLent(t, cache - FLAGS_CACHE_FIRST);
    requires ok:       TcacheOk(t);
    requires all:      TcacheAll(t);
    requires own:      own == thread_cache && ExplicitAside(own);
    requires state:    thread_booted && ArenaOk && SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires none:     own == &tcache_unborn || own == &tcache_dead ==> ArenaNone;
    requires joined:   ThreadJoined(own);
    requires bare:     ThreadBare(own);
    requires cache:    FLAGS_CACHE_FIRST <= cache;
    assigns            EXPLICIT_ASSIGNS;
    ensures  ok:       MallocOk;
    ENSURES_LIVE_KEPT(0, 0);
*/
static inline void cache_end(uint32_t cache) /*@ ghost (struct tcache *own, struct tcache *t) */
{
    explicit_return(cache - FLAGS_CACHE_FIRST) /*@ ghost (own, t) */;
}

/* Returns a block of the cache, which it fills if it has none of that class, or 0 without memory. */
/*@ TCACHE_CALM(requires, t);
    requires class:    szind + 1 < TCACHE_STACKS;
    assigns            TCACHE_ASSIGNS(t);
    TCACHE_CALM(ensures, t);
    ENSURES_LIVE_RESULT(szind + 1);
    ensures  was:      \result != 0 ==> \old(block_state[\result]) != BLOCK_LIVE;
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, 0, \result);
*/
static inline uint64_t cache_take(struct tcache *t, uint32_t szind)
{
    /*@ ghost stack_lemma_null(); */
    uint64_t block = tcache_pop(t, szind + 1);
    /*@ ghost stack_lemma_null(); */
    if (block == 0) {
        block = refill(t, szind + 1);
    }
    return block;
}

/* Returns a block of that cached class from the explicit cache that the flags name, or 0 without memory. */
/*@ requires ok:       MallocOk;
    requires arena:    arena < ARENAS_MAX;
    requires cache:    FLAGS_CACHE_FIRST <= cache;
    requires power:    IsPowerOfTwo(align_bytes) && align_bytes <= PAGE;
    requires class:    szind + 1 < TCACHE_STACKS;
    requires whole:    ScBytes(szind) % align_bytes == 0;
    exits    unknown:  \true;
    assigns            MALLOC_ASSIGNS_HEAP;
    ensures  ok:       MallocOk;
    ENSURES_NEW_ADDRESS;
    ensures  class:    \result != 0 ==> block_szind[\result] == szind;
    ensures  aligned:  \result % align_bytes == 0;
*/
static inline uint64_t cache_take_block(uint32_t cache, uint32_t arena, uint32_t szind) /*@ ghost (uint64_t align_bytes) */
{
    /*@ ghost struct tcache *own = thread_cache; */
    struct tcache *t = cache_begin(cache, arena, "mallocx") /*@ ghost (own) */;
    /*@ assert lent: depot_mine < DEPOT_POOL && t == &depot_pool[depot_mine]; */
    /*@ assert apart: own == &tcache_unborn || own == &tcache_dead ||
            (0 <= depot_aside < DEPOT_POOL && own == &depot_pool[depot_aside] && depot_aside != depot_mine); */
    /*@ ghost Lent: ; */
    /*@ assert before: LiveKeptBut{Pre,Here}(0); */
    uint64_t       block = cache_take(t, szind);
    /*@ assert kept: LiveKeptBut{Pre,Here}(0); */
    /*@ assert unborn: own == &tcache_unborn ==> TcacheRoomless(&tcache_unborn); */
    /*@ assert dead: own == &tcache_dead ==> TcacheRoomless(&tcache_dead); */
    /*@ assert same: 0 <= depot_aside < DEPOT_POOL && depot_aside != depot_mine ==>
            depot_pool[depot_aside].arena == \at(depot_pool[depot_aside].arena,Lent); */
    /*@ assert arena: own == &tcache_unborn || own == &tcache_dead || own->arena == \at(own->arena,Lent); */
    /*@ assert joined: ThreadJoined(own); */
    cache_end(cache) /*@ ghost (own, t) */;
    /*@ ghost align_lemma_range(align_bytes); */
    /*@ ghost if (block != 0) { block_lemma_power(block, align_bytes); } */
    return block;
}

/* Gives a block back to the explicit cache that the flags name. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    requires cache:    FLAGS_CACHE_FIRST <= cache;
    exits    unknown:  \true;
    assigns            MALLOC_ASSIGNS_HEAP;
    ensures  ok:       MallocOk;
    ensures  gone:     !BlockLive(block);
    ENSURES_LIVE_KEPT(block, 0);
*/
static inline void cache_free(uint64_t block, uint32_t cache, const char *call)
{
    /*@ ghost struct tcache *own = thread_cache; */
    struct tcache *t = cache_begin(cache, thread_cache->arena, call) /*@ ghost (own) */;
    /*@ assert lent: depot_mine < DEPOT_POOL && t == &depot_pool[depot_mine]; */
    /*@ assert apart: own == &tcache_unborn || own == &tcache_dead ||
            (0 <= depot_aside < DEPOT_POOL && own == &depot_pool[depot_aside] && depot_aside != depot_mine); */
    /*@ ghost Lent: ; */
    /*@ assert before: LiveKeptBut{Pre,Here}(0); */
    overflow_free(t, block, call);
    /*@ assert kept: LiveKeptBut{Pre,Here}(block); */
    /*@ assert unborn: own == &tcache_unborn ==> TcacheRoomless(&tcache_unborn); */
    /*@ assert dead: own == &tcache_dead ==> TcacheRoomless(&tcache_dead); */
    /*@ assert same: 0 <= depot_aside < DEPOT_POOL && depot_aside != depot_mine ==>
            depot_pool[depot_aside].arena == \at(depot_pool[depot_aside].arena,Lent); */
    /*@ assert arena: own == &tcache_unborn || own == &tcache_dead || own->arena == \at(own->arena,Lent); */
    /*@ assert joined: ThreadJoined(own); */
    cache_end(cache) /*@ ghost (own, t) */;
}

#endif
