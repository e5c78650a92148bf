/* expect: qedmalloc: free(0xADDR): interior pointer */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    char *p = opaque(malloc(64));
    free(opaque(p + 1));
    return 0;
}
