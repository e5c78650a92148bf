/* background: a thread of the library's own that gives unused pages back to the OS while the program makes no call. The setting
 * background_thread and the name background_thread of mallctl begin and end it. */
#ifndef QED_API_BACKGROUND_H
#define QED_API_BACKGROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/mutex.h"

struct background_stats {
    uint64_t threads;                   /* 1 or 0 */
    uint64_t runs;                      /* turns of the thread since it began */
    uint64_t interval_ns;               /* the mean time from one to the next */
};

/* Begins the thread, or ends it. Returns false if it could not begin. */
bool background_switch(bool on);

bool background_runs(void);
void background_read_stats(struct background_stats *stats);

/* The counters of the lock under which the thread begins and ends. */
void background_read_lock(struct mutex_stats *stats);
void background_reset_lock(void);

/* A thread that is gone may have held the lock. */
void background_postfork_child(void);

/* How long the thread sleeps, if a decay has this interval, and if there are pages that it has to return. */
uint32_t background_pause(int64_t decay_ms, bool pages);

#endif
