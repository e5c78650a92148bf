/* expect: qedmalloc: free(0xADDR): double free */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    char *p = opaque(malloc(64)), *q = opaque(malloc(64)), *r = realloc(p, 60);
    if (r != p) {
        return 1;
    }
    free(r);
    free(q);
    free(opaque(r));
    return 0;
}
