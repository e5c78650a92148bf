/* expect: qedmalloc: free(0xADDR): double free */
#include "abuse.h"

#include <pthread.h>
#include <unistd.h>

static pthread_barrier_t both;

static void *give(void *p)
{
    free(opaque(malloc(64)));
    pthread_barrier_wait(&both);
    free(opaque(p));
    return NULL;
}

const char *malloc_conf = "check_free:true";

int main(void)
{
    char     *p = opaque(malloc(64));
    pthread_t thread[2];
    pthread_barrier_init(&both, NULL, 2);
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread[i], NULL, give, p);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
    }
    return 0;
}
