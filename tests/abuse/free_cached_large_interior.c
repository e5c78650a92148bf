/* expect: qedmalloc: free(0xADDR): interior pointer */
#include "abuse.h"

int main(void)
{
    char *p = malloc(20000);
    free(opaque(p + 16));
    return 0;
}
