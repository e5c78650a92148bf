/* expect: qedmalloc: sdallocx(0xADDR): double free */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    char *p = opaque(mallocx(64, 0)), *q = opaque(mallocx(64, 0));
    sdallocx(p, 64, 0);
    sdallocx(q, 64, 0);
    sdallocx(opaque(p), 64, 0);
    return 0;
}
