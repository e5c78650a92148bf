/* extent: runs of pages. An extent is an id, and 0 is no extent. Tables say which pages it has, and its state.
 *
 * Invariant ExtentOk (spec/pages/extent.acsl): every page has at most one owner, so that extents in use are disjoint.
 * The radix tree leads from the first and the last page of each to its id. extent_npages_total counts the pages of each
 * state.
 *
 * The caller holds the lock of the pages. Nothing here touches the pages themselves. Which extents to use, split or
 * merge is decided by the page cache.
 */
#ifndef QED_PAGES_EXTENT_H
#define QED_PAGES_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "ds/list.h"
#include "ds/radix_tree.h"
#include "platform/config.h"
#include "platform/locks.acsl"
#include "platform/os.h"
#include "platform/table.h"

#define EXT_UNUSED_LIST 0U                       /* the list (ds/list.h) of the ids without pages */

/* Each extent in use belongs to one of the page caches. Its state says to which: the names below are the states of page
 * cache 0, and those of page cache c are c more. */
enum extent_state {
    EXTENT_UNUSED,                                  /* an id without pages */
    EXTENT_ACTIVE,                                  /* in use by a caller */
    EXTENT_BUSY = EXTENT_ACTIVE + PAGE_CACHES,      /* being purged, without the lock */
    EXTENT_DIRTY = EXTENT_BUSY + PAGE_CACHES,       /* free, backed by memory */
    EXTENT_MUZZY = EXTENT_DIRTY + PAGE_CACHES,      /* free, the OS may take the memory at any time */
    EXTENT_RETAINED = EXTENT_MUZZY + PAGE_CACHES,   /* free, address space only */
    EXTENT_STATES = EXTENT_RETAINED + PAGE_CACHES
};

_Static_assert(EXTENT_STATES <= UINT8_MAX, "a state fits in a byte");

_Static_assert(EXTENT_BUSY == OS_PAGE_BUSY, "what the OS may purge is an extent that is being purged");

extern TABLE(uint64_t, ext_page);               /* number of the first page */
extern TABLE(uint64_t, ext_npages);             /* 0 if the id is unused */
extern TABLE(uint8_t,  ext_state);              /* enum extent_state, plus the page cache */

extern uint32_t extent_count;                   /* there are the ids 1 .. extent_count */
extern uint64_t extent_npages_total[EXTENT_STATES]; /* pages in each state; that of EXTENT_UNUSED stays 0 */

#include "pages/extent.acsl"

/* Called once, when the program starts and static memory is zero. */
/*@ REQUIRES_EXTENT_ZERO;
    assigns        extent_count;
    ensures  ok:   ExtentOk;
    ensures  none: \forall integer e; !ExtUsed(e);
*/
void extent_boot(void);

/* Makes the id usable in the tables of src/blocks. Programs without that layer get a weak default. */
/*@ requires lock:    LockHeld(LOCK_PAGES);
    requires id:      0 < id < TABLE_MAX;
    assigns           os_refused;
    ensures  refused: !\result ==> os_refused == 1;
*/
bool extent_client_grow(uint32_t id);

/* Provides unused ids for the next n creates and splits, which then cannot fail. Returns false if the OS has no
 * memory for the tables. */
/*@ requires lock:  LockHeld(LOCK_PAGES);
    requires ok:    ExtentOk;
    requires few:   n <= 2;
    assigns         EXT_ASSIGNS_IDS;
    ensures  ok:    ExtentOk;
    ensures  spare: \result ==> ExtSpare(n);
    ensures  none:  !\result ==> MemoryOut(1);
*/
bool extent_reserve(uint32_t n);

/* Makes the tables large enough for so many ids or more, but for up to 1024 of them. Returns false if there is no memory. */
/*@ requires lock:    LockHeld(LOCK_PAGES);
    assigns           os_refused;
    ensures  refused: !\result ==> os_refused == 1;
*/
bool extent_reserve_tables(uint64_t ids);

/* Makes room in the radix tree for a run of pages that the OS just gave, before extent_create. Returns false if
 * there is no memory. */
/*@ requires lock:     LockHeld(LOCK_PAGES);
    requires ok:       ExtentOk;
    requires range:    0 < npages && page + npages <= PAGE_COUNT_MAX;
    assigns            radix_root[0 .. RADIX_ROOTS - 1], os_refused;
    ensures  ok:       ExtentOk;
    ensures  refused:  !\result ==> os_refused == 1;
    ensures  reserved: \result ==> \forall integer p; page <= p < page + npages ==> RadixReserved(p);
    ensures  leaves:   RadixKept{Pre,Post};
*/
bool extent_reserve_pages(uint64_t page, uint64_t npages);

