/* expect: qedmalloc: free_aligned_sized(0xADDR): wrong size */
#include "abuse.h"

int main(void)
{
    char *p = aligned_alloc(256, 1000);
    free_aligned_sized(opaque(p), 256, 2000);
    return 0;
}
