/* expect: qedmalloc: free(0xADDR): double free */
#include "abuse.h"

int main(void)
{
    /* Blocks that went back to their slab while neighbours live, then are freed again in a row with these. */
    enum { COUNT = 20000, AGAIN = COUNT / 2 };
    static char *p[COUNT];
    for (int i = 0; i < COUNT; i++) {
        p[i] = malloc(64);
    }
    for (int i = AGAIN; i < AGAIN + 10; i++) {
        free(p[i]);
    }
    malloc_trim(0);
    for (int i = AGAIN - 30; i < AGAIN + 40; i++) {
        free(opaque(p[i]));
    }
    malloc_trim(0);
    return 0;
}
