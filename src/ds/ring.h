/* ring: circular doubly linked lists of ids, without a head (jemalloc's qr).
 *
 * Every id below TABLE_MAX has one pair of links, so it is in at most one ring; an object that needs to be in two at once
 * takes two ids. Invariant RingOk (spec/ring.acsl): after and before are inverse to each other. ring_meld does all the
 * work: it joins two rings or cuts one in two, and doing it twice changes nothing.
 *
 *     before_insert(a, x):  .. p a ..  and  x   becomes   .. p x a ..
 *
 * The caller holds the lock that guards the rings.
 */
#ifndef QED_DS_RING_H
#define QED_DS_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/table.h"

extern TABLE(uint32_t, ring_after);
extern TABLE(uint32_t, ring_before);

#include "ring.acsl"

/* Makes id x usable. false: the OS has no memory. */
/*@ requires id:   0 < x < TABLE_MAX;
    terminates     \true;
    exits          \false;
    assigns        \nothing;
*/
bool ring_grow(uint32_t x);

/* A ring of x alone. */
/*@ requires id:    0 < x < TABLE_MAX;
    requires ok:    RingOk;
    requires alone: !RingMade(x) || ring_after[x] == x;
    terminates      \true;
    exits           \false;
    assigns         ring_after[x], ring_before[x];
    ensures  ok:    RingOk;
    ensures  alone: RingMade(x) && ring_after[x] == x && ring_before[x] == x;
*/
static inline void ring_new(uint32_t x)
{
    AT(ring_after, x) = x;
    AT(ring_before, x) = x;
}

/*@ requires ok:     RingOk;
    requires made:   RingMade(x);
    terminates       \true;
    exits            \false;
    assigns          \nothing;
    ensures  next:   \result == ring_after[x] && RingMade(\result);
    ensures  back:   ring_before[\result] == x;
*/
static inline uint32_t ring_next(uint32_t x)
{
    return AT(ring_after, x);
}

/*@ requires ok:     RingOk;
    requires made:   RingMade(x);
    terminates       \true;
    exits            \false;
    assigns          \nothing;
    ensures  prev:   \result == ring_before[x] && RingMade(\result);
    ensures  back:   ring_after[\result] == x;
*/
static inline uint32_t ring_prev(uint32_t x)
{
    return AT(ring_before, x);
}

/* Joins the rings of a and b, or cuts their common ring in two, before a and before b. */
/*@ requires ok:      RingOk;
    requires made:    RingMade(a) && RingMade(b);
    terminates        \true;
    exits             \false;
    assigns           ring_before[a], ring_before[b], ring_after[ring_before[a]], ring_after[ring_before[b]];
    ensures  ok:      RingOk;
    ensures  swapped: RingSwapped{Pre,Post}(a, b);
    ensures  made:    \forall integer x; RingMade(x) <==> \old(RingMade(x));
*/
static inline void ring_meld(uint32_t a, uint32_t b)
{
    uint32_t before_a = AT(ring_before, a);
    uint32_t before_b = AT(ring_before, b);
    AT(ring_after, before_a) = b;
    AT(ring_after, before_b) = a;
    AT(ring_before, a) = before_b;
    AT(ring_before, b) = before_a;
}

/* Puts x, which is alone, between a and the member before it. */
/*@ requires ok:     RingOk;
    requires made:   RingMade(a) && RingMade(x);
    requires alone:  ring_after[x] == x && a != x;
    terminates       \true;
    exits            \false;
    assigns          ring_before[a], ring_before[x], ring_after[x], ring_after[ring_before[a]];
    ensures  ok:     RingOk;
    ensures  next:   ring_after[x] == a && ring_before[a] == x;
    ensures  prev:   ring_before[x] == \old(ring_before[a]) && ring_after[\old(ring_before[a])] == x;
    ensures  made:   \forall integer y; RingMade(y) <==> \old(RingMade(y));
*/
static inline void ring_before_insert(uint32_t a, uint32_t x)
{
    ring_meld(a, x);
}

/* Puts x, which is alone, between a and the member after it. */
/*@ requires ok:     RingOk;
    requires made:   RingMade(a) && RingMade(x);
    requires alone:  ring_after[x] == x && a != x;
    terminates       \true;
    exits            \false;
    assigns          ring_before[ring_after[a]], ring_before[x], ring_after[x], ring_after[a];
    ensures  ok:     RingOk;
    ensures  prev:   ring_before[x] == a && ring_after[a] == x;
    ensures  next:   ring_after[x] == \old(ring_after[a]) && ring_before[\old(ring_after[a])] == x;
    ensures  made:   \forall integer y; RingMade(y) <==> \old(RingMade(y));
*/
static inline void ring_after_insert(uint32_t a, uint32_t x)
{
    ring_meld(AT(ring_after, a), x);
}

/* Takes x out of its ring; it is alone afterwards. */
/*@ requires ok:     RingOk;
    requires made:   RingMade(x);
    terminates       \true;
    exits            \false;
    assigns          ring_before[ring_after[x]], ring_before[x], ring_after[x], ring_after[ring_before[x]];
    ensures  ok:     RingOk;
    ensures  alone:  ring_after[x] == x && ring_before[x] == x;
    ensures  closed: \old(ring_after[x]) != x ==>
                       ring_after[\old(ring_before[x])] == \old(ring_after[x]) &&
                       ring_before[\old(ring_after[x])] == \old(ring_before[x]);
    ensures  made:   \forall integer y; RingMade(y) <==> \old(RingMade(y));
*/
static inline void ring_remove(uint32_t x)
{
    ring_meld(AT(ring_after, x), x);
}

/* Members of a's ring; length_max if there are not fewer. */
/*@ requires ok:     RingOk;
    requires made:   RingMade(a);
    terminates       \true;
    exits            \false;
    assigns          \nothing;
    ensures  most:   \result <= length_max;
    ensures  around: \result < length_max ==> RingNth(a, \result) == a && \result > 0;
    ensures  least:  \forall integer n; 0 < n < \result ==> RingNth(a, n) != a;
*/
uint32_t ring_length(uint32_t a, uint32_t length_max);

#endif
