/* cuckoo_hash: maps from keys of 128 bits to ids, in tables of cells that the caller provides.
 *
 * An id is a number below TABLE_FEW_MAX, with a key of two words (a hash of 128 bits) in tables. It is in at most one hash
 * table, and ghost cuckoo_own[x] says in which. No two ids of a hash table have the same key. A cell has an id, or 0.
 * Four cells are a bucket. An id is in the bucket that its first word says, or in the one that its second word says. Where
 * both are full, ids are moved to their other buckets, at most CUCKOO_DEPTH of them. If that does not help, insert fails
 * and nothing is lost. Then the caller gives more cells with cuckoo_hash_resize and tries again, up to CUCKOO_LG_MAX.
 *
 * The invariant of a hash table is CuckooOk (spec/ds/cuckoo_hash.acsl). Cells are memory of the caller: CUCKOO_CELLS(lg)
 * words of uint32_t, zero. The caller holds the lock that guards the hash table and its ids.
 *
 * To insert, while (!cuckoo_hash_insert(h, x, a, b)), call cuckoo_hash_resize(h, cell, lg) with more cells, and with NULL
 * where there is no memory. If it fails, try twice as many, or give up. If it succeeds, the cells that h had are the
 * caller's again.
 * R. Pagh, F. F. Rodler: Cuckoo hashing. Journal of Algorithms 51 (2004).
 */
#ifndef QED_DS_CUCKOO_HASH_H
#define QED_DS_CUCKOO_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "math/align.h"
#include "math/prng.h"
#include "platform/table.h"

#define CUCKOO_BUCKET 4U                                /* cells of a bucket */
#define CUCKOO_LG_MAX 26U                               /* lg of the most buckets of a hash table */
#define CUCKOO_DEPTH 32U                                /* ids that one insert moves at most */
#define CUCKOO_NONE UINT64_MAX                          /* no cell */
#define CUCKOO_CELLS(lg) (CUCKOO_BUCKET * (1UL << (lg)))

struct cuckoo_hash {
    uint32_t *cell;                                     /* CUCKOO_CELLS(lg) of them */
    uint32_t  lg;                                       /* lg of the number of buckets */
    uint32_t  lg_least;                                 /* it is not sparse with fewer */
    uint32_t  count;                                    /* ids in it */
    uint64_t  random;                                   /* chooses which id of a full bucket is moved (math/prng.h) */
    uint64_t  ngrows;
    uint64_t  nshrinks;
    uint64_t  nshrinkfails;
    uint64_t  ninserts;
    uint64_t  nrelocs;                                  /* ids that were moved to their other bucket */
};

extern TABLE_FEW(uint64_t, cuckoo_a);                       /* the key of an id */
extern TABLE_FEW(uint64_t, cuckoo_b);

#include "ds/cuckoo_hash.acsl"
#include "ds/cuckoo_hash_lemmas.acsl"

/* Makes id x usable. Returns false if the OS has no memory. */
/*@ requires id:      CuckooId(x);
    assigns           os_refused;
    ensures  refused: !\result ==> os_refused == 1;
*/
bool cuckoo_hash_grow(uint32_t x);

/* Makes an empty hash table of CUCKOO_CELLS(lg) cells, which are zero. */
/*@ requires valid:  \valid(h) && \valid(cell + (0 .. CUCKOO_CELLS(lg) - 1)) && lg <= CUCKOO_LG_MAX;
    requires apart:  \separated(h, cell + (0 .. CUCKOO_CELLS(lg) - 1));
    requires zero:   \forall integer i; 0 <= i < CUCKOO_CELLS(lg) ==> cell[i] == 0;
    requires none:   \forall integer x; !CuckooIn(h, x);
    assigns          *h;
    ensures  ok:     CuckooOk(h);
    ensures  shape:  h->cell == cell && h->lg == lg && h->lg_least == lg;
    ensures  empty:  h->count == 0 && h->random == 0;
    ensures  counts: h->ngrows == 0 && h->nshrinks == 0 && h->nshrinkfails == 0 && h->ninserts == 0 && h->nrelocs == 0;
*/
void cuckoo_hash_init(struct cuckoo_hash *h, uint32_t *cell, uint32_t lg);

/* Returns the id with that key, 0 if there is none. */
/*@ requires ok:     CuckooOk(h);
    assigns          \nothing;
    ensures  found:  \result != 0 ==> CuckooIn(h, \result) && CuckooKey(\result, a, b);
    ensures  none:   \result == 0 ==> CuckooAbsent(h, a, b);
*/
uint32_t cuckoo_hash_search(const struct cuckoo_hash *h, uint64_t a, uint64_t b);

/* Puts x, which is in no hash table, into h with that key, which no id of h has. Returns false if there was no place. Then
 * x is in no hash table. */
