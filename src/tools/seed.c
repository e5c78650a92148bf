/* seed: see seed.h. The harness names a live block by its place in the model's array, where the last block takes the
 * place of one that goes. So the array is kept here as well. */
#include "seed.h"

#include <string.h>

#include "blocks_model.h"

#define LIVE_BYTES_MAX (256UL << 20)        /* far below what the harness's OS gives */
#define THREADS 4U

enum step { STEP_CALLOC = 0, STEP_ALIGNED = 1, STEP_REALLOC_NULL = 3, STEP_MALLOC = 4, STEP_REALLOC = 15, STEP_FREE = 18, STEP_THREAD = 24 };

struct seed {
    FILE    *file;
    uint32_t count;
    uint32_t block[BLOCKS_MODEL_COUNT];      /* the model's array: numbers of blocks */
    uint64_t bytes[BLOCKS_MODEL_COUNT];
    uint64_t live;
};

static void put(struct seed *s, uint32_t byte)
{
    putc((int)(byte & 255), s->file);
}

static void put2(struct seed *s, uint32_t x)
{
    put(s, x >> 8), put(s, x);
}

/* The inverse of take_size. Above 64 KiB: whole KiB to 255, then the power of two at or below, at most 2 MiB. */
static uint64_t put_size(struct seed *s, uint64_t bytes)
{
    if (bytes < 65536) {
        put(s, 4), put2(s, (uint32_t)bytes);
        return bytes;
    }
    if (bytes <= 255 << 10) {
        put(s, 131), put(s, (uint32_t)((bytes + 1023) >> 10));
        return (bytes + 1023) >> 10 << 10;
    }
    uint32_t lg = 63 - (uint32_t)__builtin_clzl(bytes);
    lg = lg > 21 ? 21 : lg;
    put(s, 8 * lg + 1), put(s, 128);
    return (uint64_t)1 << lg;
}

static void add(struct seed *s, uint32_t block, uint64_t bytes)
{
    put(s, block);                          /* its pattern */
    s->block[s->count] = block;
    s->bytes[s->count++] = bytes;
    s->live += bytes;
}

/* Returns the place of a block, or count if it is not in the seed. */
static uint32_t find(const struct seed *s, uint32_t block)
{
    uint32_t i = 0;
    while (i < s->count && s->block[i] != block) {
        i++;
    }
    return i;
}

static void take_out(struct seed *s, uint32_t i)
{
    s->live -= s->bytes[i];
    s->count--;
    s->block[i] = s->block[s->count];
    s->bytes[i] = s->bytes[s->count];
}

static void put_new(struct seed *s, const struct call *c)
{
    uint64_t bytes = call_bytes(c);
    switch (c->kind) {
    case TRACE_CALLOC: {
        uint64_t count = c->other >= 1 && c->other <= 4 ? c->other : 1;
        put(s, STEP_CALLOC);
        bytes = count * put_size(s, bytes / count);
        put(s, (uint32_t)count - 1);
        break;
    }
    case TRACE_MALLOC: put(s, STEP_MALLOC), bytes = put_size(s, bytes); break;
    case TRACE_REALLOC: put(s, STEP_REALLOC_NULL), bytes = put_size(s, bytes); break;
    default:
        put(s, STEP_ALIGNED), bytes = put_size(s, bytes);
        put(s, (uint32_t)c->kind - TRACE_ALIGNED_ALLOC);
        put(s, c->other == 0 ? 4 : 63 - (uint32_t)__builtin_clzl(c->other));
        bytes += c->other;
    }
    add(s, c->block, bytes);
}

static_assert(TRACE_POSIX_MEMALIGN == TRACE_ALIGNED_ALLOC + 1 && TRACE_MEMALIGN == TRACE_ALIGNED_ALLOC + 2
              && TRACE_VALLOC == TRACE_ALIGNED_ALLOC + 3 && TRACE_PVALLOC == TRACE_ALIGNED_ALLOC + 4,
              "the aligned kinds have the harness's order");

static bool room_for(const struct seed *s, const struct call *c)
{
    bool aligned = c->kind == TRACE_ALIGNED_ALLOC || c->kind == TRACE_POSIX_MEMALIGN || c->kind == TRACE_MEMALIGN;
    return s->count < BLOCKS_MODEL_COUNT && s->live + c->bytes + (2U << 20) < LIVE_BYTES_MAX
           && (!aligned || (c->other <= 1U << 23 && c->other > 0 && (c->other & (c->other - 1)) == 0));
}

/* Returns false if the call is left out. */
static bool put_call(struct seed *s, const struct call *c, uint32_t *thread)
{
    uint32_t i = find(s, c->old);
    bool     takes = c->old != 0;
    if (c->fails || (takes ? i == s->count : c->kind == TRACE_FREE || c->block == 0 || !room_for(s, c))) {
        return false;
    }
    if (c->thread % THREADS != *thread) {
        *thread = c->thread % THREADS;
        put(s, STEP_THREAD), put(s, *thread);
    }
    if (!takes) {
        put_new(s, c);
        return true;
    }
    put(s, c->kind == TRACE_FREE ? STEP_FREE : STEP_REALLOC), put2(s, i);
    if (c->kind == TRACE_FREE) {
        take_out(s, i);
        return true;
    }
    uint64_t bytes = c->block != 0 && c->bytes == 0 ? 1 : c->bytes;
    bytes = put_size(s, bytes % 64 == 63 ? bytes + 1 : bytes);      /* ..63 stands for an overflow there */
    take_out(s, i);
    bytes == 0 ? (void)0 : add(s, c->block, bytes);
    return true;
}

uint32_t seed_write(const struct trace *t, uint32_t calls, const char *path)
{
    static struct seed s;
    uint32_t           thread = 0, written = 0;
    s = (struct seed){.file = fopen(path, "wb")};
    if (s.file == NULL) {
        die("%s: cannot be written", path);
    }
    put(&s, (t->thread_count < THREADS ? t->thread_count : THREADS) - 1);       /* as many arenas as threads */
    for (uint32_t i = 0; i < t->call_count && i < calls; i++) {
        written += put_call(&s, &t->call[i], &thread) ? 1 : 0;
    }
    if (fclose(s.file) != 0) {
        die("%s: cannot be written", path);
    }
    return written;
}
