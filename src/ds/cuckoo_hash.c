/* cuckoo_hash: cuckoo_put and cuckoo_take write all cells. A search for room looks along a path of ids before it moves any, and then
 * moves the last one first, so that each id is in one of its buckets at any time.
 */
#include "ds/cuckoo_hash.h"

TABLE(uint64_t, cuckoo_a);
TABLE(uint64_t, cuckoo_b);

bool cuckoo_hash_grow(uint32_t x)
{
    return TABLE_GROW(cuckoo_a, x) && TABLE_GROW(cuckoo_b, x);
}

void cuckoo_hash_init(struct cuckoo_hash *h, uint32_t *cell, uint32_t lg)
{
    *h = (struct cuckoo_hash){.cell = cell, .lg = lg, .lg_least = lg};
}

/* Returns the first cell of the bucket that this word of a key says. */
static inline uint64_t cuckoo_first(uint64_t word, uint32_t lg)
{
    return word % (1UL << lg) * CUCKOO_BUCKET;
}

/* Returns the cell of the bucket that has an id with that key, or CUCKOO_NONE. */
static uint64_t cuckoo_find(const uint32_t *cell, uint64_t first, uint64_t a, uint64_t b)
{
    for (uint64_t i = first; i < first + CUCKOO_BUCKET; i++) {
        uint32_t x = cell[i];
        if (x != 0 && AT(cuckoo_a, x) == a && AT(cuckoo_b, x) == b) {
            return i;
        }
    }
    return CUCKOO_NONE;
}

/* Returns a free cell of the bucket, or CUCKOO_NONE. */
static uint64_t cuckoo_free(const uint32_t *cell, uint64_t first)
{
    for (uint64_t i = first; i < first + CUCKOO_BUCKET; i++) {
        if (cell[i] == 0) {
            return i;
        }
    }
    return CUCKOO_NONE;
}

/* Returns the cell that has the id with that key, or CUCKOO_NONE. */
static uint64_t cuckoo_cell_of(const struct cuckoo_hash *h, uint64_t a, uint64_t b)
{
    uint64_t i = cuckoo_find(h->cell, cuckoo_first(a, h->lg), a, b);
    return i != CUCKOO_NONE ? i : cuckoo_find(h->cell, cuckoo_first(b, h->lg), a, b);
}

uint32_t cuckoo_hash_search(const struct cuckoo_hash *h, uint64_t a, uint64_t b)
{
    uint64_t i = cuckoo_cell_of(h, a, b);
    return i == CUCKOO_NONE ? 0 : h->cell[i];
}

/* Returns the first cell of the other bucket of the id in cell i. */
static inline uint64_t cuckoo_other(const uint32_t *cell, uint32_t lg, uint64_t i)
{
    uint64_t first = cuckoo_first(AT(cuckoo_a, cell[i]), lg);
    return first == i - i % CUCKOO_BUCKET ? cuckoo_first(AT(cuckoo_b, cell[i]), lg) : first;
}

/* Moves the id in cell i to the free cell j of its other bucket. Returns false if it cannot. */
static bool cuckoo_move(struct cuckoo_hash *h, uint64_t i, uint64_t j)
{
    if (h->cell[i] == 0 || h->cell[j] != 0 || cuckoo_other(h->cell, h->lg, i) != j - j % CUCKOO_BUCKET) {
        return false;
    }
    h->cell[j] = h->cell[i];
    h->cell[i] = 0;
    h->nrelocs++;
    return true;
}

/* Makes a cell of the bucket free. Returns it, or CUCKOO_NONE. */
static uint64_t cuckoo_displace(struct cuckoo_hash *h, uint64_t first)
{
    uint64_t path[CUCKOO_DEPTH + 1];
    uint32_t n = 0;
    uint64_t end = CUCKOO_NONE;
    while (n < CUCKOO_DEPTH && end == CUCKOO_NONE) {
        h->random = prng_step(h->random);
        path[n] = first + h->random / (CUCKOO_NONE / CUCKOO_BUCKET + 1);
        first = cuckoo_other(h->cell, h->lg, path[n]);
        end = cuckoo_free(h->cell, first);
        n++;
    }
    while (n > 0 && end != CUCKOO_NONE) {
        n--;
        end = cuckoo_move(h, path[n], end) ? path[n] : CUCKOO_NONE;
    }
    return end;
}

/* Returns a free cell of one of the two buckets of that key, or CUCKOO_NONE. */
static uint64_t cuckoo_room(struct cuckoo_hash *h, uint64_t a, uint64_t b)
{
    uint64_t i = cuckoo_free(h->cell, cuckoo_first(a, h->lg));
    if (i == CUCKOO_NONE) {
        i = cuckoo_free(h->cell, cuckoo_first(b, h->lg));
    }
    return i != CUCKOO_NONE ? i : cuckoo_displace(h, cuckoo_first(a, h->lg));
}

/* Puts x, whose key is set, into h. Returns false if there is no place. */
static bool cuckoo_put(struct cuckoo_hash *h, uint32_t x)
{
    uint64_t i = cuckoo_room(h, AT(cuckoo_a, x), AT(cuckoo_b, x));
    if (i == CUCKOO_NONE) {
        return false;
    }
    h->cell[i] = x;
    h->count++;
    return true;
}

bool cuckoo_hash_insert(struct cuckoo_hash *h, uint32_t x, uint64_t a, uint64_t b)
{
    AT(cuckoo_a, x) = a;
    AT(cuckoo_b, x) = b;
    if (!cuckoo_put(h, x)) {
        return false;
    }
    h->ninserts++;
    return true;
}

void cuckoo_hash_remove(struct cuckoo_hash *h, uint32_t x)
{
    h->cell[cuckoo_cell_of(h, AT(cuckoo_a, x), AT(cuckoo_b, x))] = 0;
    h->count--;
}

/* Moves all ids to the other cells. Returns false if some id found no place. */
static bool cuckoo_rebuild(struct cuckoo_hash *h, uint32_t *cell, uint32_t lg)
{
    uint32_t *was = h->cell;
    uint32_t  was_lg = h->lg, was_count = h->count;
    h->cell = cell;
    h->lg = lg;
    h->count = 0;
    for (uint64_t i = 0; i < CUCKOO_CELLS(was_lg); i++) {
        if (was[i] != 0 && !cuckoo_put(h, was[i])) {
            h->cell = was;
            h->lg = was_lg;
            h->count = was_count;
            return false;
        }
    }
    return true;
}

bool cuckoo_hash_resize(struct cuckoo_hash *h, uint32_t *cell, uint32_t lg)
{
    bool shrinks = lg < h->lg;
    bool done = cell != NULL && cuckoo_rebuild(h, cell, lg);
    if (done) {
        h->ngrows += !shrinks;
        h->nshrinks += shrinks;
    } else {
        h->nshrinkfails += shrinks;
    }
    return done;
}

bool cuckoo_hash_sparse(const struct cuckoo_hash *h)
{
    return h->lg > h->lg_least && h->count < CUCKOO_CELLS(h->lg) / 4;
}

uint32_t cuckoo_hash_next(const struct cuckoo_hash *h, uint64_t *cursor)
{
    while (*cursor < CUCKOO_CELLS(h->lg)) {
        uint32_t x = h->cell[*cursor];
        *cursor += 1;
        if (x != 0) {
            return x;
        }
    }
    return 0;
}
