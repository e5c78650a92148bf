/* counting: how the calls of a thread come to be counted, and what a thread has counted.
 *
 * A thread counts for one reason or for more: somebody has asked what it allocates, the heap profiler counts down to its next sample, a mode
 * fills its blocks or checks what it frees, or many free pages wait for their time and it has to come past the clock. While it does so, its
 * lookup_end is 0. So malloc's fast path finds no stack for any size, and goes on to where calls are counted. If bytes are counted, or a mode
 * sees what is freed, its window_pages is 0 too, so that free goes on in the same way. A thread that does not count has both, and
 * the fast paths know nothing of all this.
 *
 * A thread that counts bytes and nothing else adds them up where malloc and free go on. Its counted_pages say which window free may use there.
 * One that checks what it frees, and comes past the clock at most besides, sets and clears the bits of its blocks there (platform/live.h), in
 * the window of its checked_pages. It counts its blocks down, too.
 * A thread that counts for samples or for the clock alone counts the blocks of each small class down. Only the one that it has counted down to
 * goes to the slow path.
 *
 * A stand-in never counts: it has no counter. From boot on it has a lookup_end, and no stack for any size.
 */
#ifndef QED_TCACHE_COUNTING_H
#define QED_TCACHE_COUNTING_H

#include "platform/counter.h"
#include "platform/live.h"
#include "platform/modes.h"
#include "tcache/tcache.h"

/* The counter of a cache that is no stand-in. */
#define COUNTING_PLACE(t) ((uintptr_t)((t) + 1))

_Static_assert(TCACHE_STACKS <= COUNTER_STACKS, "each stack has a number in the counter");

/* Returns whether the calls of the cache's thread are counted, for whatever reason. */
/*@ requires valid:   \valid_read(t);
    assigns           \nothing;
    ensures  counts:  \result <==> t->lookup_end == 0;
*/
static inline bool counting(const struct tcache *t)
{
    return t->lookup_end == 0;
}

/* Returns whether the thread counts its blocks of so many bytes down, and nothing else. */
/*@ requires ok:      TcacheOk(t);
    assigns           \nothing;
    ensures  table:   \result ==> bytes <= SC_LOOKUP_MAX;
    ensures  paced:   \result ==> t->paced_end != 0;
*/
static inline bool counting_paces(const struct tcache *t, uint64_t bytes)
{
    return COUNTDOWN_RUNS && bytes < (uint64_t)t->paced_end;
}

/* Counts a block of that stack down. Returns false if it is the one that was counted down to, which the slow path has to see. */
/*@ requires stack:   stack < TCACHE_STACKS;
    assigns           \nothing;
*/
static inline bool counting_passes(const struct tcache *t, uint64_t stack)
{
    return counter_passes(COUNTING_PLACE(t), stack);
}

/* Returns whether the thread counts the bytes of its blocks, that one's among them, and nothing else. */
/*@ requires ok:      TcacheOk(t);
    assigns           \nothing;
    ensures  table:   \result ==> bytes <= SC_LOOKUP_MAX;
    ensures  counted: \result ==> t->counted_end != 0;
*/
static inline bool counting_adds(const struct tcache *t, uint64_t bytes)
{
    return bytes < (uint64_t)t->counted_end;
}

/* Returns whether malloc has a request for so many bytes to check, and nothing to do besides but to count it down. */
/*@ requires ok:      TcacheOk(t);
    assigns           \nothing;
    ensures  table:   \result ==> bytes <= SC_LOOKUP_MAX;
    ensures  checked: \result ==> t->checked_end != 0;
*/
static inline bool counting_checks(const struct tcache *t, uint64_t bytes)
{
    return bytes < (uint64_t)t->checked_end;
}

/* Tells the counter the bytes of each block of that stack. */
/*@ requires stack:   0 < stack < TCACHE_STACKS;
    requires bytes:   bytes == ScBytes(stack - 1);
    assigns           \nothing;
*/
static inline void counting_price(const struct tcache *t, uint32_t stack, uint64_t bytes)
{
    counter_price(COUNTING_PLACE(t), stack, bytes);
}

