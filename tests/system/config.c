/* A program that carries settings along. One of them makes two arenas. The other is refused, which is to be said once. */
#include <malloc.h>
#include <stdio.h>

const char *malloc_conf = "narenas:2,retain:false";

int main(void)
{
    malloc_stats();
    return 0;
}
