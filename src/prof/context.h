/* context: where samples came from. A global context is a backtrace. Under it, each thread that sampled with this backtrace has a context of
 * its own, with the counts.
 *
 * Contexts are ids. A global context is in one hash table, by its backtrace, and a thread's context is in the thread's own. It is in the
 * red-black tree of its global context as well, by the thread's number: in both or in neither, until its thread ends. A thread that
 * ends leaves its contexts in the trees, and stands in a list of its own as long as it has some. A context without a live block leaves, unless
 * freed blocks are to be counted, and so does a global context without contexts. Every function wants the caller to hold context_lock, and gets
 * its memory from prof/pieces.h. */
#ifndef QED_PROF_CONTEXT_H
#define QED_PROF_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "ds/cuckoo_hash.h"
#include "platform/mutex.h"
#include "platform/table.h"
#include "prof/backtrace.h"
#include "prof/prof.h"

/* Samples, and what they stand for: a block of Z bytes stands for 1 / (1 - e^(-Z/R)) objects of that size. */
struct counts {
    uint64_t objects;
    uint64_t bytes;             /* of the classes */
    uint64_t weight;            /* objects that they stand for, in 2^-16 */
    uint64_t estimate;          /* bytes that they stand for */
};

struct context {
    struct counts live;
    struct counts accum;        /* with those that are gone */
    uint32_t      whole;        /* the global context of a thread's context; 0 for a global one */
    uint32_t      depth;        /* of a global context */
    uintptr_t    *frame;
    struct thread *thread;      /* of a thread's context */
};

struct thread {
    struct thread     *next;    /* in its list */
    struct thread    **at;      /* the pointer to it there */
    struct counts      live;    /* of its contexts together */
    struct counts      accum;
    struct tcache     *cache;   /* NULL where the thread has ended */
    uint64_t           number;  /* from 1 on, in the order in which they sampled first */
    uint64_t           random;  /* the state of its generator */
    uint64_t           more;    /* bytes to the next sample beyond what countdown_left can count */
    uint32_t           lg_sample;   /* for which the next samples were drawn */
    bool               far[SC_NBINS];   /* whether a class's next sample is farther than its counter can count */
    uint32_t           contexts;
    uint32_t           last;    /* the context of its last sample, 0 if that is gone */
    bool               active;  /* it may sample */
    bool               inside;  /* it is at a sample: what that allocates is not sampled */
    char               name[PROF_NAME_BYTES];
    struct cuckoo_hash by_trace;
    struct backtrace_thread walks;
};

extern struct mutex       context_lock;
extern struct thread     *context_threads;      /* those that run */
extern struct thread     *context_ended;        /* those that have ended and have contexts */
extern struct cuckoo_hash context_by_trace;     /* the global contexts */
extern struct counts      context_live;         /* of all contexts together */
extern struct counts      context_accum;
extern uint32_t           context_globals;      /* global contexts now */
extern uint32_t           context_locals;       /* contexts of threads now */
extern uint32_t           context_seed;         /* the threads' generators begin with it */
extern TABLE_FEW(struct context, context_of);

bool           context_boot(uint32_t lg_sample, bool accum);    /* false without memory */
struct thread *context_find(const struct tcache *cache);        /* the thread of that cache, or NULL */
struct thread *context_thread(struct tcache *cache, bool active); /* that thread, new if there is none; NULL without memory */
void           context_thread_end(struct thread *thread);
uint32_t       context_add(struct thread *thread, const struct backtrace *bt, uint32_t szind);    /* a context, or 0 without memory */
void           context_remove(uint32_t x, uint32_t szind);      /* a block of context x and that class is freed */
void           context_reset(uint32_t lg_sample);               /* all counts become 0 */

uint64_t       context_estimate(uint32_t szind);                /* bytes that a sample of that class stands for */

/* What a thread's or a global context shows of a count, so that jeprof, which scales by the average size, comes to what it stands for. */
struct counts context_shown(const struct counts *c);

#endif
