/* expect: qedmalloc: dallocx(0xADDR): double free */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    unsigned cache;
    size_t   bytes = sizeof cache;
    if (mallctl("tcache.create", &cache, &bytes, NULL, 0) != 0) {
        return 1;
    }
    char *p = opaque(mallocx(64, MALLOCX_TCACHE(cache))), *q = opaque(mallocx(64, MALLOCX_TCACHE(cache)));
    dallocx(p, MALLOCX_TCACHE(cache));
    dallocx(q, MALLOCX_TCACHE(cache));
    dallocx(opaque(p), MALLOCX_TCACHE(cache));
    return 0;
}
