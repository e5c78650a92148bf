/* expect: qedmalloc: free(0xADDR): interior pointer */
#include "abuse.h"

int main(void)
{
    char *p = malloc(100);
    free(opaque(p + 1));
    return 0;
}
