/* expect: qedmalloc: realloc(0xADDR): not a block */
#include "abuse.h"

int main(void)
{
    long word[4] = {0};
    free(realloc(opaque(word), 100));
    return 0;
}
