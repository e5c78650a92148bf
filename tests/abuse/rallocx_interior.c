/* expect: qedmalloc: rallocx(0xADDR): interior pointer */
#include "abuse.h"

int main(void)
{
    char *p = mallocx(64, 0);
    rallocx(opaque(p + 16), 1000, 0);
    return 0;
}
