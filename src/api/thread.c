/* thread: see thread.h. */
#include "api/thread.h"

#include <stddef.h>

#include "ds/radix_tree.h"
#include "blocks/arena.h"
#include "blocks/bin.h"
#include "blocks/slab.h"
#include "pages/base.h"
#include "pages/pages.h"
#include "platform/atomic.h"
#include "platform/lock.h"
#include "tcache/counting.h"

#include "math/size_class_align_lemmas.acsl"
#include "blocks/large_lemmas.acsl"
#include "tcache/stack_lemmas.acsl"
#include "tcache/depot_lemmas.acsl"
#include "api/thread_lemmas.acsl"

__thread struct tcache *thread_cache = &tcache_unborn;

bool thread_booted;

__thread uint16_t fork_quiet;

/* ---- boot ------------------------------------------------------------------------------------------------------- */

/* Another thread may have booted meanwhile. */
/*@ requires locked:  LockHeld(LOCK_BOOT);
    requires ok:      BootOk;
    requires none:    ThreadNone;
    assigns           THREAD_ASSIGNS_BOOT;
    ensures  ok:      BootOk;
    ensures  stays:   \old(thread_booted) ==> thread_booted;
*/
OTHERS_ACT(boot_others);

/* Makes the stand-ins fit for every thread. The radix tree is still empty. */
/*@ requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires caches:  StartCaches;
    requires base:    BaseOk;
    requires radix:   RadixZero;
    assigns           tcache_unborn, tcache_dead, tcache_magic[0 .. TCACHE_STACKS - 1], tcache_bytes[0 .. TCACHE_STACKS - 1];
    ensures  radix:   RadixZero;
    ensures  unborn:  TcacheOk(&tcache_unborn);
    ensures  bare:    TcacheRoomless(&tcache_unborn);
    ensures  dead:    ThreadDead;
    ensures  threads: DepotOk;
*/
static inline void boot_caches(void)
{
    depot_boot();
    /*@ assert roots:   \forall integer h; 0 <= h < RADIX_ROOTS ==> radix_root[h] == \null; */
    /*@ assert highs:   \forall integer p; 0 <= p < PAGE_COUNT_MAX ==>
                        radix_pool[p / RADIX_WINDOW_PAGES].entry[p % RADIX_WINDOW_PAGES].high == 0; */
    /*@ assert lows:    \forall integer p; 0 <= p < PAGE_COUNT_MAX ==>
                        radix_pool[p / RADIX_WINDOW_PAGES].entry[p % RADIX_WINDOW_PAGES].low == 0; */
    /*@ assert extents: \forall integer p; 0 <= p < PAGE_COUNT_MAX ==>
                        radix_pool[p / RADIX_WINDOW_PAGES].extent[p % RADIX_WINDOW_PAGES] == 0; */
    /*@ assert radix:   RadixZero; */
    /*@ ghost tcache_lemma_empty(&tcache_unborn); */
    /*@ ghost tcache_lemma_ok(&tcache_unborn); */
    /*@ ghost tcache_lemma_empty(&tcache_dead); */
    /*@ ghost tcache_lemma_ok(&tcache_dead); */
}

/* Boots the layers, from the lowest up. What each lock guards is whole then. This runs before main, before constructors, and perhaps
 * before the C library is ready, so nothing here allocates or calls a function that could. */
/*@ requires locked:  LockHeld(LOCK_BOOT);
    requires start:   Start;
    requires none:    ThreadNone;
    exits    page:    \true;
    assigns           THREAD_ASSIGNS_BOOT;
    ensures  same:    thread_booted == \old(thread_booted);
    ensures  blocks:  BlocksOk;
    ensures  arenas:  ArenaOk && ArenaNone;
    ensures  table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    ensures  unborn:  TcacheOk(&tcache_unborn);
    ensures  bare:    TcacheRoomless(&tcache_unborn);
    ensures  dead:    ThreadDead;
    ensures  threads: DepotOk;
    ensures  bins:    \forall integer b; BinRange(b) ==> BinOk(b);
    ensures  decay:   DecayOk;
    ensures  times:   \forall integer c; CacheNumber(c) ==>
                          decay_ms[DECAY_DIRTY + c] == config.dirty_decay_ms && decay_ms[DECAY_MUZZY + c] == config.muzzy_decay_ms;
    ensures  cut:     bin_shared == (config.narenas < 1 ? 1 : config.oversize_threshold == 0 ?
                          (config.narenas > ARENAS_MAX ? ARENAS_MAX : config.narenas) :
                          (config.narenas > ARENAS_MAX - 1 ? ARENAS_MAX - 1 : config.narenas));
    ensures  count:   bin_arenas == bin_shared + (config.oversize_threshold == 0 ? 0 : 1);
    ENSURES_PAGES_REST;
*/
static void boot_layers(void)
{
    config_boot();
    size_class_boot();
    base_boot();
    boot_caches();
    radix_tree_boot();
    slab_boot();
    pages_boot(config.dirty_decay_ms, config.muzzy_decay_ms);
    large_boot(config.oversize_threshold);
    arena_boot(config.narenas, config.oversize_threshold != 0);
    live_begin();
}

