/* pages: the page cache behind its lock, with decay. All arenas share it: no free page is stranded in one of them.
 *
 * The lock has the highest rank. System calls that purge run without it. PageCacheOk holds of this thread's view whether it
 * has the lock or not; what it holds (spec/pages.acsl) stays as it is whoever takes the lock meanwhile, all else may change.
 */
#ifndef QED_PAGES_PAGES_H
#define QED_PAGES_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "pages/decay.h"
#include "pages/page_cache.h"
#include "platform/mutex.h"

struct pages_stats {
    uint64_t npages[EXTENT_STATES];             /* pages by extent state; BUSY ones are being purged */
    uint64_t purges;                            /* purging system calls so far */
    uint64_t purged_npages;                     /* pages they returned so far */
};

/* Guarded by the lock; nobody else's business. */
extern bool     pages_purging;                  /* one thread purges at a time */
extern bool     pages_keep_muzzy;               /* purge lazily first */
extern uint64_t pages_purge_count;
extern uint64_t pages_purged_npages;

#include "pages.acsl"

/* Static memory is zero. Once, at start; dirty_ms and muzzy_ms as in pages_set_decay. */
/*@ requires zero_npages: \forall integer e; 0 < e < TABLE_MAX ==> ext_npages[e] == 0;
    requires zero_state:  \forall integer e; 0 < e < TABLE_MAX ==> ext_state[e] == 0;
    requires zero_totals: \forall integer s; 0 <= s < EXTENT_STATES ==> extent_npages_total[s] == 0;
    requires zero_owner:  \forall integer p; 0 <= p < PAGE_COUNT_MAX ==> ext_owner[p] == 0 && ext_page_state[p] == 0;
    requires zero_radix:  \forall integer p; 0 <= p < PAGE_COUNT_MAX ==> radix_extent_of[p] == 0;
    requires radix:       RadixOk;
    requires zero_root:   \forall integer h; PhHeap(h) ==> ph_root[h] == 0;
    requires zero_own:    \forall integer x; PhNode(x) ==> ph_own[x] == 0 && ph_par[x] == 0;
    requires zero_bits:   \forall integer i; 0 <= i < PAGE_CACHE_WORDS ==> page_cache_bits[i] == 0;
    requires zero_mapped: page_cache_mapped_npages == 0;
    terminates            \true;
    exits                 \false;
    assigns               extent_count, extent_unused, smoothstep[0 .. SMOOTHSTEP_NSTEPS], PAGES_ASSIGNS_DECAY;
    ensures  ok:          PageCacheOk;
    ensures  decay:       DecayOk;
    ensures  times:       decay_ms[0] == dirty_ms && decay_ms[1] == muzzy_ms;
    ensures  none:        \forall integer e; !ExtUsed(e);
*/
void pages_boot(int64_t dirty_ms, int64_t muzzy_ms);

/* -1 never, 0 at once; forgets the past. */
/*@ requires lock:        LocksFree(LOCK_PAGES);
    requires ok:          PageCacheOk;
    requires held:        PagesHeldActive;
    terminates            \true;
    exits                 \false;
    assigns               PAGES_ASSIGNS;
    ensures  lock:        LocksFree(LOCK_PAGES);
    ensures  ok:          PageCacheOk;
    ensures  kept:        PagesKept{Pre,Post}(0);
    ensures  owner:       PagesOwnerKept{Pre,Post}(0);
    ensures  words:       PagesWordsKept{Pre,Post}(0);
    ensures  lists:       PagesListsKept{Pre,Post};
    ensures  leaves:      RadixKept{Pre,Post};
*/
void pages_set_decay(int64_t dirty_ms, int64_t muzzy_ms);

/* An ACTIVE extent that nobody holds, for the caller to hold; 0: out of memory. *zeroed: its pages read as zero. */
/*@ requires lock:        LocksFree(LOCK_PAGES);
    requires ok:          PageCacheOk;
    requires held:        PagesHeldActive;
    requires some:        0 < npages;
    requires power:       IsPowerOfTwo(align_npages);
    requires zeroed:      \valid(zeroed);
    terminates            \true;
    exits                 \false;
    assigns               PAGES_ASSIGNS, *zeroed;
    ensures  lock:        LocksFree(LOCK_PAGES);
    ensures  ok:          PageCacheOk;
    ensures  active:      \result != 0 ==> CacheHas(\result, EXTENT_ACTIVE) && ext_npages[\result] == npages;
    ensures  aligned:     \result != 0 ==> ext_page[\result] % align_npages == 0;
    ensures  new:         \result != 0 ==> ext_kind[\result] == KIND_NONE;
    ensures  nobodys:     \result != 0 ==> PagesNobodys{Pre}(ext_page[\result], ext_page[\result] + npages);
    ensures  no_words:    \result != 0 ==> PagesNoWords(ext_page[\result], ext_page[\result] + npages);
    ensures  kept:        PagesKept{Pre,Post}(0);
    ensures  owner:       PagesOwnerKept{Pre,Post}(0);
    ensures  words:       PagesWordsKept{Pre,Post}(0);
    ensures  lists:       PagesListsKept{Pre,Post};
    ensures  leaves:      RadixKept{Pre,Post};
*/
uint32_t pages_alloc(uint64_t npages, uint64_t align_npages, bool *zeroed);

