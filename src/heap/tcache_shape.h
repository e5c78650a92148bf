/* tcache_shape: which stack of a cache has which slots, and what it can tell of a class. Static functions of tcache_threads. */
#ifndef QED_HEAP_TCACHE_SHAPE_H
#define QED_HEAP_TCACHE_SHAPE_H

#include "heap/tcache_threads.h"

#include "tcache_threads_lemmas.acsl"

#define TCACHE_BYTES 65536UL            /* a stack holds about this much, within the two depths below */
#define TCACHE_BYTES_MAX 524288UL       /* and this much where the thread swings */
#define TCACHE_LARGE_BYTES 131072UL     /* the same for large classes */
#define TCACHE_LARGE_BYTES_MAX 4194304UL

/* Blocks of that bin in so many bytes. */
/*@ requires bin:     0 < bin < TCACHE_BINS;
    terminates        \true;
    exits             \false;
    assigns           \nothing;
    ensures  some:    0 < \result <= TCACHE_DEPTH_MAX;
    ensures  depth:   \result == TcacheDepth(bin, (bin <= SC_NBINS ? bytes_small : bytes_large) / ScBytes(bin - 1));
*/
static inline uint32_t tcache_depth(uint32_t bin, uint64_t bytes_small, uint64_t bytes_large)
{
    uint64_t bytes = size_class_bytes(bin - 1);
    uint64_t most = (bin <= SC_NBINS ? bytes_small : bytes_large) / bytes;
    uint64_t least = bin <= SC_NBINS ? TCACHE_DEPTH_MIN : 1;
    return (uint32_t)(most < least ? least : most > TCACHE_DEPTH_MAX ? TCACHE_DEPTH_MAX : most);
}

/*@ requires valid:   \valid(t);
    requires table:   SizeClassTable(SC_LOOKUP_MAX / SC_TINY + 1);
    terminates        \true;
    exits             \false;
    assigns           t->bin_of[0 .. SC_LOOKUP_MAX];
    ensures  lookup:  TcacheLookup(t);
*/
static inline void tcache_shape_lookup(struct tcache *t)
{
    /*@ loop invariant range: 0 <= bytes <= SC_LOOKUP_MAX + 1;
        loop invariant bins:  \forall integer n; 0 <= n < bytes ==> 0 < t->bin_of[n] <= SC_NBINS;
        loop invariant fits:  \forall integer n; 0 <= n < bytes ==> ClassFits(n, t->bin_of[n] - 1);
        loop invariant least: \forall integer n; 0 <= n < bytes ==> ClassLeast(n, t->bin_of[n] - 1);
        loop assigns   bytes, t->bin_of[0 .. SC_LOOKUP_MAX];
        loop variant   SC_LOOKUP_MAX + 1 - bytes;
    */
    for (uint64_t bytes = 0; bytes <= SC_LOOKUP_MAX; bytes++) {
        t->bin_of[bytes] = (uint8_t)(size_class_lookup(bytes) + 1);
    }
}

/* The stack of bin b begins at that slot, with slots for so many blocks; 0: none. */
/*@ requires valid:   \valid(t);
    requires bin:     b < TCACHE_BINS && (b == 0 ==> depth == 0);
    requires slots:   depth <= depth_max && floor + depth_max < TCACHE_SLOTS && (depth == 0 ==> depth_max == 0);
    requires bytes:   ThreadsBytes && ThreadsMagic;
    terminates        \true;
    exits             \false;
    assigns           t->floor[b], t->top[b], t->least[b], t->limit[b], t->room[b], t->magic[b], t->negated[b];
    ensures  floor:   t->floor[b] == floor && t->top[b] == floor;
    ensures  limit:   t->limit[b] == t->least[b] == floor + depth;
    ensures  room:    t->room[b] == floor + depth_max;
    ensures  none:    depth == 0 ==> t->magic[b] == 0;
    ensures  magic:   t->magic[b] != 0 ==> 0 < b && t->magic[b] <= DIVIDE_ONE / SC_TINY && DivideMagic(t->magic[b], ScBytes(b - 1));
    ensures  negated: t->negated[b] == WORD_NEGATED(t->magic[b]);
*/
static inline void tcache_shape_bin(struct tcache *t, uint32_t b, uint32_t floor, uint32_t depth, uint32_t depth_max)
{
    t->floor[b] = floor;
    t->top[b] = floor;
    t->least[b] = floor + depth;
    t->limit[b] = (uint16_t)(floor + depth);
    t->room[b] = floor + depth_max;
    t->magic[b] = depth > 0 ? tcache_magic[b] : 0;
    t->negated[b] = word_negate(t->magic[b]);
}

