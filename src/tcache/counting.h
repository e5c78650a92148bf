/* counting: how the calls of a thread come to be counted, and what a thread has counted.
 *
 * A thread counts for one reason or for more: somebody has asked what it allocates, the heap profiler counts down to its next sample, a mode
 * fills its blocks or checks what it frees, or many free pages wait for their time and it has to come past the clock. While it does so, the
 * table of its cache that leads from bytes to stacks is empty. So malloc's fast path finds stack 0, which never has a block, and goes to the
 * slow path, which counts. If bytes are counted, or a mode sees what is freed, the cache has no window either, so that free goes to its slow
 * path. A thread that does not count has its table and its window, and the fast paths know nothing of all this.
 *
 * The slow paths ask first whether the entry for 0 bytes is empty. A stand-in has that entry alone, for it never counts: it has no counter.
 */
#ifndef QED_TCACHE_COUNTING_H
#define QED_TCACHE_COUNTING_H

#include "platform/counter.h"
#include "platform/live.h"
#include "platform/modes.h"
#include "tcache/tcache.h"

/* The counter of a cache that is no stand-in. */
#define COUNTING_PLACE(t) ((uintptr_t)((t) + 1))

/* Returns whether the calls of the cache's thread are counted, for whatever reason. */
/*@ requires valid:   \valid_read(t);
    assigns           \nothing;
    ensures  empty:   \result <==> t->stack_of[0] == 0;
*/
static inline bool counting(const struct tcache *t)
{
    return t->stack_of[0] == 0;
}

/* Returns whether the thread of the cache counts its bytes. */
/*@ requires valid:   \valid_read(t);
    assigns           \nothing;
    ensures  counts:  \result ==> t->stack_of[0] == 0;
*/
static inline bool counting_bytes(const struct tcache *t)
{
    return counting(t) && counter_has(COUNTING_PLACE(t), COUNTER_ALLOCATES);
}

/* Counts a live block that the program has just got. The thread counts. */
/*@ requires valid:   \valid_read(t);
    requires counts:  t->stack_of[0] == 0;
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE;
    requires bytes:   bytes == ScBytes(block_szind[block]);
    assigns           \nothing;
*/
static inline void counting_take(const struct tcache *t, uint64_t bytes) /*@ ghost (uint64_t block) */
{
    counter_take(COUNTING_PLACE(t), bytes);
}

/* Counts a block that the program gives back. The thread counts. */
/*@ requires valid:   \valid_read(t);
    requires out:     BlockOut(block);
    requires bytes:   bytes == ScBytes(block_szind[block]);
    assigns           \nothing;
*/
static inline void counting_give(const struct tcache *t, uint64_t bytes) /*@ ghost (uint64_t block) */
{
    counter_give(COUNTING_PLACE(t), bytes);
}

/* Returns whether the thread counts for that reason. */
/*@ requires valid:   \valid_read(t);
    assigns           \nothing;
    ensures  counts:  \result ==> t->stack_of[0] == 0;
*/
static inline bool counting_for(const struct tcache *t, uint64_t reason)
{
    return counting(t) && counter_has(COUNTING_PLACE(t), reason);
}

/* Returns whether a mode has to see each block that the program frees. */
/*@ assigns           \nothing; */
static inline bool counting_frees(void)
{
    return live_asked() || modes_freed_byte() != MODES_NO_BYTE;
}

/* Returns whether the thread counts for that reason alone. */
/*@ requires valid:   \valid_read(t);
    assigns           \nothing;
*/
static inline bool counting_only(const struct tcache *t, uint64_t reason)
{
    return counting(t) && counter_has_only(COUNTING_PLACE(t), reason);
}

/* The thread counts for that reason from now on. Bytes begin at 0. t is no stand-in. */
/*@ requires ok:      TcacheOk(t);
    assigns           t->stack_of[0 .. SC_LOOKUP_MAX], t->window_pages;
    ensures  ok:      TcacheOk(t);
    ensures  empty:   \forall integer n; 0 <= n <= SC_LOOKUP_MAX ==> t->stack_of[n] == 0;
    ensures  window:  reason == COUNTER_ALLOCATES ==> t->window_pages == 0;
*/
void counting_begin(struct tcache *t, uint64_t reason);

/* It does not any more. t may be a stand-in. */
/*@ requires ok:      TcacheOk(t);
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    assigns           t->stack_of[0 .. SC_LOOKUP_MAX];
    ensures  ok:      TcacheOk(t);
*/
void counting_end(struct tcache *t, uint64_t reason);

/* From now on, while many free pages wait, the cache's thread comes past the clock by and by, even if each of its calls would hit a stack.
 * Where threads count nothing down (QED_PROF=0) it does not. t is no stand-in. */
/*@ requires ok:      TcacheOk(t);
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    assigns           t->stack_of[0 .. SC_LOOKUP_MAX], t->window_pages;
    ensures  ok:      TcacheOk(t);
    ensures  counts:  waits && COUNTDOWN_RUNS ==> t->stack_of[0] == 0;
*/
void counting_wait(struct tcache *t, bool waits);

/* Sends the calls of the cache's thread to the slow paths, as far as a mode (platform/modes.h) has to see them, and no others that
 * a mode has had to see. A stand-in's come there by themselves. */
/*@ requires ok:      TcacheOk(t);
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    assigns           t->stack_of[0 .. SC_LOOKUP_MAX], t->window_pages;
    ensures  ok:      TcacheOk(t);
*/
void counting_modes(struct tcache *t);

#endif
