/* cuckoo_hash: cuckoo_put, cuckoo_move and cuckoo_hash_remove write all cells. A search for room goes along a path of ids
 * before it moves any, and then moves the last one first, so that each id is in one of its buckets at any time.
 */
#include "ds/cuckoo_hash.h"

TABLE_FEW(uint64_t, cuckoo_a);
TABLE_FEW(uint64_t, cuckoo_b);

bool cuckoo_hash_grow(uint32_t x)
{
    return TABLE_GROW(cuckoo_a, x) && TABLE_GROW(cuckoo_b, x);
}

void cuckoo_hash_init(struct cuckoo_hash *h, uint32_t *cell, uint32_t lg)
{
    h->cell = cell;
    h->lg = lg;
    h->lg_least = lg;
    h->count = 0;
    h->random = 0;
    h->ngrows = 0;
    h->nshrinks = 0;
    h->nshrinkfails = 0;
    h->ninserts = 0;
    h->nrelocs = 0;
    /*@ ghost cuckoo_lemma_none(h); */
}

/* Returns the first cell of the bucket that this word of a key says. */
/*@ requires lg:     lg <= CUCKOO_LG_MAX;
    assigns          \nothing;
    ensures  first:  \result == CuckooFirst(word, lg);
    ensures  start:  CuckooStart(\result, lg);
*/
static inline uint64_t cuckoo_first(uint64_t word, uint32_t lg)
{
    /*@ ghost cuckoo_lemma_power(lg); */
    return word % (1UL << lg) * CUCKOO_BUCKET;
}

/* Returns the cell of the bucket that has the id with that key, CUCKOO_NONE if there is none. */
/*@ requires valid:  first <= CUCKOO_CELLS(CUCKOO_LG_MAX) && \valid_read(cell + (first .. first + 3));
    requires ids:    \forall integer i; first <= i < first + 4 ==> cell[i] < TABLE_FEW_MAX;
    assigns          \nothing;
    ensures  found:  \result != CUCKOO_NONE ==> first <= \result < first + 4 && cell[\result] != 0 &&
                         CuckooKey(cell[\result], a, b);
    ensures  none:   \result == CUCKOO_NONE ==>
                         \forall integer i; first <= i < first + 4 && cell[i] != 0 ==> !CuckooKey(cell[i], a, b);
*/
static uint64_t cuckoo_find(const uint32_t *cell, uint64_t first, uint64_t a, uint64_t b)
{
    /*@ loop invariant range: first <= i <= first + 4;
        loop invariant none:  \forall integer j; first <= j < i && cell[j] != 0 ==> !CuckooKey(cell[j], a, b);
        loop assigns          i;
        loop variant          first + 4 - i;
    */
    for (uint64_t i = first; i < first + CUCKOO_BUCKET; i++) {
        uint32_t x = cell[i];
        if (x != 0 && AT(cuckoo_a, x) == a && AT(cuckoo_b, x) == b) {
            return i;
        }
    }
    return CUCKOO_NONE;
}

/* Returns a free cell of the bucket, CUCKOO_NONE if there is none. */
/*@ requires valid:  first <= CUCKOO_CELLS(CUCKOO_LG_MAX) && \valid_read(cell + (first .. first + 3));
    assigns          \nothing;
    ensures  free:   \result != CUCKOO_NONE ==> first <= \result < first + 4 && cell[\result] == 0;
    ensures  none:   \result == CUCKOO_NONE ==> CuckooFull(cell, first);
*/
static uint64_t cuckoo_free(const uint32_t *cell, uint64_t first)
{
    /*@ loop invariant range: first <= i <= first + 4;
        loop invariant none:  \forall integer j; first <= j < i ==> cell[j] != 0;
        loop assigns          i;
        loop variant          first + 4 - i;
    */
    for (uint64_t i = first; i < first + CUCKOO_BUCKET; i++) {
        if (cell[i] == 0) {
            return i;
        }
    }
    return CUCKOO_NONE;
}

