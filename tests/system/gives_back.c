/* What a process gives back while little happens, with dirty_decay_ms:500. `gives_back pages`: freed pages go back although only few
 * calls leave the fast paths. `gives_back caches`: caches of threads that lived at the same time give their slots back.
 * `gives_back threads`: their blocks' pages go back, too, at once. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "pages";
    return strcmp(what, "caches") == 0 ? caches_of_threads() : strcmp(what, "threads") == 0 ? blocks_of_threads() : freed_pages();
}
