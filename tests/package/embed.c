/* Embeds the library as one file beside the C library's malloc, with names of its own that the library uses inside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qedmalloc.h"

int config = 1, arena_count = 2, os_map = 3;

int main(void)
{
    char *a = qed_malloc(100);
    char *b = malloc(100);
    memset(a, 1, 100);
    memset(b, 2, 100);
    a = qed_realloc(a, 1 << 20);
    int ok = a != NULL && a[99] == 1 && b[99] == 2 && qed_malloc_usable_size(a) >= 1 << 20 && config + arena_count + os_map == 6;
    qed_free(a);
    free(b);
    puts(ok ? "ok embed" : "FAILED embed");
    return !ok;
}