/* Returns the cell that has the id with that key, CUCKOO_NONE if there is none. */
/*@ requires ok:     CuckooOk(h);
    assigns          \nothing;
    ensures  found:  \result != CUCKOO_NONE ==> \result < CUCKOO_CELLS(h->lg) && h->cell[\result] != 0 &&
                         CuckooKey(h->cell[\result], a, b);
    ensures  none:   \result == CUCKOO_NONE ==> CuckooAbsent(h, a, b);
*/
static uint64_t cuckoo_cell_of(const struct cuckoo_hash *h, uint64_t a, uint64_t b)
{
    /*@ ghost cuckoo_lemma_power(h->lg); */
    uint64_t i = cuckoo_find(h->cell, cuckoo_first(a, h->lg), a, b);
    return i != CUCKOO_NONE ? i : cuckoo_find(h->cell, cuckoo_first(b, h->lg), a, b);
}

uint32_t cuckoo_hash_search(const struct cuckoo_hash *h, uint64_t a, uint64_t b)
{
    uint64_t i = cuckoo_cell_of(h, a, b);
    return i == CUCKOO_NONE ? 0 : h->cell[i];
}

/* Returns the first cell of the other bucket of the id in cell i. */
/*@ requires lg:     lg <= CUCKOO_LG_MAX;
    requires id:     \valid_read(cell + i) && CuckooId(cell[i]);
    assigns          \nothing;
    ensures  start:  CuckooStart(\result, lg);
    ensures  bucket: \result == CuckooFirst(cuckoo_a[cell[i]], lg) || \result == CuckooFirst(cuckoo_b[cell[i]], lg);
*/
static inline uint64_t cuckoo_other(const uint32_t *cell, uint32_t lg, uint64_t i)
{
    uint64_t first = cuckoo_first(AT(cuckoo_a, cell[i]), lg);
    return first == i - i % CUCKOO_BUCKET ? cuckoo_first(AT(cuckoo_b, cell[i]), lg) : first;
}

/* Moves the id in cell i to the free cell j of its other bucket. Returns false if it cannot. */
/*@ requires ok:     CuckooOk(h);
    requires range:  i < CUCKOO_CELLS(h->lg) && j < CUCKOO_CELLS(h->lg);
    assigns          h->nrelocs, CUCKOO_ASSIGNS_CELLS(h);
    ensures  ok:     CuckooOk(h);
    ensures  moved:  \result ==> h->cell[i] == 0;
    ensures  counts: h->nrelocs == \old(h->nrelocs) + (\result && \old(h->nrelocs) < UINT64_MAX ? 1 : 0);
    ensures  others: CuckooOthers{Pre,Post}(h);
*/
static bool cuckoo_move(struct cuckoo_hash *h, uint64_t i, uint64_t j)
{
    uint32_t x = h->cell[i];
    if (x == 0 || h->cell[j] != 0 || cuckoo_other(h->cell, h->lg, i) != j - j % CUCKOO_BUCKET) {
        return false;
    }
    h->cell[j] = x;
    h->cell[i] = 0;
    /*@ ghost cuckoo_at[x] = j; */
    /*@ assert shape: CuckooShape(h); */
    /*@ assert cells: CuckooCells(h); */
    /*@ assert ids:   CuckooIds(h); */
    /*@ assert keys:  CuckooKeys(h); */
    /*@ assert count: CuckooCount(h); */
    h->nrelocs += h->nrelocs < UINT64_MAX;
    return true;
}

