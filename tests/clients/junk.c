/* A program that asks for junk: what it gets and what it frees has jemalloc's bytes, unless it asks for zeroes. */
#include "client.h"

#include <malloc.h>
#include <stdlib.h>

#define NEW 0xa5
#define FREED 0x5a

const char *malloc_conf = "junk:true";

static size_t wrong(const unsigned char *p, size_t from, size_t to, int byte)
{
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        n += p[i] != byte;
    }
    return n;
}

/* Writes all bytes of a block, frees it, and looks at it once more. */
static int freed(unsigned char *p, void (*give)(void *))
{
    unsigned char *volatile again = p;
    size_t n = malloc_usable_size(p);
    memset(p, 7, n);
    give(p);
    CHECK(wrong(again, 0, n, FREED) == 0);
    return 0;
}

static void give_sized(void *p)
{
    sdallocx(p, malloc_usable_size(p), 0);
}

static int one_size(size_t n)
{
    unsigned char *p = malloc(n);
    CHECK(p != NULL && wrong(p, 0, malloc_usable_size(p), NEW) == 0);
    p = (memset(p, 7, malloc_usable_size(p)), realloc(p, n));
    CHECK(p != NULL && wrong(p, 0, n, 7) == 0);
    size_t was = malloc_usable_size(p);
    unsigned char *q = realloc(p, 3 * n);
    CHECK(q != NULL && wrong(q, 0, was, 7) == 0 && wrong(q, was, malloc_usable_size(q), NEW) == 0);
    q = realloc(q, n);
    CHECK(q != NULL && wrong(q, 0, n, 7) == 0);
    q = (memset(q, 7, malloc_usable_size(q)), q);
    was = malloc_usable_size(q);
    size_t now = xallocx(q, 2 * n, 0, 0);
    CHECK(wrong(q, 0, was, 7) == 0 && wrong(q, was, now, NEW) == 0);
    free(q);
    p = calloc(1, n);
    CHECK(p != NULL && wrong(p, 0, n, 0) == 0);
    free(p);
    p = aligned_alloc(64, n);
    CHECK(p != NULL && wrong(p, 0, malloc_usable_size(p), NEW) == 0);
    free(p);
    p = mallocx(n, MALLOCX_LG_ALIGN(13));
    CHECK(p != NULL && wrong(p, 0, sallocx(p, 0), NEW) == 0);
    dallocx(p, 0);
    p = mallocx(n, MALLOCX_ARENA(0) | MALLOCX_TCACHE_NONE);
    CHECK(p != NULL && wrong(p, 0, sallocx(p, 0), NEW) == 0);
    dallocx(p, MALLOCX_TCACHE_NONE);
    p = mallocx(n, MALLOCX_ARENA(0) | MALLOCX_ZERO);
    CHECK(p != NULL && wrong(p, 0, sallocx(p, 0), 0) == 0);
    dallocx(p, 0);
    p = mallocx(n, MALLOCX_ZERO);
    CHECK(p != NULL && wrong(p, 0, sallocx(p, 0), 0) == 0);
    was = sallocx(p, 0);
    p = rallocx(p, 2 * n, MALLOCX_ZERO);
    CHECK(p != NULL && wrong(p, 0, sallocx(p, 0), 0) == 0);
    dallocx(p, 0);
    return 0;
}

int main(void)
{
    static const size_t sizes[] = {1, 8, 24, 64, 100, 1000, 4096, 5000, 16384, 40000, 200000, 300000, 1 << 20, 5 << 20};
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            CHECK(one_size(sizes[i]) == 0);
        }
    }
    for (size_t n = 1; n <= 4096; n += 61) {        /* blocks whose pages stay */
        CHECK(freed(malloc(n), free) == 0 && freed(calloc(1, n), free) == 0 && freed(aligned_alloc(32, n), free) == 0);
        CHECK(freed(malloc(n), give_sized) == 0);
    }
    printf("ok junk: new, freed and grown blocks\n");
    return 0;
}