/* Makes an extent of pages that nobody owns. Returns its id, which was the first of the unused ones. */
/*@ requires lock:     LockHeld(LOCK_PAGES);
    requires ok:       ExtentOk;
    requires spare:    ExtSpare(1);
    requires range:    0 < page && 0 < npages && page + npages <= PAGE_COUNT_MAX;
    requires state:    0 < state < EXTENT_STATES;
    requires free:     \forall integer p; page <= p < page + npages ==> ext_owner[p] == 0;
    requires reserved: \forall integer p; page <= p < page + npages ==> RadixReserved(p);
    assigns            ext_page[EXT_UNUSED], ext_npages[EXT_UNUSED], ext_state[EXT_UNUSED],
                       extent_npages_total[state], EXT_ASSIGNS_UNUSED,
                       ext_owner[page .. page + npages - 1], ext_page_state[page .. page + npages - 1],
                       radix_extent_of[page .. page + npages - 1], RADIX_LEAVES;
    ensures  ok:       ExtentOk;
    ensures  id:       \result == \old(EXT_UNUSED) && !\old(ExtUsed(EXT_UNUSED));
    ensures  pages:    ExtUsed(\result) && ext_page[\result] == page && ext_npages[\result] == npages;
    ensures  state:    ext_state[\result] == state;
    ensures  owner:    \forall integer p; page <= p < page + npages ==> ext_owner[p] == \result;
    ensures  total:    extent_npages_total[state] == \old(extent_npages_total[state]) + npages;
    ensures  spare:    \old(ExtSpare(2)) ==> ExtSpare(1);
*/
uint32_t extent_create(uint64_t page, uint64_t npages, uint8_t state);

/* e keeps its first npages. Returns a new extent of the others, in the same state. */
/*@ requires lock:  LockHeld(LOCK_PAGES);
    requires ok:    ExtentOk;
    requires spare: ExtSpare(1);
    requires used:  ExtUsed(e);
    requires less:  0 < npages < ext_npages[e];
    assigns         ext_npages[e], ext_page[EXT_UNUSED], ext_npages[EXT_UNUSED], ext_state[EXT_UNUSED],
                    EXT_ASSIGNS_UNUSED,
                    ext_owner[ext_page[e] + npages .. ext_page[e] + ext_npages[e] - 1],
                    radix_extent_of[ext_page[e] .. ext_page[e] + ext_npages[e] - 1], RADIX_LEAVES;
    ensures  ok:    ExtentOk;
    ensures  id:    \result == \old(EXT_UNUSED) && !\old(ExtUsed(EXT_UNUSED)) && \result != e;
    ensures  front: ExtUsed(e) && ext_page[e] == \old(ext_page[e]) && ext_npages[e] == npages;
    ensures  back:  ExtUsed(\result) && ext_page[\result] == ext_page[e] + npages &&
                    ext_npages[\result] == \old(ext_npages[e]) - npages;
    ensures  state: ext_state[\result] == ext_state[e] && ext_state[e] == \old(ext_state[e]);
    ensures  owner: \forall integer p; ext_page[\result] <= p < ext_page[\result] + ext_npages[\result] ==>
                        ext_owner[p] == \result;
    ensures  spare: \old(ExtSpare(2)) ==> ExtSpare(1);
*/
uint32_t extent_split(uint32_t e, uint64_t npages);

/* b follows a and is in the same state. a takes the pages of b, which becomes unused. */
/*@ requires lock:     LockHeld(LOCK_PAGES);
    requires ok:       ExtentOk;
    requires used:     ExtUsed(a) && ExtUsed(b);
    requires adjacent: ext_page[a] + ext_npages[a] == ext_page[b];
    requires state:    ext_state[a] == ext_state[b];
    assigns            ext_npages[a], ext_npages[b], ext_state[b], EXT_ASSIGNS_UNUSED,
                       ext_owner[ext_page[b] .. ext_page[b] + ext_npages[b] - 1],
                       radix_extent_of[ext_page[b] .. ext_page[b] + ext_npages[b] - 1], RADIX_LEAVES;
    ensures  ok:       ExtentOk;
    ensures  all:      ExtUsed(a) && ext_page[a] == \old(ext_page[a]) &&
                       ext_npages[a] == \old(ext_npages[a] + ext_npages[b]);
    ensures  gone:     !ExtUsed(b) && ext_state[b] == EXTENT_UNUSED;
    ensures  state:    ext_state[a] == \old(ext_state[a]);
    ensures  owner:    \forall integer p; \old(ext_page[b]) <= p < \old(ext_page[b] + ext_npages[b]) ==>
                           ext_owner[p] == a;
    ensures  spare1:   ExtSpare(1);
    ensures  spare2:   \old(ExtSpare(1)) ==> ExtSpare(2);
*/
void extent_merge(uint32_t a, uint32_t b);

