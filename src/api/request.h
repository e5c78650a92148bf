/* request: the class of a request that has an alignment, and a block that gets the class of another request where it is. */
#ifndef QED_API_REQUEST_H
#define QED_API_REQUEST_H

#include "api/fill.h"
#include "math/size_class.h"
#include "tcache/counting.h"

/* Returns the class for a block that is aligned to align_bytes, a power of two, or SC_NSIZES where there is none. Up to PAGE the size is
 * rounded up to a multiple of align_bytes, and then the size of its class is a multiple too. */
/*@ requires power:    IsPowerOfTwo(align_bytes);
    assigns            \nothing;
    ensures  range:    \result <= SC_NSIZES;
    ensures  class:    \result < SC_NSIZES ==> ClassOf(AlignedSize(align_bytes, size), \result);
    ensures  fits:     \result < SC_NSIZES ==> size <= ScBytes(\result);
    ensures  whole:    \result < SC_NSIZES && align_bytes <= PAGE ==> ScBytes(\result) % align_bytes == 0;
    ensures  large:    align_bytes > PAGE ==> SC_NBINS <= \result;
    ensures  none:     \result == SC_NSIZES ==> SC_LARGE_MAXCLASS < align_bytes || SC_LARGE_MAXCLASS < size ||
                       SC_LARGE_MAXCLASS < AlignedSize(align_bytes, size);
*/
static inline uint32_t request_class(size_t align_bytes, size_t size)
{
    if (size > SC_LARGE_MAXCLASS) {
        return SC_NSIZES;
    }
    if (align_bytes > PAGE) {
        return align_bytes > SC_LARGE_MAXCLASS ? SC_NSIZES : size_class_index(size < SC_LARGE_MINCLASS ? SC_LARGE_MINCLASS : size);
    }
    uint64_t up = align_up(size == 0 ? 1 : size, align_bytes);
    uint32_t szind = size_class_index(up);
    /*@ ghost block_lemma_round(size == 0 ? 1 : size, align_bytes, up); */
    /*@ ghost if (szind < SC_NSIZES) { class_lemma_aligned(up, szind, align_bytes, class_lemma_exponent(align_bytes)); } */
    return szind;
}

/* Gives a large block another class where it is, and returns true. Returns false where it has to keep its own. A thread that counts has given
 * the block back then, and got another one. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    requires now:      bytes_now == BlockBytes(block);
    requires large:    SC_NBINS <= block_szind[block];
    requires class:    SC_NBINS <= szind < SC_NSIZES;
    assigns            LARGE_ASSIGNS, large_allocated, large_freed;
    ensures  ok:       MallocOk;
    ensures  live:     BlockLive(block);
    ensures  class:    block_szind[block] == (\result ? szind : \old(block_szind[block]));
    ENSURES_LIVE_KEPT(block, 0);
*/
static inline bool request_resize(uint64_t block, uint64_t bytes_now, uint32_t szind)
{
    bool done = block_resize(block, szind);
    if (done && counting_bytes(thread_cache)) {
        counter_give(COUNTING_PLACE(thread_cache), bytes_now);
        counting_take(thread_cache, size_class_bytes(szind)) /*@ ghost (block) */;
    }
    return done;
}

/* Gives the block that class where it is, and returns true. Returns false where it has to move. */
/*@ requires ok:       MallocOk;
    requires live:     BlockLive(block);
    requires now:      bytes_now == BlockBytes(block);
    requires class:    szind <= SC_NSIZES;
    assigns            BLOCKS_ASSIGNS, large_allocated, large_freed, user_mem[0 .. USER_END - 1];
    ensures  ok:       MallocOk;
    ensures  live:     BlockLive(block);
    ensures  class:    \result ==> szind < SC_NSIZES && block_szind[block] == szind;
    ensures  same:     !\result ==> block_szind[block] == \old(block_szind[block]);
    ensures  prefix:   PrefixKept{Pre,Post}(block, block, bytes_now);
    ENSURES_REST_KEPT(block, block);
*/
static __attribute__((noinline)) bool request_in_place(uint64_t block, uint64_t bytes_now, uint32_t szind)
{
    if (szind >= SC_NSIZES) {
        return false;
    }
    /*@ ghost block_lemma_injective(block_szind[block], szind); */
    if (size_class_bytes(szind) == bytes_now) {
        return true;
    }
    if (szind < SC_NBINS || bytes_now < SC_LARGE_MINCLASS) {
        return false;
    }
    /*@ ghost class_lemma_bounds(block_szind[block]); */
    bool done = request_resize(block, bytes_now, szind);
    if (done) {
        fill_grown(block, bytes_now, size_class_bytes(szind), modes_new_byte());
    }
    return done;
}

#endif