/* e, which this thread holds and which is in no heap, leaves the view. */
/*@ requires lock:        LocksFree(LOCK_PAGES);
    requires ok:          PageCacheOk;
    requires held:        PagesHeldActive;
    requires mine:        PagesHeld(e) && ph_own[e] == 0;
    requires used:        ExtUsed(e);
    requires no_words:    PagesNoWords(ext_page[e], ext_page[e] + ext_npages[e]);
    terminates            \true;
    exits                 \false;
    assigns               PAGES_ASSIGNS, ext_kind[e];
    ensures  lock:        LocksFree(LOCK_PAGES);
    ensures  ok:          PageCacheOk;
    ensures  gone:        ext_kind[e] == KIND_NONE;
    ensures  kept:        PagesKept{Pre,Post}(e);
    ensures  owner:       PagesOwnerKept{Pre,Post}(e);
    ensures  words:       PagesWordsKept{Pre,Post}(e);
    ensures  lists:       PagesListsKept{Pre,Post};
    ensures  leaves:      RadixKept{Pre,Post};
*/
void pages_free(uint32_t e);

/* The ACTIVE extent that starts at page, 0 if there is none. No other thread's does: a program has the blocks that it
 * passes, and who gets one holds it then. */
/*@ requires lock:        LocksFree(LOCK_PAGES);
    requires ok:          PageCacheOk;
    requires held:        PagesHeldActive;
    terminates            \true;
    exits                 \false;
    assigns               PAGES_ASSIGNS;
    ensures  lock:        LocksFree(LOCK_PAGES);
    ensures  ok:          PageCacheOk;
    ensures  found:       \result != 0 ==> ExtUsed(\result) && ext_page[\result] == page &&
                              ext_state[\result] == EXTENT_ACTIVE;
    ensures  none:        \result == 0 ==>
                              \forall integer e; ExtUsed(e) && ext_state[e] == EXTENT_ACTIVE ==> ext_page[e] != page;
    ensures  mine:        \forall integer e; PagesHeld(e) && \old(ext_page[e]) == page ==> \result == e;
    ensures  only_mine:   \result != 0 ==> PagesHeld(\result) && \old(ext_page[\result]) == page;
    ensures  kept:        PagesKept{Pre,Post}(0);
    ensures  owner:       PagesOwnerKept{Pre,Post}(0);
    ensures  words:       PagesWordsKept{Pre,Post}(0);
    ensures  lists:       PagesListsKept{Pre,Post};
    ensures  leaves:      RadixKept{Pre,Post};
*/
uint32_t pages_find(uint64_t page);

/* Frees the ACTIVE extent that starts at page; false: none does. That is mine, 0 if there is none (see pages_find). */
/*@ requires lock:        LocksFree(LOCK_PAGES);
    requires ok:          PageCacheOk;
    requires held:        PagesHeldActive;
    requires mine:        mine != 0 ==> PagesHeld(mine) && ph_own[mine] == 0 && ext_page[mine] == page;
    requires no_words:    mine != 0 ==> PagesNoWords(ext_page[mine], ext_page[mine] + ext_npages[mine]);
    requires not_mine:    \forall integer x; PagesHeld(x) && x != mine ==> ext_page[x] != page;
    terminates            \true;
    exits                 \false;
    assigns               PAGES_ASSIGNS, ext_kind[mine];
    ensures  lock:        LocksFree(LOCK_PAGES);
    ensures  ok:          PageCacheOk;
    ensures  done:        \result <==> mine != 0;
    ensures  gone:        ext_kind[mine] == KIND_NONE;
    ensures  kept:        PagesKept{Pre,Post}(mine);
    ensures  owner:       PagesOwnerKept{Pre,Post}(mine);
    ensures  words:       PagesWordsKept{Pre,Post}(mine);
    ensures  lists:       PagesListsKept{Pre,Post};
    ensures  leaves:      RadixKept{Pre,Post};
*/
bool pages_release(uint64_t page) /*@ ghost (uint32_t mine) */;

/* In place, either way; false: e is as it was. */
/*@ requires lock:        LocksFree(LOCK_PAGES);
    requires ok:          PageCacheOk;
    requires held:        PagesHeldActive;
    requires mine:        PagesHeld(e) && ExtUsed(e);
    requires some:        0 < npages;
    requires no_words:    PagesNoWords(ext_page[e] + npages, ext_page[e] + ext_npages[e]);
    terminates            \true;
    exits                 \false;
    assigns               PAGES_ASSIGNS;
    ensures  lock:        LocksFree(LOCK_PAGES);
    ensures  ok:          PageCacheOk;
    ensures  start:       ExtUsed(e) && ext_page[e] == \old(ext_page[e]);
    ensures  active:      ext_state[e] == EXTENT_ACTIVE && ph_own[e] == \old(ph_own[e]);
    ensures  length:      ext_npages[e] == (\result ? npages : \old(ext_npages[e]));
    ensures  nobodys:     PagesNobodys{Pre}(\old(ext_page[e] + ext_npages[e]), ext_page[e] + ext_npages[e]);
    ensures  no_words:    PagesNoWords(\old(ext_page[e] + ext_npages[e]), ext_page[e] + ext_npages[e]);
    ensures  kept:        PagesKept{Pre,Post}(e);
    ensures  owner:       PagesOwnerKept{Pre,Post}(e);
    ensures  words:       PagesWordsKept{Pre,Post}(0);
    ensures  lists:       PagesListsKept{Pre,Post};
    ensures  leaves:      RadixKept{Pre,Post};
*/
bool pages_resize(uint32_t e, uint64_t npages);

