/* A program that carries settings along: two arenas, and what is refused is said once. */
#include <malloc.h>
#include <stdio.h>

const char *malloc_conf = "narenas:2,retain:false";

int main(void)
{
    malloc_stats();
    return 0;
}
