/* expect: qedmalloc: free(0xADDR): not a block */
#include "abuse.h"

int main(void)
{
    /* The whole slab has gone back to the page cache. */
    enum { COUNT = 20000 };
    static char *p[COUNT];
    for (int i = 0; i < COUNT; i++) {
        p[i] = malloc(64);
    }
    char *middle = p[COUNT / 2];
    for (int i = 0; i < COUNT; i++) {
        free(p[i]);
    }
    malloc_trim(0);
    free(opaque(middle));
    return 0;
}
