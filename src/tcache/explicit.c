/* explicit: see explicit.h. */
#include "tcache/explicit.h"

#include "tcache/counting.h"
#include "tcache/depot_steps.h"

/* ---- whose blocks those of a cache are -------------------------------------------------------------------------- */

/* The thread ceases to use a cache, which is whole. The blocks in it leave the thread's view. A stand-in has none and stays as it
 * is. */
/*@ EXPLICIT_HELD(requires);
    requires mine:    TcacheNumber(t, depot_mine);
    EXPLICIT_WHOLE(requires, t);
    assigns           BIN_ASSIGNS_OTHERS, BLOCKS_ASSIGNS_MODEL, depot_mine, depot_sent[0 .. DEPOT_POOL];
    EXPLICIT_HELD(ensures);
    ensures  none:    depot_mine == DEPOT_NONE && TcacheNone;
    ensures  sent:    depot_sent[\old(depot_mine)] == 1;
    ensures  others:  \forall integer k; 0 <= k <= DEPOT_POOL && k != \old(depot_mine) ==> depot_sent[k] == \old(depot_sent[k]);
    LIVE_KEPT(ensures, 0, 0);
*/
OTHERS_ACT(explicit_sends) /*@ ghost (struct tcache *t) */;

/* The thread begins to use cache n, which was sent, and finds it whole. The blocks in it enter the thread's view. For a stand-in, which
 * has none, n is DEPOT_NONE. */
/*@ EXPLICIT_HELD(requires);
    requires none:    depot_mine == DEPOT_NONE && TcacheNone;
    requires number:  TcacheNumber(t, n);
    requires sent:    depot_sent[n] == 1;
    requires own:     n == DEPOT_NONE || depot_place[n] == 0 ==> n == depot_aside;
    requires lent:    n != DEPOT_NONE && depot_place[n] != 0 ==> depot_place[n] <= DEPOT_EXPLICIT && depot_lent[depot_place[n] - 1] != 0;
    assigns           BIN_ASSIGNS_OTHERS, BLOCKS_ASSIGNS_MODEL, depot_mine, depot_sent[0 .. DEPOT_POOL];
    EXPLICIT_HELD(ensures);
    ensures  mine:    depot_mine == n;
    EXPLICIT_WHOLE(ensures, t);
    ensures  others:  \forall integer k; 0 <= k <= DEPOT_POOL && k != n ==> depot_sent[k] == \old(depot_sent[k]);
    LIVE_KEPT(ensures, 0, 0);
*/
OTHERS_ACT(explicit_receives) /*@ ghost (struct tcache *t, uint32_t n) */;

/* ---- under the lock ---------------------------------------------------------------------------------------------- */

/* Takes the depot's lock. The thread's own cache stays as it is. */
/*@ EXPLICIT_CALM(requires, own);
    assigns           DEPOT_ASSIGNS_LISTS, lock_held[LOCK_DEPOT];
    EXPLICIT_HELD(ensures);
    ensures  cache:   ExplicitOwn(own);
    EXPLICIT_WHOLE(ensures, own);
    ensures  arena:   own->arena == \old(own->arena);
*/
static inline void explicit_enter(void) /*@ ghost (struct tcache *own) */
{
    depot_enter();
    /*@ ghost
      if (depot_mine == DEPOT_NONE) {
        /@ assert floor:   \forall integer b; TCACHE_STACK(b) ==> own->floor[b] == \at(own->floor[b],Pre); @/
        /@ assert limit:   \forall integer b; TCACHE_STACK(b) ==> own->limit[b] == \at(own->limit[b],Pre); @/
        /@ assert least:   \forall integer b; TCACHE_STACK(b) ==> own->least[b] == \at(own->least[b],Pre); @/
        /@ assert most:    \forall integer b; TCACHE_STACK(b) ==> own->most[b] == \at(own->most[b],Pre); @/
        /@ assert room:    \forall integer b; TCACHE_STACK(b) ==> own->room[b] == \at(own->room[b],Pre); @/
        /@ assert magic:   \forall integer b; TCACHE_STACK(b) ==> own->magic[b] == \at(own->magic[b],Pre); @/
        /@ assert negated: \forall integer b; TCACHE_STACK(b) ==> own->negated[b] == \at(own->negated[b],Pre); @/
        /@ assert shape:   TcacheShapeSame{Pre,Here}(own); @/
        tcache_lemma_shape(own);
        /@ assert stacks:  TcacheSame{Pre,Here}(own); @/
        /@ assert bins:    \forall integer n; 0 <= n <= SC_LOOKUP_MAX ==> own->stack_of[n] == \at(own->stack_of[n],Pre); @/
        tcache_lemma_ok(own);
        /@ assert all:     TcacheAll(own); @/
      }
    */
}