/*@ requires ok:     CuckooOk(h);
    requires out:    CuckooId(x) && cuckoo_own[x] == \null;
    requires absent: CuckooAbsent(h, a, b);
    assigns          *h, CUCKOO_ASSIGNS_CELLS(h), cuckoo_own[x], cuckoo_a[x], cuckoo_b[x];
    ensures  ok:     CuckooOk(h);
    ensures  in:     \result ==> CuckooIn(h, x) && CuckooKey(x, a, b);
    ensures  out:    !\result ==> cuckoo_own[x] == \null;
    ensures  same:   CuckooSame{Pre,Post}(h);
    ensures  others: CuckooOthers{Pre,Post}(h);
*/
bool cuckoo_hash_insert(struct cuckoo_hash *h, uint32_t x, uint64_t a, uint64_t b);

/* Takes x out of h, in which it is. */
/*@ requires ok:     CuckooOk(h);
    requires in:     CuckooIn(h, x);
    assigns          h->count, CUCKOO_ASSIGNS_CELLS(h), cuckoo_own[x];
    ensures  ok:     CuckooOk(h);
    ensures  out:    cuckoo_own[x] == \null;
    ensures  others: CuckooOthers{Pre,Post}(h);
*/
void cuckoo_hash_remove(struct cuckoo_hash *h, uint32_t x);

/* Moves all ids to CUCKOO_CELLS(lg) other cells, which are zero. Returns false if some id found no place there, or if cell
 * is NULL, which is how the caller says that it had no memory. Then nothing has changed, but the other cells may not be
 * zero. */
/*@ requires ok:     CuckooOk(h);
    requires lg:     lg <= CUCKOO_LG_MAX;
    requires valid:  cell != \null ==> \valid(cell + (0 .. CUCKOO_CELLS(lg) - 1));
    requires apart:  cell != \null ==> \separated(h, cell + (0 .. CUCKOO_CELLS(lg) - 1)) &&
                         \separated(h->cell + (0 .. CUCKOO_CELLS(h->lg) - 1), cell + (0 .. CUCKOO_CELLS(lg) - 1));
    requires zero:   cell != \null ==> \forall integer i; 0 <= i < CUCKOO_CELLS(lg) ==> cell[i] == 0;
    assigns          *h, cell[0 .. CUCKOO_CELLS(lg) - 1], cuckoo_own[0 .. TABLE_FEW_MAX - 1], cuckoo_at[0 .. TABLE_FEW_MAX - 1],
                     cuckoo_was_in[0 .. TABLE_FEW_MAX - 1], cuckoo_was_at[0 .. TABLE_FEW_MAX - 1];
    ensures  ok:     CuckooOk(h);
    ensures  moved:  \result ==> h->cell == cell && h->lg == lg;
    ensures  stayed: !\result ==> CuckooSame{Pre,Post}(h);
    ensures  null:   cell == \null ==> !\result;
    ensures  rest:   CuckooSameBut{Pre,Post}(0);
    ensures  others: CuckooOthers{Pre,Post}(h);
*/
bool cuckoo_hash_resize(struct cuckoo_hash *h, uint32_t *cell, uint32_t lg);

/* Returns whether three quarters of the cells are free and h may be smaller. Then it is worthwhile to call
 * cuckoo_hash_resize with h->lg - 1. */
/*@ requires ok:     CuckooOk(h);
    assigns          \nothing;
    ensures  sparse: \result <==> h->lg > h->lg_least && 4 * CuckooSize(h, TABLE_FEW_MAX) < CUCKOO_CELLS(h->lg);
*/
bool cuckoo_hash_sparse(const struct cuckoo_hash *h);

/* Returns the id in the first cell from *cursor on that has one, and moves *cursor behind it. Returns 0 if there is none.
 * From *cursor == 0 on this meets each id once. The id that it returned last may be removed. */
/*@ requires ok:     CuckooOk(h);
    requires cursor: \valid(cursor) && \separated(cursor, h) &&
                         \separated(cursor, h->cell + (0 .. CUCKOO_CELLS(h->lg) - 1));
    assigns          *cursor;
    ensures  in:     \result != 0 ==> CuckooIn(h, \result) && \old(*cursor) <= cuckoo_at[\result] < *cursor;
    ensures  first:  \forall integer x; CuckooIn(h, x) && \old(*cursor) <= cuckoo_at[x] < *cursor ==> x == \result;
    ensures  end:    \result == 0 ==> \forall integer x; CuckooIn(h, x) ==> cuckoo_at[x] < \old(*cursor);
*/
uint32_t cuckoo_hash_next(const struct cuckoo_hash *h, uint64_t *cursor);

#endif
