/* expect: qedmalloc: free(0xADDR): double free */
#include "abuse.h"

#define MALLOCX_ARENA_0 (1 << 20)

const char *malloc_conf = "check_free:true";

int main(void)
{
    char *p = opaque(mallocx(64, MALLOCX_ARENA_0)), *q = opaque(malloc(64));
    free(p);
    free(q);
    free(opaque(p));
    return 0;
}
