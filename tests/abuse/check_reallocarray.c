/* expect: qedmalloc: realloc(0xADDR): freed block */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    char *p = opaque(malloc(20000)), *q = opaque(malloc(20000));
    free(p);
    free(q);
    return reallocarray(opaque(p), 5, 20000) != NULL;
}
