/* expect: qedmalloc: free_sized(0xADDR): double free */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    char *p = opaque(malloc(64)), *q = opaque(malloc(64));
    free_sized(p, 64);
    free_sized(q, 64);
    free_sized(opaque(p), 64);
    return 0;
}