/* Notes whether the explicit cache of that number is lent. No thread uses it at this moment. */
/*@ requires locked:  LockHeld(LOCK_DEPOT);
    requires ok:      DepotOk;
    requires none:    depot_mine == DEPOT_NONE;
    requires number:  number < DEPOT_EXPLICIT && depot_explicit_of[number] != 0;
    requires rests:   depot_sent[depot_explicit_of[number] - 1] == 1;
    assigns           depot_lent[number];
    ENSURES_DEPOT_OK;
    ensures  lent:    depot_lent[number] == (lent ? 1 : 0);
*/
static inline void explicit_set_lent(uint32_t number, bool lent)
{
    depot_lent[number] = lent;
}

/* Leaves the thread its own cache. */
/*@ EXPLICIT_HELD(requires);
    requires cache:   ExplicitOwn(own);
    EXPLICIT_WHOLE(requires, own);
    assigns           BIN_ASSIGNS_OTHERS, BLOCKS_ASSIGNS_MODEL, depot_mine, depot_aside, depot_sent[0 .. DEPOT_POOL];
    EXPLICIT_HELD(ensures);
    ensures  cache:   ExplicitOwn(own);
    EXPLICIT_WHOLE(ensures, own);
    LIVE_KEPT(ensures, 0, 0);
*/
static inline void explicit_stay(void) /*@ ghost (struct tcache *own) */
{
    /*@ ghost depot_aside = depot_mine; */
    explicit_sends() /*@ ghost (own) */;
    explicit_receives() /*@ ghost (own, depot_aside) */;
}

/* Puts the thread's own cache aside and takes the explicit one of that number, which is not lent. */
/*@ EXPLICIT_HELD(requires);
    requires cache:   ExplicitOwn(own);
    EXPLICIT_WHOLE(requires, own);
    requires number:  number < DEPOT_EXPLICIT && depot_explicit_of[number] != 0 && depot_lent[number] == 0;
    assigns           BIN_ASSIGNS_OTHERS, BLOCKS_ASSIGNS_MODEL, depot_mine, depot_aside, depot_sent[0 .. DEPOT_POOL],
                      depot_lent[number];
    EXPLICIT_HELD(ensures);
    ensures  lent:    ExplicitLent(\result, number);
    ensures  aside:   ExplicitAside(own);
    EXPLICIT_WHOLE(ensures, \result);
    LIVE_KEPT(ensures, 0, 0);
*/
static inline struct tcache *explicit_take(uint32_t number) /*@ ghost (struct tcache *own) */
{
    /*@ ghost depot_aside = depot_mine; */
    explicit_sends() /*@ ghost (own) */;
    struct tcache *t = depot_explicit[number];
    explicit_set_lent(number, true);
    explicit_receives() /*@ ghost (t, depot_explicit_of[number] - 1) */;
    return t;
}

