/* A malloc with one fault, chosen at build time, for the check of qed-replay to find. It never reuses memory. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HEAP_BYTES (1UL << 30)
#define PERIOD 1000                 /* one block in so many is at fault */

static _Alignas(4096) unsigned char heap[HEAP_BYTES];
static size_t used, blocks;

static size_t *header(void *p)
{
    return (size_t *)(void *)((unsigned char *)p - 16);
}

void *memalign(size_t alignment, size_t bytes)
{
    size_t room = (bytes + 31) / 16 * 16, align = alignment < 16 ? 16 : alignment;
    size_t from = __atomic_fetch_add(&used, room + align, __ATOMIC_RELAXED);
    size_t number = __atomic_add_fetch(&blocks, 1, __ATOMIC_RELAXED);
    if (bytes > HEAP_BYTES || from + room + align + 32 > HEAP_BYTES) {
        errno = ENOMEM;
        return NULL;
    }
    unsigned char *p = heap + from + 16;
    p += -(uintptr_t)p % align;
#ifdef CROOKED
    p += number % PERIOD == 0 ? 8 : 0;
#endif
    *header(p) = bytes;
#ifdef OVERLAP
    *header(p) += number % PERIOD == 0 ? 256 : 0;
#endif
#ifdef DIRTY
    bytes > 0 ? memset(p, 1, 1) : 0;
#endif
#ifdef SCRIBBLE
    number % PERIOD == 0 ? memset(p - 64, 0xee, 32) : 0;
#endif
    (void)number;
    return p;
}

void *malloc(size_t bytes) { return memalign(16, bytes); }
void  free(void *p) { (void)p; }
size_t malloc_usable_size(void *p) { return p == NULL ? 0 : *header(p); }
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
void *valloc(size_t bytes) { return memalign(4096, bytes); }
void *pvalloc(size_t bytes) { return memalign(4096, (bytes + 4095) / 4096 * 4096); }

void *calloc(size_t count, size_t size)
{
    size_t bytes;
    return malloc(__builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes);
}

void *realloc(void *p, size_t bytes)
{
    void *q = malloc(bytes);
    if (p != NULL && q != NULL) {
        memcpy(q, p, *header(p) < bytes ? *header(p) : bytes);
    }
    return q;
}

int posix_memalign(void **p, size_t alignment, size_t bytes)
{
    *p = memalign(alignment, bytes);
    return *p == NULL ? ENOMEM : 0;
}
