/* thread: boot once, a cache per thread, thread exit, fork. */
#include "api/thread.h"

#include <stddef.h>

#include "ds/radix_tree.h"
#include "heap/arena.h"
#include "heap/bin.h"
#include "heap/slab.h"
#include "pages/base.h"
#include "pages/pages.h"
#include "platform/atomic.h"
#include "platform/mutex.h"

#include "size_class_align_lemmas.acsl"
#include "large_lemmas.acsl"
#include "tcache_steps_lemmas.acsl"
#include "tcache_threads_lemmas.acsl"
#include "thread_lemmas.acsl"

__thread struct tcache *thread_cache = &tcache_unborn;

static struct mutex boot_lock = MUTEX_INIT;

bool thread_booted;

/* ---- boot ------------------------------------------------------------------------------------------------------- */

/* Another thread may have booted. */
/*@ requires locked:  LockHeld(LOCK_BOOT);
    requires ok:      BootOk;
    requires none:    ThreadNone;
    terminates        \true;
    exits             \false;
    assigns           THREAD_ASSIGNS_BOOT;
    ensures  ok:      BootOk;
    ensures  stays:   \old(thread_booted) ==> thread_booted;
*/
OTHERS_ACT(boot_others);

/* The stand-ins are fit for every thread; the radix tree is still empty. */
/*@ requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires caches:  StartCaches;
    requires base:    BaseOk;
    requires radix:   RadixZero;
    terminates        \true;
    exits             \false;
    assigns           tcache_unborn, tcache_dead, tcache_magic[0 .. TCACHE_BINS - 1], tcache_bytes[0 .. TCACHE_BINS - 1];
    ensures  radix:   RadixZero;
    ensures  unborn:  TcacheOk(&tcache_unborn);
    ensures  dead:    ThreadDead;
    ensures  threads: ThreadsOk;
*/
static inline void boot_caches(void)
{
    tcache_boot();
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

/* The layers, from the lowest up: static memory becomes a heap, and what each lock guards is whole. Runs before main, before
 * constructors, perhaps before the C library is ready: nothing here allocates or calls a function that could. */
/*@ requires locked:  LockHeld(LOCK_BOOT);
    requires start:   Start;
    requires none:    ThreadNone;
    terminates        \true;
    exits    page:    \true;
    assigns           THREAD_ASSIGNS_BOOT;
    ensures  same:    thread_booted == \old(thread_booted);
    ensures  heap:    HeapOk;
    ensures  arenas:  ArenaOk && ArenaNone;
    ensures  table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    ensures  unborn:  TcacheOk(&tcache_unborn);
    ensures  dead:    ThreadDead;
    ensures  threads: ThreadsOk;
    ensures  bins:    \forall integer b; BinRange(b) ==> BinOk(b);
    ensures  decay:   DecayOk;
    ensures  times:   decay_ms[0] == config.dirty_decay_ms && decay_ms[1] == config.muzzy_decay_ms;
    ensures  words:   PagesFreeWords;
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
    arena_boot(config.narenas);
}

/*@ requires free:    LocksFree(0);
    requires ok:      BootOk;
    requires none:    ThreadNone;
    terminates        \true;
    exits    first:   !\old(thread_booted);
    assigns           THREAD_ASSIGNS_BOOT, lock_held[LOCK_BOOT];
    ensures  free:    LocksFree(0);
    ensures  booted:  thread_booted;
    ensures  ok:      BootOk;
*/
static void boot(void)
{
    mutex_lock(&boot_lock) /*@ ghost (LOCK_BOOT) */;
    boot_others();
    if (!thread_booted) {
        boot_layers();
        ATOMIC_STORE_RELEASE(thread_booted, true);
    }
    mutex_unlock(&boot_lock) /*@ ghost (LOCK_BOOT) */;
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

/* The thread's cache goes back; the stand-in stays as it is. */
/*@ requires lock:     LocksFree(0);
    requires heap:     HeapOk;
    requires state:    thread_booted && ArenaOk && SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires mine:     ThreadsMine(t);
    requires arena:    ArenaOnly(t->arena);
    requires cache:    TcacheOk(t);
    requires standin:  ThreadDead;
    terminates         \true;
    exits              \false;
    assigns            TCACHE_ASSIGNS_LIFE, HEAP_ASSIGNS, large_allocated, large_freed;
    ensures  lock:     LocksFree(0);
    ensures  heap:     HeapOk;
    ensures  state:    thread_booted && ArenaOk && SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    ensures  none:     ThreadNone;
    ensures  standin:  ThreadDead;
    ensures  kept:     LiveKeptBut{Pre,Post}(0);
    ensures  only:     LiveNoneNewBut{Pre,Post}(0);
*/
static inline void thread_leave(struct tcache *t)
{
    /*@ assert pool: t == &thread_pool[tcache_mine]; */
    tcache_destroy(t);
    /*@ ghost tcache_lemma_hollow(&tcache_dead); */
}

void thread_exit(void *cache)
{
    uintptr_t address = (uintptr_t)cache;
    thread_cache = &tcache_dead;
    thread_leave((struct tcache *)address);
}

/* A cache for a thread without one, NULL if out of memory; the stand-in stays as it is. */
/*@ requires lock:     LocksFree(LOCK_TCACHE);
    requires table:    SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires arenas:   ArenaOk;
    requires none:     ThreadNone;
    requires unborn:   TcacheOk(&tcache_unborn);
    terminates         \true;
    exits              \false;
    assigns            TCACHE_ASSIGNS_LIFE;
    ensures  lock:     LocksFree(LOCK_TCACHE);
    ensures  arenas:   ArenaOk;
    ensures  unborn:   TcacheOk(&tcache_unborn);
    ensures  mine:     \result != NULL ==> ThreadsMine(\result);
    ensures  ok:       \result != NULL ==> TcacheOk(\result);
    ensures  none:     \result == NULL ==> ThreadNone;
*/
static inline struct tcache *thread_create(void)
{
    struct tcache *t = tcache_create();
    /*@ assert same: TcacheShapeSame{Pre,Here}(&tcache_unborn); */
    /*@ ghost tcache_lemma_shape(&tcache_unborn); */
    /*@ assert stacks: TcacheSame{Pre,Here}(&tcache_unborn); */
    /*@ assert bins: \forall integer n; 0 <= n <= SC_LOOKUP_MAX ==> tcache_unborn.bin_of[n] == \at(tcache_unborn.bin_of[n],Pre); */
    /*@ ghost tcache_lemma_ok(&tcache_unborn); */
    return t;
}

/* The same; the heap stays as it is. */
/*@ requires ok:       MallocOk;
    requires unborn:   thread_cache == &tcache_unborn;
    terminates         \true;
    exits              \false;
    assigns            TCACHE_ASSIGNS_LIFE;
    ensures  lock:     LocksFree(0);
    ensures  heap:     HeapOk;
    ensures  arenas:   ArenaOk;
    ensures  unborn:   TcacheOk(&tcache_unborn);
    ensures  mine:     \result != NULL ==> ThreadsMine(\result);
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

/* The allocator is ready from here on, whoever booted it. */
/*@ requires state:    ThreadStart || MallocOk;
    requires unborn:   thread_cache == &tcache_unborn;
    terminates         \true;
    exits    first:    !\old(thread_booted);
    assigns            THREAD_ASSIGNS_BOOT, lock_held[LOCK_BOOT];
    ensures  ok:       MallocOk;
*/
static inline void thread_boot(void)
{
    if (!ATOMIC_LOAD_ACQUIRE(thread_booted)) {
        boot();
    }
}

/* The thread, which has none, gets a cache. */
/*@ requires state:    ThreadStart || MallocOk;
    requires unborn:   thread_cache == &tcache_unborn;
    terminates         \true;
    exits    first:    !\old(thread_booted);
    assigns            MALLOC_ASSIGNS_HEAP;
    ensures  ok:       MallocOk;
    ensures  mine:     \result == thread_cache;
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
    thread_cache = t;
    /*@ assert state: ThreadOk; */
    /*@ assert cache: ThreadCache(thread_cache); */
    thread_watch(t);
    return t;
}

struct tcache *thread_get(void)
{
    return thread_cache != &tcache_unborn ? thread_cache : thread_make();
}

/* ---- fork ------------------------------------------------------------------------------------------------------- */

/* The lock of the pages; what this thread holds stays: its blocks and the bins, of which it has the locks. */
/*@ requires lock:    LocksFree(LOCK_PAGES);
    requires heap:    HeapOk;
    requires whole:   ForkBins;
    requires arenas:  bin_arenas <= ARENAS_MAX;
    terminates        \true;
    exits             \false;
    assigns           PAGES_ASSIGNS;
    ensures  held:    LockHeld(LOCK_PAGES);
    ensures  heap:    HeapOk;
    ensures  whole:   ForkBins;
    ensures  decay:   DecayOk;
    ensures  words:   PagesFreeWords;
*/
static inline void fork_lock_pages(void)
{
    /*@ assert range: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinRange(b); */
    /*@ ghost fork_lemma_only(); */
    /*@ ghost large_lemma_pages(); */
    pages_prefork();
    /*@ assert owners: LargeOwners{Pre,Here}(0); */
    /*@ assert pages: LargePages{Pre,Here}; */
    /*@ ghost large_lemma_ok(); */
    /*@ assert own: \forall integer e; PagesHeld(e) ==> ph_own[e] == \at(ph_own[e],Pre); */
    /*@ assert only: ForkListsOnly(bin_arenas * SC_NBINS); */
    /*@ assert current: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinCurrent(b); */
    /*@ assert lists: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinLists(b); */
    /*@ assert lists_not: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinListsNot(b); */
    /*@ assert lists_only: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinListsOnly(b); */
    /*@ assert filled: \forall integer b; 0 <= b < bin_arenas * SC_NBINS ==> BinFilled(b); */
}

/* The locks of bins and pages. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires arenas:  bin_arenas <= ARENAS_MAX;
    terminates        \true;
    exits             \false;
    assigns           HEAP_ASSIGNS_PAGES, HEAP_ASSIGNS_SLABS;
    ensures  bins:    \forall integer k; LOCK_BIN(0) <= k < LOCK_BIN(bin_arenas * SC_NBINS) ==> LockHeld(k);
    ensures  free:    \forall integer k; LOCK_BIN(bin_arenas * SC_NBINS) <= k < LOCK_PAGES ==> lock_held[k] == 0;
    ensures  pages:   LockHeld(LOCK_PAGES);
    ensures  heap:    HeapOk;
    ensures  whole:   ForkBins;
    ensures  decay:   DecayOk;
    ensures  words:   PagesFreeWords;
*/
static inline void fork_lock_heap(void)
{
    /*@ assert ranks: LOCK_BIN(bin_arenas * SC_NBINS) <= LOCK_PAGES; */
    bin_prefork();
    /*@ ghost fork_lemma_held(); */
    fork_lock_pages();
}

/* The same; the threads' caches stay as they are. */
/*@ requires lock:    LocksFree(LOCK_BIN(0));
    requires heap:    HeapOk;
    requires arenas:  bin_arenas <= ARENAS_MAX;
    requires threads: ThreadsOk;
    terminates        \true;
    exits             \false;
    assigns           HEAP_ASSIGNS_PAGES, HEAP_ASSIGNS_SLABS;
    ensures  bins:    \forall integer k; LOCK_BIN(0) <= k < LOCK_BIN(bin_arenas * SC_NBINS) ==> LockHeld(k);
    ensures  free:    \forall integer k; LOCK_BIN(bin_arenas * SC_NBINS) <= k < LOCK_PAGES ==> lock_held[k] == 0;
    ensures  pages:   LockHeld(LOCK_PAGES);
    ensures  heap:    HeapOk;
    ensures  whole:   ForkBins;
    ensures  decay:   DecayOk;
    ensures  words:   PagesFreeWords;
    ensures  threads: ThreadsOk;
*/
static inline void fork_lock_below(void)
{
    fork_lock_heap();
    /*@ assert floors: \forall integer k, b; 0 <= k < THREAD_POOL && TCACHE_BIN(b) ==>
                       thread_pool[k].floor[b] == \at(thread_pool[k].floor[b],Pre) &&
                       thread_pool[k].least[b] == \at(thread_pool[k].least[b],Pre) &&
                       thread_pool[k].room[b] == \at(thread_pool[k].room[b],Pre); */
    /*@ assert magics: \forall integer k, b; 0 <= k < THREAD_POOL && TCACHE_BIN(b) ==>
                       thread_pool[k].magic[b] == \at(thread_pool[k].magic[b],Pre) &&
                       thread_pool[k].negated[b] == \at(thread_pool[k].negated[b],Pre); */
    /*@ assert limits: \forall integer k, b; 0 <= k < THREAD_POOL && TCACHE_BIN(b) ==>
                       thread_pool[k].limit[b] == \at(thread_pool[k].limit[b],Pre); */
    /*@ assert arenas: \forall integer k; 0 <= k < THREAD_POOL ==> thread_pool[k].arena == \at(thread_pool[k].arena,Pre); */
    /*@ ghost
      /@ loop invariant range:   0 <= k <= tcache_made;
         loop invariant heights: \forall integer j; 0 <= j < k && j != tcache_mine ==> TcacheHeights(&thread_pool[j]);
         loop assigns k;
         loop variant tcache_made - k;
      @/
      for (uint32_t k = 0; k < tcache_made; k++) {
          /@ assert was: k != tcache_mine ==> TcacheHeights{Pre}(&thread_pool[k]); @/
          /@ assert is:  k != tcache_mine ==> TcacheHeights(&thread_pool[k]); @/
      }
    */
    /*@ ghost
      /@ loop invariant range:   0 <= i <= tcache_idle_count;
         loop invariant shapes:  \forall integer j; 0 <= j < i ==> TcacheShape(&thread_pool[tcache_idle_at[j]]);
         loop invariant stacks:  \forall integer j; 0 <= j < i ==> TcacheBottom(&thread_pool[tcache_idle_at[j]]);
         loop assigns i;
         loop variant tcache_idle_count - i;
      @/
      for (uint32_t i = 0; i < tcache_idle_count; i++) {
          /@ assert idle:  tcache_idle_at[i] < THREAD_POOL; @/
          /@ assert shape: TcacheShape{Pre}(&thread_pool[tcache_idle_at[i]]); @/
          /@ assert stack: TcacheBottom{Pre}(&thread_pool[tcache_idle_at[i]]); @/
          /@ assert same:  TcacheShapeSame{Pre,Here}(&thread_pool[tcache_idle_at[i]]); @/
          tcache_lemma_shape(&thread_pool[tcache_idle_at[i]]);
          /@ assert is:    TcacheBottom(&thread_pool[tcache_idle_at[i]]); @/
      }
    */
    /*@ assert heights: ThreadsHeights; */
    /*@ assert unmade: ThreadsUnmade; */
    /*@ assert shapes: ThreadsIdleShape; */
    /*@ assert stacks: ThreadsIdleStacks; */
    /*@ assert turns: ThreadsIdleTurns; */
}

void thread_fork_prepare(void)
{
    mutex_lock(&boot_lock) /*@ ghost (LOCK_BOOT) */;
    tcache_prefork();
    arena_prefork();
    fork_lock_below();
}

void thread_fork_parent(void)
{
    pages_postfork_parent();
    bin_postfork_parent();
    arena_postfork_parent();
    tcache_postfork_parent();
    mutex_unlock(&boot_lock) /*@ ghost (LOCK_BOOT) */;
}

void thread_fork_child(void)
{
    pages_postfork_child();
    bin_postfork_child();
    arena_postfork_child();
    tcache_postfork_child(thread_cache);
    mutex_reset(&boot_lock) /*@ ghost (LOCK_BOOT) */;
}
