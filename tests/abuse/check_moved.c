/* expect: qedmalloc: free(0xADDR): double free */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    char *p = opaque(malloc(64)), *q = opaque(realloc(p, 5000));       /* which has freed p */
    free(opaque(p));
    free(q);
    return 0;
}
