/* expect: qedmalloc: malloc_usable_size(0xADDR): not a block */
#include "abuse.h"

int main(void)
{
    long word[4] = {0};
    return (int)malloc_usable_size(opaque(word));
    return 0;
}
