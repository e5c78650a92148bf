/* What every misuse program includes: the calls, and a sink that keeps the compiler from seeing through them. */
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t alignment, size_t size);

void  *mallocx(size_t size, int flags);
void  *rallocx(void *block, size_t size, int flags);
size_t xallocx(void *block, size_t size, size_t extra, int flags);
size_t sallocx(const void *block, int flags);
void   dallocx(void *block, int flags);
void   sdallocx(void *block, size_t size, int flags);
int    mallctl(const char *name, void *old, size_t *old_bytes, void *new_value, size_t new_bytes);

#define MALLOCX_TCACHE(t) ((int)(((t) + 2) << 8))

static inline void *opaque(void *p)
{
    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}
