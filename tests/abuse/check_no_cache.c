/* expect: qedmalloc: sdallocx(0xADDR): double free */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    char *p = opaque(mallocx(64, MALLOCX_TCACHE(-1))), *q = opaque(malloc(64));
    free(p);
    free(q);
    sdallocx(opaque(p), 64, MALLOCX_TCACHE(-1));
    return 0;
}