/* Returns whether there is an explicit cache of that number, and it is not lent. */
/*@ requires locked:  LockHeld(LOCK_DEPOT);
    requires explicit: DepotExplicit;
    assigns           \nothing;
    ensures  rests:   \result ==> number < DEPOT_EXPLICIT && depot_explicit_of[number] != 0 && depot_lent[number] == 0;
    ensures  none:    !\result ==> DEPOT_EXPLICIT <= number || depot_explicit_of[number] == 0 || depot_lent[number] != 0;
*/
static inline bool explicit_rests(uint32_t number)
{
    return number < DEPOT_EXPLICIT && depot_explicit[number] != NULL && !depot_lent[number];
}

/* Gives the explicit cache of that number back to those that wait for a thread, and takes the thread's own one. */
/*@ EXPLICIT_HELD(requires);
    EXPLICIT_WHOLE(requires, t);
    requires lent:    ExplicitLent(t, number);
    requires aside:   ExplicitAside(own);
    assigns           BIN_ASSIGNS_OTHERS, BLOCKS_ASSIGNS_MODEL, depot_mine, depot_sent[0 .. DEPOT_POOL], depot_lent[number];
    EXPLICIT_HELD(ensures);
    ensures  cache:   ExplicitOwn(own);
    EXPLICIT_WHOLE(ensures, own);
    ensures  rests:   ExplicitRests(number) && depot_explicit_of[number] == \old(depot_mine) + 1;
    ensures  empty:   \old(TcacheEmpty(t)) ==> TcacheEmpty(t);
    ensures  arena:   own->arena == \old(own->arena);
    LIVE_KEPT(ensures, 0, 0);
*/
static inline void explicit_put(uint32_t number) /*@ ghost (struct tcache *own, struct tcache *t) */
{
    /*@ assert other: depot_aside != DEPOT_NONE ==> depot_aside != depot_mine; */
    /*@ assert entry: depot_explicit_of[number] == depot_mine + 1; */
    explicit_sends() /*@ ghost (t) */;
    explicit_set_lent(number, false);
    explicit_receives() /*@ ghost (own, depot_aside) */;
}

/* Returns the least number that is not in use, or DEPOT_EXPLICIT. */
/*@ requires locked:  LockHeld(LOCK_DEPOT);
    requires explicit: DepotExplicit;
    assigns           \nothing;
    ensures  range:   \result <= DEPOT_EXPLICIT;
    ensures  unused:  \result < DEPOT_EXPLICIT ==> depot_explicit_of[\result] == 0;
    ensures  least:   \forall integer i; 0 <= i < \result ==> depot_explicit_of[i] != 0;
*/
static inline uint32_t explicit_unused(void)
{
    uint32_t number = 0;
    /*@ loop invariant range: 0 <= number <= DEPOT_EXPLICIT;
        loop invariant used:  \forall integer i; 0 <= i < number ==> depot_explicit_of[i] != 0;
        loop assigns   number;
        loop variant   DEPOT_EXPLICIT - number;
    */
    while (number < DEPOT_EXPLICIT && depot_explicit[number] != NULL) {
        number++;
    }
    return number;
}

/* Gives cache n, which the thread has left whole, the number. It waits for a thread. */
/*@ requires locked:  LockHeld(LOCK_DEPOT);
    requires ok:      DepotOk;
    requires none:    depot_mine == DEPOT_NONE;
    requires cache:   n < depot_made && t == &depot_pool[n];
    requires rests:   depot_sent[n] == 1 && depot_place[n] == 0;
    requires number:  number < DEPOT_EXPLICIT && depot_explicit_of[number] == 0;
    requires count:   depot_explicit_count < depot_live_count;
    assigns           depot_explicit[number], depot_explicit_count, depot_explicit_of[number], depot_place[n];
    ENSURES_DEPOT_OK;
    ensures  named:   ExplicitRests(number) && depot_explicit_of[number] == n + 1;
*/
static inline void explicit_name(struct tcache *t, uint32_t number) /*@ ghost (uint32_t n) */
{
    depot_explicit[number] = t;
    depot_explicit_count += 1;
    /*@ ghost depot_explicit_of[number] = n + 1; */
    /*@ ghost depot_place[n] = number + 1; */
}

