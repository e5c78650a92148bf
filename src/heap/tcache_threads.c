/* tcache_threads: shapes, lists. */
#include "heap/tcache_threads.h"

#include <stddef.h>

#include "heap/tcache_shape.h"

#include "size_class_align_lemmas.acsl"
#include "large_lemmas.acsl"
#include "tcache_steps_lemmas.acsl"
struct tcache tcache_unborn;
struct tcache tcache_dead;

static struct mutex tcache_lock = MUTEX_INIT;

struct tcache *tcache_list;
struct tcache *tcache_idle;
uint32_t       tcache_made;
uint32_t       tcache_live_count;
divide_magic_t tcache_magic[TCACHE_BINS];

/* ---- shape ------------------------------------------------------------------------------------------------------ */

/*@ requires valid:   \valid(t);
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires zero:    TcacheZero(t);
    requires bytes:   ThreadsBytes && ThreadsMagic;
    terminates        \true;
    exits             \false;
    assigns           t->bin_of[0 .. SC_LOOKUP_MAX], TCACHE_ASSIGNS_SHAPE(t);
    ensures  limits:  TcacheLimits(t);
    ensures  apart:   TcacheApart(t);
    ensures  magic:   TcacheNoBin(t) && TcacheMagic(t);
    ensures  bytes:   TcacheBytes(t);
    ensures  negated: TcacheNegated(t);
    ensures  lookup:  TcacheLookup(t);
    ensures  bottom:  TcacheBottom(t);
    ensures  fill:    TcacheFill(t);
    ensures  turn:    TcacheTurn(t);
    ensures  window:  t->window_pages == 0;
    ensures  none:    !room ==> TcacheHollow(t);
*/
static void tcache_shape(struct tcache *t, bool room)
{
    uint32_t floor = room ? 1 : 0;
    tcache_shape_lookup(t);
    tcache_shape_bin(t, 0, 0, 0, 0);
    /*@ loop invariant range:   1 <= b <= TCACHE_BINS && floor <= b * (TCACHE_DEPTH_MAX + 1) && (room ? 0 < floor : floor == 0);
        loop invariant limits:  ShapedLimits(t, b);
        loop invariant some:    ShapedSome(t, b);
        loop invariant below:   room ==> ShapedBelow(t, b, floor);
        loop invariant none:    !room ==> ShapedNone(t, b);
        loop invariant apart:   room ==> ShapedApart(t, b);
        loop invariant bottom:  TcacheEmptyTo(t, b);
        loop invariant no_bin:  TcacheNoBin(t);
        loop invariant magic:   ShapedMagic(t, b);
        loop invariant negated: ShapedNegated(t, b);
        loop assigns   b, floor, TCACHE_ASSIGNS_SHAPE(t);
        loop variant   TCACHE_BINS - b;
    */
    for (uint32_t b = 1; b < TCACHE_BINS; b++) {
        if (room) {
            floor = tcache_shape_stack(t, b, floor);
        } else {
            tcache_shape_hollow(t, b);
        }
    }
    /*@ assert slots: \forall integer i; 0 <= i < TCACHE_SLOTS ==> t->slot[i] == 0; */
    /*@ assert tops: TcacheTops(t); */
    /*@ assert floors: TcacheFloors(t); */
    /*@ ghost tcache_lemma_apart(t); */
}

