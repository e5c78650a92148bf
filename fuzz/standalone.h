/* standalone: what a C file needs that fuzz/campaign made of a crash: a list of calls inside `CASE { ... }`. Around each
 * call stand the checks of the model: block after a call that gave one, gone before one that takes it back. */
#ifndef STANDALONE_H
#define STANDALONE_H

#include "malloc_world.h"

static unsigned char          *p[1U << 20];             /* by number */
static struct blocks_model_block last_gone;

#define zero(address, bytes) blocks_model_check_zero(address, bytes)

static inline void block(uint32_t id, size_t bytes, size_t alignment, unsigned seed)
{
    model.next_id = id;
    if (p[id] == NULL) {
        blocks_model_fail("no memory, here", NULL);
    }
    blocks_model_add(&model, p[id], bytes, qed_malloc_usable_size(p[id]), alignment, (unsigned char)seed);
}

static inline void gone(uint32_t id)
{
    uint32_t i = 0;
    while (i < model.count && model.block[i].id != id) {
        i++;
    }
    if (i == model.count) {
        blocks_model_fail("no such block", NULL);
    }
    last_gone = blocks_model_remove(&model, i);
}

static inline void moved(unsigned char *to, size_t bytes)   /* realloc kept what both sizes hold */
{
    last_gone.address = to;
    blocks_model_visit(&last_gone, last_gone.bytes, last_gone.bytes < bytes ? last_gone.bytes : bytes, false);
}

static inline void kept(void)                               /* realloc failed */
{
    blocks_model_check(&last_gone);
    blocks_model_insert(&model, last_gone);
}

static void calls(void);

int main(void)
{
    world_begin();
    calls();
    (void)check_stats();
    printf("no failure\n");
    return 0;
}

#define CASE static void calls(void)

#endif