/* Counts a live block of the stack that the program has just got. */
/*@ requires stack:   0 < stack < TCACHE_STACKS;
    requires live:    block < ADDRESS_MAX && block_state[block] == BLOCK_LIVE && block_szind[block] == stack - 1;
    assigns           \nothing;
*/
static inline void counting_took(const struct tcache *t, uint64_t stack) /*@ ghost (uint64_t block) */
{
    counter_add(COUNTING_PLACE(t), stack, false);
}

/* Puts a block that the program frees into its stack, clears the block's bit, and returns true. Its page in the window is that one. Returns
 * false, and changes nothing, where no live block begins there, or the stack is full. */
/*@ TCACHE_WHOLE(requires, t);
    requires live:    0 < block < ADDRESS_MAX ==> block_state[block] == BLOCK_LIVE;
    requires known:   page < t->known_pages && 0 < block < ADDRESS_MAX;
    requires page:    block / PAGE == t->window / RADIX_HALF * RADIX_WINDOW_PAGES + page;
    assigns           TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block];
    TCACHE_WHOLE(ensures, t);
    ENSURES_PUSHED(t, block);
    TCACHE_NONE_LOST(ensures, t);
*/
static inline bool counting_check(struct tcache *t, uint64_t block, uint64_t page)
{
    uint64_t stack = radix_leaf_high(t->leaf, page) /*@ ghost (t->window / RADIX_HALF) */;
    if (!tcache_begins(t, block, page, stack)) {
        return false;
    }
    uint64_t top = ATOMIC_LOAD(t->top[stack]);
    if ((uint16_t)top >= t->limit[stack] || !live_clear(block)) {
        return false;
    }
    tcache_add(t, stack, top, block);
    return true;
}

/* tcache_push for a thread that counts bytes, or checks what it frees, and does nothing else. It counts the block, or clears its bit, too. For
 * another thread it returns false. */
/*@ REQUIRES_WHOLE_OR_HOLLOW(t);
    requires live:    0 < block < ADDRESS_MAX ==> block_state[block] == BLOCK_LIVE;
    assigns           TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block];
    ENSURES_STILL_WHOLE(t);
    ENSURES_PUSHED(t, block);
    TCACHE_NONE_LOST(ensures, t);
*/
__attribute__((always_inline)) static inline bool counting_push(struct tcache *t, uint64_t block)
{
    uint64_t page = tcache_window_page(t, block);
    if (page >= t->counted_pages) {
        return page < t->checked_pages && counting_check(t, block, page);
    }
    uint64_t stack = radix_leaf_high(t->leaf, page) /*@ ghost (t->window / RADIX_HALF) */;
    if (!tcache_push_at(t, block, page, stack)) {
        return false;
    }
    counter_add(COUNTING_PLACE(t), stack, true);
    return true;
}

/* counting_push for a block that the program says has the class of that stack. It is refused too where a block of another class begins there. */
/*@ REQUIRES_WHOLE_OR_HOLLOW(t);
    requires live:    0 < block < ADDRESS_MAX ==> block_state[block] == BLOCK_LIVE;
    requires stack:   0 < stack < TCACHE_STACKS;
    assigns           TCACHE_ASSIGNS_STACKS(t), block_state[block], block_pos[block];
    ENSURES_STILL_WHOLE(t);
    ENSURES_PUSHED(t, block);
    TCACHE_NONE_LOST(ensures, t);
    ensures  class:   \result ==> block_szind[block] == stack - 1;
*/
static inline bool counting_push_class(struct tcache *t, uint64_t block, uint64_t stack)
{
    uint64_t page = tcache_window_page(t, block);
    if (page >= t->known_pages) {
        return false;
    }
    /*@ assert out: BlockOut(block); */
    /*@ ghost tcache_lemma_tag(block); */
    if (radix_leaf_high(t->leaf, page) /*@ ghost (t->window / RADIX_HALF) */ != stack) {
        return false;
    }
    return counting_push(t, block);
}