/*@ terminates        \true;
    exits             \false;
    assigns           tcache_magic[0 .. TCACHE_BINS - 1], tcache_bytes[0 .. TCACHE_BINS - 1];
    ensures  bytes:   ThreadsBytes;
    ensures  magic:   ThreadsMagic;
*/
static void tcache_fill_magic(void)
{
    /*@ loop invariant range: 1 <= b <= TCACHE_BINS;
        loop invariant bytes: \forall integer a; 0 < a < b ==> tcache_bytes[a] == ScBytes(a - 1);
        loop invariant most:  \forall integer a; 0 < a < b ==> SC_TINY <= tcache_bytes[a];
        loop invariant magic: \forall integer a; 0 < a < b ==>
                              tcache_magic[a] <= DIVIDE_ONE / SC_TINY && DivideMagic(tcache_magic[a], tcache_bytes[a]);
        loop assigns   b, tcache_magic[0 .. TCACHE_BINS - 1], tcache_bytes[0 .. TCACHE_BINS - 1];
        loop variant   TCACHE_BINS - b;
    */
    for (uint32_t b = 1; b < TCACHE_BINS; b++) {
        /*@ ghost tcache_lemma_bytes(b - 1); */
        uint32_t bytes = (uint32_t)size_class_bytes(b - 1);
        /*@ ghost tcache_bytes[b] = bytes; */
        tcache_magic[b] = divide_magic(bytes);
    }
}

/* The first stand-in; what is to be shaped later stays zero. */
/*@ requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires bytes:   ThreadsBytes && ThreadsMagic;
    requires unmade:  ThreadsUnmade;
    requires unborn:  TcacheZero(&tcache_unborn);
    requires dead:    TcacheZero(&tcache_dead);
    terminates        \true;
    exits             \false;
    assigns           tcache_unborn.bin_of[0 .. SC_LOOKUP_MAX], TCACHE_ASSIGNS_SHAPE(&tcache_unborn);
    ensures  unmade:  ThreadsUnmade;
    ensures  unborn:  TcacheStandin(&tcache_unborn);
    ensures  dead:    TcacheZero(&tcache_dead);
*/
static inline void tcache_boot_unborn(void)
{
    tcache_shape(&tcache_unborn, false);
}

/* The second one; the first stays as it is. */
/*@ requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires bytes:   ThreadsBytes && ThreadsMagic;
    requires unmade:  ThreadsUnmade;
    requires unborn:  TcacheStandin(&tcache_unborn);
    requires dead:    TcacheZero(&tcache_dead);
    terminates        \true;
    exits             \false;
    assigns           tcache_dead.bin_of[0 .. SC_LOOKUP_MAX], TCACHE_ASSIGNS_SHAPE(&tcache_dead);
    ensures  unmade:  ThreadsUnmade;
    ensures  unborn:  TcacheStandin(&tcache_unborn);
    ensures  dead:    TcacheStandin(&tcache_dead);
*/
static inline void tcache_boot_dead(void)
{
    tcache_shape(&tcache_dead, false);
    /*@ assert floors: ShapedFloorSame{Pre,Here}(&tcache_unborn, TCACHE_BINS); */
    /*@ assert rooms:  ShapedRoomSame{Pre,Here}(&tcache_unborn, TCACHE_BINS); */
    /*@ assert magics: ShapedMagicSame{Pre,Here}(&tcache_unborn, TCACHE_BINS); */
    /*@ assert negated: ShapedNegatedSame{Pre,Here}(&tcache_unborn, TCACHE_BINS); */
    /*@ ghost tcache_lemma_shape(&tcache_unborn); */
    /*@ assert stacks: TcacheSame{Pre,Here}(&tcache_unborn); */
    /*@ assert bottom: TcacheBottom(&tcache_unborn); */
}

void tcache_boot(void)
{
    tcache_fill_magic();
    tcache_boot_unborn();
    tcache_boot_dead();
}

/* ---- the lock ---------------------------------------------------------------------------------------------------- */

/* Other threads made caches, left theirs, claimed idle ones, used what they have. */
/*@ requires locked:  LockHeld(LOCK_TCACHE);
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS_LISTS;
    ensures  ok:      ThreadsOk;
    ensures  kept:    ThreadsKept{Pre,Post};
    ensures  heap:    \old(HeapOk) ==> HeapOk;
*/
OTHERS_ACT(tcache_others);

