/* As a server with partitions does it: each thread joins the arena that it is told to, and the statistics say so. */
#include "client.h"

#include <pthread.h>
#include <stdlib.h>

const char *malloc_conf = "narenas:3";

static uint64_t number(const char *name, size_t size)
{
    uint64_t value = 0, epoch = 1;
    (void)mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
    return mallctl(name, &value, &size, NULL, 0) == 0 ? value : UINT64_MAX;
}

static int join(unsigned arena)
{
    unsigned before = 77, is = 77;
    size_t   size = sizeof before;
    CHECK(mallctl("thread.arena", &before, &size, &arena, sizeof arena) == 0 && before < 3);
    CHECK(mallctl("thread.arena", &is, &size, NULL, 0) == 0 && is == arena);
    return 0;
}

static void *work(void *arena)
{
    static char *block[3][5000];
    unsigned     a = (unsigned)(uintptr_t)arena;
    char         name[64];
    if (join((a + 1) % 3) != 0 || join(a) != 0) {
        return NULL;
    }
    snprintf(name, sizeof name, "stats.arenas.%u.bins.7.curregs", a);
    uint64_t before = number(name, sizeof(size_t));
    for (int i = 0; i < 5000; i++) {
        block[a][i] = malloc(100);
        if (block[a][i] == NULL) {
            return NULL;
        }
        memset(block[a][i], (int)a, 100);
    }
    uint64_t after = number(name, sizeof(size_t));
    snprintf(name, sizeof name, "stats.arenas.%u.nthreads", a);
    bool good = after >= before + 4500 && number(name, sizeof(unsigned)) >= 1;
    join((a + 2) % 3);
    for (int i = 0; i < 5000; i++) {
        good = good && block[a][i][99] == (char)a;
        free(block[a][i]);
    }
    return good ? arena : NULL;
}

int main(void)
{
    pthread_t thread[3];
    unsigned  none = 99;
    CHECK(mallctl("thread.arena", NULL, NULL, &none, sizeof none) == EFAULT);
    for (uintptr_t a = 1; a < 3; a++) {
        void *result = NULL;
        CHECK(pthread_create(&thread[a], NULL, work, (void *)a) == 0 && pthread_join(thread[a], &result) == 0 && result == (void *)a);
    }
    CHECK(join(2) == 0 && join(0) == 0);
    printf("ok thread_arena\n");
    return 0;
}