/* Returns whether the thread of the cache counts its bytes. */
/*@ requires valid:   \valid_read(t);
    assigns           \nothing;
    ensures  counts:  \result ==> t->lookup_end == 0;
*/
static inline bool counting_bytes(const struct tcache *t)
{
    return counting(t) && (counter_reasons(COUNTING_PLACE(t)) & COUNTER_ALLOCATES) != 0;
}

/* Counts a live block that the program has just got. The thread counts. */
/*@ requires valid:   \valid_read(t);
    requires counts:  t->lookup_end == 0;
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
    ensures  counts:  \result ==> t->lookup_end == 0;
*/
static inline bool counting_for(const struct tcache *t, uint64_t reason)
{
    return counting(t) && (counter_reasons(COUNTING_PLACE(t)) & reason) != 0;
}

/* Returns whether a mode has to see each block that the program frees. */
/*@ assigns           \nothing; */
static inline bool counting_frees(void)
{
    return live_asked() || modes_freed_byte() != MODES_NO_BYTE;
}

/* Returns whether the thread counts for that reason, and for no other one but to come past the clock. */
/*@ requires valid:   \valid_read(t);
    assigns           \nothing;
*/
static inline bool counting_only(const struct tcache *t, uint64_t reason)
{
    return counting(t) && (counter_reasons(COUNTING_PLACE(t)) & ~(uint64_t)COUNTER_WAITS) == reason;
}

/* The thread counts for that reason from now on. Bytes begin at 0. t is no stand-in. */
/*@ requires ok:      TcacheOk(t);
    assigns           TCACHE_ASSIGNS_ENDS(t), TCACHE_ASSIGNS_PAGES(t);
    ensures  ok:      TcacheOk(t);
    ensures  counts:  t->lookup_end == 0;
    ensures  paced:   reason != COUNTER_SAMPLES && reason != COUNTER_WAITS ==> t->paced_end == 0;
    ensures  counted: reason != COUNTER_ALLOCATES ==> t->counted_end == 0;
    ensures  checked: reason != COUNTER_CHECKS && reason != COUNTER_WAITS ==> t->checked_end == 0;
    ensures  window:  reason == COUNTER_ALLOCATES ==> t->window_pages == 0;
    ensures  pages:   t->counted_pages == 0 && t->checked_pages == 0;
*/
void counting_begin(struct tcache *t, uint64_t reason);

/* It does not any more. t may be a stand-in. */
/*@ requires ok:      TcacheOk(t);
    assigns           TCACHE_ASSIGNS_ENDS(t);
    ensures  ok:      TcacheOk(t);
*/
void counting_end(struct tcache *t, uint64_t reason);

/* From now on, while many free pages wait, the cache's thread comes past the clock by and by, even if each of its calls would hit a stack.
 * Where threads count nothing down (QED_PROF=0) it does not. t is no stand-in. */
/*@ requires ok:      TcacheOk(t);
    assigns           TCACHE_ASSIGNS_ENDS(t), TCACHE_ASSIGNS_PAGES(t);
    ensures  ok:      TcacheOk(t);
    ensures  counts:  waits && COUNTDOWN_RUNS ==> t->lookup_end == 0;
*/
void counting_wait(struct tcache *t, bool waits);

/* Sends the calls of the cache's thread to the slow paths, as far as a mode (platform/modes.h) has to see them, and no others that
 * a mode has had to see. A stand-in's come there by themselves. */
/*@ requires ok:      TcacheOk(t);
    assigns           TCACHE_ASSIGNS_ENDS(t), TCACHE_ASSIGNS_PAGES(t);
    ensures  ok:      TcacheOk(t);
*/
void counting_modes(struct tcache *t);

#endif
