/* expect: qedmalloc: free(0xADDR): double free */
#include "abuse.h"

#include <pthread.h>
#include <unistd.h>

static void *give(void *p)
{
    free(p);
    return NULL;
}

const char *malloc_conf = "check_free:true";

int main(void)
{
    char     *p = opaque(malloc(64));
    pthread_t thread;
    pthread_create(&thread, NULL, give, p);
    pthread_join(thread, NULL);
    free(opaque(p));
    return 0;
}