/* e becomes an unused id, and nobody owns its pages. */
/*@ requires lock:  LockHeld(LOCK_PAGES);
    requires ok:    ExtentOk;
    requires used:  ExtUsed(e);
    assigns         ext_npages[e], ext_state[e], EXT_ASSIGNS_UNUSED, extent_npages_total[ext_state[e]],
                    ext_owner[ext_page[e] .. ext_page[e] + ext_npages[e] - 1],
                    ext_page_state[ext_page[e] .. ext_page[e] + ext_npages[e] - 1];
    ensures  ok:    ExtentOk;
    ensures  gone:  !ExtUsed(e) && ext_state[e] == EXTENT_UNUSED;
    ensures  owner: \forall integer p; \old(ext_page[e]) <= p < \old(ext_page[e] + ext_npages[e]) ==>
                        ext_owner[p] == 0 && ext_page_state[p] == 0;
    ensures  total: extent_npages_total[\old(ext_state[e])] == \old(extent_npages_total[ext_state[e]]) - \old(ext_npages[e]);
    ensures  spare: ExtSpare(1);
*/
void extent_destroy(uint32_t e);

/*@ requires lock:  LockHeld(LOCK_PAGES);
    requires ok:    ExtentOk;
    requires used:  ExtUsed(e);
    requires state: 0 < state < EXTENT_STATES;
    assigns         ext_state[e], extent_npages_total[ext_state[e]], extent_npages_total[state],
                    ext_page_state[ext_page[e] .. ext_page[e] + ext_npages[e] - 1];
    ensures  ok:    ExtentOk;
    ensures  state: ext_state[e] == state;
    ensures  from:  \old(ext_state[e]) != state ==>
                    extent_npages_total[\old(ext_state[e])] == \old(extent_npages_total[ext_state[e]]) - ext_npages[e];
    ensures  to:    \old(ext_state[e]) != state ==>
                    extent_npages_total[state] == \old(extent_npages_total[state]) + ext_npages[e];
    ensures  same:  \old(ext_state[e]) == state ==> extent_npages_total[state] == \old(extent_npages_total[state]);
*/
void extent_set_state(uint32_t e, uint8_t state);

/* Returns the extent that starts at the page, 0 if none does. */
/*@ requires lock:  LockHeld(LOCK_PAGES);
    requires ok:    ExtentOk;
    requires page:  page < PAGE_COUNT_MAX;
    assigns         \nothing;
    ensures  found: \result != 0 ==> ExtUsed(\result) && ext_page[\result] == page && ext_owner[page] == \result;
    ensures  none:  \result == 0 ==> \forall integer e; ExtUsed(e) ==> ext_page[e] != page;
    ensures  range: \result != 0 ==> page + ext_npages[\result] <= PAGE_COUNT_MAX;
*/
uint32_t extent_at(uint64_t page);

/* Returns the extent that starts where e ends, 0 if there is none. */
/*@ requires lock:      LockHeld(LOCK_PAGES);
    requires ok:        ExtentOk;
    requires used:      ExtUsed(e);
    assigns             \nothing;
    ensures  follows:   \result != 0 ==> ExtUsed(\result) && ext_page[\result] == ext_page[e] + ext_npages[e] &&
                            \result != e;
    ensures  neighbour: ext_page[e] + ext_npages[e] < PAGE_COUNT_MAX ==>
                            \result == ext_owner[ext_page[e] + ext_npages[e]];
    ensures  end:       ext_page[e] + ext_npages[e] == PAGE_COUNT_MAX ==> \result == 0;
*/
uint32_t extent_next(uint32_t e);

/* Returns the extent that ends where e starts, 0 if there is none. */
/*@ requires lock:      LockHeld(LOCK_PAGES);
    requires ok:        ExtentOk;
    requires used:      ExtUsed(e);
    assigns             \nothing;
    ensures  precedes:  \result != 0 ==> ExtUsed(\result) && ext_page[\result] + ext_npages[\result] == ext_page[e] &&
                            \result != e;
    ensures  neighbour: \result == ext_owner[ext_page[e] - 1];
*/
uint32_t extent_prev(uint32_t e);

#endif
