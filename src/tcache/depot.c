/* depot: see depot.h. */
#include "tcache/depot.h"

#include <stddef.h>

#include "platform/counter.h"
#include "tcache/refill.h"
#include "tcache/shape.h"

#include "math/size_class_align_lemmas.acsl"
#include "blocks/large_lemmas.acsl"
#include "tcache/stack_lemmas.acsl"

struct tcache tcache_unborn;
struct tcache tcache_dead;

struct tcache *depot_list;
struct tcache *depot_idle;
uint32_t       depot_made;
uint32_t       depot_live_count;
divide_magic_t tcache_magic[TCACHE_STACKS];

/* ---- shape ------------------------------------------------------------------------------------------------------ */

/* Gives a zero cache its shape, with room or as a stand-in. */
/*@ requires valid:   \valid(t);
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires zero:    TcacheZero(t);
    requires bytes:   DepotBytes && DepotMagic;
    assigns           t->stack_of[0 .. SC_LOOKUP_MAX], TCACHE_ASSIGNS_SHAPE(t);
    ensures  limits:  TcacheLimits(t);
    ensures  apart:   TcacheApart(t);
    ensures  magic:   TcacheNoStack(t) && TcacheMagic(t);
    ensures  bytes:   TcacheBytes(t);
    ensures  negated: TcacheNegated(t);
    ensures  lookup:  TcacheLookup(t);
    ensures  bottom:  TcacheBottom(t);
    ensures  fill:    TcacheFill(t);
    ensures  turn:    TcacheTurn(t);
    ensures  window:  t->window_pages == 0;
    ensures  none:    !room ==> TcacheHollow(t);
*/
static void shape_cache(struct tcache *t, bool room)
{
    uint32_t floor = room ? 1 : 0;
    shape_lookup(t);
    shape_one(t, 0, 0, 0, 0);
    /*@ loop invariant range:   1 <= b <= TCACHE_STACKS && floor <= b * (TCACHE_DEPTH_MAX + 1) && (room ? 0 < floor : floor == 0);
        SHAPED(loop invariant, t, b);
        loop invariant below:   room ==> ShapedBelow(t, b, floor);
        loop invariant apart:   room ==> ShapedApart(t, b);
        loop invariant none:    !room ==> ShapedNone(t, b);
        loop assigns   b, floor, TCACHE_ASSIGNS_SHAPE(t);
        loop variant   TCACHE_STACKS - b;
    */
    for (uint32_t b = 1; b < TCACHE_STACKS; b++) {
        if (room) {
            floor = shape_stack(t, b, floor);
        } else {
            shape_hollow(t, b);
        }
    }
    /*@ assert slots: \forall integer i; 0 <= i < TCACHE_SLOTS ==> t->slot[i] == 0; */
    /*@ assert tops: TcacheTops(t); */
    /*@ assert floors: TcacheFloors(t); */
    /*@ ghost depot_lemma_apart(t); */
}

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

/* Gives the first stand-in its shape. The second one and the pool stay zero. */
/*@ requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires bytes:   DepotBytes && DepotMagic;
    requires unmade:  DepotUnmade;
    requires unborn:  TcacheZero(&tcache_unborn);
    requires dead:    TcacheZero(&tcache_dead);
    assigns           tcache_unborn.stack_of[0 .. SC_LOOKUP_MAX], TCACHE_ASSIGNS_SHAPE(&tcache_unborn);
    ensures  unmade:  DepotUnmade;
    ensures  unborn:  TcacheStandin(&tcache_unborn);
    ensures  dead:    TcacheZero(&tcache_dead);
*/
static inline void depot_boot_unborn(void)
{
    shape_cache(&tcache_unborn, false);
}

/* Gives the second stand-in its shape. The first one stays as it is. */
/*@ requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires bytes:   DepotBytes && DepotMagic;
    requires unmade:  DepotUnmade;
    requires unborn:  TcacheStandin(&tcache_unborn);
    requires dead:    TcacheZero(&tcache_dead);
    assigns           tcache_dead.stack_of[0 .. SC_LOOKUP_MAX], TCACHE_ASSIGNS_SHAPE(&tcache_dead);
    ensures  unmade:  DepotUnmade;
    ensures  unborn:  TcacheStandin(&tcache_unborn);
    ensures  dead:    TcacheStandin(&tcache_dead);
*/
static inline void depot_boot_dead(void)
{
    shape_cache(&tcache_dead, false);
    /*@ assert floors: ShapedFloorSame{Pre,Here}(&tcache_unborn, TCACHE_STACKS); */
    /*@ assert rooms:  ShapedRoomSame{Pre,Here}(&tcache_unborn, TCACHE_STACKS); */
    /*@ assert magics: ShapedMagicSame{Pre,Here}(&tcache_unborn, TCACHE_STACKS); */
    /*@ assert negated: ShapedNegatedSame{Pre,Here}(&tcache_unborn, TCACHE_STACKS); */
    /*@ ghost tcache_lemma_shape(&tcache_unborn); */
    /*@ assert stacks: TcacheSame{Pre,Here}(&tcache_unborn); */
    /*@ assert bottom: TcacheBottom(&tcache_unborn); */
}

