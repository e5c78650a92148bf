/* expect: qedmalloc: free(0xADDR): not a block */
#include "abuse.h"

int main(void)
{
    static long word[4];
    free(opaque(word));
    return 0;
}
