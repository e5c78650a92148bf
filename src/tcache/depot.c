/* depot: see depot.h. */
#include "tcache/depot.h"

#include "platform/hints.h"
#include "tcache/counting.h"
#include "tcache/depot_steps.h"
#include "tcache/depth.h"

LONG_TABLE struct tcache tcache_unborn;
LONG_TABLE struct tcache tcache_dead;

struct tcache *depot_list;
struct tcache *depot_idle;
uint32_t       depot_made;
uint32_t       depot_live_count;
LONG_TABLE struct tcache *depot_explicit[DEPOT_EXPLICIT];
bool           depot_lent[DEPOT_EXPLICIT];
uint32_t       depot_explicit_count;
divide_magic_t tcache_magic[TCACHE_STACKS];

/* ---- shape ------------------------------------------------------------------------------------------------------ */

/* Fills the table of reciprocals. */
/*@ assigns           tcache_magic[0 .. TCACHE_STACKS - 1], tcache_bytes[0 .. TCACHE_STACKS - 1];
    ensures  bytes:   DepotBytes;
    ensures  magic:   DepotMagic;
*/
static void depot_fill_magic(void)
{
    /*@ loop invariant range: 1 <= b <= TCACHE_STACKS;
        loop invariant bytes: \forall integer a; 0 < a < b ==> tcache_bytes[a] == ScBytes(a - 1);
        loop invariant most:  \forall integer a; 0 < a < b ==> SC_TINY <= tcache_bytes[a];
        loop invariant magic: \forall integer a; 0 < a < b ==>
                              tcache_magic[a] <= DIVIDE_ONE / SC_TINY && DivideMagic(tcache_magic[a], tcache_bytes[a]);
        loop assigns   b, tcache_magic[0 .. TCACHE_STACKS - 1], tcache_bytes[0 .. TCACHE_STACKS - 1];
        loop variant   TCACHE_STACKS - b;
    */
    for (uint32_t b = 1; b < TCACHE_STACKS; b++) {
        /*@ ghost depot_lemma_bytes(b - 1); */
        uint32_t bytes = (uint32_t)size_class_bytes(b - 1);
        /*@ ghost tcache_bytes[b] = bytes; */
        tcache_magic[b] = divide_magic(bytes);
    }
}

