/* expect: qedmalloc: free(0xADDR): not a block */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    char array[64];
    free(malloc(64));
    free(opaque(array + 16));
    return 0;
}
