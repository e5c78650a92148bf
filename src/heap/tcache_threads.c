/* tcache_threads: shapes, lists. */
#include "heap/tcache_threads.h"

#include <stddef.h>

#include "tcache_threads_lemmas.acsl"

#define TCACHE_BYTES 65536UL            /* a stack holds about this much, within the two depths below */
#define TCACHE_BYTES_MAX 524288UL       /* and this much where the thread swings */
#define TCACHE_LARGE_BYTES 131072UL     /* the same for large classes */
#define TCACHE_LARGE_BYTES_MAX 4194304UL

struct tcache tcache_unborn;
struct tcache tcache_dead;

static struct mutex tcache_lock = MUTEX_INIT;

struct tcache *tcache_list;
struct tcache *tcache_idle;
uint32_t       tcache_made;
uint32_t       tcache_live_count;
divide_magic_t tcache_magic[TCACHE_BINS];

/* ---- shape ------------------------------------------------------------------------------------------------------ */

/* Blocks of that bin in so many bytes. */
/*@ requires bin:     0 < bin < TCACHE_BINS;
    terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  some:    0 < \result <= TCACHE_DEPTH_MAX;
    ensures  depth:   \result == TcacheDepth(bin, (bin <= SC_NBINS ? bytes_small : bytes_large) / ScBytes(bin - 1));
*/
static uint32_t tcache_depth(uint32_t bin, uint64_t bytes_small, uint64_t bytes_large)
{
    uint64_t bytes = size_class_bytes(bin - 1);
    uint64_t most = (bin <= SC_NBINS ? bytes_small : bytes_large) / bytes;
    uint64_t least = bin <= SC_NBINS ? TCACHE_DEPTH_MIN : 1;
    return (uint32_t)(most < least ? least : most > TCACHE_DEPTH_MAX ? TCACHE_DEPTH_MAX : most);
}

/*@ requires valid:   \valid(t);
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    terminates        \true;
    exits             \false;
    assigns           t->bin_of[0 .. SC_LOOKUP_MAX];
    ensures  lookup:  TcacheLookup(t);
*/
static void tcache_shape_lookup(struct tcache *t)
{
    /*@ loop invariant range: 0 <= bytes <= SC_LOOKUP_MAX + 1;
        loop invariant bins:  \forall integer n; 0 <= n < bytes ==> 0 < t->bin_of[n] <= SC_NBINS;
        loop invariant fits:  \forall integer n; 0 <= n < bytes ==> ClassFits(n, t->bin_of[n] - 1);
        loop invariant least: \forall integer n; 0 <= n < bytes ==> ClassLeast(n, t->bin_of[n] - 1);
        loop assigns   bytes, t->bin_of[0 .. SC_LOOKUP_MAX];
        loop variant   SC_LOOKUP_MAX + 1 - bytes;
    */
    for (uint64_t bytes = 0; bytes <= SC_LOOKUP_MAX; bytes++) {
        t->bin_of[bytes] = (uint8_t)(size_class_lookup(bytes) + 1);
    }
}

/* The stack of bin b begins at that slot, with slots for so many blocks; 0: none. */
/*@ requires valid:   \valid(t);
    requires bin:     b < TCACHE_BINS && (b == 0 ==> depth == 0);
    requires slots:   depth <= depth_max && floor + depth_max < TCACHE_SLOTS && (depth == 0 ==> depth_max == 0);
    requires bytes:   ThreadsBytes && ThreadsMagic;
    terminates        \true;
    exits             \false;
    assigns           t->floor[b], t->top[b], t->least[b], t->limit[b], t->room[b], t->magic[b], t->negated[b];
    ensures  floor:   t->floor[b] == floor && t->top[b] == floor;
    ensures  limit:   t->limit[b] == t->least[b] == floor + depth;
    ensures  room:    t->room[b] == floor + depth_max;
    ensures  none:    b == 0 ==> t->magic[b] == 0;
    ensures  magic:   t->magic[b] != 0 ==> 0 < b && t->magic[b] <= DIVIDE_ONE / SC_TINY && DivideMagic(t->magic[b], ScBytes(b - 1));
    ensures  negated: t->negated[b] == (DIVIDE_ONE - t->magic[b]) % DIVIDE_ONE;
*/
static void tcache_shape_bin(struct tcache *t, uint32_t b, uint32_t floor, uint32_t depth, uint32_t depth_max)
{
    t->floor[b] = floor;
    t->top[b] = floor;
    t->least[b] = floor + depth;
    t->limit[b] = (uint16_t)(floor + depth);
    t->room[b] = floor + depth_max;
    t->magic[b] = depth > 0 ? tcache_magic[b] : 0;
    t->negated[b] = word_negate(t->magic[b]);
}

