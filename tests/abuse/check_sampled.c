/* expect: qedmalloc: free(0xADDR): not a block */
#include "abuse.h"

const char *malloc_conf = "check_free:true,prof:true,lg_prof_sample:0";

int main(void)
{
    char *p = opaque(malloc(64)), *q = opaque(malloc(64));
    p = opaque(realloc(p, 200));
    free(p);
    free(q);
    free(opaque(p));
    return 0;
}
