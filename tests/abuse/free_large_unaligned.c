/* expect: qedmalloc: free(0xADDR): not a block */
#include "abuse.h"

int main(void)
{
    char *p = malloc(1 << 20);
    free(opaque(p + 8));
    return 0;
}
