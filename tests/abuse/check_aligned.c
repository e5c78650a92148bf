/* expect: qedmalloc: free(0xADDR): double free */
#include "abuse.h"

const char *malloc_conf = "check_free:true";

int main(void)
{
    void *p = NULL, *q = opaque(aligned_alloc(4096, 4096));
    if (posix_memalign(&p, 4096, 4096) != 0) {
        return 1;
    }
    free(p);
    free(q);
    free(opaque(p));
    return 0;
}