/*@ requires lock:    LocksFree(LOCK_TCACHE);
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS_LISTS, lock_held[LOCK_TCACHE];
    ensures  locked:  LockHeld(LOCK_TCACHE);
    ensures  ok:      ThreadsOk;
    ensures  kept:    ThreadsKept{Pre,Post};
    ensures  heap:    \old(HeapOk) ==> HeapOk;
*/
static inline void tcache_enter(void)
{
    mutex_lock(&tcache_lock) /*@ ghost (LOCK_TCACHE) */;
    tcache_others();
}

/*@ requires locked:  LockHeld(LOCK_TCACHE);
    requires ok:      ThreadsOk;
    terminates        \true;
    exits             \false;
    assigns           lock_held[LOCK_TCACHE];
    ensures  free:    lock_held[LOCK_TCACHE] == 0;
*/
static inline void tcache_leave(void)
{
    mutex_unlock(&tcache_lock) /*@ ghost (LOCK_TCACHE) */;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* The cache that was left last becomes this thread's. */
/*@ requires locked:  LockHeld(LOCK_TCACHE);
    requires ok:      ThreadsOk;
    requires none:    tcache_mine == TCACHE_NONE;
    requires some:    tcache_idle != \null;
    terminates        \true;
    exits             \false;
    assigns           tcache_idle, tcache_idle_count, tcache_live_count, tcache_mine;
    ensures  list:    ThreadsList;
    ensures  next:    ThreadsNext;
    ensures  heights: ThreadsHeights;
    ensures  unmade:  ThreadsUnmade;
    ensures  idle:    ThreadsIdle;
    ensures  links:   ThreadsIdleNext;
    ensures  once:    ThreadsIdleOnce;
    ensures  shapes:  ThreadsIdleShape;
    ensures  lookups: ThreadsIdleLookup;
    ensures  stacks:  ThreadsIdleStacks;
    ensures  turns:   ThreadsIdleTurns;
    ensures  count:   ThreadsCount;
    ensures  bytes:   ThreadsBytes && ThreadsMagic;
    ensures  base:    BaseOk;
    ensures  mine:    tcache_mine < THREAD_POOL && \result == &thread_pool[tcache_mine];
    ensures  shape:   TcacheShape(\result);
    ensures  lookup:  TcacheLookup(\result);
    ensures  stack:   TcacheBottom(\result);
    ensures  turn:    TcacheTurn(\result);
*/
static struct tcache *tcache_reuse(void)
{
    struct tcache *t = tcache_idle;
    /*@ assert last: t == &thread_pool[tcache_idle_at[tcache_idle_count - 1]]; */
    tcache_idle = t->next_idle;
    tcache_live_count += 1;
    /*@ ghost tcache_idle_count = tcache_idle_count - 1; */
    /*@ ghost tcache_mine = tcache_idle_at[tcache_idle_count]; */
    /*@ assert blank: TcacheBlank(t); */
    return t;
}

/* The next cache gets its shape; the others stay as they are. */
/*@ requires made:    tcache_made < THREAD_POOL && t == &thread_pool[tcache_made];
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires bytes:   ThreadsBytes && ThreadsMagic;
    requires heights: ThreadsHeights;
    requires unmade:  ThreadsUnmade;
    terminates        \true;
    exits             \false;
    assigns           t->bin_of[0 .. SC_LOOKUP_MAX], TCACHE_ASSIGNS_SHAPE(t);
    ensures  heights: ThreadsHeights;
    ensures  unmade:  \forall integer k; tcache_made < k < THREAD_POOL ==> TcacheZero(&thread_pool[k]);
    ensures  blank:   TcacheBlank(t);
*/
static inline void tcache_shape_next(struct tcache *t)
{
    tcache_shape(t, true);
    /*@ assert shape: TcacheShape(t); */
    /*@ assert top:   \forall integer k, b; 0 <= k < tcache_made && TCACHE_BIN(b) ==>
            thread_pool[k].top[b] == \at(thread_pool[k].top[b],Pre); */
    /*@ assert limit: \forall integer k, b; 0 <= k < tcache_made && TCACHE_BIN(b) ==>
            thread_pool[k].limit[b] == \at(thread_pool[k].limit[b],Pre); */
    /*@ assert floor: \forall integer k, b; 0 <= k < tcache_made && TCACHE_BIN(b) ==>
            thread_pool[k].floor[b] == \at(thread_pool[k].floor[b],Pre); */
    /*@ assert least: \forall integer k, b; 0 <= k < tcache_made && TCACHE_BIN(b) ==>
            thread_pool[k].least[b] == \at(thread_pool[k].least[b],Pre); */
    /*@ assert room:  \forall integer k, b; 0 <= k < tcache_made && TCACHE_BIN(b) ==>
            thread_pool[k].room[b] == \at(thread_pool[k].room[b],Pre); */
}

/* It comes first in the list of all. */
/*@ requires made:    tcache_made < THREAD_POOL && t == &thread_pool[tcache_made];
    requires list:    ThreadsList;
    requires next:    ThreadsNext;
    terminates        \true;
    exits             \false;
    assigns           t->next;
    ensures  next:    \forall integer k; 0 <= k <= tcache_made ==> TcacheNth(thread_pool[k].next, k);
*/
static inline void tcache_link(struct tcache *t)
{
    t->next = tcache_list;
}

/* A new one. */
/*@ requires locked:  LockHeld(LOCK_TCACHE);
    requires ok:      ThreadsOk;
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires idle:    tcache_idle == \null;
    requires none:    tcache_mine == TCACHE_NONE;
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS_GUARDED, tcache_mine, thread_pool[0 .. THREAD_POOL - 1];
    ensures  list:    ThreadsList;
    ensures  next:    ThreadsNext;
    ensures  heights: ThreadsHeights;
    ensures  unmade:  ThreadsUnmade;
    ensures  idle:    ThreadsIdle;
    ensures  links:   ThreadsIdleNext;
    ensures  once:    ThreadsIdleOnce;
    ensures  shapes:  ThreadsIdleShape;
    ensures  lookups: ThreadsIdleLookup;
    ensures  stacks:  ThreadsIdleStacks;
    ensures  turns:   ThreadsIdleTurns;
    ensures  count:   ThreadsCount;
    ensures  bytes:   ThreadsBytes && ThreadsMagic;
    ensures  base:    BaseOk;
    ensures  none:    \result == \null ==> tcache_mine == TCACHE_NONE;
    ensures  mine:    \result != \null ==> tcache_mine < THREAD_POOL && \result == &thread_pool[tcache_mine];
    ensures  blank:   \result != \null ==> TcacheBlank(\result);
*/
static struct tcache *tcache_make(void)
{
    uintptr_t      place = tcache_made < THREAD_POOL ? base_alloc(sizeof(struct tcache), 64) : 0;
    struct tcache *t = POOL_PLACE(struct tcache, thread_pool, tcache_made, place);
    /*@ assert idle: tcache_idle_count == 0; */
    if (t != NULL) {
        tcache_shape_next(t);
        tcache_link(t);
        tcache_list = t;
        /*@ ghost tcache_mine = tcache_made; */
        tcache_made += 1;
        tcache_live_count += 1;
    }
    return t;
}

/* A cache that a thread has left, or a new one. */
/*@ requires locked:  LockHeld(LOCK_TCACHE);
    requires ok:      ThreadsOk;
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires none:    tcache_mine == TCACHE_NONE;
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS_GUARDED, tcache_mine, thread_pool[0 .. THREAD_POOL - 1];
    ensures  ok:      ThreadsOk;
    ensures  none:    \result == \null ==> tcache_mine == TCACHE_NONE;
    ensures  mine:    \result != \null ==> tcache_mine < THREAD_POOL && \result == &thread_pool[tcache_mine];
    ensures  blank:   \result != \null ==> TcacheBlank(\result);
*/
static struct tcache *tcache_claim(void)
{
    return tcache_idle != NULL ? tcache_reuse() : tcache_make();
}

/* Fills begin small, and what the window of the last thread was is forgotten. */
/*@ requires valid:   \valid(t);
    requires limits:  TcacheLimits(t);
    requires tops:    TcacheTops(t);
    requires bottom:  TcacheBottom(t);
    requires turn:    TcacheTurn(t);
    terminates        \true;
    exits             \false;
    assigns           t->window_pages, t->fill[0 .. TCACHE_BINS - 1];
    ensures  window:  t->window_pages == 0;
    ensures  limits:  TcacheLimits(t);
    ensures  tops:    TcacheTops(t);
    ensures  floors:  TcacheFloors(t);
    ensures  empty:   TcacheEmpty(t);
    ensures  fill:    TcacheFill(t);
    ensures  turn:    TcacheTurn(t);
*/
static void tcache_renew(struct tcache *t)
{
    t->window_pages = 0;
    /*@ loop invariant range:  0 <= b <= TCACHE_BINS;
        loop invariant fill:   \forall integer a; 0 <= a < b ==> 0 <= t->fill[a] <= TCACHE_SLOTS;
        loop invariant limits: TcacheLimits(t);
        loop invariant tops:   TcacheTops(t);
        loop invariant turn:   TcacheTurn(t);
        loop assigns   b, t->fill[0 .. TCACHE_BINS - 1];
        loop variant   TCACHE_BINS - b;
    */
    for (uint32_t b = 0; b < TCACHE_BINS; b++) {
        t->fill[b] = TCACHE_FILL_FIRST;
    }
}

/* This thread's cache joins an arena. */
/*@ requires lock:    LocksFree(LOCK_ARENA);
    requires arenas:  ArenaOk && ArenaNone;
    requires valid:   \valid(t);
    requires limits:  TcacheLimits(t);
    requires tops:    TcacheTops(t);
    requires fill:    TcacheFill(t);
    requires turn:    TcacheTurn(t);
    terminates        \true;
    exits             \false;
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
static void tcache_join(struct tcache *t)
{
    t->arena = (uint16_t)arena_join();
}

struct tcache *tcache_create(void)
{
    tcache_enter();
    struct tcache *t = tcache_claim();
    tcache_leave();
    if (t != NULL) {
        tcache_renew(t);
        tcache_join(t);
        /*@ assert outside: TcacheOutside(t); */
        /*@ ghost tcache_lemma_empty(t); */
        /*@ ghost tcache_lemma_ok(t); */
    }
    return t;
}

