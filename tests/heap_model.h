/* heap_model: the obvious model of a heap, for fuzzing and tests: a list of live blocks with what was written to them.
 * Every check names what broke. */
#ifndef HEAP_MODEL_H
#define HEAP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_MODEL_BLOCKS 512

struct heap_model_block {
    unsigned char *address;
    size_t         bytes;               /* asked */
    size_t         alignment;           /* asked, 0: by malloc, calloc or realloc */
    unsigned char  seed;                /* byte i holds seed + i, as far as it was written */
};

struct heap_model {
    struct heap_model_block block[HEAP_MODEL_BLOCKS];
    size_t                  count;
};

static inline void heap_model_fail(const char *what, const void *address)
{
    fprintf(stderr, "heap model: %s: %p\n", what, address);
    abort();
}

/* Which bytes of a block are written and checked: all of a small one, both ends and some of the middle of a large one. */
static inline size_t heap_model_step(size_t bytes, size_t i)
{
    return bytes <= 1024 || i < 64 || i + 64 >= bytes ? 1 : 509;
}

static inline void heap_model_write(struct heap_model_block *b)
{
    for (size_t i = 0; i < b->bytes; i += heap_model_step(b->bytes, i)) {
        b->address[i] = (unsigned char)(b->seed + i);
    }
}

/* The first `bytes` bytes, of those that were written when the block was `written` bytes long. */
static inline void heap_model_check(const struct heap_model_block *b, size_t written, size_t bytes)
{
    for (size_t i = 0; i < bytes && i < written; i += heap_model_step(written, i)) {
        if (b->address[i] != (unsigned char)(b->seed + i)) {
            heap_model_fail("a live block changed", b->address);
        }
    }
}

/* A new block: not NULL, aligned, disjoint from all others over its usable size. */
static inline void heap_model_add(struct heap_model *m, void *address, size_t bytes, size_t usable, size_t alignment, unsigned char seed)
{
    uintptr_t a = (uintptr_t)address;
    size_t    natural = usable >= 16 ? 16 : usable >= 8 ? 8 : 1;
    if (usable < bytes) {
        heap_model_fail("usable size below what was asked", address);
    }
    if (a % (alignment != 0 ? alignment : natural) != 0) {
        heap_model_fail("not aligned", address);
    }
    for (size_t i = 0; i < m->count; i++) {
        uintptr_t b = (uintptr_t)m->block[i].address;
        size_t    length = m->block[i].bytes == 0 ? 1 : m->block[i].bytes;
        if (a < b + length && b < a + (usable == 0 ? 1 : usable)) {
            heap_model_fail("overlaps a live block", address);
        }
    }
    m->block[m->count] = (struct heap_model_block){address, bytes, alignment, seed};
    heap_model_write(&m->block[m->count]);
    m->count++;
}

/* Takes block i out, its contents checked: the caller frees it. */
static inline struct heap_model_block heap_model_remove(struct heap_model *m, size_t i)
{
    struct heap_model_block b = m->block[i];
    heap_model_check(&b, b.bytes, b.bytes);
    m->block[i] = m->block[--m->count];
    return b;
}

static inline void heap_model_check_all(const struct heap_model *m)
{
    for (size_t i = 0; i < m->count; i++) {
        heap_model_check(&m->block[i], m->block[i].bytes, m->block[i].bytes);
    }
}

#endif
