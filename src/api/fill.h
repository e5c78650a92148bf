/* fill: blocks whose bytes are given a value when the program gets them or frees them, where a setting asks for that (platform/modes.h).
 *
 * A thread that fills what it allocates finds no stack for any size (tcache/counting.h), and has a countdown that is always over, so
 * that malloc's and calloc's fast paths find nothing. A thread that fills what it frees knows no window, so that free's find nothing. Each of
 * its calls comes to the slow paths, which fill here.
 */
#ifndef QED_API_FILL_H
#define QED_API_FILL_H

#include "api/block.h"
#include "platform/modes.h"
#include "tcache/counting.h"

/* Has the calls of the thread seen as far as a mode asks now. */
/*@ TCACHE_CALM(requires, t);
    assigns            TCACHE_ASSIGNS_PAGES(t), TCACHE_ASSIGNS_ENDS(t);
    TCACHE_CALM(ensures, t);
    TCACHE_NONE_LOST(ensures, t);
*/
static inline void fill_meet(struct tcache *t)
{
    counting_modes(t);
    /*@ assert radix: RadixOk; */
    /*@ assert cache: PageCacheOk; */
    /*@ ghost large_lemma_ok(); */
    /*@ assert window: TcacheWindow(t); */
    /*@ ghost tcache_lemma_ok(t); */
}

/* Fills a block that the program gets with the byte, if it is one. *zeroed tells whether its pages are zero as the OS gave them. */
/*@ requires blocks:   BlocksOk;
    requires live:     BlockLive(block);
    requires bytes:    bytes == BlockBytes(block);
    requires byte:     MODES_NO_BYTE <= byte <= UINT8_MAX;
    requires zeroed:   \valid(zeroed);
    requires zero:     *zeroed != 0 ==> OsZeroRun(block, block + bytes);
    assigns            user_mem[0 .. USER_END - 1], os_zero_over, *zeroed;
    ensures  filled:   byte != MODES_NO_BYTE ==> Filled(block, block + bytes, byte);
    ensures  zero:     *zeroed != 0 ==> OsZeroRun(block, block + bytes);
    ensures  contents: ContentsKeptBut{Pre,Post}(block);
    ensures  outside:  BytesKeptBeside{Pre,Post}(block, block + bytes);
*/
static inline void fill_new(uint64_t block, uint64_t bytes, int32_t byte, bool *zeroed)
{
    /*@ ghost block_lemma_ends(); */
    /*@ ghost block_lemma_found(block, bytes); */
    if (byte == 0) {
        user_zero(block, bytes, *zeroed);
    } else if (byte != MODES_NO_BYTE) {
        user_fill(block, bytes, (uint8_t)byte);
        *zeroed = false;
    }
}

/* Fills what a block that has grown where it is has beyond its old bytes. */
/*@ requires blocks:   BlocksOk;
    requires live:     BlockLive(block);
    requires bytes:    bytes == BlockBytes(block);
    requires byte:     MODES_NO_BYTE <= byte <= UINT8_MAX;
    assigns            user_mem[0 .. USER_END - 1], os_zero_over;
    ensures  filled:   byte != MODES_NO_BYTE ==> Filled(block + bytes_was, block + bytes, byte);
    ensures  prefix:   PrefixKept{Pre,Post}(block, block, bytes_was);
    ensures  contents: ContentsKeptBut{Pre,Post}(block);
    ensures  outside:  BytesKeptBeside{Pre,Post}(block, block + bytes);
*/
static inline void fill_grown(uint64_t block, uint64_t bytes_was, uint64_t bytes, int32_t byte)
{
    /*@ ghost block_lemma_ends(); */
    /*@ ghost block_lemma_found(block, bytes); */
    if (byte != MODES_NO_BYTE && bytes_was < bytes) {
        user_fill(block + bytes_was, bytes - bytes_was, (uint8_t)byte);
    }
}

/* Fills a block that the program frees with the byte. What is no block ends the program, as in free. */
/*@ requires ok:       MallocOk;
    requires mine:     t == thread_cache;
    requires live:     BlockLive(block);
    assigns            MALLOC_ASSIGNS;
    ensures  ok:       MallocOk;
    ensures  mine:     t == thread_cache;
    ensures  live:     BlockLive(block);
    ensures  filled:   Filled(block, block + BlockBytes(block), byte);
    ENSURES_REST_KEPT(block, 0);
*/
static __attribute__((noinline, cold)) void fill_freed(struct tcache *t, uint64_t block, uint8_t byte, const char *call)
{
    fill_meet(t);
    uint64_t bytes = block_usable(block, call);
    /*@ ghost block_lemma_ends(); */
    /*@ ghost block_lemma_found(block, bytes); */
    user_fill(block, bytes, byte);
}

#endif
