/* expect: qedmalloc: free(0xADDR): double free */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    char *p = opaque(strdup("a block that the C library asks for")), *q = opaque(strdup("a block that the C library asks for"));
    free(p);
    free(q);
    free(opaque(p));
    return 0;
}
