/* child: how a harness waits for the child that it has forked. */
#ifndef FUZZ_CHILD_H
#define FUZZ_CHILD_H

#include <errno.h>
#include <stdbool.h>
#include <sys/wait.h>

/* Whether the child ended well. The timer of a fuzzing engine may interrupt the wait. */
static inline bool child_ends_well(pid_t child)
{
    int   status = 0;
    pid_t ended;
    do {
        ended = waitpid(child, &status, 0);
    } while (ended < 0 && errno == EINTR);
    return ended == child && status == 0;
}

#endif
