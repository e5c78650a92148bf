/* shape: which slots each stack of a cache has, and the reciprocal of its class. These functions are depot's own. */
#ifndef QED_TCACHE_SHAPE_H
#define QED_TCACHE_SHAPE_H

#include "platform/modes.h"
#include "tcache/depot.h"

#include "tcache/depot_lemmas.acsl"

#define TCACHE_BYTES 65536UL            /* a stack of a small class holds about this much at first */
#define TCACHE_BYTES_MAX 524288UL       /* and this much at most */
#define TCACHE_LARGE_BYTES 131072UL     /* what a stack of a large class holds at first */
#define TCACHE_LARGE_BYTES_MAX 4194304UL        /* and at most */

/* Returns how many blocks a stack has slots for, given the bytes that a stack of a small or large class may hold. */
/*@ requires stack:   0 < stack < TCACHE_STACKS;
    assigns           \nothing;
    ensures  some:    0 < \result <= TCACHE_DEPTH_MAX(stack);
    ensures  depth:   \result == TcacheDepth(stack, (stack <= SC_NBINS ? bytes_small : bytes_large) / ScBytes(stack - 1));
*/
static inline uint32_t shape_depth(uint32_t stack, uint64_t bytes_small, uint64_t bytes_large)
{
    uint64_t bytes = size_class_bytes(stack - 1);
    uint64_t most = (stack <= SC_NBINS ? bytes_small : bytes_large) / bytes;
    uint64_t least = stack <= SC_NBINS ? TCACHE_DEPTH_MIN : 1;
    return (uint32_t)(most < least ? least : most > TCACHE_DEPTH_MAX(stack) ? TCACHE_DEPTH_MAX(stack) : most);
}

/* Fills the table that tells the stack for each number of bytes, for all calls of the thread. */
/*@ requires valid:   \valid(t);
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    assigns           t->stack_of[0 .. SC_LOOKUP_MAX], TCACHE_ASSIGNS_ENDS(t);
    ensures  lookup:  TcacheLookup(t);
*/
static inline void shape_lookup(struct tcache *t)
{
    /*@ loop invariant range: 0 <= bytes <= SC_LOOKUP_MAX + 1;
        loop invariant bins:  \forall integer n; 0 <= n < bytes ==> 0 < t->stack_of[n] <= SC_NBINS;
        loop invariant fits:  \forall integer n; 0 <= n < bytes ==> ClassFits(n, t->stack_of[n] - 1);
        loop invariant least: \forall integer n; 0 <= n < bytes ==> ClassLeast(n, t->stack_of[n] - 1);
        loop assigns   bytes, t->stack_of[0 .. SC_LOOKUP_MAX];
        loop variant   SC_LOOKUP_MAX + 1 - bytes;
    */
    for (uint64_t bytes = 0; bytes <= SC_LOOKUP_MAX; bytes++) {
        t->stack_of[bytes] = (uint8_t)(size_class_lookup(bytes) + 1);
    }
    t->lookup_end = TCACHE_LOOKUP_END;
    t->paced_end = 0;
    t->counted_end = 0;
    t->checked_end = 0;
}

/* Gives stack b the bottom slot floor, a depth to begin with, and one that it may reach. A stack of depth 0 has no room. */
/*@ requires valid:   \valid(t);
    requires stack:   b < TCACHE_STACKS && (b == 0 ==> depth == 0);
    requires slots:   depth <= depth_max && floor + depth_max < TCACHE_SLOTS && (depth == 0 ==> depth_max == 0);
    requires bytes:   DepotBytes && DepotMagic;
    assigns           STACK_ASSIGNS_SHAPE(t, b);
    ensures  floor:   t->floor[b] == floor && t->top[b] == floor;
    ensures  limit:   t->limit[b] == t->least[b] == floor + depth;
    ensures  most:    t->most[b] == t->room[b] == floor + depth_max;
    ensures  none:    depth == 0 ==> t->magic[b] == 0;
    ENSURES_MAGIC(t, b);
*/
static inline void shape_one(struct tcache *t, uint32_t b, uint32_t floor, uint32_t depth, uint32_t depth_max)
{
    t->floor[b] = floor;
    t->top[b] = floor;
    t->least[b] = floor + depth;
    t->limit[b] = (uint16_t)(floor + depth);
    t->most[b] = floor + depth_max;
    t->room[b] = floor + depth_max;
    t->magic[b] = depth > 0 ? tcache_magic[b] : 0;
    t->negated[b] = tag_negate(t->magic[b]);
}

