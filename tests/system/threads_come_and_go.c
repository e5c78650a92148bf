/* Makes 4,000 threads, ten at a time. Each allocates, hands a block to the next one and exits, and memory must not grow. Each also
 * allocates in a destructor of another key, after the allocator's own may have run. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emulated.h"

static pthread_key_t key;
static void         *handed;

static void in_destructor(void *p)
{
    static __thread int rounds;
    free(p);
    if (rounds++ < 3) {                 /* comes back after every other destructor has run */
        pthread_setspecific(key, malloc(300));
    }
}

static void *thread(void *unused)
{
    char *blocks[200];
    (void)unused;
    for (size_t i = 0; i < 200; i++) {
        blocks[i] = malloc(16 + i * 13);
        blocks[i][0] = 1;
    }
    free(__atomic_exchange_n(&handed, malloc(5000), __ATOMIC_ACQ_REL));
    for (size_t i = 0; i < 200; i++) {
        free(blocks[i]);
    }
    pthread_setspecific(key, malloc(100));
    return NULL;
}

/* Under an emulator the pages that malloc says it has mapped. */
static long resident_pages(void)
{
    if (emulated()) {
        return (long)mallinfo2().arena / sysconf(_SC_PAGESIZE);
    }
    long  size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld %ld", &size, &resident) != 2) {
        return -1;
    }
    fclose(f);
    return resident;
}

static void wave(int waves)
{
    pthread_t ids[10];
    for (int w = 0; w < waves; w++) {
        for (int i = 0; i < 10; i++) {
            pthread_create(&ids[i], NULL, thread, NULL);
        }
        for (int i = 0; i < 10; i++) {
            pthread_join(ids[i], NULL);
        }
    }
}

int main(void)
{
    pthread_key_create(&key, in_destructor);
    wave(100);                          /* until every arena and bin has met its worst case */
    long before = resident_pages();
    wave(300);
    long after = resident_pages();
    if (before < 0 || after > before + 384) {       /* half a KiB a thread would be a leak */
        fprintf(stderr, "threads_come_and_go: %ld resident pages grew to %ld\n", before, after);
        return 1;
    }
    printf("ok threads_come_and_go: %ld resident pages after 1,000 threads, %ld after 3,000 more\n", before, after);
    return 0;
}
