/* expect: qedmalloc: free_aligned_sized(0xADDR): double free */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    char *p = opaque(aligned_alloc(256, 512)), *q = opaque(aligned_alloc(256, 512));
    free_aligned_sized(p, 256, 512);
    free_aligned_sized(q, 256, 512);
    free_aligned_sized(opaque(p), 256, 512);
    return 0;
}
