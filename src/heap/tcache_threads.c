/* tcache_threads: shapes, lists. */
#include "heap/tcache_threads.h"

#include <stddef.h>

#define TCACHE_BYTES 65536UL            /* a stack holds about this much, within the two depths below */
#define TCACHE_BYTES_MAX 524288UL       /* and this much where the thread swings */
#define TCACHE_DEPTH_MIN 16UL
#define TCACHE_LARGE_BYTES 131072UL     /* the same for large classes */
#define TCACHE_LARGE_BYTES_MAX 1048576UL

struct tcache tcache_unborn;
struct tcache tcache_dead;

static struct mutex tcache_lock = MUTEX_INIT;

struct tcache *tcache_list;
struct tcache *tcache_idle;
uint32_t       tcache_made;
uint32_t       tcache_live_count;

/* ---- shape ------------------------------------------------------------------------------------------------------ */

/* Blocks of that bin in so many bytes. */
static uint32_t tcache_depth(uint32_t bin, uint64_t bytes_small, uint64_t bytes_large)
{
    uint64_t bytes = size_class_bytes(bin - 1);
    uint64_t most = (bin <= SC_NBINS ? bytes_small : bytes_large) / bytes;
    uint64_t least = bin <= SC_NBINS ? TCACHE_DEPTH_MIN : 1;
    return (uint32_t)(most < least ? least : most > TCACHE_DEPTH_MAX ? TCACHE_DEPTH_MAX : most);
}

static void tcache_shape(struct tcache *t, bool room)
{
    uint32_t floor = 0;
    for (uint64_t bytes = 0; bytes <= SC_LOOKUP_MAX; bytes++) {
        t->bin_of[bytes] = (uint8_t)(size_class_lookup(bytes) + 1);
    }
    for (uint32_t b = 0; b < TCACHE_BINS; b++) {
        t->floor[b] = floor;
        t->top[b] = floor;
        t->least[b] = floor;
        t->limit[b] = (uint16_t)floor;
        t->room[b] = floor;
        if (b > 0 && room) {
            t->least[b] = floor + tcache_depth(b, TCACHE_BYTES, TCACHE_LARGE_BYTES);
            t->limit[b] = (uint16_t)t->least[b];
            t->room[b] = floor + tcache_depth(b, TCACHE_BYTES_MAX, TCACHE_LARGE_BYTES_MAX);
            t->magic[b] = divide_magic((uint32_t)size_class_bytes(b - 1));
            t->negated[b] = word_negate(t->magic[b]);
        }
        floor = room ? t->room[b] + 1 : 0;
    }
}

void tcache_boot(void)
{
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
*/
OTHERS_ACT(tcache_others);

/*@ requires lock:    LocksFree(LOCK_TCACHE);
    terminates        \true;
    exits             \false;
    assigns           TCACHE_ASSIGNS_LISTS, lock_held[LOCK_TCACHE];
    ensures  locked:  LockHeld(LOCK_TCACHE);
    ensures  ok:      ThreadsOk;
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
    ensures  bytes:   ThreadsBytes;
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
    ensures  bytes:   ThreadsBytes;
    ensures  base:    BaseOk;
    ensures  none:    \result == \null ==> tcache_mine == TCACHE_NONE;
    ensures  mine:    \result != \null ==> tcache_mine < THREAD_POOL && \result == &thread_pool[tcache_mine];
    ensures  blank:   \result != \null ==> TcacheBlank(\result);
*/
static struct tcache *tcache_make(void)
{
    uintptr_t      place = tcache_made < THREAD_POOL ? base_alloc(sizeof(struct tcache), 64) : 0;
    struct tcache *t = POOL_PLACE(struct tcache, thread_pool, tcache_made, place);
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

/* This thread's cache is as fresh as a new one, and joins an arena. What the window of its last thread was is forgotten. */
/*@ requires lock:    LocksFree(LOCK_ARENA);
    requires arenas:  ArenaOk && ArenaNone;
    requires valid:   \valid(t);
    requires turn:    TcacheTurn(t);
    requires bottom:  TcacheBottom(t);
    terminates        \true;
    exits             \false;
    assigns           t->window_pages, t->fill[0 .. TCACHE_BINS - 1], t->arena, ARENA_ASSIGNS,
                      arena_joined[0 .. ARENAS_MAX - 1];
    ensures  lock:    LocksFree(LOCK_ARENA);
    ensures  arenas:  ArenaOk;
    ensures  joined:  t->arena < ARENAS_MAX && arena_joined[t->arena] == 1;
    ensures  window:  t->window_pages == 0;
    ensures  bottom:  TcacheBottom(t);
    ensures  fill:    TcacheFill(t);
    ensures  turn:    TcacheTurn(t);
*/
static void tcache_renew(struct tcache *t)
{
    t->window_pages = 0;
    /*@ loop invariant range: 0 <= b <= TCACHE_BINS;
        loop invariant fill:  \forall integer a; 0 <= a < b ==> t->fill[a] <= TCACHE_SLOTS;
        loop assigns   b, t->fill[0 .. TCACHE_BINS - 1];
        loop variant   TCACHE_BINS - b;
    */
    for (uint32_t b = 0; b < TCACHE_BINS; b++) {
        t->fill[b] = TCACHE_FILL_FIRST;
    }
    t->arena = (uint16_t)arena_join();
}

struct tcache *tcache_create(void)
{
    tcache_enter();
    struct tcache *t = tcache_claim();
    tcache_leave();
    if (t != NULL) {
        tcache_renew(t);
    }
    return t;
}

/* This thread's cache, which is empty, is idle. */
/*@ requires locked:  LockHeld(LOCK_TCACHE);
    requires ok:      ThreadsOk;
    requires mine:    tcache_mine < THREAD_POOL && t == &thread_pool[tcache_mine];
    requires blank:   TcacheBlank(t);
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
    ensures  bytes:   ThreadsBytes;
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
    /*@ ghost tcache_idle_at[tcache_idle_count] = tcache_mine; */
    /*@ ghost tcache_idle_pos[tcache_mine] = tcache_idle_count; */
    /*@ ghost tcache_idle_count = tcache_idle_count + 1; */
    /*@ ghost tcache_mine = TCACHE_NONE; */
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
