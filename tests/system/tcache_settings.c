/* tcache:false and tcache_max: threads keep no freed blocks, or none of larger classes. What a class has out, for the program and in caches,
 * says so after all blocks are freed. usage: tcache_settings BYTES: blocks of classes up to so many are kept. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jemalloc/jemalloc.h>

#define BLOCKS 100

static size_t most;
static int    failures;

static void check(int good, const char *what, size_t bytes)
{
    if (!good) {
        failures++;
        fprintf(stderr, "tcache_settings: %s (%zu)\n", what, bytes);
    }
}

static uint64_t number(const char *format, size_t i)
{
    char     name[96];
    uint64_t value = 0, epoch = 1;
    size_t   bytes = strcmp(format, "arenas.nbins") == 0 ? sizeof(unsigned) : sizeof value;
    snprintf(name, sizeof name, format, i);
    mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
    check(mallctl(name, &value, &bytes, NULL, 0) == 0, name, i);
    return value;
}

/* Blocks of the class of that size that are out. */
static uint64_t out(size_t bytes)
{
    uint64_t nbins = number("arenas.nbins", 0);
    for (size_t i = 0; i < nbins; i++) {
        if (number("arenas.bin.%zu.size", i) == bytes) {
            return number("stats.arenas.4096.bins.%zu.curregs", i);
        }
    }
    for (size_t i = 0;; i++) {
        if (number("arenas.lextent.%zu.size", i) == bytes) {
            return number("stats.arenas.4096.lextents.%zu.curlextents", i);
        }
    }
}

static void *churn(void *argument)
{
    static const size_t sizes[] = {8, 64, 1024, 4096, 8192, 14336, 16384, 65536, 262144, 327680};
    void               *p[BLOCKS];
    (void)argument;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t k = 0; k < BLOCKS; k++) {
            p[k] = k % 2 == 0 ? malloc(sizes[i]) : calloc(1, sizes[i]);
            memset(p[k], (int)k, sizes[i]);
        }
        for (size_t k = 0; k < BLOCKS; k++) {
            check(((unsigned char *)p[k])[sizes[i] - 1] == k, "a byte has changed", sizes[i]);
            k % 3 == 0 ? sdallocx(p[k], sizes[i], 0) : free(p[k]);
        }
        check((out(sizes[i]) != 0) == (sizes[i] <= most && sizes[i] <= 262144), "blocks stay in the cache, or not", sizes[i]);
    }
    mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    return NULL;
}

int main(int argc, char **argv)
{
    bool      is = false, on = true;
    size_t    bytes = sizeof is;
    pthread_t t;
    most = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    churn(NULL);
    if (pthread_create(&t, NULL, churn, NULL) != 0 || pthread_join(t, NULL) != 0) {
        return 1;
    }
    check(mallctl("thread.tcache.enabled", &is, &bytes, NULL, 0) == 0 && is == (most != 0), "thread.tcache.enabled", is);
    check(mallctl("thread.tcache.enabled", NULL, NULL, &on, sizeof on) == (most != 0 ? 0 : EPERM), "thread.tcache.enabled, written", on);
    check(most == 0 || number("arenas.tcache_max", 0) == (most < 262144 ? most : 262144), "arenas.tcache_max", most);
    printf("ok tcache_settings %zu\n", most);
    return failures != 0;
}
