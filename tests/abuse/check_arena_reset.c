/* expect: qedmalloc: free(0xADDR): double free */
#include "abuse.h"

#include <stdio.h>

const char *malloc_conf = "check_free:true";

#define FLAGS(arena) (((int)(arena) + 1) << 20 | MALLOCX_TCACHE(-1))

/* A reset ends the blocks, also for the slab that comes to lie where they were. */
int main(void)
{
    unsigned arena;
    size_t   bytes = sizeof arena;
    char     name[40];
    if (mallctl("arenas.create", &arena, &bytes, NULL, 0) != 0) {
        return 1;
    }
    char *p = opaque(mallocx(64, FLAGS(arena))), *q = opaque(mallocx(64, FLAGS(arena)));
    snprintf(name, sizeof name, "arena.%u.reset", arena);
    if (mallctl(name, NULL, NULL, NULL, 0) != 0 || mallocx(64, FLAGS(arena)) != p) {
        return 1;
    }
    free(opaque(q));
    return 0;
}
