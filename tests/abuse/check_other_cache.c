/* expect: qedmalloc: free(0xADDR): double free */
#include "abuse.h"

#include <pthread.h>
#include <unistd.h>

static pthread_barrier_t freed;

static void *give(void *p)
{
    free(p);
    pthread_barrier_wait(&freed);
    pause();
    return NULL;
}

const char *malloc_conf = "check_free:true";

int main(void)
{
    char     *p = opaque(malloc(64));
    pthread_t thread;
    pthread_barrier_init(&freed, NULL, 2);
    pthread_create(&thread, NULL, give, p);
    pthread_barrier_wait(&freed);
    free(opaque(p));                 /* the thread still lives, and its cache has the block */
    return 0;
}
