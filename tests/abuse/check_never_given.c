/* expect: qedmalloc: free(0xADDR): double free */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    char *p = opaque(malloc(64));
    free(opaque(p + 64));            /* ready in the thread's cache, and nobody's yet */
    return 0;
}