/* Purges what the decay curves no longer allow. */
/*@ requires lock:        LocksFree(LOCK_PAGES);
    requires ok:          PageCacheOk;
    requires held:        PagesHeldActive;
    terminates            \true;
    exits                 \false;
    assigns               PAGES_ASSIGNS;
    ensures  lock:        LocksFree(LOCK_PAGES);
    ensures  ok:          PageCacheOk;
    ensures  kept:        PagesKept{Pre,Post}(0);
    ensures  owner:       PagesOwnerKept{Pre,Post}(0);
    ensures  words:       PagesWordsKept{Pre,Post}(0);
    ensures  lists:       PagesListsKept{Pre,Post};
    ensures  leaves:      RadixKept{Pre,Post};
*/
void pages_decay(void);

/* Purges everything free; true if there was any. */
/*@ requires lock:        LocksFree(LOCK_PAGES);
    requires ok:          PageCacheOk;
    requires held:        PagesHeldActive;
    terminates            \true;
    exits                 \false;
    assigns               PAGES_ASSIGNS;
    ensures  lock:        LocksFree(LOCK_PAGES);
    ensures  ok:          PageCacheOk;
    ensures  kept:        PagesKept{Pre,Post}(0);
    ensures  owner:       PagesOwnerKept{Pre,Post}(0);
    ensures  words:       PagesWordsKept{Pre,Post}(0);
    ensures  lists:       PagesListsKept{Pre,Post};
    ensures  leaves:      RadixKept{Pre,Post};
*/
bool pages_trim(void);

/*@ requires lock:        LocksFree(LOCK_PAGES);
    requires ok:          PageCacheOk;
    requires held:        PagesHeldActive;
    requires stats:       \valid(stats);
    terminates            \true;
    exits                 \false;
    assigns               PAGES_ASSIGNS, *stats;
    ensures  lock:        LocksFree(LOCK_PAGES);
    ensures  ok:          PageCacheOk;
    ensures  npages:      \forall integer s; 0 < s < EXTENT_STATES ==>
                              stats->npages[s] == PageCount(s, PAGE_COUNT_MAX);
    ensures  purges:      stats->purges == pages_purge_count && stats->purged_npages == pages_purged_npages;
    ensures  kept:        PagesKept{Pre,Post}(0);
    ensures  owner:       PagesOwnerKept{Pre,Post}(0);
    ensures  words:       PagesWordsKept{Pre,Post}(0);
    ensures  lists:       PagesListsKept{Pre,Post};
    ensures  leaves:      RadixKept{Pre,Post};
*/
void pages_read_stats(struct pages_stats *stats);

/* Around fork: the lock is held from before to after it, in the parent and in the child. */
/*@ requires lock:        LocksFree(LOCK_PAGES);
    requires ok:          PageCacheOk;
    requires held:        PagesHeldActive;
    terminates            \true;
    exits                 \false;
    assigns               PAGES_ASSIGNS;
    ensures  lock:        LockHeld(LOCK_PAGES);
    ensures  ok:          PageCacheOk;
    ensures  decay:       DecayOk;
    ensures  free_words:  PagesFreeWords;
    ensures  kept:        PagesKept{Pre,Post}(0);
    ensures  owner:       PagesOwnerKept{Pre,Post}(0);
    ensures  words:       PagesWordsKept{Pre,Post}(0);
    ensures  lists:       PagesListsKept{Pre,Post};
    ensures  leaves:      RadixKept{Pre,Post};
*/
void pages_prefork(void);

/*@ requires lock:        LockHeld(LOCK_PAGES);
    requires ok:          PageCacheOk;
    requires decay:       DecayOk;
    requires free_words:  PagesFreeWords;
    terminates            \true;
    exits                 \false;
    assigns               lock_held[LOCK_PAGES];
    ensures  lock:        LocksFree(LOCK_PAGES);
*/
void pages_postfork_parent(void);

/*@ requires lock:        LockHeld(LOCK_PAGES);
    requires ok:          PageCacheOk;
    requires decay:       DecayOk;
    requires free_words:  PagesFreeWords;
    terminates            \true;
    exits                 \false;
    assigns               lock_held[LOCK_PAGES], pages_purging;
    ensures  lock:        LocksFree(LOCK_PAGES);
    ensures  ready:       !pages_purging;
*/
void pages_postfork_child(void);

#endif
