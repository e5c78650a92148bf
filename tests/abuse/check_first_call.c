/* expect: qedmalloc: free(0xADDR): not a block */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    free(opaque((void *)0x700000001000));
    return 0;
}
