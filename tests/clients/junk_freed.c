/* A program that has the blocks filled which it frees, and whose thread counts what it allocates: each block is filled all the same. */
#include "client.h"

#include <stdlib.h>

const char *malloc_conf = "junk:free";

int main(void)
{
    uint64_t before = 0, after = 0;
    size_t   length = sizeof before;
    CHECK(mallctl("thread.deallocated", &before, &length, NULL, 0) == 0);
    for (int i = 0; i < 1000; i++) {
        unsigned char *volatile p = malloc(64);
        CHECK(p != NULL);
        memset(p, 7, 64);
        free(p);
        CHECK(p[20] == 0x5a && p[63] == 0x5a);
    }
    CHECK(mallctl("thread.deallocated", &after, &length, NULL, 0) == 0 && after - before == 64 * 1000);
    printf("ok freed blocks are filled in a thread that counts\n");
    return 0;
}
