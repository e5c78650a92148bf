/* expect: qedmalloc: free(0xADDR): not a block */
#include "abuse.h"

int main(void)
{
    long word[4] = {0};
    free(opaque(word));
    return 0;
}
