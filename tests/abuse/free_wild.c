/* expect: qedmalloc: free(0xADDR): not a block */
#include "abuse.h"

int main(void)
{
    free(opaque((void *)0x123456789000));
    return 0;
}
