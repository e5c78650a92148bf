/* What every client includes: jemalloc's header, and a check that says which line failed. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include <jemalloc/jemalloc.h>

#define CHECK(condition)                                                                        \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #condition, errno);           \
            return 1;                                                                           \
        }                                                                                       \
    } while (0)
