/* What a process gives back while little happens, with dirty_decay_ms:500. `gives_back pages`: freed pages go back although only few
 * calls leave the fast paths. `gives_back hits`: all but 16 MiB of them go back although each call hits a cache. `gives_back caches`: caches of
 * threads that lived at the same time give their slots back.
 * `gives_back threads`: their blocks' pages go back, too, at once. `gives_back locked`: Linux purges no pages that the program has locked in
 * memory and freed. The others go back all the same, and what is zero by contract is zero. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MIB (1L << 20)
#define THREADS 300

static long resident_bytes(void)
{
    long  size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld %ld", &size, &resident) != 2) {
        exit(2);
    }
    fclose(f);
    return resident * sysconf(_SC_PAGESIZE);
}

/* Twenty calls that leave the fast path, in one second. */
static void few_calls(void)
{
    for (int i = 0; i < 20; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        free(malloc(300000));
    }
}

static int check(const char *what, long grown, long most)
{
    printf("%s gives_back: %s: %ld KiB more than at first, at most %ld allowed\n",
           grown <= most ? "ok" : "FAILED", what, grown / 1024, most / 1024);
    return grown <= most ? 0 : 1;
}

static int freed_pages(void)
{
    enum { N = 40000 };
    static char *block[N];
    long         before = resident_bytes();
    for (int i = 0; i < N; i++) {
        block[i] = malloc(1000);
        block[i][0] = 1;
    }
    if (resident_bytes() < before + 30 * MIB) {
        return 2;
    }
    for (int i = 0; i < N; i++) {
        free(block[i]);
    }
    few_calls();
    return check("40 MiB freed", resident_bytes() - before, 4 * MIB);
}

/* Pairs of malloc and free that a thread's cache serves alone, for one and a half seconds. */
static void only_hits(void)
{
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    do {
        for (int i = 0; i < 10000; i++) {
            void *volatile block = malloc(64);
            free(block);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - end.tv_sec + (now.tv_nsec - end.tv_nsec) / 1e9 < 1.5);
}

static int freed_before_hits(void)
{
    enum { N = 100000 };
    static char *block[N];
    long         before = resident_bytes();
    for (int i = 0; i < N; i++) {
        block[i] = memset(malloc(1000), 1, 1000);
    }
    if (resident_bytes() < before + 90 * MIB) {
        return 2;
    }
    for (int i = 0; i < N; i++) {
        free(block[i]);
    }
    only_hits();
    return check("95 MiB freed before hits", resident_bytes() - before, 20 * MIB);
}

static pthread_barrier_t gate;

static void *use_all_small_classes(void *unused)
{
    void *block[200];
    for (size_t i = 0; i < 200; i++) {
        block[i] = malloc(8 + i * i / 4);
    }
    pthread_barrier_wait(&gate);
    for (size_t i = 0; i < 200; i++) {
        free(block[i]);
    }
    return unused;
}

static int caches_of_threads(void)
{
    static pthread_t thread[THREADS];
    pthread_attr_t   attributes;
    long             before = resident_bytes();
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    pthread_barrier_init(&gate, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        if (pthread_create(&thread[i], &attributes, use_all_small_classes, NULL) != 0) {
            return 2;
        }
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    few_calls();
    return check("300 threads at a time", resident_bytes() - before, THREADS * 40960L);    /* stacks of glibc's threads included */
}

static void *use_much(void *unused)
{
    enum { N = 200 };
    char *block[N];
    for (size_t i = 0; i < N; i++) {
        block[i] = memset(malloc(1000 + i), 1, 1000 + i);
    }
    pthread_barrier_wait(&gate);
    for (size_t i = 0; i < N; i++) {
        free(block[i]);
    }
    return unused;
}

/* Threads had 60 MiB at a time, and have ended. No call comes after that. */
static int blocks_of_threads(void)
{
    static pthread_t thread[THREADS];
    pthread_attr_t   attributes;
    long             before = resident_bytes();
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    pthread_barrier_init(&gate, NULL, THREADS + 1);
    for (size_t i = 0; i < THREADS; i++) {
        if (pthread_create(&thread[i], &attributes, use_much, NULL) != 0) {
            return 2;
        }
    }
    pthread_barrier_wait(&gate);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    return check("60 MiB of threads", resident_bytes() - before, 32 * MIB);
}

static int locked_pages(void)
{
    enum { N = 64 };
    static unsigned char *block[N];
    long                  before = resident_bytes();
    size_t                wrong = 0;
    for (int i = 0; i < N; i++) {
        block[i] = memset(malloc(MIB), 0xA5, MIB);
        if (i % 8 == 7 && mlock(block[i] + MIB / 2, 65536) != 0) {
            return 2;
        }
    }
    for (int i = N; i > 0; i--) {
        free(block[i - 1]);
    }
    few_calls();
    long kept = resident_bytes() - before;
    for (int i = 0; i < N; i++) {
        block[i] = calloc(1, MIB);
        for (size_t at = 0; at < (size_t)MIB; at++) {
            wrong += block[i][at] != 0;
        }
    }
    int result = check("64 MiB freed, with eight locked parts of 64 KiB", kept, 8 * MIB);
    if (wrong != 0) {
        printf("FAILED gives_back: %zu bytes of calloc's are not zero\n", wrong);
        return 1;
    }
    return result;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "pages";
    return strcmp(what, "caches") == 0    ? caches_of_threads()
           : strcmp(what, "threads") == 0 ? blocks_of_threads()
           : strcmp(what, "locked") == 0  ? locked_pages()
           : strcmp(what, "hits") == 0    ? freed_before_hits()
                                          : freed_pages();
}
