/* expect: qedmalloc: free(0xADDR): not a block */
#include "abuse.h"

int main(void)
{
    char *p = malloc(64);
    free(opaque((void *)((uintptr_t)p | 0xdead000000000000)));
    return 0;
}
