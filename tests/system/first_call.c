/* Each function of the family as the program's first call of all, before any constructor has run: what it promises holds, and the program
 * goes on. usage: first_call [FUNCTION]. Without one it writes their names. */
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jemalloc/jemalloc.h>

void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t alignment, size_t size);

static const volatile size_t most = SIZE_MAX;       /* so that the compiler does not warn of it */

static bool is_zero(const unsigned char *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] == 0) {
        i++;
    }
    return i == n;
}

static bool by_malloc(void) { return malloc(64) != NULL; }
static bool by_malloc_medium(void) { return malloc(8192) != NULL; }
static bool by_malloc_large(void) { return malloc(3 << 20) != NULL; }
static bool by_malloc_none(void) { return malloc(most) == NULL && errno == ENOMEM; }
static bool by_calloc(void) { unsigned char *p = calloc(10, 10); return p != NULL && is_zero(p, 100); }
static bool by_calloc_none(void) { return calloc(most, 2) == NULL && errno == ENOMEM; }
static bool by_realloc(void) { return realloc(NULL, 100) != NULL; }
static bool by_reallocarray(void) { return reallocarray(NULL, 10, 10) != NULL; }
static bool by_reallocarray_none(void) { return reallocarray(NULL, most, 2) == NULL && errno == ENOMEM; }
static bool by_aligned_alloc(void) { return (uintptr_t)aligned_alloc(256, 512) % 256 == 0; }
static bool by_aligned_alloc_invalid(void) { return aligned_alloc(24, 48) == NULL && errno == EINVAL; }
static bool by_posix_memalign(void) { void *p = NULL; return posix_memalign(&p, 1 << 16, 10) == 0 && p != NULL && (uintptr_t)p << 48 == 0; }
static bool by_posix_memalign_invalid(void) { void *p = &p; return posix_memalign(&p, 3, 10) == EINVAL && p == &p; }
static bool by_memalign(void) { return (uintptr_t)memalign(48, 10) % 64 == 0; }
static bool by_memalign_none(void) { return memalign(most / 4 + 1, 10) == NULL && errno == ENOMEM; }
static bool by_valloc(void) { return (uintptr_t)valloc(10) % 4096 == 0; }
static bool by_pvalloc(void) { return malloc_usable_size(pvalloc(10)) >= 4096; }
static bool by_pvalloc_none(void) { return pvalloc(most) == NULL && errno == ENOMEM; }
static bool by_free(void) { free(NULL); return true; }
static bool by_free_sized(void) { free_sized(NULL, 100); return true; }
static bool by_free_aligned_sized(void) { free_aligned_sized(NULL, 64, 128); return true; }
static bool by_usable_size(void) { return malloc_usable_size(NULL) == 0; }
static bool by_mallocx(void) { unsigned char *p = mallocx(100, MALLOCX_ZERO | MALLOCX_ALIGN(128)); return is_zero(p, sallocx(p, 0)); }
static bool by_mallocx_arena(void) { return mallocx(100, MALLOCX_ARENA(0) | MALLOCX_TCACHE_NONE) != NULL; }
static bool by_mallocx_none(void) { return mallocx(most, MALLOCX_ZERO) == NULL && errno == ENOMEM; }
static bool by_rallocx(void) { return rallocx(NULL, 100, 0) != NULL; }
static bool by_sallocx(void) { return sallocx(NULL, 0) == 0; }
static bool by_nallocx(void) { return nallocx(100, 0) == 112; }
static bool by_dallocx(void) { dallocx(NULL, MALLOCX_TCACHE_NONE); return true; }
static bool by_sdallocx(void) { sdallocx(NULL, 100, 0); sdallocx(NULL, 100, MALLOCX_ALIGN(64)); return true; }

static const struct { const char *name; bool (*holds)(void); } calls[] = {
    {"malloc", by_malloc}, {"malloc_medium", by_malloc_medium}, {"malloc_large", by_malloc_large}, {"malloc_none", by_malloc_none},
    {"calloc", by_calloc}, {"calloc_none", by_calloc_none}, {"realloc", by_realloc}, {"reallocarray", by_reallocarray},
    {"reallocarray_none", by_reallocarray_none}, {"aligned_alloc", by_aligned_alloc}, {"aligned_alloc_invalid", by_aligned_alloc_invalid},
    {"posix_memalign", by_posix_memalign}, {"posix_memalign_invalid", by_posix_memalign_invalid}, {"memalign", by_memalign},
    {"memalign_none", by_memalign_none}, {"valloc", by_valloc}, {"pvalloc", by_pvalloc}, {"pvalloc_none", by_pvalloc_none}, {"free", by_free},
    {"free_sized", by_free_sized}, {"free_aligned_sized", by_free_aligned_sized}, {"usable_size", by_usable_size}, {"mallocx", by_mallocx},
    {"mallocx_arena", by_mallocx_arena}, {"mallocx_none", by_mallocx_none}, {"rallocx", by_rallocx}, {"sallocx", by_sallocx},
    {"nallocx", by_nallocx}, {"dallocx", by_dallocx}, {"sdallocx", by_sdallocx},
};
static int held = -1;       /* the call that has held, before main */

static void first(int argc, char **argv, char **environment)
{
    (void)environment;
    for (size_t i = 0; argc > 1 && i < sizeof calls / sizeof calls[0]; i++) {
        if (strcmp(argv[1], calls[i].name) == 0 && calls[i].holds()) {
            held = (int)i;
        }
    }
}
__attribute__((section(".preinit_array"), used)) static void (*const before_constructors)(int, char **, char **) = first;

int main(int argc, char **argv)
{
    if (argc == 1) {
        for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
            puts(calls[i].name);
        }
        return 0;
    }
    unsigned char *blocks[1000];
    for (size_t i = 0; i < 1000; i++) {
        blocks[i] = malloc(i * 40);
        memset(blocks[i], (int)i, i * 40);
    }
    for (size_t i = 0; i < 1000; i++) {
        if (i > 0 && (blocks[i][0] != (unsigned char)i || blocks[i][i * 40 - 1] != (unsigned char)i)) {
            return 1;
        }
        free(blocks[i]);
    }
    if (held < 0) {
        fprintf(stderr, "first_call: %s\n", argv[1]);
    }
    return held < 0;
}
