/* expect: qedmalloc: realloc(0xADDR): not a block */
#include "abuse.h"

int main(void)
{
    char *p = opaque(malloc(1 << 20));
    free(p);
    free(realloc(opaque(p), 100));
    return 0;
}
