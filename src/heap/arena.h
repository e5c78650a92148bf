/* arena: a set of bins. Threads are spread over the arenas, so that their fills and flushes rarely meet at a lock. */
#ifndef QED_HEAP_ARENA_H
#define QED_HEAP_ARENA_H

#include <stdint.h>

void     arena_boot(uint32_t arenas);       /* 1 .. ARENAS_MAX */
uint32_t arena_count(void);
uint32_t arena_join(void);                  /* the arena with the fewest threads, for a new thread */
void     arena_leave(uint32_t arena);
uint32_t arena_threads(uint32_t arena);

void arena_prefork(void);
void arena_postfork_parent(void);
void arena_postfork_child(void);

#endif
