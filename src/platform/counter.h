/* counter: what a thread has allocated and given back, in bytes of blocks, since somebody asked for it.
 *
 * The counter of a thread stands in memory right behind the thread's cache, which the cache's maker leaves free (COUNTER_BYTES). Programs read
 * it through a pointer, so it is exact after each call. No proven function has that memory, and the proofs know nothing of the numbers. */
#ifndef QED_PLATFORM_COUNTER_H
#define QED_PLATFORM_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/countdown.h"

#define COUNTER_ALLOCATES 1U        /* why the thread's calls come to the slow paths: it counts its bytes, ... */
#define COUNTER_SAMPLES 2U          /* ... the heap profiler counts down to the next sample, ... */
#define COUNTER_FILLS 4U            /* ... a mode fills its blocks, ... */
#define COUNTER_CHECKS 8U           /* ... a mode checks what it frees, ... */
#define COUNTER_WAITS 16U           /* ... or many free pages wait for their time */
#define COUNTER_PEAKS 32U           /* and of its bytes it notes the most at a time */
#define COUNTER_STACKS 160U
#define COUNTER_LEFT_MAX ((uint32_t)INT32_MAX)

struct counter {
    uint32_t left[COUNTER_STACKS];  /* blocks of each stack that pass before one is due, more than COUNTER_LEFT_MAX once it was */
    uint32_t bytes[COUNTER_STACKS]; /* of a block of each stack */
    uint64_t allocated;
    uint64_t deallocated;
    int64_t  start;                 /* allocated less deallocated when the peak was reset */
    int64_t  peak;                  /* the most that it has been since then */
    uint64_t reasons;
};

#define COUNTER_BYTES sizeof(struct counter)

/* Returns the reasons. */
/*@ assigns \nothing; */
static inline uint64_t counter_reasons(uintptr_t counter)
#ifdef __FRAMAC__
;
#else
{
    return ((const struct counter *)counter)->reasons;
}
#endif

/* Counts a block of that stack down. Returns false, and makes the thread's next slow call due, if it is the one that was counted down to. */
/*@ assigns \nothing; */
static inline bool counter_passes(uintptr_t counter, uint64_t stack)
#ifdef __FRAMAC__
;
#else
{
    if (__builtin_expect(--((struct counter *)counter)->left[stack] > COUNTER_LEFT_MAX, 0)) {
        countdown_restart();
        return false;
    }
    return true;
}
#endif

/* Adds a reason. From COUNTER_ALLOCATES on bytes are counted from 0. From COUNTER_WAITS on the thread's next block of each stack is due, and so
 * is its next slow call, unless it counts down to a sample. */
/*@ assigns \nothing; */
static inline void counter_begin(uintptr_t counter, uint64_t reason)
#ifdef __FRAMAC__
;
#else
{
    struct counter *c = (struct counter *)counter;
    uint64_t        reasons = c->reasons | reason;
    if (reason == COUNTER_ALLOCATES) {
        c->allocated = c->deallocated = 0;
        c->start = c->peak = 0;
    }
    if (reason == COUNTER_PEAKS) {
        c->peak = (int64_t)(c->allocated - c->deallocated);
    }
    c->reasons = reasons;
    if (reason == COUNTER_WAITS && (reasons & COUNTER_SAMPLES) == 0) {
        for (uint32_t b = 0; b < COUNTER_STACKS; b++) {
            c->left[b] = 0;
        }
        countdown_restart();
    }
}
#endif

/* Takes a reason away, and returns whether it was the last one. */
/*@ assigns \nothing; */
static inline bool counter_end(uintptr_t counter, uint64_t reason)
#ifdef __FRAMAC__
;
#else
{
    return (((struct counter *)counter)->reasons &= ~reason) == 0;
}
#endif

/* Tells how many bytes a block of that stack has. */
/*@ assigns \nothing; */
static inline void counter_price(uintptr_t counter, uint64_t stack, uint64_t bytes)
#ifdef __FRAMAC__
;
#else
{
    ((struct counter *)counter)->bytes[stack] = (uint32_t)bytes;
}
#endif

/* Counts a block of that stack that the program gets, or gives back, without a look at the peak. */
/*@ assigns \nothing; */
static inline void counter_add(uintptr_t counter, uint64_t stack, bool back)
#ifdef __FRAMAC__
;
#else
{
    struct counter *c = (struct counter *)counter;
    uint64_t       *sum = back ? &c->deallocated : &c->allocated;
    *sum += c->bytes[stack];
}
#endif

/* Counts a block that the program gets. */
/*@ assigns \nothing; */
static inline void counter_take(uintptr_t counter, uint64_t bytes)
#ifdef __FRAMAC__
;
#else
{
    struct counter *c = (struct counter *)counter;
    c->allocated += bytes;
    int64_t now = (int64_t)(c->allocated - c->deallocated);
    if (now > c->peak) {
        c->peak = now;
    }
}
#endif

/* Counts a block that the program gives back. */
/*@ assigns \nothing; */
static inline void counter_give(uintptr_t counter, uint64_t bytes)
#ifdef __FRAMAC__
;
#else
{
    ((struct counter *)counter)->deallocated += bytes;
}
#endif

#endif
