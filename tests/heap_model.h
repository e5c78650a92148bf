/* heap_model: the obvious model of a heap, for fuzzing and tests: a list of live blocks with what was written to them,
 * also in the order of their addresses. Every check names what broke.
 *
 * Byte i of a block holds seed + i. Small blocks are written and checked in full, large ones at both ends and at the
 * beginning of one page. */
#ifndef HEAP_MODEL_H
#define HEAP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/config.h"

#ifndef HEAP_MODEL_BLOCKS
#define HEAP_MODEL_BLOCKS 1024U          /* at most 65536 */
#endif
#define HEAP_MODEL_FULL 1024U           /* up to this size all bytes count */
#define HEAP_MODEL_END 64U              /* of a larger one so many at both ends ... */
#define HEAP_MODEL_PAGE 4096U           /* ... and a word in one of its pages, which the seed chooses */

struct heap_model_block {
    unsigned char *address;
    size_t         bytes;               /* asked */
    size_t         usable;
    size_t         alignment;           /* asked, 0: by malloc, calloc or realloc */
    uint32_t       id;                  /* counts the blocks of a run, for messages */
    unsigned char  seed;
};

struct heap_model {
    struct heap_model_block block[HEAP_MODEL_BLOCKS];
    uint16_t                order[HEAP_MODEL_BLOCKS];   /* indices of block[] by address */
    uint32_t                count;
    uint32_t                next_id;
    size_t                  usable;                     /* sum of all */
};

static inline _Noreturn void heap_model_fail(const char *what, const void *address)
{
    fflush(stdout);
    fprintf(stderr, "heap model: %s: %p\n", what, address);
    abort();
}

/* ---- contents ---------------------------------------------------------------------------------------------------- */

/* At most HEAP_MODEL_FULL bytes. */
static inline void heap_model_piece(struct heap_model_block *b, size_t from, size_t to, bool write)
{
    static unsigned char pattern[HEAP_MODEL_FULL + 256];
    for (unsigned i = 0; pattern[sizeof pattern - 1] == 0 && i < sizeof pattern; i++) {
        pattern[i] = (unsigned char)i;
    }
    const unsigned char *wanted = &pattern[(b->seed + from) % 256];
    if (write && from < to) {
        memcpy(b->address + from, wanted, to - from);
    } else if (from < to && memcmp(b->address + from, wanted, to - from) != 0) {
        heap_model_fail("a live block changed", b->address);
    }
}

/* The first `bytes` bytes, of those that were written when the block was `written` bytes long. */
static inline void heap_model_visit(struct heap_model_block *b, size_t written, size_t bytes, bool write)
{
    if (written <= HEAP_MODEL_FULL) {
        heap_model_piece(b, 0, bytes < written ? bytes : written, write);
        return;
    }
    size_t at = b->seed % (written / HEAP_MODEL_PAGE + 1) * HEAP_MODEL_PAGE;
    heap_model_piece(b, 0, bytes < HEAP_MODEL_END ? bytes : HEAP_MODEL_END, write);
    if (at + 8 <= bytes && at + 8 <= written) {
        heap_model_piece(b, at, at + 8, write);
    }
    if (bytes >= written) {
        heap_model_piece(b, written - HEAP_MODEL_END, written, write);
    }
}

static inline void heap_model_check(struct heap_model_block *b)
{
    heap_model_visit(b, b->bytes, b->bytes, false);
}

static inline void heap_model_check_all(struct heap_model *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        heap_model_check(&m->block[i]);
    }
}

/* Zero at both ends and at the beginning of up to 64 pages between. */
static inline void heap_model_check_zero(const unsigned char *p, size_t bytes)
{
    static const unsigned char zero[HEAP_MODEL_PAGE];
    size_t head = bytes < sizeof zero ? bytes : sizeof zero, tail = head < HEAP_MODEL_END ? head : HEAP_MODEL_END;
    size_t stride = (bytes / HEAP_MODEL_PAGE / 64 + 1) * HEAP_MODEL_PAGE;
    bool   good = memcmp(p, zero, head) == 0 && memcmp(p + bytes - tail, zero, tail) == 0;
    for (size_t i = HEAP_MODEL_PAGE; good && i + 8 <= bytes; i += stride) {
        good = memcmp(p + i, zero, 8) == 0;
    }
    if (!good) {
        heap_model_fail("calloc is not zero", p);
    }
}

/* ---- the set of blocks ------------------------------------------------------------------------------------------- */

/* Place in the order of the first block that begins at a or above. */
static inline uint32_t heap_model_place(const struct heap_model *m, uintptr_t a)
{
    uint32_t low = 0, high = m->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if ((uintptr_t)m->block[m->order[middle]].address < a) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static inline uintptr_t heap_model_end(const struct heap_model_block *b)
{
    return (uintptr_t)b->address + (b->usable == 0 ? 1 : b->usable);
}

/* Block b becomes the last; it must be disjoint from all others over its usable size. */
static inline void heap_model_insert(struct heap_model *m, struct heap_model_block b)
{
    uint32_t place = heap_model_place(m, (uintptr_t)b.address);
    if ((place < m->count && heap_model_end(&b) > (uintptr_t)m->block[m->order[place]].address)
        || (place > 0 && heap_model_end(&m->block[m->order[place - 1]]) > (uintptr_t)b.address)) {
        heap_model_fail("overlaps a live block", b.address);
    }
    memmove(&m->order[place + 1], &m->order[place], (m->count - place) * sizeof m->order[0]);
    m->order[place] = (uint16_t)m->count;
    m->block[m->count++] = b;
    m->usable += b.usable;
}

/* A new block: large enough, aligned, disjoint from all others; filled. */
static inline void heap_model_add(struct heap_model *m, void *address, size_t bytes, size_t usable, size_t alignment, unsigned char seed)
{
    size_t natural = usable >= 16 && LG_QUANTUM >= 4 ? 16 : usable >= 8 ? 8 : 1;
    if (usable < bytes) {
        heap_model_fail("usable size below what was asked", address);
    }
    if ((uintptr_t)address % (alignment > natural ? alignment : natural) != 0) {
        heap_model_fail("not aligned", address);
    }
    heap_model_insert(m, (struct heap_model_block){address, bytes, usable, alignment, m->next_id++, seed});
    heap_model_visit(&m->block[m->count - 1], bytes, bytes, true);
}

/* Takes block i out, its contents checked: the caller frees it. */
static inline struct heap_model_block heap_model_remove(struct heap_model *m, uint32_t i)
{
    struct heap_model_block b = m->block[i];
    uint32_t                place = heap_model_place(m, (uintptr_t)b.address), last = m->count - 1;
    heap_model_check(&b);
    m->order[heap_model_place(m, (uintptr_t)m->block[last].address)] = (uint16_t)i;
    memmove(&m->order[place], &m->order[place + 1], (last - place) * sizeof m->order[0]);
    m->block[i] = m->block[last];
    m->count = last;
    m->usable -= b.usable;
    return b;
}

#endif
