/* expect: qedmalloc: sdallocx(0xADDR): wrong size */
#include "abuse.h"

int main(void)
{
    char *p = mallocx(100, 6);      /* aligned to 64 bytes, so of the class of 128 */
    sdallocx(opaque(p), 100, 0);
    return 0;
}
