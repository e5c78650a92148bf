/* load: a trace file as one array of calls in recorded order.
 *
 * Blocks have numbers here, 1, 2 .., in the order in which they were handed out: an address that is handed out twice is two
 * blocks. What the recorder could not see is made up for, and counted: see struct trace.
 */
#ifndef TRACE_LOAD_H
#define TRACE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "format.h"

#define CALL_NONE UINT32_MAX

struct call {
    uint64_t bytes;
    uint64_t other;                     /* count of calloc, alignment */
    uint32_t block;                     /* that it hands out; 0: none */
    uint32_t old;                       /* that it takes; 0: NULL */
    uint32_t thread;
    uint32_t next;                      /* the same thread's next call, or CALL_NONE */
    uint32_t time_ms;                   /* of the recording, when the thread began the segment that has the call */
    uint8_t  kind;                      /* enum trace_kind */
    bool     fails;                     /* returned NULL; the old block of a realloc goes on as `block` */
};

struct trace {
    struct call        *call;
    uint32_t            call_count;
    uint32_t            block_count;    /* numbers of blocks are 1 to this */
    uint64_t           *bytes;          /* asked for each block */
    uint32_t            thread_count;
    uint32_t           *first;          /* of each thread: its first call, or CALL_NONE */
    uint32_t           *start;          /* the threads that have calls, in the order of their first */
    uint32_t            start_count;
    uint64_t            live_peak;      /* most bytes asked for at one time */
    uint32_t            unknown;        /* frees and reallocs of blocks from before the trace: dropped, made malloc */
    uint32_t            unseen;         /* frees that must have been, since the address was handed out again: put in */
    uint32_t            duration_ms;    /* from the start to the last segment's beginning */
    struct trace_header header;
};

/* Ends the program with a message if the file is no whole trace of this version. */
void trace_load(struct trace *t, const char *path);

/* Prints the calls as text, a line each. */
void trace_print(const struct trace *t, FILE *to);

/* Returns zeroed memory from the OS, since the malloc in the process may be the one under test. Ends the program if there is none. */
void *os_array(uint64_t count, size_t size);
void  os_release(void *array, uint64_t count, size_t size);

/* Prints to standard error and ends the program with status 2. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline uint64_t call_bytes(const struct call *c)
{
    return c->kind == TRACE_CALLOC && !c->fails ? c->bytes * c->other : c->bytes;
}

#endif
