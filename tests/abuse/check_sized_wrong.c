/* expect: qedmalloc: free_sized(0xADDR): wrong size */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    char *p = malloc(64);
    free_sized(opaque(p), 100);
    return 0;
}