/* Makes a cell of the full bucket free. Returns it, or CUCKOO_NONE if it cannot. */
/*@ requires ok:     CuckooOk(h);
    requires start:  CuckooStart(first, h->lg);
    requires full:   CuckooFull(h->cell, first);
    assigns          h->random, h->nrelocs, CUCKOO_ASSIGNS_CELLS(h);
    ensures  ok:     CuckooOk(h);
    ensures  free:   \result != CUCKOO_NONE ==> first <= \result < first + 4 && h->cell[\result] == 0;
    ensures  others: CuckooOthers{Pre,Post}(h);
*/
static uint64_t cuckoo_displace(struct cuckoo_hash *h, uint64_t first)
{
    uint32_t *cell = h->cell;
    uint32_t  lg = h->lg, n = 0;
    uint64_t  path[CUCKOO_DEPTH];
    uint64_t  bucket = first, end = CUCKOO_NONE;
    /*@ ghost cuckoo_lemma_power(h->lg); */
    /*@ loop invariant range: n <= CUCKOO_DEPTH && CuckooStart(bucket, h->lg);
        loop invariant ok:    CuckooOk(h);
        loop invariant same:  CuckooSame{Pre,Here}(h);
        loop invariant path:  \forall integer k; 0 <= k < n ==> path[k] < CUCKOO_CELLS(h->lg);
        loop invariant begin: n == 0 ? bucket == first && end == CUCKOO_NONE : first <= path[0] < first + 4;
        loop invariant full:  end == CUCKOO_NONE ==> CuckooFull(h->cell, bucket);
        loop invariant end:   end != CUCKOO_NONE ==> end < CUCKOO_CELLS(h->lg);
        loop assigns          n, bucket, end, path[0 .. CUCKOO_DEPTH - 1], h->random;
        loop variant          CUCKOO_DEPTH - n + (end == CUCKOO_NONE ? 1 : 0);
    */
    while (n < CUCKOO_DEPTH && end == CUCKOO_NONE) {
        h->random = prng_step(h->random);
        uint64_t i = bucket + h->random / (CUCKOO_NONE / CUCKOO_BUCKET + 1);
        path[n] = i;
        /*@ assert four: i == bucket || i == bucket + 1 || i == bucket + 2 || i == bucket + 3; */
        /*@ assert id: i < CUCKOO_CELLS(h->lg) && CuckooId(h->cell[i]); */
        bucket = cuckoo_other(cell, lg, i);
        end = cuckoo_free(cell, bucket);
        n++;
    }
    /*@ loop invariant range:  n <= CUCKOO_DEPTH;
        loop invariant ok:     CuckooOk(h);
        loop invariant same:   CuckooSame{Pre,Here}(h);
        loop invariant path:   \forall integer k; 0 <= k < n ==> path[k] < CUCKOO_CELLS(h->lg);
        loop invariant begin:  n > 0 ==> first <= path[0] < first + 4;
        loop invariant end:    end != CUCKOO_NONE ==> end < CUCKOO_CELLS(h->lg);
        loop invariant free:   end != CUCKOO_NONE && n == 0 ==> first <= end < first + 4 && h->cell[end] == 0;
        loop invariant others: CuckooOthers{Pre,Here}(h);
        loop assigns           n, end, h->nrelocs, cell[0 .. CUCKOO_CELLS(lg) - 1], cuckoo_at[0 .. TABLE_FEW_MAX - 1];
        loop variant           n;
    */
    while (n > 0 && end != CUCKOO_NONE) {
        n--;
        end = cuckoo_move(h, path[n], end) ? path[n] : CUCKOO_NONE;
    }
    return end;
}

/* Returns a free cell of one of the two buckets of that key, CUCKOO_NONE if there is none. */
/*@ requires ok:     CuckooOk(h);
    assigns          h->random, h->nrelocs, CUCKOO_ASSIGNS_CELLS(h);
    ensures  ok:     CuckooOk(h);
    ensures  free:   \result != CUCKOO_NONE ==> \result < CUCKOO_CELLS(h->lg) && h->cell[\result] == 0;
    ensures  bucket: \result != CUCKOO_NONE ==> \result - \result % 4 == CuckooFirst(a, h->lg) ||
                         \result - \result % 4 == CuckooFirst(b, h->lg);
    ensures  others: CuckooOthers{Pre,Post}(h);
*/
static uint64_t cuckoo_room(struct cuckoo_hash *h, uint64_t a, uint64_t b)
{
    uint64_t first = cuckoo_first(a, h->lg), second = cuckoo_first(b, h->lg);
    /*@ ghost cuckoo_lemma_power(h->lg); */
    uint64_t i = cuckoo_free(h->cell, first), j = cuckoo_free(h->cell, second);
    if (i == CUCKOO_NONE && j == CUCKOO_NONE) {
        i = cuckoo_displace(h, first);
    }
    /*@ ghost cuckoo_lemma_bucket(first, i);
              cuckoo_lemma_bucket(second, j); */
    return i != CUCKOO_NONE ? i : j;
}

