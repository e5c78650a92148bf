/* depot_steps: what is done under the depot's lock to make a cache, to claim one, and to leave one. These functions are those of depot and of
 * explicit alone. */
#ifndef QED_TCACHE_DEPOT_STEPS_H
#define QED_TCACHE_DEPOT_STEPS_H

#include <stddef.h>

#include "platform/counter.h"
#include "tcache/refill.h"
#include "tcache/shape.h"

#include "math/size_class_align_lemmas.acsl"
#include "blocks/large_lemmas.acsl"
#include "tcache/stack_lemmas.acsl"

/* Other threads have made caches, left theirs, claimed idle ones and used their own. */
/*@ requires locked:  LockHeld(LOCK_DEPOT);
    assigns           DEPOT_ASSIGNS_LISTS;
    ensures  ok:      DepotOk;
    ensures  kept:    DepotKept{Pre,Post};
    ensures  own:     DepotOwnKept{Pre,Post};
    ensures  stays:   DepotStays{Pre,Post};
    ensures  heap:    \old(BlocksOk) ==> BlocksOk;
*/
OTHERS_ACT(depot_others);

/*@ requires lock:    LocksFree(LOCK_DEPOT);
    assigns           DEPOT_ASSIGNS_LISTS, lock_held[LOCK_DEPOT];
    ensures  locked:  LockHeld(LOCK_DEPOT);
    ensures  ok:      DepotOk;
    ensures  kept:    DepotKept{Pre,Post};
    ensures  own:     DepotOwnKept{Pre,Post};
    ensures  stays:   DepotStays{Pre,Post};
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

/* Gives this thread the cache that was left last. */
/*@ requires locked:  LockHeld(LOCK_DEPOT);
    requires ok:      DepotOk;
    requires none:    depot_mine == DEPOT_NONE;
    requires some:    depot_idle != \null;
    assigns           depot_idle, depot_idle_count, depot_live_count, depot_mine, depot_place[0 .. DEPOT_POOL - 1];
    ENSURES_DEPOT_OK;
    ensures  mine:    depot_mine < DEPOT_POOL && \result == &depot_pool[depot_mine];
    ENSURES_CLAIMED;
    ensures  was:     \at(depot_place[\at(depot_mine,Post)],Pre) == DEPOT_PLACE_IDLE;
    ensures  shape:   TcacheShape(\result);
    ensures  lookup:  TcacheLookup(\result);
    ensures  stack:   TcacheBottom(\result);
    ensures  turn:    TcacheTurn(\result);
*/
static inline struct tcache *depot_reuse(void)
{
    struct tcache *t = depot_idle;
    /*@ assert last: t == &depot_pool[depot_idle_at[depot_idle_count - 1]]; */
    depot_idle = t->next_idle;
    depot_live_count += 1;
    /*@ ghost depot_idle_count = depot_idle_count - 1; */
    /*@ ghost depot_mine = depot_idle_at[depot_idle_count]; */
    /*@ ghost depot_place[depot_mine] = 0; */
    /*@ assert blank: TcacheBlank(t); */
    return t;
}

