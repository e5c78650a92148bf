/* blocks_model: the obvious model of a heap, for fuzzing and tests: a list of live blocks with what was written to them,
 * also in the order of their addresses. Every check names what broke.
 *
 * Byte i of a block holds seed + i. Small blocks are written and checked in full, large ones at both ends and at the
 * beginning of one page. */
#ifndef BLOCKS_MODEL_H
#define BLOCKS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/config.h"

#ifndef BLOCKS_MODEL_COUNT
#define BLOCKS_MODEL_COUNT 1024U          /* at most 65536 */
#endif
#define BLOCKS_MODEL_FULL 1024U           /* up to this size all bytes count */
#define BLOCKS_MODEL_END 64U              /* of a larger one so many at both ends ... */
#define BLOCKS_MODEL_PAGE 4096U           /* ... and a word in one of its pages, which the seed chooses */

struct blocks_model_block {
    unsigned char *address;
    size_t         bytes;               /* asked */
    size_t         usable;
    size_t         alignment;           /* asked, 0: by malloc, calloc or realloc */
    uint32_t       id;                  /* counts the blocks of a run, for messages */
    unsigned char  seed;
};

struct blocks_model {
    struct blocks_model_block block[BLOCKS_MODEL_COUNT];
    uint16_t                order[BLOCKS_MODEL_COUNT];   /* indices of block[] by address */
    uint32_t                count;
    uint32_t                next_id;
    size_t                  usable;                     /* sum of all */
};

#ifdef BLOCKS_MODEL_FAIL                /* a harness that goes on after a failure */
_Noreturn void BLOCKS_MODEL_FAIL(const char *format, ...);
#endif

static inline _Noreturn void blocks_model_fail(const char *what, const void *address)
{
#ifdef BLOCKS_MODEL_FAIL
    BLOCKS_MODEL_FAIL("blocks model: %s: %p", what, address);
#else
    fflush(stdout);
    fprintf(stderr, "blocks model: %s: %p\n", what, address);
    abort();
#endif
}

/* ---- contents ---------------------------------------------------------------------------------------------------- */

/* At most BLOCKS_MODEL_FULL bytes. */
static inline void blocks_model_piece(struct blocks_model_block *b, size_t from, size_t to, bool write)
{
    static unsigned char pattern[BLOCKS_MODEL_FULL + 256];
    for (unsigned i = 0; pattern[sizeof pattern - 1] == 0 && i < sizeof pattern; i++) {
        pattern[i] = (unsigned char)i;
    }
    const unsigned char *wanted = &pattern[(b->seed + from) % 256];
    if (write && from < to) {
        memcpy(b->address + from, wanted, to - from);
    } else if (from < to && memcmp(b->address + from, wanted, to - from) != 0) {
        blocks_model_fail("a live block changed", b->address);
    }
}

/* The first `bytes` bytes, of those that were written when the block was `written` bytes long. */
static inline void blocks_model_visit(struct blocks_model_block *b, size_t written, size_t bytes, bool write)
{
    if (written <= BLOCKS_MODEL_FULL) {
        blocks_model_piece(b, 0, bytes < written ? bytes : written, write);
        return;
    }
    size_t at = b->seed % (written / BLOCKS_MODEL_PAGE + 1) * BLOCKS_MODEL_PAGE;
    blocks_model_piece(b, 0, bytes < BLOCKS_MODEL_END ? bytes : BLOCKS_MODEL_END, write);
    if (at + 8 <= bytes && at + 8 <= written) {
        blocks_model_piece(b, at, at + 8, write);
    }
    if (bytes >= written) {
        blocks_model_piece(b, written - BLOCKS_MODEL_END, written, write);
    }
}

static inline void blocks_model_check(struct blocks_model_block *b)
{
    blocks_model_visit(b, b->bytes, b->bytes, false);
}

static inline void blocks_model_check_all(struct blocks_model *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        blocks_model_check(&m->block[i]);
    }
}

/* Zero at both ends and at the beginning of up to 64 pages between. */
static inline void blocks_model_check_zero(const unsigned char *p, size_t bytes)
{
    static const unsigned char zero[BLOCKS_MODEL_PAGE];
    size_t head = bytes < sizeof zero ? bytes : sizeof zero, tail = head < BLOCKS_MODEL_END ? head : BLOCKS_MODEL_END;
    size_t stride = (bytes / BLOCKS_MODEL_PAGE / 64 + 1) * BLOCKS_MODEL_PAGE;
    bool   good = memcmp(p, zero, head) == 0 && memcmp(p + bytes - tail, zero, tail) == 0;
    for (size_t i = BLOCKS_MODEL_PAGE; good && i + 8 <= bytes; i += stride) {
        good = memcmp(p + i, zero, 8) == 0;
    }
    if (!good) {
        blocks_model_fail("calloc is not zero", p);
    }
}

/* ---- the set of blocks ------------------------------------------------------------------------------------------- */

/* Place in the order of the first block that begins at a or above. */
static inline uint32_t blocks_model_place(const struct blocks_model *m, uintptr_t a)
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

static inline uintptr_t blocks_model_end(const struct blocks_model_block *b)
{
    return (uintptr_t)b->address + (b->usable == 0 ? 1 : b->usable);
}

/* Block b becomes the last; it must be disjoint from all others over its usable size. */
static inline void blocks_model_insert(struct blocks_model *m, struct blocks_model_block b)
{
    uint32_t place = blocks_model_place(m, (uintptr_t)b.address);
    if ((place < m->count && blocks_model_end(&b) > (uintptr_t)m->block[m->order[place]].address)
        || (place > 0 && blocks_model_end(&m->block[m->order[place - 1]]) > (uintptr_t)b.address)) {
        blocks_model_fail("overlaps a live block", b.address);
    }
    memmove(&m->order[place + 1], &m->order[place], (m->count - place) * sizeof m->order[0]);
    m->order[place] = (uint16_t)m->count;
    m->block[m->count++] = b;
    m->usable += b.usable;
}

/* A new block: large enough, aligned, disjoint from all others; filled. */
static inline void blocks_model_add(struct blocks_model *m, void *address, size_t bytes, size_t usable, size_t alignment, unsigned char seed)
{
    size_t natural = usable >= 16 && LG_QUANTUM >= 4 ? 16 : usable >= 8 ? 8 : 1;
    if (usable < bytes) {
        blocks_model_fail("usable size below what was asked", address);
    }
    if ((uintptr_t)address % (alignment > natural ? alignment : natural) != 0) {
        blocks_model_fail("not aligned", address);
    }
    blocks_model_insert(m, (struct blocks_model_block){address, bytes, usable, alignment, m->next_id++, seed});
    blocks_model_visit(&m->block[m->count - 1], bytes, bytes, true);
}

/* Takes block i out, its contents checked: the caller frees it. */
static inline struct blocks_model_block blocks_model_remove(struct blocks_model *m, uint32_t i)
{
    struct blocks_model_block b = m->block[i];
    uint32_t                place = blocks_model_place(m, (uintptr_t)b.address), last = m->count - 1;
    blocks_model_check(&b);
    m->order[blocks_model_place(m, (uintptr_t)m->block[last].address)] = (uint16_t)i;
    memmove(&m->order[place], &m->order[place + 1], (last - place) * sizeof m->order[0]);
    m->block[i] = m->block[last];
    m->count = last;
    m->usable -= b.usable;
    return b;
}

#endif
