/* backtrace: who called. Three ways to walk a stack, of which one is chosen at the start.
 *
 * libgcc reads the tables of exceptions, and so do most profilers; libunwind does the same, faster; fp follows frame pointers, which is
 * fastest, and sees no further than the first function that was compiled without them. A way that is missing gives way to the next one. No
 * lock of the allocator may be held: libgcc and libunwind may take locks of the C library's loader, and may allocate. */
#ifndef QED_PROF_BACKTRACE_H
#define QED_PROF_BACKTRACE_H

#include <stdbool.h>
#include <stdint.h>

#define BACKTRACE_MAX 128U

struct backtrace {
    uintptr_t stack_end;                        /* of the thread, or 0 where nobody has asked yet */
    uint32_t  depth;
    uintptr_t frame[BACKTRACE_MAX];             /* return addresses, that of the innermost call first */
};

/* Finds the walkers, which may allocate, and takes the wanted one ("libgcc", "libunwind", "fp"). Returns the name of the one that serves.
 * Where the first stacks are all shallower than two frames, a line on standard error says so. */
const char *backtrace_start(const char *wanted, uint32_t depth);

/* Walks the stack of the caller, without the frames of the library itself. */
void backtrace_take(struct backtrace *bt);

#endif
