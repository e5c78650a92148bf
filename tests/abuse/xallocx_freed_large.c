/* expect: qedmalloc: xallocx(0xADDR): not a block */
#include "abuse.h"

int main(void)
{
    char *p = mallocx(1 << 20, 0);
    dallocx(opaque(p), 0);
    xallocx(opaque(p), 2 << 20, 0, 0);
    return 0;
}
