/* play: makes the calls of a trace again, on the malloc that is in the process.
 *
 * Each thread of the trace is a thread here, begun when the trace reaches its first call, ended after its last. A call
 * that takes a block waits for the call that hands it out. No thread runs further ahead of the slowest than a window
 * of so many calls, so that the heap's size over time is the recorded one. The bookkeeping does not use malloc.
 */
#ifndef TRACE_PLAY_H
#define TRACE_PLAY_H

#include "load.h"

struct play {
    const struct trace *trace;
    bool                check;          /* contents, alignment, overlap, zeroing */
    bool                single;         /* all calls by one thread, in recorded order */
    uint32_t            window;         /* calls */
    uint32_t            sample_lg;      /* with samples: one every 2^this calls */
    struct play_sample *sample;         /* or NULL */
};

struct play_sample {
    uint64_t live;                      /* bytes asked for */
    uint64_t resident;                  /* of the process */
};

void     play_begin(const struct play *how);    /* once, before all passes. Touches everything that will be touched. */
void     play_pass(void);
void     play_free_rest(void);                  /* what the trace leaves */
uint64_t resident_bytes(void);

static inline uint32_t play_samples(const struct play *p)
{
    return (p->trace->call_count >> p->sample_lg) + 1;
}

#endif