/* Tells all threads that boot is done. A thread that reads it may rely on Booted without the lock. */
/*@ requires locked:  LockHeld(LOCK_BOOT);
    requires booted:  Booted;
    assigns           thread_booted;
    ensures  told:    thread_booted;
*/
static inline void boot_publish(void)
{
    ATOMIC_STORE_RELEASE(thread_booted, true);
}

/*@ requires free:    LocksFree(0);
    requires ok:      BootOk;
    requires none:    ThreadNone;
    exits    first:   !\old(thread_booted);
    assigns           THREAD_ASSIGNS_BOOT, lock_held[LOCK_BOOT];
    ensures  free:    LocksFree(0);
    ensures  booted:  thread_booted;
    ensures  ok:      BootOk;
*/
static void boot(void)
{
    lock_take(LOCK_BOOT);
    boot_others();
    if (!thread_booted) {
        boot_layers();
        boot_publish();
    }
    lock_give(LOCK_BOOT);
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

/* Returns free pages to the OS, if the threads that have ended left many. */
/*@ requires lock:     LocksFree(0);
    requires blocks:   BlocksOk;
    assigns            PAGES_ASSIGNS;
    ensures  lock:     LocksFree(0);
    ensures  blocks:   BlocksOk;
*/
static inline void thread_shed(void)
{
    /*@ ghost large_lemma_pages(); */
    pages_shed();
    /*@ assert owners: LargeOwners{Pre,Here}(0); */
    /*@ assert pages: LargePages{Pre,Here}; */
    /*@ ghost large_lemma_ok(); */
}

/* Gives the thread's cache back. The stand-in stays as it is. */
/*@ requires lock:     LocksFree(0);
    requires blocks:   BlocksOk;
    requires state:    thread_booted && ArenaOk && SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires mine:     DepotMine(t);
    requires arena:    ArenaOnly(t->arena);
    requires cache:    TcacheOk(t);
    requires standin:  ThreadDead;
    assigns            DEPOT_ASSIGNS_LIFE, BLOCKS_ASSIGNS, large_allocated, large_freed;
    ensures  lock:     LocksFree(0);
    ensures  blocks:   BlocksOk;
    ensures  state:    thread_booted && ArenaOk && SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    ensures  none:     ThreadNone;
    ensures  standin:  ThreadDead;
    ensures  gone:     \old(TcacheAll(t)) ==> TcacheNone;
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(0);
*/
static inline void thread_leave(struct tcache *t)
{
    /*@ assert pool: t == &depot_pool[depot_mine]; */
    depot_destroy(t);
    /*@ assert negated: \forall integer b; TCACHE_STACK(b) ==> tcache_dead.negated[b] == TAG_NEGATED(tcache_dead.magic[b]); */
    thread_shed();
    /*@ ghost tcache_lemma_hollow(&tcache_dead); */
}

void thread_exit(void *cache)
{
    uintptr_t address = (uintptr_t)cache;
    thread_cache = &tcache_dead;
    thread_leave((struct tcache *)address);
}

/* Returns a cache for a thread without one, or NULL without memory. The stand-in stays as it is. */
/*@ requires lock:     LocksFree(LOCK_DEPOT);
    requires table:    SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires arenas:   ArenaOk;
    requires none:     ThreadNone;
    requires unborn:   TcacheOk(&tcache_unborn);
    assigns            DEPOT_ASSIGNS_LIFE;
    ensures  lock:     LocksFree(LOCK_DEPOT);
    ensures  arenas:   ArenaOk;
    ensures  unborn:   TcacheOk(&tcache_unborn);
    ensures  bare:     \old(TcacheRoomless(&tcache_unborn)) ==> TcacheRoomless(&tcache_unborn);
    ensures  mine:     \result != NULL ==> DepotMine(\result);
    ensures  only:     \result != NULL ==> ArenaOnly(\result->arena);
    ensures  ok:       \result != NULL ==> TcacheOk(\result);
    ensures  none:     \result == NULL ==> ThreadNone;
*/
static inline struct tcache *thread_create(void)
{
    struct tcache *t = depot_create();
    /*@ assert same: TcacheShapeSame{Pre,Here}(&tcache_unborn); */
    /*@ ghost tcache_lemma_shape(&tcache_unborn); */
    /*@ assert stacks: TcacheSame{Pre,Here}(&tcache_unborn); */
    /*@ assert bins: \forall integer n; 0 <= n <= SC_LOOKUP_MAX ==> tcache_unborn.stack_of[n] == \at(tcache_unborn.stack_of[n],Pre); */
    /*@ ghost tcache_lemma_ok(&tcache_unborn); */
    return t;
}

/* Returns a cache for a thread without one, or NULL without memory. The blocks stay as they are. */
/*@ requires ok:       MallocOk;
    requires unborn:   thread_cache == &tcache_unborn;
    assigns            DEPOT_ASSIGNS_LIFE;
    ensures  lock:     LocksFree(0);
    ensures  blocks:   BlocksOk;
    ensures  arenas:   ArenaOk;
    ensures  unborn:   TcacheOk(&tcache_unborn);
    ensures  bare:     TcacheRoomless(&tcache_unborn);
    ensures  empty:    TcacheNone;
    ensures  mine:     \result != NULL ==> DepotMine(\result);
    ensures  only:     \result != NULL ==> ArenaOnly(\result->arena);
    ensures  ok:       \result != NULL ==> TcacheOk(\result);
    ensures  none:     \result == NULL ==> ThreadNone;
*/
static inline struct tcache *thread_take(void)
{
    struct tcache *t = thread_create();
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

/* Returns whether boot is done. The load acquires, so that a thread that reads true reads what boot_publish asked for. */
/*@ requires ready:    MallocReady;
    assigns            \nothing;
    ensures  told:     \result <==> thread_booted;
    ensures  booted:   \result ==> MallocOk;
*/
static inline bool boot_done(void)
{
    return ATOMIC_LOAD_ACQUIRE(thread_booted);
}

/* Boots the allocator, unless another thread has done so. */
/*@ requires ready:    MallocReady;
    requires unborn:   thread_cache == &tcache_unborn;
    exits    first:    !\old(thread_booted);
    assigns            THREAD_ASSIGNS_BOOT, lock_held[LOCK_BOOT];
    ensures  ok:       MallocOk;
*/
static inline void thread_boot(void)
{
    if (!boot_done()) {
        boot();
    }
}

/* Gives the thread, which has none, a cache. */
/*@ requires ready:    MallocReady;
    requires unborn:   thread_cache == &tcache_unborn;
    exits    first:    !\old(thread_booted);
    assigns            MALLOC_ASSIGNS_HEAP;
    ensures  ok:       MallocOk;
    ensures  mine:     \result == thread_cache;
    ensures  watched:  \result != &tcache_unborn ==> thread_watched == \result;
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(0);
*/
static __attribute__((noinline)) struct tcache *thread_make(void)
{
    thread_boot();
    struct tcache *t = thread_take();
    if (t == NULL) {
        return &tcache_unborn;
    }
    counting_modes(t);
    thread_cache = t;
    /*@ assert state: ThreadOk; */
    /*@ assert cache: ThreadCache(thread_cache); */
    /*@ assert mine: ThreadMine; */
    thread_watch(t);
    return t;
}

struct tcache *thread_get(void)
{
    return thread_cache != &tcache_unborn ? thread_cache : thread_make();
}

/* ---- fork ------------------------------------------------------------------------------------------------------- */

/* Takes the lock of the pages. The thread's blocks stay, and so do the bins, whose locks it holds. */
/*@ requires lock:    LocksFree(LOCK_PAGES);
    requires blocks:  BlocksOk;
    requires whole:   ForkBins;
    requires arenas:  bin_arenas <= ARENAS_MAX;
    assigns           PAGES_ASSIGNS;
    ensures  held:    LockHeld(LOCK_PAGES);
    ensures  blocks:  BlocksOk;
    ensures  whole:   ForkBins;
    ensures  decay:   DecayOk;
    ENSURES_PAGES_REST;
*/
static inline void fork_lock_pages(void)
{
    /*@ assert range: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinRange(b); */
    /*@ ghost fork_lemma_only(); */
    /*@ ghost fork_lemma_named(); */
    /*@ ghost large_lemma_pages(); */
    pages_prefork();
    /*@ assert owners: LargeOwners{Pre,Here}(0); */
    /*@ assert pages: LargePages{Pre,Here}; */
    /*@ ghost large_lemma_ok(); */
    /*@ assert own: \forall integer e; PagesHeld(e) ==> ph_own[e] == \at(ph_own[e],Pre); */
    /*@ assert only: ForkListsOnly(bin_arenas * SC_NBINS); */
    /*@ assert current: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinCurrent(b); */
    /*@ assert walk: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinWalk(b); */
    /*@ assert lists: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinLists(b); */
    /*@ assert lists_not: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinListsNot(b); */
    /*@ assert lists_only: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinListsOnly(b); */
    /*@ assert filled: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinFilled(b); */
    /*@ assert bins: \forall integer e; 0 < e < TABLE_MAX ==> slab_bin[e] == \at(slab_bin[e],Pre); */
    /*@ assert entries: ForkNamed(bin_arenas * SC_NBINS); */
    /*@ assert named: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinNamed(b); */
}

/* Takes the locks of bins and pages. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires blocks:  BlocksOk;
    requires arenas:  bin_arenas <= ARENAS_MAX;
    assigns           BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS;
    ensures  bins:    \forall integer k; LOCK_BIN(0) <= k < LOCK_BIN(bin_arenas * SC_NBINS) ==> LockHeld(k);
    ensures  free:    \forall integer k; LOCK_BIN(bin_arenas * SC_NBINS) <= k < LOCK_PAGES ==> lock_held[k] == 0;
    ensures  pages:   LockHeld(LOCK_PAGES);
    ensures  blocks:  BlocksOk;
    ensures  whole:   ForkBins;
    ensures  decay:   DecayOk;
    ENSURES_PAGES_REST;
*/
static inline void fork_lock_heap(void)
{
    /*@ assert ranks: LOCK_BIN(bin_arenas * SC_NBINS) <= LOCK_PAGES; */
    bin_prefork();
    /*@ ghost fork_lemma_held(); */
    fork_lock_pages();
}

/* Takes the locks of bins and pages. The thread's own cache stays as it is. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires blocks:  BlocksOk;
    requires arenas:  bin_arenas <= ARENAS_MAX;
    requires thread:  ThreadWhole;
    assigns           BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS;
    ensures  bins:    \forall integer k; LOCK_BIN(0) <= k < LOCK_BIN(bin_arenas * SC_NBINS) ==> LockHeld(k);
    ensures  free:    \forall integer k; LOCK_BIN(bin_arenas * SC_NBINS) <= k < LOCK_PAGES ==> lock_held[k] == 0;
    ensures  pages:   LockHeld(LOCK_PAGES);
    ensures  blocks:  BlocksOk;
    ensures  whole:   ForkBins;
    ensures  decay:   DecayOk;
    ENSURES_PAGES_REST;
    ensures  thread:  ThreadWhole;
*/
static inline void fork_lock_own(void)
{
    fork_lock_heap();
    /*@ ghost FORK_CACHE_KEPT */
}

/* Takes the locks of bins and pages. The threads' caches stay as they are. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires blocks:  BlocksOk;
    requires threads: DepotOk;
    requires arenas:  bin_arenas <= ARENAS_MAX;
    requires thread:  ThreadWhole;
    assigns           BLOCKS_ASSIGNS_PAGES, BLOCKS_ASSIGNS_SLABS;
    ensures  bins:    \forall integer k; LOCK_BIN(0) <= k < LOCK_BIN(bin_arenas * SC_NBINS) ==> LockHeld(k);
    ensures  free:    \forall integer k; LOCK_BIN(bin_arenas * SC_NBINS) <= k < LOCK_PAGES ==> lock_held[k] == 0;
    ensures  pages:   LockHeld(LOCK_PAGES);
    ensures  blocks:  BlocksOk;
    ensures  whole:   ForkBins;
    ensures  decay:   DecayOk;
    ENSURES_PAGES_REST;
    ensures  threads: DepotOk;
    ensures  thread:  ThreadWhole;
*/
static inline void fork_lock_below(void)
{
    fork_lock_own();
    /*@ assert floors: ForkFloorsSame{Pre,Here}; */
    /*@ assert magics: ForkMagicsSame{Pre,Here}; */
    /*@ assert limits: ForkLimitsSame{Pre,Here}; */
    /*@ ghost FORK_HEIGHTS_KEPT */
    /*@ ghost FORK_IDLE_KEPT */
    /*@ assert heights: DepotHeights; */
    /*@ assert unmade: DepotUnmade; */
    /*@ assert shapes: DepotIdleShape; */
    /*@ assert stacks: DepotIdleStacks; */
    /*@ assert turns: DepotIdleTurns; */
}

/* Takes the locks of the caches' lists and of the arenas. The thread's own cache stays as it is. */
/*@ requires lock:    LocksFree(LOCK_DEPOT);
    requires blocks:  BlocksOk;
    requires thread:  ThreadWhole;
    assigns           DEPOT_ASSIGNS_LISTS, ARENA_ASSIGNS, lock_held[LOCK_DEPOT];
    ensures  depot:   LockHeld(LOCK_DEPOT);
    ensures  arena:   LockHeld(LOCK_ARENA);
    ensures  lock:    LocksFree(LOCK_BIN(0));
    ensures  blocks:  BlocksOk;
    ensures  threads: DepotOk;
    ensures  thread:  ThreadWhole;
*/
static inline void fork_lock_lists(void)
{
    depot_prefork();
    arena_prefork();
    /*@ ghost if (depot_mine == DEPOT_NONE) { FORK_CACHE_KEPT } */
}

/*@ requires stdio:    libc_stdio_held == 0;
    requires ok:       MallocOk;
    assigns            libc_stdio_held, THREAD_ASSIGNS_FORK;
    ensures  stdio:    libc_stdio_held == 1;
    ensures  held:     ForkHeld;
    ensures  ok:       ForkOk;
*/
static void fork_lock(void)
{
    libc_stdio_lock();
    lock_take(LOCK_BOOT);
    fork_lock_lists();
    fork_lock_below();
}

/*@ requires stdio:    libc_stdio_held == 1;
    requires held:     ForkHeld;
    requires ok:       ForkOk;
    assigns            libc_stdio_held, lock_held[0 .. LOCK_RANKS - 1];
    ensures  stdio:    libc_stdio_held == 0;
    ensures  ok:       MallocOk;
*/
static void fork_unlock(void)
{
    pages_postfork_parent();
    bin_postfork_parent();
    arena_postfork_parent();
    depot_postfork_parent();
    lock_give(LOCK_BOOT);
    libc_stdio_unlock();
}

/* Makes the lock of the pages free in the child, and gives back what another thread was purging. */
/*@ requires held:    ForkHeld;
    requires blocks:  BlocksOk && DecayOk && PagesFreeTags && CacheZero && CacheGiven && PagesEnd;
    requires whole:   ForkBins;
    requires arenas:  bin_arenas <= ARENAS_MAX;
    assigns           CACHE_ASSIGNS, pages_purging, lock_held[LOCK_PAGES];
    ensures  free:    LocksFree(LOCK_PAGES);
    ensures  blocks:  BlocksOk;
    ensures  whole:   ForkBins;
    ensures  none:    \forall integer e; ExtUsed(e) ==> !CacheBusyState(ext_state[e]);
*/
static inline void fork_reset_pages(void)
{
    /*@ assert range: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinRange(b); */
    /*@ ghost fork_lemma_only(); */
    /*@ ghost fork_lemma_named(); */
    /*@ ghost large_lemma_pages(); */
    pages_postfork_child();
    /*@ assert owners: LargeOwners{Pre,Here}(0); */
    /*@ assert pages: LargePages{Pre,Here}; */
    /*@ ghost large_lemma_ok(); */
    /*@ assert own: \forall integer e; PagesHeld(e) ==> ph_own[e] == \at(ph_own[e],Pre); */
    /*@ assert only: ForkListsOnly(bin_arenas * SC_NBINS); */
    /*@ assert current: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinCurrent(b); */
    /*@ assert walk: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinWalk(b); */
    /*@ assert lists: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinLists(b); */
    /*@ assert lists_not: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinListsNot(b); */
    /*@ assert lists_only: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinListsOnly(b); */
    /*@ assert filled: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinFilled(b); */
    /*@ assert bins: \forall integer e; 0 < e < TABLE_MAX ==> slab_bin[e] == \at(slab_bin[e],Pre); */
    /*@ assert entries: ForkNamed(bin_arenas * SC_NBINS); */
    /*@ assert named: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinNamed(b); */
}

/* The thread's own cache stays as it is. */
/*@ requires held:    ForkHeld;
    requires blocks:  BlocksOk && DecayOk && PagesFreeTags && CacheZero && CacheGiven && PagesEnd;
    requires whole:   ForkBins;
    requires arenas:  bin_arenas <= ARENAS_MAX;
    requires thread:  ThreadWhole;
    assigns           CACHE_ASSIGNS, pages_purging, lock_held[LOCK_PAGES];
    ensures  free:    LocksFree(LOCK_PAGES);
    ensures  blocks:  BlocksOk;
    ensures  whole:   ForkBins;
    ensures  thread:  ThreadWhole;
    ensures  none:    \forall integer e; ExtUsed(e) ==> !CacheBusyState(ext_state[e]);
*/
static inline void fork_reset_own(void)
{
    fork_reset_pages();
    /*@ ghost FORK_CACHE_KEPT */
}

/* The threads' caches stay as they are. */
/*@ requires held:    ForkHeld;
    requires blocks:  BlocksOk && DecayOk && PagesFreeTags && CacheZero && CacheGiven && PagesEnd;
    requires whole:   ForkBins;
    requires threads: DepotOk;
    requires arenas:  bin_arenas <= ARENAS_MAX;
    requires thread:  ThreadWhole;
    assigns           CACHE_ASSIGNS, pages_purging, lock_held[LOCK_PAGES];
    ensures  free:    LocksFree(LOCK_PAGES);
    ensures  blocks:  BlocksOk;
    ensures  whole:   ForkBins;
    ensures  threads: DepotOk;
    ensures  thread:  ThreadWhole;
    ensures  none:    \forall integer e; ExtUsed(e) ==> !CacheBusyState(ext_state[e]);
*/
static inline void fork_reset_below(void)
{
    fork_reset_own();
    /*@ assert floors: ForkFloorsSame{Pre,Here}; */
    /*@ assert magics: ForkMagicsSame{Pre,Here}; */
    /*@ assert limits: ForkLimitsSame{Pre,Here}; */
    /*@ ghost FORK_HEIGHTS_KEPT */
    /*@ ghost FORK_IDLE_KEPT */
    /*@ assert heights: DepotHeights; */
    /*@ assert unmade: DepotUnmade; */
    /*@ assert shapes: DepotIdleShape; */
    /*@ assert stacks: DepotIdleStacks; */
    /*@ assert turns: DepotIdleTurns; */
}

/*@ requires stdio:    libc_stdio_held == 1;
    requires held:     ForkHeld;
    requires ok:       ForkOk;
    assigns            libc_stdio_held, lock_held[0 .. LOCK_RANKS - 1], CACHE_ASSIGNS, pages_purging, depot_live_count;
    ensures  stdio:    libc_stdio_held == 0;
    ensures  ok:       MallocOk;
    ensures  threads:  DepotOk;
    ensures  none:     \forall integer e; ExtUsed(e) ==> !CacheBusyState(ext_state[e]);
*/
static void fork_reset(void)
{
    fork_reset_below();
    bin_postfork_child();
    arena_postfork_child();
    depot_postfork_child(thread_cache);
    lock_reset(LOCK_BOOT);
    libc_stdio_reset();
}

void thread_fork_prepare(void)
{
    if (libc_single_threaded() || lock_inside()) {
        fork_quiet = (uint16_t)(fork_quiet + 1);
    } else {
        fork_lock();
    }
}

void thread_fork_parent(void)
{
    if (fork_quiet > 0) {
        fork_quiet = (uint16_t)(fork_quiet - 1);
    } else {
        fork_unlock();
    }
}

void thread_fork_child(void)
{
    if (fork_quiet > 0) {
        fork_quiet = (uint16_t)(fork_quiet - 1);
    } else {
        fork_reset();
    }
}