/* Makes the thread's cache the explicit one of that number, which waits for a thread. */
/*@ EXPLICIT_HELD(requires);
    requires mine:    depot_mine < DEPOT_POOL && t == &depot_pool[depot_mine];
    requires place:   depot_place[depot_mine] == 0;
    EXPLICIT_WHOLE(requires, t);
    requires number:  number < DEPOT_EXPLICIT && depot_explicit_of[number] == 0;
    assigns           BIN_ASSIGNS_OTHERS, BLOCKS_ASSIGNS_MODEL, depot_mine, depot_sent[0 .. DEPOT_POOL], depot_explicit[number],
                      depot_explicit_count, depot_explicit_of[number], depot_place[depot_mine];
    EXPLICIT_HELD(ensures);
    ensures  named:   ExplicitRests(number) && depot_explicit_of[number] == \old(depot_mine) + 1;
    ensures  none:    depot_mine == DEPOT_NONE && TcacheNone;
    ensures  others:  \forall integer k; 0 <= k <= DEPOT_POOL && k != \old(depot_mine) ==> depot_sent[k] == \old(depot_sent[k]);
    LIVE_KEPT(ensures, 0, 0);
*/
static inline void explicit_link(struct tcache *t, uint32_t number)
{
    /*@ ghost uint32_t mine = depot_mine; */
    /*@ assert made: mine < depot_made && depot_explicit_count < depot_live_count; */
    explicit_sends() /*@ ghost (t) */;
    explicit_name(t, number) /*@ ghost (mine) */;
}

