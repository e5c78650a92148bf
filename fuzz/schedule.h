/* schedule: runs threads of a harness in an order that the caller gives, and looks for data races.
 *
 * The library is compiled with -fsanitize=thread, so that the compiler puts a call before each access to memory and in the place of each
 * atomic access. Here are the functions that it calls. So the text of the library is the one that runs elsewhere, and this file sees:
 *
 * - each atomic access, system call, and wait for a futex. Each is a point, at which another thread may go on.
 * - each plain access. Two of them that conflict must be ordered by releases and acquires (vector clocks). If they are,
 *   a switch between them changes nothing that the atomic accesses do not show, so plain accesses need no points of their own.
 * - each write. The old value is kept, so that the world can be put back to an earlier moment at the cost of what was written since.
 */
#ifndef FUZZ_SCHEDULE_H
#define FUZZ_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_THREADS 4U
#define SCHEDULE_SWITCHES_MAX 64U
#define SCHEDULE_POINTS_MAX 20000U

struct schedule_switch {
    uint32_t point;                         /* counted from the beginning of the run */
    uint32_t to;                            /* the thread that goes on; the next one that can, if this one cannot */
};

struct schedule {
    struct schedule_switch at[SCHEDULE_SWITCHES_MAX];
    uint32_t               count;
};

/* A point at which somebody has to go on. */
struct schedule_point {
    uint32_t number;                        /* counted from the beginning of the run */
    uint8_t  ready;                         /* a bit for each thread that could go on */
    uint8_t  next;                          /* the thread that goes on by the schedule, or without one */
    bool     forced;                        /* the one before cannot: it waits, or it has ended */
};

extern struct schedule_point schedule_stop;             /* where the run has stopped, unless it has ended */
extern bool                  schedule_ended;
extern bool                  schedule_repeats;          /* the run is worth nothing, and has to be made again from the same world */
extern bool                  schedule_print;            /* calls and switches go to standard output */

/* Runs body(t) for each thread t as the schedule says, where it says nothing the same thread goes on. Then runs end() as thread 0, with all
 * threads at rest. Without a schedule no races are looked for. Stops at the first point from number `from` on at which two threads or more could
 * go on. */
void schedule_begin(uint32_t threads, void (*body)(uint32_t thread), void (*end)(void), const struct schedule *schedule, uint32_t from);

/* Goes on from a stop with a thread that is ready, up to the next such point. forced: up to the next one where the thread before cannot go
 * on. */
void schedule_go(uint32_t to, bool forced);

/* Returns NULL, or what failed when the run ended, in a buffer that the next run overwrites. */
const char *schedule_failure(void);

/* The run as it is at this stop. What is kept last has to be forgotten first. Taken back, it is as it was at that stop; returns false if
 * another run has begun since. */
struct schedule_moment *schedule_moment(void);
bool                    schedule_back(const struct schedule_moment *m);
void                    schedule_forget(struct schedule_moment *m);

/* The handlers that the library has given to pthread_atfork, NULL before that. */
extern struct schedule_fork {
    void (*prepare)(void);
    void (*parent)(void);
    void (*child)(void);
} schedule_fork;

/* Called by body and end. */
_Noreturn void schedule_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void           schedule_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void           schedule_between(const char *what);      /* a point of the harness's own */
void           schedule_alone(bool alone);              /* the other threads do not exist, as in the child of a fork */
uint32_t       schedule_now(void);
void           schedule_write(void *at, uint64_t value);/* that is undone too */

/* In a search (schedule_meetings), returns whether memory, the threads' caches and schedule_model() are as they were when this thread asked at
 * this place before. What follows from them alone need not be tried again. Places from 2 on are the harness's. */
bool schedule_checked(uint32_t place);

/* From the first call on, an atomic access is a point only where two threads have met: in a run before this call both used the address, one
 * of them wrote, and there was no lock that both held. Any other access may as well happen before the switch, since nobody sees it until the
 * next point, or else the run shows a new meeting. So all schedules with some number of preemptions are covered when no run has shown one.
 * Processes that are forked later share what they find. forget: no address is known yet. Returns how many are. */
uint32_t schedule_meetings(bool forget);

/* What a program's own synchronization orders: what the sender did before happens before what the receiver does after. */
struct schedule_clock {
    uint32_t of[SCHEDULE_THREADS];
};
void schedule_send(struct schedule_clock *c);
void schedule_receive(const struct schedule_clock *c);

/* The world as it was, with the threads' own variables. */
struct schedule_mark {
    size_t         writes;
    struct tcache *cache[SCHEDULE_THREADS];
};
struct schedule_mark schedule_mark(void);
void                 schedule_undo(const struct schedule_mark *mark);

/* What is different from the mark, kept so that it can be made again from there. Ends the process without memory. */
struct schedule_kept *schedule_keep(const struct schedule_mark *since);
void                  schedule_again(const struct schedule_kept *kept);

/* The harness defines these. What they look at is memory that the library or schedule_write has written, and what schedule_model tells. */
void schedule_check(void);                              /* at each switch while no lock is held */
uint64_t schedule_model(void);                          /* a number for the harness's own variables that checks look at */
struct schedule_variables {
    void  *at;
    size_t bytes;
} schedule_variables(void);                             /* the harness's own variables that change in runs */
bool schedule_expects(uintptr_t address);               /* a race there is known, and has a reason */

#endif
