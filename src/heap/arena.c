/* arena: how many there are and which threads use which. */
#include "heap/arena.h"

#include "heap/bin.h"
#include "platform/mutex.h"

static struct mutex arena_lock = MUTEX_INIT;
static uint32_t     arena_total = 1;
static uint32_t     arena_thread_count[ARENAS_MAX];

void arena_boot(uint32_t arenas)
{
    arena_total = arenas < 1 ? 1 : arenas > ARENAS_MAX ? ARENAS_MAX : arenas;
    bin_boot(arena_total);
}

uint32_t arena_count(void)
{
    return arena_total;
}

uint32_t arena_join(void)
{
    mutex_lock(&arena_lock);
    uint32_t least = 0;
    for (uint32_t a = 1; a < arena_total; a++) {
        if (arena_thread_count[a] < arena_thread_count[least]) {
            least = a;
        }
    }
    arena_thread_count[least] += 1;
    mutex_unlock(&arena_lock);
    return least;
}

void arena_leave(uint32_t arena)
{
    mutex_lock(&arena_lock);
    arena_thread_count[arena] -= 1;
    mutex_unlock(&arena_lock);
}

uint32_t arena_threads(uint32_t arena)
{
    mutex_lock(&arena_lock);
    uint32_t n = arena_thread_count[arena];
    mutex_unlock(&arena_lock);
    return n;
}

void arena_prefork(void)
{
    mutex_lock(&arena_lock);
}

void arena_postfork_parent(void)
{
    mutex_unlock(&arena_lock);
}

void arena_postfork_child(void)
{
    mutex_reset(&arena_lock);
}