void depot_boot(void)
{
    depot_fill_magic();
    shape_standin(&tcache_unborn);
    shape_standin(&tcache_dead);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* Joins an arena with this thread's cache. */
/*@ requires lock:    LocksFree(LOCK_ARENA);
    requires arenas:  ArenaOk && ArenaNone;
    requires valid:   \valid(t);
    requires limits:  TcacheLimits(t);
    requires tops:    TcacheTops(t);
    requires fill:    TcacheFill(t);
    requires turn:    TcacheTurn(t);
    assigns           t->arena, ARENA_ASSIGNS, arena_joined[0 .. ARENAS_MAX - 1];
    ensures  lock:    LocksFree(LOCK_ARENA);
    ensures  arenas:  ArenaOk;
    ensures  joined:  t->arena < ARENAS_MAX && arena_joined[t->arena] == 1;
    ensures  only:    ArenaOnly(t->arena);
    ensures  limits:  TcacheLimits(t);
    ensures  tops:    TcacheTops(t);
    ensures  fill:    TcacheFill(t);
    ensures  turn:    TcacheTurn(t);
*/
static void depot_join(struct tcache *t)
{
    t->arena = (uint16_t)arena_join();
}

struct tcache *depot_create(void)
{
    depot_enter();
    struct tcache *t = depot_claim();
    depot_leave();
    if (t != NULL) {
        depot_renew(t);
        depot_join(t);
        /*@ assert outside: TcacheOutside(t); */
        /*@ ghost tcache_lemma_empty(t); */
        /*@ ghost tcache_lemma_ok(t); */
    }
    return t;
}

/* Gives all blocks of this thread's cache back and leaves its arena. */
/*@ requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires lock:    LocksFree(LOCK_ARENA);
    requires blocks:  BlocksOk;
    requires arenas:  ArenaOk;
    requires arena:   t->arena < ARENAS_MAX && arena_joined[t->arena] == 1;
    requires only:    ArenaOnly(t->arena);
    requires ok:      TcacheOk(t);
    assigns           *t, BLOCKS_ASSIGNS, large_allocated, large_freed, ARENA_ASSIGNS, arena_joined[0 .. ARENAS_MAX - 1];
    ensures  lock:    LocksFree(LOCK_ARENA);
    ensures  blocks:  BlocksOk;
    ensures  arenas:  ArenaOk;
    ensures  left:    ArenaNone;
    ensures  blank:   TcacheBlank(t);
    ensures  heights: TcacheHeights(t);
    ensures  gone:    \old(TcacheAll(t)) ==> TcacheNone;
    LIVE_KEPT(ensures, 0, 0);
*/
static inline void depot_give_up(struct tcache *t)
{
    refill_tick(t);
    counting_end(t, COUNTER_WAITS);
    refill_flush(t);
    depth_restore(t);
    /*@ assert arena: t->arena == \at(t->arena,Pre); */
    arena_leave(t->arena);
}

void depot_destroy(struct tcache *t)
{
    depot_give_up(t);
    if (depot_is_stocked()) {
        depot_forget(t);
    }
    depot_enter();
    depot_retire(t);
    depot_leave();
}

/* Returns how many caches threads have, those aside that the program has made. */
/*@ requires locked:  LockHeld(LOCK_DEPOT);
    requires count:   DepotCount;
    assigns           \nothing;
    ensures  count:   \result == depot_live_count - depot_explicit_count;
*/
static uint32_t depot_live_load(void)
{
    return depot_live_count - depot_explicit_count;
}

uint32_t depot_live(void)
{
    depot_enter();
    uint32_t n = depot_live_load();
    depot_leave();
    return n;
}

/* Returns how many blocks are in that stack of all caches. */
/*@ requires locked:  LockHeld(LOCK_DEPOT);
    requires ok:      DepotOk;
    requires stack:   stack < TCACHE_STACKS;
    requires mine:    DepotHeight;
    assigns           \nothing;
    ensures  most:    \result <= DEPOT_POOL * TCACHE_SLOTS;
*/
static uint64_t depot_count(uint32_t stack)
{
    uint64_t n = 0;
    /*@ ghost uint32_t left = depot_made; */
    /*@ loop invariant left: 0 <= left <= depot_made;
        loop invariant at:   TcacheNth(t, left);
        loop invariant most: n <= (depot_made - left) * TCACHE_SLOTS;
        loop assigns   t, n, left;
        loop variant   left;
    */
    for (const struct tcache *t = depot_list; t != NULL; t = t->next) {
        /*@ assert height: TcacheHeights(t); */
        n += ATOMIC_LOAD(t->top[stack]) - t->floor[stack];
        /*@ ghost left = left - 1; */
    }
    return n;
}

uint64_t depot_blocks(uint32_t stack)
{
    depot_enter();
    uint64_t n = depot_count(stack);
    depot_leave();
    return n;
}

/* Returns whether one of all caches has a block in pages of that page cache. */
/*@ requires locked:  LockHeld(LOCK_DEPOT);
    requires ok:      DepotOk;
    requires blocks:  BlocksOk;
    requires cache:   cache < PAGE_CACHES;
    requires mine:    DepotHeight;
    assigns           \nothing;
    ensures  is:      \result <==> \exists integer k; 0 <= k < depot_made && HoldsSome(&depot_pool[k], cache);
*/
static bool depot_any_holds(uint32_t cache)
{
    /*@ ghost uint32_t left = depot_made; */
    /*@ loop invariant left: 0 <= left <= depot_made;
        loop invariant at:   TcacheNth(t, left);
        loop invariant none: \forall integer k; left <= k < depot_made ==> !HoldsSome(&depot_pool[k], cache);
        loop assigns   t, left;
        loop variant   left;
    */
    for (const struct tcache *t = depot_list; t != NULL; t = t->next) {
        /*@ assert height: TcacheHeights(t); */
        if (holds_some(t, cache)) {
            return true;
        }
        /*@ ghost left = left - 1; */
    }
    return false;
}

bool depot_holds(uint32_t cache)
{
    depot_enter();
    bool holds = depot_any_holds(cache);
    depot_leave();
    return holds;
}

void depot_prefork(void)
{
    depot_enter();
}

void depot_postfork_parent(void)
{
    depot_leave();
}

void depot_postfork_child(struct tcache *mine)
{
    depot_live_count = depot_explicit_count + (mine == &tcache_unborn || mine == &tcache_dead ? 0 : 1);
    lock_reset(LOCK_DEPOT);
}