/* Its stack in a cache that has room: where the next one begins. */
/*@ requires valid:   \valid(t);
    requires bin:     0 < b < TCACHE_BINS;
    requires slots:   floor + TCACHE_DEPTH_MAX < TCACHE_SLOTS;
    requires bytes:   ThreadsBytes && ThreadsMagic;
    terminates        \true;
    exits             \false;
    assigns           t->floor[b], t->top[b], t->least[b], t->limit[b], t->room[b], t->magic[b], t->negated[b];
    ensures  floor:   t->floor[b] == floor && t->top[b] == floor;
    ensures  limit:   t->floor[b] < t->limit[b] == t->least[b] <= t->room[b];
    ensures  room:    t->room[b] < \result <= floor + TCACHE_DEPTH_MAX + 1;
    ensures  magic:   t->magic[b] != 0 ==> 0 < b && t->magic[b] <= DIVIDE_ONE / SC_TINY && DivideMagic(t->magic[b], ScBytes(b - 1));
    ensures  negated: t->negated[b] == WORD_NEGATED(t->magic[b]);
*/
static inline uint32_t tcache_shape_room(struct tcache *t, uint32_t b, uint32_t floor)
{
    uint32_t depth = tcache_depth(b, TCACHE_BYTES, TCACHE_LARGE_BYTES);
    uint32_t depth_max = tcache_depth(b, TCACHE_BYTES_MAX, TCACHE_LARGE_BYTES_MAX);
    /*@ ghost tcache_lemma_depth(b, tcache_bytes[b], TCACHE_BYTES, TCACHE_BYTES_MAX); */
    /*@ ghost tcache_lemma_depth(b, tcache_bytes[b], TCACHE_LARGE_BYTES, TCACHE_LARGE_BYTES_MAX); */
    tcache_shape_bin(t, b, floor, depth, depth_max);
    return floor + depth_max + 1;
}

/* One more stack with room, above the ones before it: where the next one begins. */
/*@ requires valid:   \valid(t);
    requires bin:     0 < b < TCACHE_BINS;
    requires floor:   0 < floor <= b * (TCACHE_DEPTH_MAX + 1);
    requires bytes:   ThreadsBytes && ThreadsMagic;
    requires limits:  ShapedLimits(t, b);
    requires some:    ShapedSome(t, b);
    requires below:   ShapedBelow(t, b, floor);
    requires apart:   ShapedApart(t, b);
    requires bottom:  TcacheEmptyTo(t, b);
    requires no_bin:  TcacheNoBin(t);
    requires magic:   ShapedMagic(t, b);
    requires negated: ShapedNegated(t, b);
    terminates        \true;
    exits             \false;
    assigns           t->floor[b], t->top[b], t->least[b], t->limit[b], t->room[b], t->magic[b], t->negated[b];
    ensures  floor:   0 < \result <= (b + 1) * (TCACHE_DEPTH_MAX + 1);
    ensures  limits:  ShapedLimits(t, b + 1);
    ensures  some:    ShapedSome(t, b + 1);
    ensures  below:   ShapedBelow(t, b + 1, \result);
    ensures  apart:   ShapedApart(t, b + 1);
    ensures  bottom:  TcacheEmptyTo(t, b + 1);
    ensures  no_bin:  TcacheNoBin(t);
    ensures  magic:   ShapedMagic(t, b + 1);
    ensures  negated: ShapedNegated(t, b + 1);
*/
static inline uint32_t tcache_shape_stack(struct tcache *t, uint32_t b, uint32_t floor)
{
    uint32_t next = tcache_shape_room(t, b, floor);
    /*@ assert floors: ShapedFloorSame{Pre,Here}(t, b); */
    /*@ assert rooms:  ShapedRoomSame{Pre,Here}(t, b); */
    /*@ assert magics: ShapedMagicSame{Pre,Here}(t, b); */
    /*@ assert negated: ShapedNegatedSame{Pre,Here}(t, b); */
    return next;
}

/* One more stack without room. */
/*@ requires valid:   \valid(t);
    requires bin:     0 < b < TCACHE_BINS;
    requires bytes:   ThreadsBytes && ThreadsMagic;
    requires limits:  ShapedLimits(t, b);
    requires some:    ShapedSome(t, b);
    requires none:    ShapedNone(t, b);
    requires bottom:  TcacheEmptyTo(t, b);
    requires no_bin:  TcacheNoBin(t);
    requires magic:   ShapedMagic(t, b);
    requires negated: ShapedNegated(t, b);
    terminates        \true;
    exits             \false;
    assigns           t->floor[b], t->top[b], t->least[b], t->limit[b], t->room[b], t->magic[b], t->negated[b];
    ensures  limits:  ShapedLimits(t, b + 1);
    ensures  some:    ShapedSome(t, b + 1);
    ensures  none:    ShapedNone(t, b + 1);
    ensures  bottom:  TcacheEmptyTo(t, b + 1);
    ensures  no_bin:  TcacheNoBin(t);
    ensures  magic:   ShapedMagic(t, b + 1);
    ensures  negated: ShapedNegated(t, b + 1);
*/
static inline void tcache_shape_hollow(struct tcache *t, uint32_t b)
{
    tcache_shape_bin(t, b, 0, 0, 0);
    /*@ assert floors: ShapedFloorSame{Pre,Here}(t, b); */
    /*@ assert rooms:  ShapedRoomSame{Pre,Here}(t, b); */
    /*@ assert magics: ShapedMagicSame{Pre,Here}(t, b); */
    /*@ assert negated: ShapedNegatedSame{Pre,Here}(t, b); */
}

#endif
