/* cuckoo_hash: maps from keys of 128 bits to ids, in tables of cells that the caller provides.
 *
 * An id is a number below TABLE_MAX, with a key of two words (a hash of 128 bits) in tables. It is in at most one hash
 * table, and no two ids of a hash table have the same key. A cell has an id, or 0. Four cells are a bucket. An id is in
 * the bucket that its first word says, or in the one that its second word says. Where both are full, ids are moved to
 * their other buckets, at most CUCKOO_DEPTH of them. If that does not help, insert fails and nothing is lost: the caller
 * gives more cells with cuckoo_hash_resize and tries again, or gives up at CUCKOO_LG_MAX.
 *
 * Cells are memory of the caller: CUCKOO_CELLS(lg) words of uint32_t, zero. A struct cuckoo_hash is zero at first, then
 * cuckoo_hash_init. The caller holds the lock that guards the hash table and its ids.
 * R. Pagh, F. F. Rodler: Cuckoo hashing. Journal of Algorithms 51 (2004).
 *
 * How to insert:
 *     while (!cuckoo_hash_insert(h, id, a, b)) {
 *         if (lg == CUCKOO_LG_MAX || !cuckoo_hash_resize(h, new cells of CUCKOO_CELLS(lg + 1) or NULL, ++lg)) { give up or try on }
 *         h->cell is the new cells now, and the old ones are the caller's again
 *     }
 */
#ifndef QED_DS_CUCKOO_HASH_H
#define QED_DS_CUCKOO_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "math/prng.h"
#include "platform/table.h"

#define CUCKOO_BUCKET 4U                                /* cells of a bucket */
#define CUCKOO_LG_MAX 26U                               /* lg of the most buckets of a hash table */
#define CUCKOO_DEPTH 32U                                 /* ids that one insert moves at most */
#define CUCKOO_NONE UINT64_MAX                          /* no cell */
#define CUCKOO_CELLS(lg) (CUCKOO_BUCKET * (1UL << (lg)))

struct cuckoo_hash {
    uint32_t *cell;                                     /* CUCKOO_CELLS(lg) of them */
    uint32_t  lg;                                       /* lg of the number of buckets */
    uint32_t  lg_least;                                 /* it does not shrink below */
    uint32_t  count;                                    /* ids in it */
    uint64_t  random;                                   /* chooses which id of a full bucket is moved (math/prng.h) */
    uint64_t  ngrows;
    uint64_t  nshrinks;
    uint64_t  nshrinkfails;
    uint64_t  ninserts;
    uint64_t  nrelocs;                                  /* ids that were moved to their other bucket */
};

extern TABLE(uint64_t, cuckoo_a);                       /* the key of an id */
extern TABLE(uint64_t, cuckoo_b);

/* Makes id x usable. Returns false if the OS has no memory. */
bool cuckoo_hash_grow(uint32_t x);

/* Makes an empty hash table of CUCKOO_CELLS(lg) cells, which are zero. */
void cuckoo_hash_init(struct cuckoo_hash *h, uint32_t *cell, uint32_t lg);

/* Returns the id with that key, 0 if there is none. */
uint32_t cuckoo_hash_search(const struct cuckoo_hash *h, uint64_t a, uint64_t b);

/* Puts x, which is in no hash table, into h with that key, which no id of h has. Returns false if there was no place. x is in
 * no hash table then. */
bool cuckoo_hash_insert(struct cuckoo_hash *h, uint32_t x, uint64_t a, uint64_t b);

/* Takes x out of h, in which it is. */
void cuckoo_hash_remove(struct cuckoo_hash *h, uint32_t x);

/* Moves all ids to CUCKOO_CELLS(lg) other cells, which are zero. Returns false if some id found no place there, or if cell is
 * NULL, which is how the caller says that it had no memory. Nothing has changed then, but the other cells are not zero. */
bool cuckoo_hash_resize(struct cuckoo_hash *h, uint32_t *cell, uint32_t lg);

/* Returns whether three quarters of the cells are free and h may be smaller. Then cuckoo_hash_resize to h->lg - 1 is worthwhile. */
bool cuckoo_hash_sparse(const struct cuckoo_hash *h);

/* Returns the id in the first cell from *cursor on that has one, and moves *cursor behind it; 0 if there is none. From *cursor == 0 on
 * this meets each id once. The id that it returned last may be removed. */
uint32_t cuckoo_hash_next(const struct cuckoo_hash *h, uint64_t *cursor);

#endif