void depot_boot(void)
{
    depot_fill_magic();
    depot_boot_unborn();
    depot_boot_dead();
}

/* ---- the lock ---------------------------------------------------------------------------------------------------- */

/* Other threads have made caches, left theirs, claimed idle ones and used their own. */
/*@ requires locked:  LockHeld(LOCK_DEPOT);
    assigns           DEPOT_ASSIGNS_LISTS;
    ensures  ok:      DepotOk;
    ensures  kept:    DepotKept{Pre,Post};
    ensures  own:     DepotOwnKept{Pre,Post};
    ensures  heap:    \old(BlocksOk) ==> BlocksOk;
*/
OTHERS_ACT(depot_others);

/*@ requires lock:    LocksFree(LOCK_DEPOT);
    assigns           DEPOT_ASSIGNS_LISTS, lock_held[LOCK_DEPOT];
    ensures  locked:  LockHeld(LOCK_DEPOT);
    ensures  ok:      DepotOk;
    ensures  kept:    DepotKept{Pre,Post};
    ensures  own:     DepotOwnKept{Pre,Post};
    ensures  heap:    \old(BlocksOk) ==> BlocksOk;
*/
static inline void depot_enter(void)
{
    lock_take(LOCK_DEPOT);
    depot_others();
}

/*@ requires locked:  LockHeld(LOCK_DEPOT);
    requires ok:      DepotOk;
    assigns           lock_held[LOCK_DEPOT];
    ensures  free:    lock_held[LOCK_DEPOT] == 0;
*/
static inline void depot_leave(void)
{
    lock_give(LOCK_DEPOT);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* Gives this thread the cache that was left last. */
/*@ requires locked:  LockHeld(LOCK_DEPOT);
    requires ok:      DepotOk;
    requires none:    depot_mine == DEPOT_NONE;
    requires some:    depot_idle != \null;
    assigns           depot_idle, depot_idle_count, depot_live_count, depot_mine;
    ENSURES_DEPOT_OK;
    ensures  mine:    depot_mine < DEPOT_POOL && \result == &depot_pool[depot_mine];
    ensures  shape:   TcacheShape(\result);
    ensures  lookup:  TcacheLookup(\result);
    ensures  stack:   TcacheBottom(\result);
    ensures  turn:    TcacheTurn(\result);
*/
static struct tcache *depot_reuse(void)
{
    struct tcache *t = depot_idle;
    /*@ assert last: t == &depot_pool[depot_idle_at[depot_idle_count - 1]]; */
    depot_idle = t->next_idle;
    depot_live_count += 1;
    /*@ ghost depot_idle_count = depot_idle_count - 1; */
    /*@ ghost depot_mine = depot_idle_at[depot_idle_count]; */
    /*@ assert blank: TcacheBlank(t); */
    return t;
}

/* Gives the next cache its shape. The caches made before stay as they are. */
/*@ requires made:    depot_made < DEPOT_POOL && t == &depot_pool[depot_made];
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires bytes:   DepotBytes && DepotMagic;
    requires heights: DepotHeights;
    requires unmade:  DepotUnmade;
    assigns           t->stack_of[0 .. SC_LOOKUP_MAX], TCACHE_ASSIGNS_SHAPE(t);
    ensures  heights: DepotHeights;
    ensures  unmade:  \forall integer k; depot_made < k < DEPOT_POOL ==> TcacheZero(&depot_pool[k]);
    ensures  blank:   TcacheBlank(t);
*/
static inline void shape_next(struct tcache *t)
{
    shape_cache(t, true);
    /*@ assert shape: TcacheShape(t); */
    /*@ assert top:   \forall integer k, b; 0 <= k < depot_made && TCACHE_STACK(b) ==>
            depot_pool[k].top[b] == \at(depot_pool[k].top[b],Pre); */
    /*@ assert limit: \forall integer k, b; 0 <= k < depot_made && TCACHE_STACK(b) ==>
            depot_pool[k].limit[b] == \at(depot_pool[k].limit[b],Pre); */
    /*@ assert floor: \forall integer k, b; 0 <= k < depot_made && TCACHE_STACK(b) ==>
            depot_pool[k].floor[b] == \at(depot_pool[k].floor[b],Pre); */
    /*@ assert least: \forall integer k, b; 0 <= k < depot_made && TCACHE_STACK(b) ==>
            depot_pool[k].least[b] == \at(depot_pool[k].least[b],Pre); */
    /*@ assert room:  \forall integer k, b; 0 <= k < depot_made && TCACHE_STACK(b) ==>
            depot_pool[k].room[b] == \at(depot_pool[k].room[b],Pre); */
}

/* Puts the next cache first in the list of all. */
/*@ requires locked:  LockHeld(LOCK_DEPOT);
    requires made:    depot_made < DEPOT_POOL && t == &depot_pool[depot_made];
    requires list:    DepotList;
    requires next:    DepotNext;
    assigns           t->next;
    ensures  next:    \forall integer k; 0 <= k <= depot_made ==> TcacheNth(depot_pool[k].next, k);
*/
static inline void depot_link(struct tcache *t)
{
    t->next = depot_list;
}

/* Makes a cache for this thread and returns it, or NULL without memory. */
/*@ requires locked:  LockHeld(LOCK_DEPOT);
    requires ok:      DepotOk;
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires idle:    depot_idle == \null;
    requires none:    depot_mine == DEPOT_NONE;
    assigns           DEPOT_ASSIGNS_GUARDED, depot_mine, depot_pool[0 .. DEPOT_POOL - 1];
    ENSURES_DEPOT_OK;
    ensures  none:    \result == \null ==> depot_mine == DEPOT_NONE;
    ensures  mine:    \result != \null ==> depot_mine < DEPOT_POOL && \result == &depot_pool[depot_mine];
    ensures  blank:   \result != \null ==> TcacheBlank(\result);
*/
static struct tcache *depot_make(void)
{
    uintptr_t      place = depot_made < DEPOT_POOL ? base_alloc(sizeof(struct tcache) + COUNTER_BYTES, 64) : 0;
    struct tcache *t = POOL_PLACE(struct tcache, depot_pool, depot_made, place);
    /*@ assert idle: depot_idle_count == 0; */
    if (t != NULL) {
        shape_next(t);
        depot_link(t);
        depot_list = t;
        /*@ ghost depot_mine = depot_made; */
        depot_made += 1;
        depot_live_count += 1;
    }
    return t;
}

/* Returns a cache that another thread has left, or a new one, or NULL without memory. */
/*@ requires locked:  LockHeld(LOCK_DEPOT);
    requires ok:      DepotOk;
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires none:    depot_mine == DEPOT_NONE;
    assigns           DEPOT_ASSIGNS_GUARDED, depot_mine, depot_pool[0 .. DEPOT_POOL - 1];
    ensures  ok:      DepotOk;
    ensures  none:    \result == \null ==> depot_mine == DEPOT_NONE;
    ensures  mine:    \result != \null ==> depot_mine < DEPOT_POOL && \result == &depot_pool[depot_mine];
    ensures  blank:   \result != \null ==> TcacheBlank(\result);
*/
static struct tcache *depot_claim(void)
{
    return depot_idle != NULL ? depot_reuse() : depot_make();
}

/* Prepares a cache for its next thread. Fills are small at first, and the last thread's window is forgotten. */
/*@ requires valid:   \valid(t);
    requires limits:  TcacheLimits(t);
    requires tops:    TcacheTops(t);
    requires bottom:  TcacheBottom(t);
    requires turn:    TcacheTurn(t);
    assigns           t->window_pages, t->fill[0 .. TCACHE_STACKS - 1];
    ensures  window:  t->window_pages == 0;
    ensures  limits:  TcacheLimits(t);
    ensures  tops:    TcacheTops(t);
    ensures  floors:  TcacheFloors(t);
    ensures  empty:   TcacheEmpty(t);
    ensures  fill:    TcacheFill(t);
    ensures  turn:    TcacheTurn(t);
*/
static void depot_renew(struct tcache *t)
{
    t->window_pages = 0;
    /*@ loop invariant range:  0 <= b <= TCACHE_STACKS;
        loop invariant fill:   \forall integer a; 0 <= a < b ==> 0 <= t->fill[a] <= TCACHE_SLOTS;
        loop invariant limits: TcacheLimits(t);
        loop invariant tops:   TcacheTops(t);
        loop invariant turn:   TcacheTurn(t);
        loop assigns   b, t->fill[0 .. TCACHE_STACKS - 1];
        loop variant   TCACHE_STACKS - b;
    */
    for (uint32_t b = 0; b < TCACHE_STACKS; b++) {
        t->fill[b] = TCACHE_FILL_FIRST;
    }
}

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

/* Links this thread's cache to the idle ones. */
/*@ requires locked:  LockHeld(LOCK_DEPOT);
    requires blocks:  BlocksOk;
    requires mine:    depot_mine < DEPOT_POOL && t == &depot_pool[depot_mine];
    requires next:    DepotNext;
    requires idle:    DepotIdle;
    requires links:   DepotIdleNext;
    requires once:    DepotIdleOnce;
    assigns           t->next_idle;
    ensures  blocks:  BlocksOk;
    ensures  next:    DepotNext;
    ensures  links:   DepotIdleNext;
    ensures  top:     TcacheNth(t->next_idle, depot_idle_count == 0 ? 0 : depot_idle_at[depot_idle_count - 1] + 1);
*/
static inline void depot_link_idle(struct tcache *t)
{
    t->next_idle = depot_idle;
    /*@ assert radix: RadixOk; */
    /*@ assert cache: PageCacheOk; */
    /*@ ghost large_lemma_ok(); */
}

/* Puts this thread's cache, which is empty, first among the idle ones. */
/*@ requires locked:  LockHeld(LOCK_DEPOT);
    requires ok:      DepotOk;
    requires blocks:  BlocksOk;
    requires mine:    depot_mine < DEPOT_POOL && t == &depot_pool[depot_mine];
    requires blank:   TcacheBlank(t);
    requires heights: TcacheHeights(t);
    assigns           depot_idle, depot_idle_count, depot_live_count, depot_mine, t->next_idle,
                      depot_idle_at[0 .. DEPOT_POOL - 1], depot_idle_pos[0 .. DEPOT_POOL - 1];
    ENSURES_DEPOT_OK;
    ensures  blocks:  BlocksOk;
    ensures  none:    depot_mine == DEPOT_NONE;
*/
static void depot_retire(struct tcache *t)
{
    depot_link_idle(t);
    depot_idle = t;
    depot_live_count -= 1;
    /*@ ghost depot_idle_push(); */
}

/* Returns how many caches were made that no thread has. */
/*@ requires locked:  LockHeld(LOCK_DEPOT);
    requires ok:      DepotOk;
    assigns           \nothing;
    ensures  total:   \result == depot_made - depot_live_count;
*/
static uint32_t depot_idle_total(void)
{
    return depot_made - depot_live_count;
}

/* Returns whether threads have left so many caches that one more need not stay ready. */
/*@ requires lock:    LocksFree(LOCK_DEPOT);
    assigns           DEPOT_ASSIGNS_LISTS, lock_held[LOCK_DEPOT];
    ensures  lock:    LocksFree(LOCK_DEPOT);
    ensures  kept:    DepotKept{Pre,Post};
    ensures  blocks:  \old(BlocksOk) ==> BlocksOk;
*/
static bool depot_is_stocked(void)
{
    depot_enter();
    bool stocked = depot_idle_total() >= DEPOT_READY;
    depot_leave();
    return stocked;
}

/* Gives the pages of a cache's slots back to the OS. The cache is empty, and keeps its shape. */
/*@ requires blocks:  BlocksOk;
    requires valid:   \valid(t);
    requires blank:   TcacheBlank(t);
    requires heights: TcacheHeights(t);
    assigns           t->slot[0 .. TCACHE_SLOTS - 1];
    ensures  blocks:  BlocksOk;
    ensures  blank:   TcacheBlank(t);
    ensures  heights: TcacheHeights(t);
*/
static void depot_forget(struct tcache *t)
{
    pool_forget(t->slot, TCACHE_SLOTS);
    /*@ assert radix: RadixOk; */
    /*@ assert cache: PageCacheOk; */
    /*@ ghost large_lemma_ok(); */
}

/* Gives all blocks of this thread's cache back and leaves its arena. */
/*@ requires lock:    LocksFree(LOCK_ARENA);
    requires blocks:  BlocksOk;
    requires arenas:  ArenaOk;
    requires arena:   t->arena < ARENAS_MAX && arena_joined[t->arena] == 1;
    requires only:    ArenaOnly(t->arena);
    requires ok:      TcacheOk(t);
    assigns           TCACHE_ASSIGNS(t), ARENA_ASSIGNS, arena_joined[t->arena];
    ensures  lock:    LocksFree(LOCK_ARENA);
    ensures  blocks:  BlocksOk;
    ensures  arenas:  ArenaOk;
    ensures  left:    ArenaNone;
    ensures  blank:   TcacheBlank(t);
    ensures  heights: TcacheHeights(t);
    LIVE_KEPT(ensures, 0, 0);
*/
static inline void depot_give_up(struct tcache *t)
{
    refill_tick(t);
    refill_flush(t);
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

/*@ requires locked:  LockHeld(LOCK_DEPOT);
    assigns           \nothing;
    ensures  count:   \result == depot_live_count;
*/
static uint32_t depot_live_load(void)
{
    return depot_live_count;
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
    depot_live_count = mine == &tcache_unborn || mine == &tcache_dead ? 0 : 1;
    lock_reset(LOCK_DEPOT);
}
