/* backtrace: who called. Three ways to walk a stack, of which one is chosen at the start.
 *
 * libgcc reads the tables of exceptions, and so do most profilers. On the thread's own stack it stops where it meets the last one (trail.h).
 * libunwind reads the tables too, and remembers what they say. fp follows frame pointers on the thread's own stack, and sees no further than
 * the first function that was compiled without them. A way that is missing gives way to the next one. No
 * lock of the allocator may be held: libgcc and libunwind may take locks of the C library's loader, and may allocate. */
#ifndef QED_PROF_BACKTRACE_H
#define QED_PROF_BACKTRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "prof/trail.h"

#define BACKTRACE_MAX 128U
#define BACKTRACE_OWN (TRAIL_MAX - BACKTRACE_MAX)       /* frames of the library, at most, above the caller */

/* What is remembered of a thread from one walk to the next. It begins as zero. */
struct backtrace_thread {
    struct trail_stack stack;                   /* empty where it is not known */
    bool               asked;                   /* for the stack */
    bool               walked;
    uint32_t           last;                    /* the trail of the last walk on that stack */
    struct trail      *trail;                   /* two, or NULL, and then each walk begins anew */
};

struct backtrace {
    uint32_t  depth;
    uintptr_t frame[BACKTRACE_MAX];             /* return addresses, that of the innermost call first */
};

/* Finds the walkers, which may allocate, and takes the wanted one ("libgcc", "libunwind", "fp"). Returns the name of the one that serves.
 * Where the first stacks are all shallower than two frames, a line on standard error says so. */
const char *backtrace_start(const char *wanted, uint32_t depth);

/* Walks the stack of the caller, which is that thread, without the frames of the library itself. */
void backtrace_take(struct backtrace *bt, struct backtrace_thread *thread);

#endif
