/* expect: qedmalloc: free(0xADDR): interior pointer */
#include "abuse.h"

int main(void)
{
    char *p = malloc(64);
    free(opaque(p + 16));
    return 0;
}