/* The link of this thread's cache to those that are idle. */
/*@ requires heap:    HeapOk;
    requires mine:    tcache_mine < THREAD_POOL && t == &thread_pool[tcache_mine];
    requires next:    ThreadsNext;
    requires idle:    ThreadsIdle;
    requires links:   ThreadsIdleNext;
    requires once:    ThreadsIdleOnce;
    terminates        \true;
    exits             \false;
    assigns           t->next_idle;
    ensures  heap:    HeapOk;
    ensures  next:    ThreadsNext;
    ensures  links:   ThreadsIdleNext;
    ensures  top:     TcacheNth(t->next_idle, tcache_idle_count == 0 ? 0 : tcache_idle_at[tcache_idle_count - 1] + 1);
*/
static inline void tcache_link_idle(struct tcache *t)
{
    t->next_idle = tcache_idle;
    /*@ assert radix: RadixOk; */
    /*@ assert cache: PageCacheOk; */
    /*@ ghost large_lemma_ok(); */
}

/* This thread's cache, which is empty, is idle. */
/*@ requires locked:  LockHeld(LOCK_TCACHE);
    requires ok:      ThreadsOk;
    requires heap:    HeapOk;
    requires mine:    tcache_mine < THREAD_POOL && t == &thread_pool[tcache_mine];
    requires blank:   TcacheBlank(t);
    requires heights: TcacheHeights(t);
    terminates        \true;
    exits             \false;
    assigns           tcache_idle, tcache_idle_count, tcache_live_count, tcache_mine, t->next_idle,
                      tcache_idle_at[0 .. THREAD_POOL - 1], tcache_idle_pos[0 .. THREAD_POOL - 1];
    ensures  list:    ThreadsList;
    ensures  next:    ThreadsNext;
    ensures  heights: ThreadsHeights;
    ensures  unmade:  ThreadsUnmade;
    ensures  idle:    ThreadsIdle;
    ensures  links:   ThreadsIdleNext;
    ensures  once:    ThreadsIdleOnce;
    ensures  shapes:  ThreadsIdleShape;
    ensures  lookups: ThreadsIdleLookup;
    ensures  stacks:  ThreadsIdleStacks;
    ensures  turns:   ThreadsIdleTurns;
    ensures  count:   ThreadsCount;
    ensures  bytes:   ThreadsBytes && ThreadsMagic;
    ensures  base:    BaseOk;
    ensures  heap:    HeapOk;
    ensures  none:    tcache_mine == TCACHE_NONE;
*/
static void tcache_retire(struct tcache *t)
{
    tcache_link_idle(t);
    tcache_idle = t;
    tcache_live_count -= 1;
    /*@ ghost tcache_idle_push(); */
}

