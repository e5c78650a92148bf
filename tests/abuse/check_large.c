/* expect: qedmalloc: free(0xADDR): not a block */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    char *p = opaque(malloc(1 << 20)), *q = opaque(malloc(1 << 20));
    free(p);
    free(q);
    free(opaque(p));
    return 0;
}
