/* prof: the heap profiler. It samples blocks by their bytes, notes where the program asked for them, and forgets them when they are freed.
 *
 * Each byte that a thread allocates is a sample with probability 1/R, whatever the block is that it belongs to, so a block of Z bytes is
 * sampled with probability 1 - e^(-Z/R). R is 2^lg_prof_sample. A thread counts down to its next sample (platform/countdown.h), once for each
 * allocation, in the slow path of malloc, to which tcache/counting.h sends its calls. free needs no counter: a sampled block is an extent
 * of its own whose pages have no tag, so that only its own free meets the slow path.
 *
 * The bodies of the functions here are tested, and not proven. Their contracts are what malloc's proofs believe of them (proofs/TRUSTED.md).
 */
#ifndef QED_PROF_PROF_H
#define QED_PROF_PROF_H

#include <stdbool.h>
#include <stdint.h>

#include "tcache/stats.h"
#include "tcache/tcache.h"

#define PROF_NAME_BYTES 32U
#define PROF_PATH_BYTES 256U
#define PROF_PREFIX_BYTES 128U

struct prof_options {
    bool        prof;               /* the profiler is there at all */
    bool        active;             /* it samples from the start */
    bool        thread_active;      /* so does each new thread */
    bool        accum;              /* what was freed is counted, too */
    bool        gdump;              /* a dump at each new maximum of mapped memory */
    bool        final;              /* a dump at exit */
    bool        leak;               /* a report at exit of what is live */
    bool        leak_error;         /* which ends the program with status 1 if there is something */
    uint32_t    lg_sample;
    int64_t     lg_interval;        /* a dump each 2^lg_interval bytes, -1 for none */
    uint32_t    depth;              /* most frames of a backtrace */
    const char *prefix;             /* of the names of dumps; "" for no numbered ones */
    const char *backtrace;          /* how stacks are walked: libgcc, libunwind or fp */
};

struct prof_stats {
    uint64_t contexts;              /* backtraces that have a context now */
    uint64_t thread_contexts;       /* the same by thread */
    uint64_t sampled;               /* blocks that were sampled so far */
    uint64_t live;                  /* of these, live now */
    uint64_t live_bytes;            /* of these, by their classes */
    uint64_t estimate;              /* bytes that these stand for */
    uint64_t dropped;               /* samples for which there was no memory */
    uint64_t rounding;              /* bytes of the pages of sampled blocks beyond their classes */
};

/* What becomes of a large block that is to have another class. */
enum prof_resized {
    PROF_ORDINARY,                  /* it is no sample, and none is due: the caller resizes it where it is, or moves it */
    PROF_RESIZED,                   /* it was a sample, has that class where it is, and is a sample again */
    PROF_MOVES                      /* it has to move, so that malloc takes a sample or an ordinary block */
};

#if !QED_PROF
#include "prof/none.h"
#else

/* ---- what malloc and free ask ------------------------------------------------------------------------------------ */

/* Returns a sampled block for a request that countdown_due has found to be due, or 0 where the program is to get an ordinary one. t may be a
 * stand-in. */
/*@ TCACHE_CALM(requires, t);
    requires class:   szind < SC_NSIZES;
    requires power:   IsPowerOfTwo(align_bytes);
    requires zeroed:  \valid(zeroed);
    assigns           TCACHE_ASSIGNS(t), *zeroed;
    TCACHE_CALM(ensures, t);
    ensures  live:    \result != 0 ==> \result < ADDRESS_MAX && block_state[\result] == BLOCK_LIVE;
    ensures  class:   \result != 0 ==> block_szind[\result] == szind;
    ensures  was:     \result != 0 ==> \old(block_state[\result]) != BLOCK_LIVE;
    ensures  aligned: \result % align_bytes == 0;
    ensures  zero:    \result != 0 && *zeroed ==> OsZeroRun(\result, \result + ScBytes(szind));
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, 0, \result);
*/
uint64_t prof_take(struct tcache *t, uint32_t szind, uint64_t align_bytes, bool *zeroed);

/* Returns the bytes of the block if it is a sampled one, and 0 otherwise. */
/*@ requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    assigns           \nothing;
    ensures  bytes:   \result != 0 ==> \result == ScBytes(block_szind[block]);
*/
uint64_t prof_usable(uint64_t block);

/* Frees a sampled block. */
/*@ TCACHE_CALM(requires, t);
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    assigns           TCACHE_ASSIGNS(t);
    TCACHE_CALM(ensures, t);
    ensures  gone:    block_state[block] != BLOCK_LIVE;
    TCACHE_NONE_LOST(ensures, t);
    LIVE_KEPT(ensures, block, 0);
*/
void prof_free(struct tcache *t, uint64_t block);

/* Counts a large block that is to have that class, and resizes it if it is a sample and will be one again. t may be a stand-in. */
/*@ PAGES_FREE(requires);
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    requires large:   SC_NBINS <= block_szind[block];
    requires class:   SC_NBINS <= szind < SC_NSIZES;
    assigns           LARGE_ASSIGNS, large_allocated, large_freed;
    PAGES_FREE(ensures);
    ensures  class:   block_szind[block] == (\result == PROF_RESIZED ? szind : \old(block_szind[block]));
    ensures  state:   block_state[block] == \old(block_state[block]);
    ensures  kept:    \forall integer a; \old(BlockOut(a)) && a != block ==> BlockSame{Pre,Post}(a);
    ensures  none:    BlocksNoneNew{Pre,Post};
*/
enum prof_resized prof_resize(struct tcache *t, uint64_t block, uint32_t szind);

/* ---- control ----------------------------------------------------------------------------------------------------- */

extern struct prof_options prof_options;        /* as they are now */

/* t is the cache of the calling thread. */
void prof_start(struct tcache *t, const struct prof_options *o);    /* once, when the library has started; may allocate */
bool prof_stop(void);                           /* at exit: the last dump and the report of leaks; true if a leak is to be an error */
void prof_thread_end(struct tcache *t);         /* the thread's counts stay */
void prof_read_stats(struct prof_stats *s);
struct stats prof_read_totals(void);            /* as stats_read, where a sampled block counts with the bytes of its class */
void prof_set_active(struct tcache *t, bool active);        /* for this thread at once, for others at their next slow call */
void prof_set_gdump(bool on);
bool prof_thread_active(struct tcache *t);
int  prof_set_thread_active(struct tcache *t, bool active); /* 0, or EAGAIN without memory */
const char *prof_thread_name(struct tcache *t);
int  prof_set_thread_name(struct tcache *t, const char *name);      /* 0, EFAULT for a name that cannot be printed, EAGAIN without memory */
void prof_set_thread_active_init(bool active);
int  prof_set_prefix(const char *prefix);       /* of the names of later dumps. 0, or EINVAL if it is too long */
void prof_reset(uint32_t lg_sample);            /* forgets all samples */
int  prof_dump(const char *path);               /* to a numbered file where path is NULL. 0, or EFAULT if it cannot be written */

void prof_prefork(void);
void prof_postfork_parent(void);
void prof_postfork_child(const struct tcache *t);

#endif

#endif
