/* As a query engine limits its queries (Presto's and Velox's way, Folly's fibers): what a thread allocates and frees is read through
 * pointers, around calls of every form. A block counts with its usable bytes. */
#include "client.h"

#include <pthread.h>
#include <stdlib.h>

static uint64_t *allocated, *deallocated;
static uint64_t  taken, given;

static uint64_t number(const char *name)
{
    uint64_t value = 0;
    size_t   size = sizeof value;
    return mallctl(name, &value, &size, NULL, 0) == 0 ? value : UINT64_MAX;
}

/* Both counters are what the thread has seen of its blocks, read by pointer and by name. */
static int agree(void)
{
    return *(volatile uint64_t *)allocated == taken && *(volatile uint64_t *)deallocated == given && number("thread.allocated") == taken
           && number("thread.deallocated") == given;
}

static void *took(void *block)
{
    taken += malloc_usable_size(block);
    return block;
}

static void *gives(void *block)
{
    given += malloc_usable_size(block);
    return block;
}

/* A block of another size is a block that comes and one that goes. One that keeps its size may count so, or not at all. */
static int resized(size_t before, size_t after)
{
    if (before == after && agree()) {
        return 1;
    }
    given += before;
    taken += after;
    return agree();
}

static int begin(void)
{
    size_t size = sizeof allocated;
    CHECK(mallctl("thread.allocatedp", &allocated, &size, NULL, 0) == 0 && allocated != NULL && size == sizeof allocated);
    CHECK(mallctl("thread.deallocatedp", &deallocated, &size, NULL, 0) == 0 && deallocated != NULL && deallocated != allocated);
    taken = *allocated;
    given = *deallocated;
    CHECK(agree());
    return 0;
}

static int family(size_t n)
{
    void *p = took(malloc(n));
    CHECK(agree());
    void *q = took(calloc(1, n)), *a = took(aligned_alloc(64, n)), *m = NULL;
    CHECK(agree() && posix_memalign(&m, 4096, n) == 0);
    took(m);
    CHECK(agree());
    void *x = took(mallocx(n, 0)), *z = took(mallocx(n, MALLOCX_ZERO | MALLOCX_ALIGN(128)));
    CHECK(agree());
    size_t bytes = malloc_usable_size(p);
    p = realloc(p, 3 * n);
    CHECK(resized(bytes, malloc_usable_size(p)));
    bytes = malloc_usable_size(x);
    x = rallocx(x, 5 * n, 0);
    CHECK(resized(bytes, malloc_usable_size(x)));
    size_t before = malloc_usable_size(z), after = xallocx(z, 2 * n, 0, MALLOCX_ALIGN(128));
    taken += after != before ? after : 0;
    given += after != before ? before : 0;
    CHECK(agree());
    free(gives(p));
    CHECK(agree());
    free(gives(q));
    dallocx(gives(a), 0);
    CHECK(agree());
    free(gives(m));
    sdallocx(gives(x), 5 * n, 0);
    CHECK(agree());
    dallocx(gives(z), MALLOCX_ALIGN(128));
    CHECK(agree());
    return 0;
}

static int sizes(void)
{
    for (size_t n = 1; n < 4 << 20; n = n * 5 / 3 + 1) {
        CHECK(family(n) == 0);
    }
    return 0;
}

/* Enough for stacks to run empty and to overflow. */
static int many(void)
{
    static void *block[20000];
    for (int i = 0; i < 20000; i++) {
        block[i] = took(malloc((size_t)i % 2000 + 1));
    }
    CHECK(agree());
    for (int i = 0; i < 20000; i++) {
        free(gives(block[i]));
    }
    CHECK(agree());
    return 0;
}

/* The peak is exact to a hundred KiB. */
static int peak(void)
{
    CHECK(mallctl("thread.peak.reset", NULL, NULL, NULL, 0) == 0 && number("thread.peak.read") < 100 << 10);
    char *p = took(malloc(10 << 20)), *q = took(malloc(1 << 20));
    memset(p, 1, 10 << 20);
    free(gives(p));
    free(gives(q));
    uint64_t most = number("thread.peak.read");
    CHECK(most > (11 << 20) - (100 << 10) && most < (11 << 20) + (600 << 10));
    CHECK(mallctl("thread.peak.reset", NULL, NULL, NULL, 0) == 0 && number("thread.peak.read") < 100 << 10);
    return 0;
}

static void *work(void *passed)
{
    if (begin() != 0 || sizes() != 0) {
        return NULL;
    }
    free(gives(passed));                        /* a block of another thread counts where it is freed */
    return agree() ? passed : NULL;
}

int main(void)
{
    uint64_t one = 1;
    CHECK(begin() == 0);
    CHECK(mallctl("thread.allocated", NULL, NULL, &one, sizeof one) == EPERM && mallctl("thread.peak.reset", &one, &one, NULL, 0) == EPERM);
    CHECK(sizes() == 0 && many() == 0 && peak() == 0);
    uint64_t *mine = allocated, *mine_given = deallocated, seen, seen_given;
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void     *passed = took(malloc(1000)), *result = NULL;
        CHECK(agree());
        uint64_t before = *mine_given, mine_taken = taken;
        CHECK(pthread_create(&thread, NULL, work, passed) == 0 && pthread_join(thread, &result) == 0 && result == passed);
        seen = *mine - mine_taken;              /* what pthread_create took for itself, and pthread_join gave back */
        seen_given = *mine_given - before;
        CHECK(seen < 4096 && seen_given < 4096);
        allocated = mine;
        deallocated = mine_given;
        taken = *mine;
        given = *mine_given;
        CHECK(agree());
    }
    printf("ok thread_counts\n");
    return 0;
}