/* Gives stack b the room that its class asks for, or none where the settings say so. Returns the bottom slot for the next stack. */
/*@ requires valid:   \valid(t);
    requires stack:   0 < b < TCACHE_STACKS;
    requires slots:   floor + TCACHE_DEPTH_MAX(b) < TCACHE_SLOTS;
    requires bytes:   DepotBytes && DepotMagic;
    assigns           STACK_ASSIGNS_SHAPE(t, b);
    ensures  floor:   t->floor[b] == floor && t->top[b] == floor;
    ensures  limit:   t->floor[b] <= t->limit[b] == t->least[b] <= t->most[b] == t->room[b];
    ensures  some:    t->least[b] == t->floor[b] ==> t->room[b] == t->floor[b];
    ensures  room:    t->room[b] < \result <= floor + TCACHE_DEPTH_MAX(b) + 1;
    ENSURES_MAGIC(t, b);
*/
static inline uint32_t shape_room(struct tcache *t, uint32_t b, uint32_t floor)
{
    if (!modes_keeps(b)) {
        shape_one(t, b, floor, 0, 0);
        return floor + 1;
    }
    uint32_t depth = shape_depth(b, TCACHE_BYTES, TCACHE_LARGE_BYTES);
    uint32_t depth_max = shape_depth(b, TCACHE_BYTES_MAX, TCACHE_LARGE_BYTES_MAX);
    /*@ ghost depot_lemma_depth(b, tcache_bytes[b], TCACHE_BYTES, TCACHE_BYTES_MAX); */
    /*@ ghost depot_lemma_depth(b, tcache_bytes[b], TCACHE_LARGE_BYTES, TCACHE_LARGE_BYTES_MAX); */
    shape_one(t, b, floor, depth, depth_max);
    return floor + depth_max + 1;
}

/* Gives stack b its room, above the stacks before it. Returns the bottom slot for the next stack. */
/*@ requires valid:   \valid(t);
    requires stack:   0 < b < TCACHE_STACKS;
    requires floor:   0 < floor <= TCACHE_SLOTS_TO(b);
    requires bytes:   DepotBytes && DepotMagic;
    SHAPED(requires, t, b);
    requires below:   ShapedBelow(t, b, floor);
    requires apart:   ShapedApart(t, b);
    assigns           STACK_ASSIGNS_SHAPE(t, b);
    ensures  floor:   0 < \result <= TCACHE_SLOTS_TO(b + 1);
    SHAPED(ensures, t, b + 1);
    ensures  below:   ShapedBelow(t, b + 1, \result);
    ensures  apart:   ShapedApart(t, b + 1);
*/
static inline uint32_t shape_stack(struct tcache *t, uint32_t b, uint32_t floor)
{
    uint32_t next = shape_room(t, b, floor);
    /*@ assert floors: ShapedFloorSame{Pre,Here}(t, b); */
    /*@ assert rooms:  ShapedRoomSame{Pre,Here}(t, b); */
    /*@ assert magics: ShapedMagicSame{Pre,Here}(t, b); */
    /*@ assert negated: ShapedNegatedSame{Pre,Here}(t, b); */
    return next;
}

/* Gives a zero cache its shape. */
/*@ requires valid:   \valid(t);
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    requires zero:    TcacheZero(t);
    requires bytes:   DepotBytes && DepotMagic;
    assigns           t->stack_of[0 .. SC_LOOKUP_MAX], TCACHE_ASSIGNS_ENDS(t), TCACHE_ASSIGNS_SHAPE(t);
    ensures  limits:  TcacheLimits(t);
    ensures  apart:   TcacheApart(t);
    ensures  magic:   TcacheNoStack(t) && TcacheMagic(t);
    ensures  bytes:   TcacheBytes(t);
    ensures  negated: TcacheNegated(t);
    ensures  lookup:  TcacheLookup(t);
    ensures  bottom:  TcacheBottom(t);
    ensures  fill:    TcacheFill(t);
    ensures  turn:    TcacheTurn(t);
    ensures  window:  TCACHE_NO_PAGES(t);
*/
static inline void shape_cache(struct tcache *t)
{
    uint32_t floor = 1;
    shape_lookup(t);
    shape_one(t, 0, 0, 0, 0);
    /*@ loop invariant range:   1 <= b <= TCACHE_STACKS && 0 < floor <= TCACHE_SLOTS_TO(b);
        SHAPED(loop invariant, t, b);
        loop invariant below:   ShapedBelow(t, b, floor);
        loop invariant apart:   ShapedApart(t, b);
        loop assigns   b, floor, TCACHE_ASSIGNS_SHAPE(t);
        loop variant   TCACHE_STACKS - b;
    */
    for (uint32_t b = 1; b < TCACHE_STACKS; b++) {
        floor = shape_stack(t, b, floor);
    }
    /*@ assert slots: \forall integer i; 0 <= i < TCACHE_SLOTS ==> t->slot[i] == 0; */
    /*@ assert tops: TcacheTops(t); */
    /*@ assert floors: TcacheFloors(t); */
    /*@ ghost depot_lemma_apart(t); */
}

/* Makes a stand-in of static memory: no stack has room, and the table is empty, so that all calls come to the slow paths. It does not count
 * (counting.h). */
/*@ requires valid:   \valid(t);
    requires static:  TcacheStatic(t);
    assigns           t->lookup_end;
    ensures  standin: TcacheStandin(t);
    ensures  counts:  t->lookup_end != 0;
*/
static inline void shape_standin(struct tcache *t)
{
    t->lookup_end = TCACHE_LOOKUP_END;              /* all sizes find stack 0 */
    /*@ assert lookup: TcacheLookup(t); */
    /*@ assert shape: TcacheShape(t); */
    /*@ assert bottom: TcacheBottom(t); */
}

#endif
