/* expect: qedmalloc: dallocx(0xADDR): no such thread cache, or it is in use */
#include "abuse.h"

int main(void)
{
    unsigned cache = 0;
    size_t   bytes = sizeof cache;
    mallctl("tcache.create", &cache, &bytes, 0, 0);
    char *p = mallocx(64, MALLOCX_TCACHE(cache));
    mallctl("tcache.destroy", 0, 0, &cache, sizeof cache);
    dallocx(opaque(p), MALLOCX_TCACHE(cache));
    return 0;
}
