/* expect: qedmalloc: extent_hooks(0xADDR): a hook calls malloc or free */
#include <jemalloc/jemalloc.h>

#include "abuse.h"

static extent_hooks_t *usual;

static void *alloc(extent_hooks_t *hooks, void *address, size_t size, size_t alignment, bool *zero, bool *commit, unsigned arena)
{
    free(opaque(malloc(50000000)));
    return usual->alloc(hooks, address, size, alignment, zero, commit, arena);
}

int main(void)
{
    unsigned        arena = 0;
    size_t          size = sizeof arena;
    extent_hooks_t  own, *set = &own;
    mallctl("arenas.create", &arena, &size, NULL, 0);
    size = sizeof(void *);
    mallctl("arena.0.extent_hooks", &usual, &size, NULL, 0);
    own = *usual;
    own.alloc = alloc;
    char name[] = "arena.00.extent_hooks";
    name[6] += arena / 10;
    name[7] += arena % 10;
    mallctl(name, NULL, NULL, &set, sizeof(void *));
    return mallocx(1000000, MALLOCX_ARENA(arena)) == NULL;
}