/* Takes the number from the explicit cache that is lent. The cache is the thread's then, as if it had been made for it. */
/*@ requires locked:  LockHeld(LOCK_DEPOT);
    requires ok:      DepotOk;
    requires lent:    ExplicitLent(t, number);
    assigns           depot_explicit[number], depot_lent[number], depot_explicit_count, depot_explicit_of[number], depot_place[depot_mine];
    ENSURES_DEPOT_OK;
    ensures  thread:  depot_place[depot_mine] == 0;
    ensures  none:    depot_explicit_of[number] == 0;
*/
static inline void explicit_unlink(uint32_t number) /*@ ghost (struct tcache *t) */
{
    /*@ assert entry: depot_explicit_of[number] == depot_mine + 1; */
    depot_explicit[number] = NULL;
    depot_lent[number] = false;
    depot_explicit_count -= 1;
    /*@ ghost depot_explicit_of[number] = 0; */
    /*@ ghost depot_place[depot_mine] = 0; */
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Prepares a cache that was claimed for the explicit ones. */
/*@ requires blocks:  BlocksOk;
    requires mine:    depot_mine < DEPOT_POOL && t == &depot_pool[depot_mine];
    requires blank:   TcacheBlank(t);
    assigns           TCACHE_ASSIGNS_PAGES(t), t->fill[0 .. TCACHE_STACKS - 1];
    ensures  blocks:  BlocksOk;
    ensures  ok:      TcacheOk(t);
    ensures  blank:   TcacheBlank(t);
*/
static inline void explicit_renew(struct tcache *t)
{
    depot_renew(t);
    /*@ assert radix: RadixOk; */
    /*@ assert cache: PageCacheOk; */
    /*@ ghost large_lemma_ok(); */
    /*@ assert outside: TcacheOutside(t); */
    /*@ ghost tcache_lemma_empty(t); */
    /*@ ghost tcache_lemma_ok(t); */
}

/* Puts the thread's own cache aside and returns another one, which is the thread's then, or NULL without memory. */
/*@ EXPLICIT_HELD(requires);
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires cache:   ExplicitOwn(own);
    EXPLICIT_WHOLE(requires, own);
    assigns           BIN_ASSIGNS_OTHERS, BLOCKS_ASSIGNS_MODEL, DEPOT_ASSIGNS_CLAIM, depot_pool[0 .. DEPOT_POOL - 1], depot_mine, depot_aside;
    EXPLICIT_HELD(ensures);
    ensures  aside:   ExplicitAside(own);
    ensures  none:    \result == \null ==> depot_mine == DEPOT_NONE;
    ensures  gone:    TcacheNone;
    ensures  mine:    \result != \null ==> depot_mine < DEPOT_POOL && \result == &depot_pool[depot_mine] && depot_place[depot_mine] == 0;
    ensures  blank:   \result != \null ==> TcacheBlank(\result);
    LIVE_KEPT(ensures, 0, 0);
*/
static inline struct tcache *explicit_claim(void) /*@ ghost (struct tcache *own) */
{
    /*@ assert made: depot_mine != DEPOT_NONE ==> depot_mine < depot_made; */
    /*@ ghost depot_aside = depot_mine; */
    explicit_sends() /*@ ghost (own) */;
    struct tcache *t = depot_claim();
    /*@ assert other: depot_mine != DEPOT_NONE ==> depot_aside != depot_mine; */
    /*@ assert roots: RadixRoots; */
    /*@ assert highs: RadixHighs; */
    /*@ assert lows: RadixLows; */
    /*@ assert extents: RadixExtents; */
    /*@ assert holes: RadixHoles; */
    /*@ assert radix: RadixOk; */
    /*@ assert cache: PageCacheOk; */
    /*@ ghost large_lemma_ok(); */
    return t;
}

/* Makes the thread's cache, which is empty, an explicit one, and returns its number. Where all numbers are in use, the cache is idle then, and
 * the result is DEPOT_EXPLICIT. The thread has its own cache again. */
/*@ EXPLICIT_HELD(requires);
    requires mine:    depot_mine < DEPOT_POOL && t == &depot_pool[depot_mine];
    requires place:   depot_place[depot_mine] == 0;
    requires aside:   ExplicitAside(own);
    requires ok:      TcacheOk(t);
    requires blank:   TcacheBlank(t);
    requires gone:    TcacheNone;
    assigns           BIN_ASSIGNS_OTHERS, BLOCKS_ASSIGNS_MODEL, DEPOT_ASSIGNS_GUARDED, t->next_idle, depot_mine;
    EXPLICIT_HELD(ensures);
    ensures  number:  \result <= DEPOT_EXPLICIT;
    ensures  was:     \result < DEPOT_EXPLICIT ==> \old(depot_explicit_of[\result]) == 0;
    ensures  named:   \result < DEPOT_EXPLICIT ==> ExplicitRests(\result) && depot_explicit_of[\result] == \old(depot_mine) + 1;
    ensures  others:  \forall integer i; 0 <= i < DEPOT_EXPLICIT && i != \result ==> depot_explicit_of[i] == \old(depot_explicit_of[i]);
    ensures  least:   \forall integer i; 0 <= i < \result ==> depot_explicit_of[i] != 0;
    ensures  full:    \result == DEPOT_EXPLICIT ==> depot_place[\old(depot_mine)] == DEPOT_PLACE_IDLE;
    ensures  empty:   TcacheEmpty(t);
    ensures  cache:   ExplicitOwn(own);
    EXPLICIT_WHOLE(ensures, own);
    LIVE_KEPT(ensures, 0, 0);
*/
static inline uint32_t explicit_publish(struct tcache *t) /*@ ghost (struct tcache *own) */
{
    /*@ assert other: depot_aside != DEPOT_NONE ==> depot_aside != depot_mine; */
    uint32_t number = explicit_unused();
    if (number < DEPOT_EXPLICIT) {
        explicit_link(t, number);
    } else {
        depot_retire(t);
    }
    explicit_receives() /*@ ghost (own, depot_aside) */;
    return number;
}

/* Takes the depot's lock while the thread has a cache that is made for an explicit one, which stays as it is. */
/*@ TCACHE_WHOLE(requires, t);
    requires lock:    LocksFree(LOCK_DEPOT);
    requires mine:    depot_mine < DEPOT_POOL && t == &depot_pool[depot_mine];
    requires place:   depot_place[depot_mine] == 0;
    requires aside:   ExplicitAside(own);
    requires blank:   TcacheBlank(t);
    assigns           DEPOT_ASSIGNS_LISTS, lock_held[LOCK_DEPOT];
    EXPLICIT_HELD(ensures);
    ensures  place:   depot_place[depot_mine] == 0;
    ensures  ok:      TcacheOk(t);
    ensures  blank:   TcacheBlank(t);
    ensures  aside:   ExplicitAside(own);
*/
static inline void explicit_enter_made(void) /*@ ghost (struct tcache *own, struct tcache *t) */
{
    depot_enter();
}

uint32_t explicit_create(void) /*@ ghost (struct tcache *own) */
{
    explicit_enter() /*@ ghost (own) */;
    struct tcache *t = explicit_claim() /*@ ghost (own) */;
    if (t == NULL) {
        explicit_receives() /*@ ghost (own, depot_aside) */;
        depot_leave();
        return DEPOT_EXPLICIT;
    }
    depot_leave();
    explicit_renew(t);
    explicit_enter_made() /*@ ghost (own, t) */;
    uint32_t number = explicit_publish(t) /*@ ghost (own) */;
    depot_leave();
    return number;
}

/* Sets the arena from which the cache that is lent gets blocks. */
/*@ requires blocks:  BlocksOk;
    requires lent:    depot_mine < DEPOT_POOL && t == &depot_pool[depot_mine];
    requires ok:      TcacheOk(t);
    requires arena:   arena < ARENAS_MAX;
    assigns           t->arena;
    ensures  blocks:  BlocksOk;
    ensures  ok:      TcacheOk(t);
*/
static inline void explicit_set_arena(struct tcache *t, uint32_t arena)
{
    t->arena = (uint16_t)arena;
    /*@ assert radix: RadixOk; */
    /*@ assert cache: PageCacheOk; */
    /*@ ghost large_lemma_ok(); */
    /*@ ghost tcache_lemma_ok(t); */
}

struct tcache *explicit_lend(uint32_t number, uint32_t arena) /*@ ghost (struct tcache *own) */
{
    struct tcache *t = NULL;
    explicit_enter() /*@ ghost (own) */;
    if (explicit_rests(number)) {
        t = explicit_take(number) /*@ ghost (own) */;
    } else {
        explicit_stay() /*@ ghost (own) */;
    }
    depot_leave();
    if (t != NULL) {
        /*@ assert same: own->arena == \at(own->arena,Pre); */
        /*@ assert apart: own != t; */
        explicit_set_arena(t, arena);
    }
    return t;
}

/* Takes the depot's lock while the thread uses an explicit cache, which stays as it is. */
/*@ requires blocks:  BlocksOk;
    EXPLICIT_WHOLE(requires, t);
    requires lock:    LocksFree(LOCK_DEPOT);
    requires lent:    ExplicitLent(t, number);
    requires aside:   ExplicitAside(own);
    assigns           DEPOT_ASSIGNS_LISTS, lock_held[LOCK_DEPOT];
    EXPLICIT_HELD(ensures);
    EXPLICIT_WHOLE(ensures, t);
    ensures  empty:   \old(TcacheBlank(t)) ==> TcacheEmpty(t);
    ensures  lent:    ExplicitLent(t, number);
    ensures  aside:   ExplicitAside(own);
    ensures  arena:   own->arena == \old(own->arena);
*/
static inline void explicit_enter_lent(void) /*@ ghost (struct tcache *own, struct tcache *t, uint32_t number) */
{
    depot_enter();
}

void explicit_return(uint32_t number) /*@ ghost (struct tcache *own, struct tcache *t) */
{
    explicit_enter_lent() /*@ ghost (own, t, number) */;
    explicit_put(number) /*@ ghost (own, t) */;
    depot_leave();
}

bool explicit_flush(uint32_t number) /*@ ghost (struct tcache *own) */
{
    struct tcache *t = explicit_lend(number, 0) /*@ ghost (own) */;
    if (t != NULL) {
        /*@ assert pool: depot_mine < DEPOT_POOL && t == &depot_pool[depot_mine]; */
        refill_flush(t);
        /*@ assert blank: TcacheBlank(t); */
        explicit_return(number) /*@ ghost (own, t) */;
    }
    return t != NULL;
}

/* Leaves the explicit cache that is lent, and is empty, to the idle ones, and takes the thread's own one. */
/*@ EXPLICIT_HELD(requires);
    requires blank:   TcacheBlank(t);
    requires heights: TcacheHeights(t);
    requires gone:    TcacheNone;
    requires lent:    ExplicitLent(t, number);
    requires aside:   ExplicitAside(own);
    assigns           BIN_ASSIGNS_OTHERS, BLOCKS_ASSIGNS_MODEL, depot_explicit[number], depot_lent[number], depot_explicit_count,
                      depot_explicit_of[number], depot_idle, depot_idle_count, depot_live_count, depot_mine, t->next_idle,
                      depot_idle_at[0 .. DEPOT_POOL - 1], depot_idle_pos[0 .. DEPOT_POOL - 1], depot_place[0 .. DEPOT_POOL - 1],
                      depot_sent[0 .. DEPOT_POOL];
    EXPLICIT_HELD(ensures);
    ensures  cache:   ExplicitOwn(own);
    EXPLICIT_WHOLE(ensures, own);
    ensures  idle:    depot_place[\old(depot_mine)] == DEPOT_PLACE_IDLE;
    ensures  none:    depot_explicit_of[number] == 0;
    LIVE_KEPT(ensures, 0, 0);
*/
static inline void explicit_retire(struct tcache *t, uint32_t number) /*@ ghost (struct tcache *own) */
{
    /*@ assert other: depot_aside != DEPOT_NONE ==> depot_aside != depot_mine; */
    explicit_unlink(number) /*@ ghost (t) */;
    depot_retire(t);
    explicit_receives() /*@ ghost (own, depot_aside) */;
}

/* Empties the explicit cache that is lent. The pages of its slots go back to the OS too, where enough caches are ready. */
/*@ requires blocks:  BlocksOk;
    EXPLICIT_WHOLE(requires, cache);
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires lock:    LocksFree(LOCK_DEPOT);
    requires lent:    ExplicitLent(cache, number);
    requires aside:   ExplicitAside(own);
    assigns           EXPLICIT_ASSIGNS, large_allocated, large_freed;
    ensures  lock:    LocksFree(LOCK_DEPOT);
    ensures  blocks:  BlocksOk;
    ensures  blank:   TcacheBlank(cache);
    ensures  heights: TcacheHeights(cache);
    ensures  gone:    TcacheNone;
    ensures  lent:    ExplicitLent(cache, number);
    ensures  aside:   ExplicitAside(own);
    LIVE_KEPT(ensures, 0, 0);
*/
static inline void explicit_empty(struct tcache *cache) /*@ ghost (struct tcache *own, uint32_t number) */
{
    /*@ assert pool: depot_mine < DEPOT_POOL && cache == &depot_pool[depot_mine]; */
    counting_end(cache, COUNTER_WAITS);
    refill_flush(cache);
    if (depot_is_stocked()) {
        depot_forget(cache);
    }
}

bool explicit_destroy(uint32_t number) /*@ ghost (struct tcache *own) */
{
    struct tcache *t = explicit_lend(number, 0) /*@ ghost (own) */;
    if (t != NULL) {
        explicit_empty(t) /*@ ghost (own, number) */;
        depot_enter();
        /*@ ghost uint32_t mine = depot_mine; */
        explicit_retire(t, number) /*@ ghost (own) */;
        /*@ assert idle: t == &depot_pool[mine] && depot_place[mine] == DEPOT_PLACE_IDLE; */
        depot_leave();
    }
    return t != NULL;
}