/* Puts x, whose key is set, into h. Returns false if there is no place. */
/*@ requires ok:     CuckooOk(h);
    requires out:    CuckooId(x) && cuckoo_own[x] == \null;
    requires absent: CuckooAbsent(h, cuckoo_a[x], cuckoo_b[x]);
    assigns          h->random, h->nrelocs, h->count, CUCKOO_ASSIGNS_CELLS(h), cuckoo_own[x];
    ensures  ok:     CuckooOk(h);
    ensures  in:     \result ==> cuckoo_own[x] == h;
    ensures  out:    !\result ==> cuckoo_own[x] == \null;
    ensures  others: CuckooOthers{Pre,Post}(h);
*/
static bool cuckoo_put(struct cuckoo_hash *h, uint32_t x)
{
    uint64_t i = cuckoo_room(h, AT(cuckoo_a, x), AT(cuckoo_b, x));
    if (i == CUCKOO_NONE) {
        return false;
    }
    /*@ ghost cuckoo_lemma_enter(h, x); */
    h->cell[i] = x;
    h->count++;
    /*@ ghost cuckoo_at[x] = i; */
    /*@ assert shape: CuckooShape(h); */
    /*@ assert cells: CuckooCells(h); */
    /*@ assert ids:   CuckooIds(h); */
    /*@ assert keys:  CuckooKeys(h); */
    /*@ assert count: CuckooCount(h); */
    return true;
}

bool cuckoo_hash_insert(struct cuckoo_hash *h, uint32_t x, uint64_t a, uint64_t b)
{
    AT(cuckoo_a, x) = a;
    AT(cuckoo_b, x) = b;
    if (!cuckoo_put(h, x)) {
        return false;
    }
    h->ninserts += h->ninserts < UINT64_MAX;
    return true;
}

void cuckoo_hash_remove(struct cuckoo_hash *h, uint32_t x)
{
    uint64_t i = cuckoo_cell_of(h, AT(cuckoo_a, x), AT(cuckoo_b, x));
    /*@ ghost cuckoo_lemma_leave(h, x); */
    h->cell[i] = 0;
    h->count--;
}

