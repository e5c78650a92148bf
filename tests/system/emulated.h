/* Under an emulator (tests/platforms/run sets EMULATED) the process holds the emulator's memory too, so that what the kernel says of it is not
 * the program's; and qemu 7.2 ends by an assertion of its own where the child of a fork makes a thread. */
#ifndef QED_TESTS_EMULATED_H
#define QED_TESTS_EMULATED_H

#include <malloc.h>
#include <stdlib.h>

static inline int emulated(void)
{
    return getenv("EMULATED") != NULL;
}

#endif
