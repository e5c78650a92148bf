/* expect: qedmalloc: sdallocx(0xADDR): wrong size */
#include "abuse.h"

int main(void)
{
    char *p = mallocx(64, 0);
    sdallocx(opaque(p), 100, 0);
    return 0;
}