/* Gives the next cache its shape. The caches made before stay as they are. */
/*@ requires made:    depot_made < DEPOT_POOL && t == &depot_pool[depot_made];
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires bytes:   DepotBytes && DepotMagic;
    requires heights: DepotHeights;
    requires unmade:  DepotUnmade;
    assigns           t->stack_of[0 .. SC_LOOKUP_MAX], TCACHE_ASSIGNS_ENDS(t), TCACHE_ASSIGNS_SHAPE(t);
    ensures  heights: DepotHeights;
    ensures  unmade:  \forall integer k; depot_made < k < DEPOT_POOL ==> TcacheZero(&depot_pool[k]);
    ensures  blank:   TcacheBlank(t);
*/
static inline void shape_next(struct tcache *t)
{
    shape_cache(t);
    /*@ assert shape: TcacheShape(t); */
    /*@ assert top:   \forall integer k, b; 0 <= k < depot_made && TCACHE_STACK(b) ==>
            depot_pool[k].top[b] == \at(depot_pool[k].top[b],Pre); */
    /*@ assert limit: \forall integer k, b; 0 <= k < depot_made && TCACHE_STACK(b) ==>
            depot_pool[k].limit[b] == \at(depot_pool[k].limit[b],Pre); */
    /*@ assert floor: \forall integer k, b; 0 <= k < depot_made && TCACHE_STACK(b) ==>
            depot_pool[k].floor[b] == \at(depot_pool[k].floor[b],Pre); */
    /*@ assert least: \forall integer k, b; 0 <= k < depot_made && TCACHE_STACK(b) ==>
            depot_pool[k].least[b] == \at(depot_pool[k].least[b],Pre); */
    /*@ assert most:  \forall integer k, b; 0 <= k < depot_made && TCACHE_STACK(b) ==>
            depot_pool[k].most[b] == \at(depot_pool[k].most[b],Pre); */
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
    assigns           DEPOT_ASSIGNS_CLAIM, depot_mine, depot_pool[0 .. DEPOT_POOL - 1];
    ENSURES_DEPOT_OK;
    ensures  none:    \result == \null ==> depot_mine == DEPOT_NONE;
    ensures  mine:    \result != \null ==> depot_mine < DEPOT_POOL && \result == &depot_pool[depot_mine];
    ENSURES_CLAIMED;
    ensures  was:     \result != \null ==> depot_mine == \old(depot_made);
    ensures  blank:   \result != \null ==> TcacheBlank(\result);
*/
static inline struct tcache *depot_make(void)
{
    uintptr_t      place = depot_made < DEPOT_POOL ? base_alloc(sizeof(struct tcache) + COUNTER_BYTES, 64) : 0;
    struct tcache *t = POOL_PLACE(struct tcache, depot_pool, depot_made, place);
    /*@ assert idle: depot_idle_count == 0; */
    if (t != NULL) {
        shape_next(t);
        depot_link(t);
        depot_list = t;
        /*@ ghost depot_mine = depot_made; */
        /*@ ghost depot_place[depot_mine] = 0; depot_sent[depot_mine] = 0; */
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
    assigns           DEPOT_ASSIGNS_CLAIM, depot_mine, depot_pool[0 .. DEPOT_POOL - 1];
    ensures  ok:      DepotOk;
    ENSURES_CLAIMED;
    ensures  was:     \result != \null ==> \old(depot_made) <= depot_mine ||
                      \at(depot_place[\at(depot_mine,Post)],Pre) == DEPOT_PLACE_IDLE;
    ensures  none:    \result == \null ==> depot_mine == DEPOT_NONE;
    ensures  mine:    \result != \null ==> depot_mine < DEPOT_POOL && \result == &depot_pool[depot_mine];
    ensures  blank:   \result != \null ==> TcacheBlank(\result);
*/
static inline struct tcache *depot_claim(void)
{
    return depot_idle != NULL ? depot_reuse() : depot_make();
}

/* Returns how many blocks the first fill of a stack asks for. A thread that has few blocks of each class leaves little memory unused. */
/*@ requires stack:   0 < stack < TCACHE_STACKS;
    assigns           \nothing;
    ensures  some:    1 <= \result <= TCACHE_FILL_FIRST;
    ensures  bytes:   \result == \max(1, \min(TCACHE_FILL_FIRST, TCACHE_FILL_BYTES / ScBytes(stack - 1)));
*/
static inline uint32_t depot_first_fill(uint32_t stack)
{
    uint64_t most = TCACHE_FILL_BYTES / size_class_bytes(stack - 1);
    return most < 1 ? 1 : most < TCACHE_FILL_FIRST ? (uint32_t)most : TCACHE_FILL_FIRST;
}

/* Prepares a cache for its next thread. Fills are small at first, and the last thread's window is forgotten. */
/*@ requires valid:   \valid(t);
    requires limits:  TcacheLimits(t);
    requires tops:    TcacheTops(t);
    requires bottom:  TcacheBottom(t);
    requires turn:    TcacheTurn(t);
    assigns           TCACHE_ASSIGNS_PAGES(t), t->fill[0 .. TCACHE_STACKS - 1];
    ensures  window:  TCACHE_NO_PAGES(t);
    ensures  limits:  TcacheLimits(t);
    ensures  tops:    TcacheTops(t);
    ensures  floors:  TcacheFloors(t);
    ensures  empty:   TcacheEmpty(t);
    ensures  fill:    TcacheFill(t);
    ensures  turn:    TcacheTurn(t);
*/
static inline void depot_renew(struct tcache *t)
{
    t->window_pages = 0;
    t->counted_pages = 0;
    t->checked_pages = 0;
    t->known_pages = 0;
    /*@ loop invariant range:  0 <= b <= TCACHE_STACKS;
        loop invariant fill:   \forall integer a; 0 <= a < b ==> 0 <= t->fill[a] <= TCACHE_SLOTS;
        loop invariant limits: TcacheLimits(t);
        loop invariant tops:   TcacheTops(t);
        loop invariant turn:   TcacheTurn(t);
        loop assigns   b, t->fill[0 .. TCACHE_STACKS - 1];
        loop variant   TCACHE_STACKS - b;
    */
    for (uint32_t b = 0; b < TCACHE_STACKS; b++) {
        t->fill[b] = (int16_t)(b == 0 ? 0 : depot_first_fill(b));
    }
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
    requires thread:  depot_place[depot_mine] == 0;
    assigns           depot_idle, depot_idle_count, depot_live_count, depot_mine, t->next_idle,
                      depot_idle_at[0 .. DEPOT_POOL - 1], depot_idle_pos[0 .. DEPOT_POOL - 1], depot_place[depot_mine];
    ENSURES_DEPOT_OK;
    ensures  idle:    depot_place[\old(depot_mine)] == DEPOT_PLACE_IDLE;
    ensures  blocks:  BlocksOk;
    ensures  none:    depot_mine == DEPOT_NONE;
*/
static inline void depot_retire(struct tcache *t)
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
static inline uint32_t depot_idle_total(void)
{
    return depot_made - depot_live_count;
}

/* Returns whether threads have left so many caches that one more need not stay ready. */
/*@ requires lock:    LocksFree(LOCK_DEPOT);
    assigns           DEPOT_ASSIGNS_LISTS, lock_held[LOCK_DEPOT];
    ensures  lock:    LocksFree(LOCK_DEPOT);
    ensures  kept:    DepotKept{Pre,Post};
    ensures  stays:   DepotStays{Pre,Post};
    ensures  blocks:  \old(BlocksOk) ==> BlocksOk;
*/
static inline bool depot_is_stocked(void)
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
static inline void depot_forget(struct tcache *t)
{
    pool_forget(t->slot, TCACHE_SLOTS);
    /*@ assert radix: RadixOk; */
    /*@ assert cache: PageCacheOk; */
    /*@ ghost large_lemma_ok(); */
}

#endif
