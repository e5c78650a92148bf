/* expect: qedmalloc: free(0xADDR): double free */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    char *p = opaque(malloc(64));
    free(p);
    char *q = opaque(malloc(64));    /* the same block */
    free(opaque(p));
    free(q);
    return 0;
}