/* All its blocks go back, and the thread leaves its arena. */
/*@ requires lock:    LocksFree(LOCK_ARENA);
    requires heap:    HeapOk;
    requires arenas:  ArenaOk;
    requires arena:   t->arena < ARENAS_MAX && arena_joined[t->arena] == 1;
    requires only:    ArenaOnly(t->arena);
    requires ok:      TcacheOk(t);
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS(t), ARENA_ASSIGNS, arena_joined[t->arena];
    ensures  lock:    LocksFree(LOCK_ARENA);
    ensures  heap:    HeapOk;
    ensures  arenas:  ArenaOk;
    ensures  left:    ArenaNone;
    ensures  blank:   TcacheBlank(t);
    ensures  heights: TcacheHeights(t);
    ensures  kept:    LiveSame{Pre,Post}(0);
    ensures  none:    LiveNoneNew{Pre,Post}(0);
*/
static inline void tcache_give_up(struct tcache *t)
{
    tcache_flush(t);
    /*@ assert arena: t->arena == \at(t->arena,Pre); */
    arena_leave(t->arena);
}

void tcache_destroy(struct tcache *t)
{
    tcache_give_up(t);
    tcache_enter();
    tcache_retire(t);
    tcache_leave();
}

uint32_t tcache_live(void)
{
    tcache_enter();
    uint32_t n = tcache_live_count;
    tcache_leave();
    return n;
}

