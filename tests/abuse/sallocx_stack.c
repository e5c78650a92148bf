/* expect: qedmalloc: sallocx(0xADDR): not a block */
#include "abuse.h"

int main(void)
{
    char here[64];
    return (int)sallocx(opaque(here), 0);
}
