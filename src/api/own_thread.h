/* own_thread: threads of the library's own: one for the statistics page, one that returns pages in the background.
 *
 * Such a thread has all signals blocked and a small stack. It takes turns, and sleeps in between. It takes no block, so it has no cache.
 * Between a fork's handlers it holds no lock, since the thread that forks has them all. The fork leaves it behind: the parent keeps its
 * thread, and the child begins another one if the thread that forked was the only one beside the library's. Otherwise the child has none,
 * since another thread may have held a lock of the C library that a new thread needs.
 */
#ifndef QED_API_OWN_THREAD_H
#define QED_API_OWN_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct own_thread {
    const char *name;                   /* as the system shows it: at most 15 letters */
    bool      (*begin)(void);           /* called first, in the thread, or NULL; false ends the thread */
    uint32_t  (*turn)(void);            /* returns the milliseconds until the next turn */
    void      (*forget)(void);          /* called in a child, which the thread is not in, or NULL */
    bool        runs;
    uint32_t    state;
    uint32_t    stop;                   /* 1: the thread shall end */
    pthread_t   id;
};

/* Begins the thread. Returns once its first turn is over, true, or it could not begin, false. */
bool own_thread_begin(struct own_thread *t);

/* Ends the thread, if it runs. */
void own_thread_end(struct own_thread *t);

/* After a fork from here on, the child begins the thread if it ran. Returns false without memory for that. A thread is kept once. */
bool own_thread_keep(struct own_thread *t);

#endif
