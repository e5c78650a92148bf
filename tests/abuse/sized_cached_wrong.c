/* expect: qedmalloc: free_sized(0xADDR): wrong size */
#include "abuse.h"

int main(void)
{
    free(malloc(8192));
    char *p = malloc(8192);
    free_sized(opaque(p), 8193);
    return 0;
}
