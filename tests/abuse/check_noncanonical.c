/* expect: qedmalloc: free(0xADDR): not a block */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    free(malloc(64));
    free(opaque((void *)0x8000000000000010));
    return 0;
}
