/* expect: qedmalloc: free(0xADDR): double free */
#include "abuse.h"

int main(void)
{
    char *p = opaque(malloc(64));
    free(p);
    free(opaque(p));
    return 0;
}
