/* expect: qedmalloc: free_sized(0xADDR): wrong size */
#include "abuse.h"

int main(void)
{
    char *p = malloc(1 << 20);
    free_sized(opaque(p), 1 << 21);
    return 0;
}
