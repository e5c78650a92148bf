/* expect: qedmalloc: free(0xADDR): double free */
#include "abuse.h"

/* What glibc before 2.26 took for "say nothing and go on". */
int main(void)
{
    mallopt(M_CHECK_ACTION, 0);
    char *p = opaque(malloc(64));
    free(p);
    free(p);
    return 0;
}
