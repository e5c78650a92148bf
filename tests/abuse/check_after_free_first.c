/* expect: qedmalloc: free(0xADDR): double free */
#include "abuse.h"

#include <pthread.h>

const char *malloc_conf = "check_free:true";

static char *p, *q;

/* The first call of the thread is a free, and its next one takes that block again. */
static void *give(void *unused)
{
    free(p);
    char *r = opaque(malloc(64));
    free(r);
    free(q);
    free(r);
    return unused;
}

int main(void)
{
    pthread_t thread;
    p = opaque(malloc(64)), q = opaque(malloc(64));
    pthread_create(&thread, NULL, give, NULL);
    pthread_join(thread, NULL);
    return 0;
}
