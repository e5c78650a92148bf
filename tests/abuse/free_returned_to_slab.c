/* expect: qedmalloc: free(0xADDR): double free */
#include "abuse.h"

int main(void)
{
    /* A block that went back to its slab while a neighbour lives, then is freed again and reaches its slab. */
    enum { COUNT = 20000 };
    static char *p[COUNT];
    for (int i = 0; i < COUNT; i++) {
        p[i] = malloc(64);
    }
    for (int i = 1; i < COUNT; i += 2) {
        free(p[i]);
    }
    malloc_trim(0);
    free(opaque(p[COUNT / 2 + 1]));
    malloc_trim(0);
    return 0;
}
