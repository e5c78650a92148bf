/* expect: qedmalloc: free(0xADDR): not a block */
#include "abuse.h"

int main(void)
{
    char *p = opaque(malloc(1 << 20));
    free(p);
    free(opaque(p));
    return 0;
}
