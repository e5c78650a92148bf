/* trail: the stack that a thread had at its last sample, so that the next walk can stop where it meets the same calls.
 *
 * A frame is what a call comes back to: the stack pointer, the instruction and the frame pointer that the caller has again then. Tables of
 * unwinding compute the next frame outwards from these. A function's frame pointer, if it has one, is two words below the next stack pointer.
 * Any other one has that stack pointer at a fixed distance, and may use the register for something else. So where the stack pointer and the
 * instruction agree, the next stack pointer is the same, unless the function has a frame pointer, and that differs. The instruction of the
 * next frame stands right below its stack pointer. Its frame pointer is the same or stands near it, if the function in between has saved
 * it. So the rest of an old trail is believed if the instructions still stand where they were.
 *
 * A frame that a signal interrupted is unusual, and so is one of which these words did not stand there. Nothing is read beyond it, for what
 * follows may have been on another stack. A function that has saved the frame pointer without changing it is taken for one that has not.
 *
 * What is read must be mapped. So a trail is of the thread's own stack, and a frame elsewhere is unusual. Words are read between two frames of
 * that stack, of which the inner one has called the outer one's code. Below an interrupted frame there may be nothing: its stack pointer may lie
 * in the guard page. The thread's own stack stays while it runs, so what was read once can be read again.
 */
#ifndef QED_PROF_TRAIL_H
#define QED_PROF_TRAIL_H

#include <stdbool.h>
#include <stdint.h>

#define TRAIL_MAX 144U
#define TRAIL_SAVED 8U              /* a frame pointer is among so many words below the return address */
#if defined(__x86_64__)
#define TRAIL_SERVES 1
#else
#define TRAIL_SERVES 0              /* return addresses are not at a place that is known */
#endif

/* The thread's own stack: addresses from low on, below end. */
struct trail_stack {
    uintptr_t low;
    uintptr_t end;
};

struct trail_frame {
    uintptr_t sp;
    uintptr_t ip;
    uintptr_t fp;
};

struct trail {
    uint32_t           count;
    uint32_t           first;       /* no frame beyond this one is unusual */
    bool               cut;         /* the walk ended before the outermost frame */
    bool               interrupted; /* a signal interrupted the last frame */
    struct trail_frame frame[TRAIL_MAX];        /* the innermost one first */
    uint8_t            saved[TRAIL_MAX];        /* how many words below the return address the frame pointer stands, 0 if it is the one before */
};

/* Returns the word so many words below the frame's stack pointer. */
static inline uintptr_t trail_word(struct trail_frame f, uint32_t below)
{
    return ((const uintptr_t *)f.sp)[-(int64_t)below];
}

/* Returns whether the words between the last frame and f, the next one, can be read. */
static inline bool trail_reads(const struct trail *t, const struct trail_stack *stack, struct trail_frame f)
{
    if (t->count == 0 || t->interrupted) {
        return false;
    }
    uintptr_t last = t->frame[t->count - 1].sp;
    return stack->low <= last && last < f.sp && f.sp <= stack->end;
}

/* Adds the next frame, outwards. There is room. */
static inline void trail_add(struct trail *t, const struct trail_stack *stack, struct trail_frame f, bool interrupted)
{
    uint32_t last = t->count - 1, saved = 0;
    if (!interrupted && trail_reads(t, stack, f) && trail_word(f, 1) == f.ip) {
        uint64_t words = (f.sp - t->frame[last].sp) / sizeof(uintptr_t);
        while (f.fp != t->frame[last].fp && saved <= TRAIL_SAVED) {
            saved++;
            if (saved + 1 <= words && trail_word(f, saved + 1) == f.fp) {
                break;
            }
        }
    } else {
        saved = TRAIL_SAVED + 1;
    }
    t->first = saved > TRAIL_SAVED ? t->count : t->first;
    t->saved[t->count] = (uint8_t)saved;
    t->frame[t->count] = f;
    t->interrupted = interrupted;
    t->count += 1;
}

/* Returns whether frame i of the trail is this one, and all further ones still stand on the stack. */
static inline bool trail_meets(const struct trail *t, uint32_t i, struct trail_frame f)
{
    if (i < t->first || t->frame[i].sp != f.sp || t->frame[i].ip != f.ip) {
        return false;
    }
    bool same = t->frame[i].fp == f.fp;         /* the frame pointer is the one of before */
    for (uint32_t k = i + 1; k < t->count; k++) {
        struct trail_frame next = t->frame[k];
        if (trail_word(next, 1) != next.ip || (!same && next.sp - t->frame[k - 1].fp == 2 * sizeof(uintptr_t))) {
            return false;
        }
        if (t->saved[k] > 0) {
            same = trail_word(next, t->saved[k] + 1U) == next.fp;
        }
    }
    return true;
}

#endif
