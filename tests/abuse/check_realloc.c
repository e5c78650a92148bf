/* expect: qedmalloc: realloc(0xADDR): freed block */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    char *p = opaque(malloc(64)), *q = opaque(malloc(64));
    free(p);
    free(q);
    free(realloc(opaque(p), 100));
    return 0;
}
