/* expect: qedmalloc: sdallocx(0xADDR): no such thread cache, or it is in use */
#include "abuse.h"

int main(void)
{
    char *p = mallocx(64, 0);
    sdallocx(opaque(p), 64, MALLOCX_TCACHE(4000));
    return 0;
}