/* Its stack in a cache that has room: where the next one begins. */
/*@ requires valid:   \valid(t);
    requires bin:     0 < b < TCACHE_BINS;
    requires slots:   floor + TCACHE_DEPTH_MAX < TCACHE_SLOTS;
    requires bytes:   ThreadsBytes && ThreadsMagic;
    terminates        \true;
    exits             \false;
    assigns           t->floor[b], t->top[b], t->least[b], t->limit[b], t->room[b], t->magic[b], t->negated[b];
    ensures  floor:   t->floor[b] == floor && t->top[b] == floor;
    ensures  limit:   t->floor[b] < t->limit[b] == t->least[b] <= t->room[b];
    ensures  room:    t->room[b] < \result <= floor + TCACHE_DEPTH_MAX + 1;
    ensures  magic:   t->magic[b] != 0 ==> 0 < b && t->magic[b] <= DIVIDE_ONE / SC_TINY && DivideMagic(t->magic[b], ScBytes(b - 1));
    ensures  negated: t->negated[b] == (DIVIDE_ONE - t->magic[b]) % DIVIDE_ONE;
*/
static uint32_t tcache_shape_room(struct tcache *t, uint32_t b, uint32_t floor)
{
    uint32_t depth = tcache_depth(b, TCACHE_BYTES, TCACHE_LARGE_BYTES);
    uint32_t depth_max = tcache_depth(b, TCACHE_BYTES_MAX, TCACHE_LARGE_BYTES_MAX);
    /*@ ghost tcache_lemma_depth(b, tcache_bytes[b], TCACHE_BYTES, TCACHE_BYTES_MAX); */
    /*@ ghost tcache_lemma_depth(b, tcache_bytes[b], TCACHE_LARGE_BYTES, TCACHE_LARGE_BYTES_MAX); */
    tcache_shape_bin(t, b, floor, depth, depth_max);
    return floor + depth_max + 1;
}

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
*/
static void tcache_shape(struct tcache *t, bool room)
{
    uint32_t floor = room ? 1 : 0;
    tcache_shape_lookup(t);
    tcache_shape_bin(t, 0, 0, 0, 0);
    /*@ loop invariant range:   1 <= b <= TCACHE_BINS && floor <= b * (TCACHE_DEPTH_MAX + 1) && (room ? 0 < floor : floor == 0);
        loop invariant limits:  \forall integer a; 0 <= a < b ==> t->floor[a] <= t->least[a] == t->limit[a] <= t->room[a] < TCACHE_SLOTS;
        loop invariant some:    \forall integer a; 0 <= a < b && t->least[a] == t->floor[a] ==> t->room[a] == t->floor[a];
        loop invariant below:   room ==> \forall integer a; 0 <= a < b ==> t->room[a] < floor;
        loop invariant none:    !room ==> \forall integer a; 0 <= a < b ==> t->room[a] == 0;
        loop invariant apart:   room ==> \forall integer a, c; 0 <= a < c < b ==> t->room[a] < t->floor[c];
        loop invariant bottom:  \forall integer a; 0 <= a < b ==> t->top[a] == t->floor[a];
        loop invariant no_bin:  t->magic[0] == 0;
        loop invariant magic:   \forall integer a; 0 <= a < b && t->magic[a] != 0 ==>
                                0 < a && t->magic[a] <= DIVIDE_ONE / SC_TINY && DivideMagic(t->magic[a], ScBytes(a - 1));
        loop invariant negated: \forall integer a; 0 <= a < b ==> t->negated[a] == (DIVIDE_ONE - t->magic[a]) % DIVIDE_ONE;
        loop assigns   b, floor, TCACHE_ASSIGNS_SHAPE(t);
        loop variant   TCACHE_BINS - b;
    */
    for (uint32_t b = 1; b < TCACHE_BINS; b++) {
        if (room) {
            floor = tcache_shape_room(t, b, floor);
        } else {
            tcache_shape_bin(t, b, 0, 0, 0);
        }
    }
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

void tcache_boot(void)
{
    tcache_fill_magic();
    tcache_shape(&tcache_unborn, false);
    tcache_shape(&tcache_dead, false);
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
        tcache_shape(t, true);
        t->next = tcache_list;
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
        /*@ assert shape: TcacheShape(t); */
        /*@ assert stacks: TcacheStacks(t); */
        /*@ assert rest: TcacheOutside(t) && TcacheLookup(t) && TcacheWindow(t); */
    }
    return t;
}

/* This thread's cache, which is empty, is idle. */
/*@ requires locked:  LockHeld(LOCK_TCACHE);
    requires ok:      ThreadsOk;
    requires mine:    tcache_mine < THREAD_POOL && t == &thread_pool[tcache_mine];
    requires shape:   TcacheShape(t);
    requires lookup:  TcacheLookup(t);
    requires bottom:  TcacheBottom(t);
    requires turn:    TcacheTurn(t);
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
    ensures  none:    tcache_mine == TCACHE_NONE;
*/
static void tcache_retire(struct tcache *t)
{
    t->next_idle = tcache_idle;
    /*@ assert links: ThreadsIdleNext; */
    /*@ assert last: TcacheNth(t->next_idle, tcache_idle_count == 0 ? 0 : tcache_idle_at[tcache_idle_count - 1] + 1); */
    tcache_idle = t;
    tcache_live_count -= 1;
    /*@ ghost tcache_idle_push(); */
    /*@ assert below: \forall integer i; 0 <= i < tcache_idle_count - 1 ==>
            TcacheNth(thread_pool[tcache_idle_at[i]].next_idle, i == 0 ? 0 : tcache_idle_at[i - 1] + 1); */
    /*@ assert top: \forall integer i; i == tcache_idle_count - 1 ==>
            TcacheNth(thread_pool[tcache_idle_at[i]].next_idle, i == 0 ? 0 : tcache_idle_at[i - 1] + 1); */
}

void tcache_destroy(struct tcache *t)
{
    tcache_flush(t);
    arena_leave(t->arena);
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
