/* What clients of the extended API may rely on, proven from the contracts of mallocx.h and malloc.h alone: each function is a client. Never
 * compiled into the library. A call that names an explicit cache may end the program; no other does, while check_free is off. */
#include "api/mallocx.h"

/* xallocx never moves: the block stays live at its address, and keeps what it had as far as it reaches then. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0 && modes_xmalloc == 0;
    requires live:   BlockLive(ADDR(p));
    requires within: i < BlockBytes(ADDR(p));
    assigns          MALLOC_ASSIGNS, errno;
    ensures  live:   BlockLive(ADDR(p)) && \result == BlockBytes(ADDR(p));
    ensures  byte:   i < \result ==> user_mem[ADDR(p) + i] == \old(user_mem[ADDR(p) + i]);
    ensures  errno:  errno == \old(errno);
*/
static size_t mallocx_theorem_xallocx(void *p, size_t n, size_t extra, int flags, size_t i)
{
    return qed_xallocx(p, n, extra, flags);
}

/* rallocx keeps the prefix. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0 && modes_xmalloc == 0;
    requires live:   BlockLive(ADDR(p));
    requires within: i < BlockBytes(ADDR(p)) && i < n;
    exits    cache:  FlagsExplicit(flags);
    assigns          MALLOC_ASSIGNS, errno;
    ensures  byte:   \result != NULL ==> user_mem[ADDR(\result) + i] == \old(user_mem[ADDR(p) + i]);
*/
static void *mallocx_theorem_rallocx_prefix(void *p, size_t n, int flags, size_t i)
{
    void *q = qed_rallocx(p, n, flags);
    /*@ assert at: q != NULL ==> ADDR(q) <= ADDR(q) + i < ADDR(q) + \min(\at(BlockBytes(ADDR(p)),Pre), BlockBytes(ADDR(q))); */
    return q;
}

/* A failed rallocx leaves the block byte for byte. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0 && modes_xmalloc == 0;
    requires live:   BlockLive(ADDR(p));
    exits    cache:  FlagsExplicit(flags);
    assigns          MALLOC_ASSIGNS, errno;
    ensures  live:   \result == NULL ==> BlockLive(ADDR(p));
    ensures  bytes:  \result == NULL ==> BlockBytes(ADDR(p)) == \old(BlockBytes(ADDR(p)));
    ensures  same:   \result == NULL ==> BytesKept{Pre,Post}(ADDR(p));
    ensures  errno:  \result == NULL ==> errno == ENOMEM;
*/
static void *mallocx_theorem_rallocx_fails(void *p, size_t n, int flags)
{
    return qed_rallocx(p, n, flags);
}

/* nallocx tells what mallocx will give. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0 && modes_xmalloc == 0;
    exits    cache:  FlagsExplicit(flags);
    assigns          MALLOC_ASSIGNS, errno;
*/
static size_t mallocx_theorem_nallocx(size_t n, int flags)
{
    size_t told = qed_nallocx(n, flags);
    void  *p = qed_mallocx(n, flags);
    size_t usable = qed_sallocx(p, flags);
    /*@ assert told: p != NULL && told != 0 ==> usable == told; */
    return usable;
}

/* sdallocx takes what mallocx gave, and the heap is as before. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0 && modes_xmalloc == 0;
    exits    cache:  FlagsExplicit(flags);
    assigns          MALLOC_ASSIGNS, errno;
    ensures  kept:   LiveKeptBut{Pre,Post}(0);
    ensures  only:   LiveNoneNewBut{Pre,Post}(0);
    ensures  same:   ContentsKeptBut{Pre,Post}(0);
*/
static void mallocx_theorem_sdallocx(size_t n, int flags)
{
    void *p = qed_mallocx(n, flags);
    qed_sdallocx(p, n, flags);
}

/* MALLOCX_ZERO: every usable byte is zero. */
/*@ requires ok:     MallocOk;
    requires calm:   modes_xmalloc == 0;
    requires zero:   FlagsZero(flags);
    requires within: i < n;
    exits    cache:  FlagsExplicit(flags);
    assigns          MALLOC_ASSIGNS, errno;
    ensures  zero:   \result != NULL ==> user_mem[ADDR(\result) + i] == 0;
*/
static void *mallocx_theorem_zero(size_t n, int flags, size_t i)
{
    void *p = qed_mallocx(n, flags);
    /*@ assert at: p != NULL ==> ADDR(p) <= ADDR(p) + i < ADDR(p) + BlockBytes(ADDR(p)); */
    return p;
}
