/* expect: qedmalloc: realloc(0xADDR): freed block */
#include "abuse.h"

const char *malloc_conf = "check_free:true,zero_realloc:alloc";

int main(void)
{
    char *p = opaque(malloc(64)), *q = opaque(malloc(64));
    p = opaque(realloc(p, 0));
    free(p);
    free(q);
    return realloc(opaque(p), 0) != NULL;
}
