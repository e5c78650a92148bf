/* As Folly detects jemalloc (Malloc.cpp): the functions are there, and what a thread has allocated is counted. */
#include "client.h"

#pragma weak mallocx
#pragma weak rallocx
#pragma weak xallocx
#pragma weak sallocx
#pragma weak dallocx
#pragma weak sdallocx
#pragma weak nallocx
#pragma weak mallctl
#pragma weak mallctlnametomib
#pragma weak mallctlbymib

static void *volatile sink;

static bool using_jemalloc(void)
{
    uint64_t *counter = NULL;
    size_t    size = sizeof counter;
    if (mallocx == NULL || rallocx == NULL || xallocx == NULL || sallocx == NULL || dallocx == NULL || sdallocx == NULL || nallocx == NULL
        || mallctl == NULL || mallctlnametomib == NULL || mallctlbymib == NULL) {
        return false;
    }
    if (mallctl("thread.allocatedp", &counter, &size, NULL, 0) != 0 || size != sizeof counter) {
        return false;
    }
    uint64_t before = *(volatile uint64_t *)counter;
    sink = malloc(1);
    bool counted = *(volatile uint64_t *)counter != before;
    free(sink);
    return counted;
}

int main(void)
{
    CHECK(using_jemalloc());
    size_t good = nallocx(1000, 0);
    char  *p = malloc(good);
    CHECK(p != NULL && malloc_usable_size(p) >= good && good >= 1000);
    memset(p, 1, good);
    CHECK(xallocx(p, good, 0, 0) == good);      /* what fbvector does: in place, or by realloc */
    p = realloc(p, 100000);
    CHECK(p != NULL && p[999] == 1);
    free(p);
    CHECK(mallctl("thread.tcache.flush", NULL, NULL, NULL, 0) == 0);
    CHECK(mallctl("arena.0.decay", NULL, NULL, NULL, 0) == 0);
    unsigned arena = 77;
    size_t   size = sizeof arena;
    CHECK(mallctl("thread.arena", &arena, &size, NULL, 0) == 0 && arena < 77);
    printf("ok folly: uses the extended API\n");
    return 0;
}
