/* expect: qedmalloc: mallocx(0xADDR): no such thread cache, or it is in use */
#include "abuse.h"

int main(void)
{
    opaque(mallocx(64, MALLOCX_TCACHE(7)));
    return 0;
}