/*@ requires locked:  LockHeld(LOCK_TCACHE);
    requires ok:      ThreadsOk;
    requires bin:     bin < TCACHE_BINS;
    requires mine:    ThreadsHeight;
    terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  most:    \result <= THREAD_POOL * TCACHE_SLOTS;
*/
static uint64_t tcache_count(uint32_t bin)
{
    uint64_t n = 0;
    /*@ ghost uint32_t left = tcache_made; */
    /*@ loop invariant left: 0 <= left <= tcache_made;
        loop invariant at:   TcacheNth(t, left);
        loop invariant most: n <= (tcache_made - left) * TCACHE_SLOTS;
        loop assigns   t, n, left;
        loop variant   left;
    */
    for (const struct tcache *t = tcache_list; t != NULL; t = t->next) {
        /*@ assert height: TcacheHeights(t); */
        n += ATOMIC_LOAD(t->top[bin]) - t->floor[bin];
        /*@ ghost left = left - 1; */
    }
    return n;
}

uint64_t tcache_blocks(uint32_t bin)
{
    tcache_enter();
    uint64_t n = tcache_count(bin);
    tcache_leave();
    return n;
}

void tcache_prefork(void)
{
    tcache_enter();
}

void tcache_postfork_parent(void)
{
    tcache_leave();
}

void tcache_postfork_child(struct tcache *mine)
{
    mutex_reset(&tcache_lock) /*@ ghost (LOCK_TCACHE) */;
    tcache_live_count = mine == &tcache_unborn || mine == &tcache_dead ? 0 : 1;
}
