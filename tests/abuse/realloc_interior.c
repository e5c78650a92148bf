/* expect: qedmalloc: realloc(0xADDR): interior pointer */
#include "abuse.h"

int main(void)
{
    char *p = malloc(64);
    free(realloc(opaque(p + 32), 100));
    return 0;
}