/* Moves all ids to the other cells. Returns false if some id found no place. */
/*@ requires ok:     CuckooOk(h);
    requires valid:  lg <= CUCKOO_LG_MAX && \valid(cell + (0 .. CUCKOO_CELLS(lg) - 1));
    requires apart:  \separated(h, cell + (0 .. CUCKOO_CELLS(lg) - 1)) &&
                         \separated(h->cell + (0 .. CUCKOO_CELLS(h->lg) - 1), cell + (0 .. CUCKOO_CELLS(lg) - 1));
    requires zero:   \forall integer i; 0 <= i < CUCKOO_CELLS(lg) ==> cell[i] == 0;
    assigns          h->cell, h->lg, h->count, h->random, h->nrelocs, cell[0 .. CUCKOO_CELLS(lg) - 1],
                     cuckoo_own[0 .. TABLE_FEW_MAX - 1], cuckoo_at[0 .. TABLE_FEW_MAX - 1],
                     cuckoo_was_in[0 .. TABLE_FEW_MAX - 1], cuckoo_was_at[0 .. TABLE_FEW_MAX - 1];
    ensures  ok:     CuckooOk(h);
    ensures  moved:  \result ==> h->cell == cell && h->lg == lg && h->lg_least == \old(h->lg_least);
    ensures  stayed: !\result ==> CuckooSame{Pre,Post}(h);
    ensures  rest:   CuckooSameBut{Pre,Post}(0);
    ensures  others: CuckooOthers{Pre,Post}(h);
*/
static bool cuckoo_rebuild(struct cuckoo_hash *h, uint32_t *cell, uint32_t lg)
{
    uint32_t *was = h->cell;
    uint32_t  was_lg = h->lg, was_count = h->count;
    /*@ ghost cuckoo_lemma_power(was_lg);
              cuckoo_lemma_clear(h); */
    h->cell = cell;
    h->lg = lg;
    h->count = 0;
    /*@ loop invariant range:  0 <= i <= CUCKOO_CELLS(was_lg);
        loop invariant ok:     CuckooOk(h) && h->cell == cell && h->lg == lg;
        loop invariant in:     \forall integer x; CuckooIn(h, x) ==> cuckoo_was_in[x] != 0 && cuckoo_was_at[x] < i;
        loop invariant moved:  \forall integer x; CuckooId(x) && cuckoo_was_in[x] != 0 && cuckoo_was_at[x] < i ==>
                                   cuckoo_own[x] == h;
        loop invariant left:   \forall integer x; CuckooId(x) && cuckoo_was_in[x] != 0 && cuckoo_was_at[x] >= i ==>
                                   cuckoo_own[x] == \null;
        loop invariant rest:   \forall integer x; CuckooId(x) && cuckoo_was_in[x] == 0 ==>
                                   cuckoo_own[x] == \at(cuckoo_own[x],Pre) && cuckoo_at[x] == \at(cuckoo_at[x],Pre);
        loop invariant cells:  \forall integer k; 0 <= k < CUCKOO_CELLS(was_lg) ==> was[k] == \at(h->cell[k],Pre);
        loop invariant where:  \forall integer x; CuckooId(x) && cuckoo_was_in[x] != 0 ==>
                                   cuckoo_was_at[x] < CUCKOO_CELLS(was_lg) && was[cuckoo_was_at[x]] == x;
        loop invariant back:   \forall integer k; 0 <= k < CUCKOO_CELLS(was_lg) && was[k] != 0 ==>
                                   CuckooId(was[k]) && cuckoo_was_in[was[k]] != 0 && cuckoo_was_at[was[k]] == k;
        loop assigns           i, h->count, h->random, h->nrelocs, cell[0 .. CUCKOO_CELLS(lg) - 1],
                               cuckoo_own[0 .. TABLE_FEW_MAX - 1], cuckoo_at[0 .. TABLE_FEW_MAX - 1];
        loop variant           CUCKOO_CELLS(was_lg) - i;
    */
    for (uint64_t i = 0; i < CUCKOO_CELLS(was_lg); i++) {
        if (was[i] != 0 && !cuckoo_put(h, was[i])) {
            h->cell = was;
            h->lg = was_lg;
            h->count = was_count;
            /*@ ghost cuckoo_lemma_restore(h); */
            /*@ assert own:   \forall integer x; CuckooId(x) ==> cuckoo_own[x] == \at(cuckoo_own[x],Pre); */
            /*@ assert shape: CuckooShape(h); */
            /*@ assert cells: CuckooCells(h); */
            /*@ assert ids:   CuckooIds(h); */
            /*@ assert keys:  CuckooKeys(h); */
            /*@ assert count: CuckooCount(h); */
            return false;
        }
    }
    return true;
}

bool cuckoo_hash_resize(struct cuckoo_hash *h, uint32_t *cell, uint32_t lg)
{
    bool shrinks = lg < h->lg;
    bool done = cell != NULL && cuckoo_rebuild(h, cell, lg);
    if (!done) {
        h->nshrinkfails += shrinks && h->nshrinkfails < UINT64_MAX;
    } else if (shrinks) {
        h->nshrinks += h->nshrinks < UINT64_MAX;
    } else {
        h->ngrows += h->ngrows < UINT64_MAX;
    }
    return done;
}

bool cuckoo_hash_sparse(const struct cuckoo_hash *h)
{
    /*@ ghost cuckoo_lemma_power(h->lg); */
    return h->lg > h->lg_least && h->count < CUCKOO_CELLS(h->lg) / 4;
}

uint32_t cuckoo_hash_next(const struct cuckoo_hash *h, uint64_t *cursor)
{
    /*@ ghost cuckoo_lemma_power(h->lg); */
    /*@ loop invariant range: \at(*cursor,Pre) <= *cursor;
        loop invariant none:  \forall integer x; CuckooIn(h, x) && \at(*cursor,Pre) <= cuckoo_at[x] ==>
                                  *cursor <= cuckoo_at[x];
        loop assigns          *cursor;
        loop variant          CUCKOO_CELLS(h->lg) - *cursor;
    */
    while (*cursor < CUCKOO_CELLS(h->lg)) {
        uint32_t x = h->cell[*cursor];
        *cursor += 1;
        if (x != 0) {
            /*@ assert one: \forall integer y; CuckooIn(h, y) && \at(*cursor,Pre) <= cuckoo_at[y] < *cursor ==>
                    cuckoo_at[y] == *cursor - 1; */
            return x;
        }
    }
    return 0;
}
