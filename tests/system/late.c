/* A library whose destructor allocates: preloaded beside the allocator, it comes after the allocator's own. As a program (PROGRAM), it ends
 * without a live block. */
#include <stdlib.h>
#include <string.h>

static void use(size_t bytes)
{
    char *volatile p = malloc(bytes);
    if (p == NULL) {
        abort();
    }
    memset(p, 1, bytes);
    free(p);
}

#ifdef PROGRAM
int main(void)
{
    use(100);
    return 0;
}
#else
__attribute__((destructor)) static void late(void)
{
    use(100);
    use(100000);
    use(1000000);
}
#endif
