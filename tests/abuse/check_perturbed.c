/* expect: qedmalloc: free(0xADDR): double free */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    char *p = opaque(malloc(64)), *q = opaque(malloc(64));
    mallopt(M_PERTURB, 7);
    free(p);
    free(q);
    mallopt(M_PERTURB, 0);
    char *r = opaque(malloc(64));
    free(q == r ? p : q);
    return 0;
}
