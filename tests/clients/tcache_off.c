/* As a program does it whose threads are many and call malloc seldom: such a thread has no cache. Then each block comes from the bin and
 * goes back to it, as the statistics say, until the thread has a cache again. */
#include "client.h"

#include <pthread.h>
#include <stdlib.h>

static uint64_t regions(void)
{
    uint64_t value = 0, epoch = 1;
    size_t   size = sizeof(size_t);
    (void)mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
    return mallctl("stats.arenas.4096.bins.7.curregs", &value, &size, NULL, 0) == 0 ? value : UINT64_MAX;
}

/* Switches the cache, and returns whether it was as expected before, and is as asked now. */
static int switched(bool was, bool to)
{
    bool   old = !was, is = !to;
    size_t size = sizeof old;
    return mallctl("thread.tcache.enabled", &old, &size, &to, sizeof to) == 0 && old == was
           && mallctl("thread.tcache.enabled", &is, &size, NULL, 0) == 0 && is == to;
}

/* Blocks of all sizes, in and out. */
static int works(void)
{
    static __thread char *block[500];
    for (size_t i = 0; i < 500; i++) {
        size_t n = i * i * 4 + 1;
        CHECK((block[i] = malloc(n)) != NULL);
        block[i][0] = (char)i;
        block[i][n - 1] = (char)i;
    }
    for (size_t i = 0; i < 500; i++) {
        size_t n = i * i * 4 + 1;
        CHECK(block[i][0] == (char)i && block[i][n - 1] == (char)i);
        CHECK((block[i] = realloc(block[i], n + 100)) != NULL && block[i][n - 1] == (char)i);
        free(block[i]);
    }
    return 0;
}

static int off_and_on(void)
{
    CHECK(works() == 0 && switched(true, true) && switched(true, false) && switched(false, false));
    CHECK(mallctl("thread.tcache.flush", NULL, NULL, NULL, 0) == EFAULT);
    uint64_t before = regions();
    char    *a = malloc(110), *b = malloc(110), *c = malloc(110);
    CHECK(a != NULL && b != NULL && c != NULL && a != b && regions() == before + 3);
    free(b);
    CHECK(regions() == before + 2);
    free(a);
    free(c);
    CHECK(regions() == before && works() == 0 && regions() == before);
    CHECK(switched(false, true) && works() == 0);
    a = malloc(110);
    CHECK(a != NULL && regions() > before + 1);             /* a fill brings more than one */
    free(a);
    CHECK(mallctl("thread.tcache.flush", NULL, NULL, NULL, 0) == 0);
    return 0;
}

static void *work(void *on)
{
    bool left = off_and_on() == 0 && (on != NULL || switched(true, false)) && works() == 0;
    return left ? work : NULL;
}

int main(void)
{
    unsigned threads = 0;
    size_t   size = sizeof threads;
    bool     both = true;
    CHECK(mallctl("thread.tcache.enabled", NULL, NULL, &both, 2) == EINVAL);
    CHECK(off_and_on() == 0 && off_and_on() == 0);
    for (int i = 0; i < 6; i++) {
        pthread_t thread;
        void     *result = NULL;
        CHECK(pthread_create(&thread, NULL, work, i % 2 == 0 ? &threads : NULL) == 0 && pthread_join(thread, &result) == 0 && result != NULL);
    }
    uint64_t epoch = 1;                                     /* those that have ended have left their arena, each once */
    CHECK(mallctl("epoch", NULL, NULL, &epoch, sizeof epoch) == 0);
    CHECK(mallctl("stats.arenas.4096.nthreads", &threads, &size, NULL, 0) == 0 && threads <= 2);
    printf("ok tcache_off\n");
    return 0;
}
