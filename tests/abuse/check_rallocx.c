/* expect: qedmalloc: rallocx(0xADDR): freed block */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    char *p = opaque(mallocx(64, 0)), *q = opaque(mallocx(64, 0));
    dallocx(p, 0);
    dallocx(q, 0);
    return rallocx(opaque(p), 100, 0) == NULL;
}
