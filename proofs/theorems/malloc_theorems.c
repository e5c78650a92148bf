/* What clients of the malloc family may rely on, proven from the contracts of malloc.h alone: each function is a client.
 * Never compiled into the library. */
#include "api/malloc.h"

/* Two blocks are disjoint. */
/*@ requires ok:     MallocOk;
    requires calm:   modes_xmalloc == 0;
    assigns          MALLOC_ASSIGNS, errno;
    ensures  ok:     MallocOk;
*/
static void malloc_theorem_disjoint(size_t m, size_t n)
{
    void *p = qed_malloc(m);
    void *q = qed_malloc(n);
    if (p != NULL && q != NULL) {
        /*@ assert live:  BlockLive(ADDR(p)) && BlockLive(ADDR(q)); */
        /*@ assert apart: ADDR(p) + m <= ADDR(q) || ADDR(q) + n <= ADDR(p); */
    }
}

/* The program's first calls, from the memory that it finds: those that have nothing to do leave it to the next one to boot. */
/*@ requires start:  ThreadStart;
    requires calm:   live_on == 0 && modes_xmalloc == 0;
    exits    boot:   !\old(thread_booted);
    assigns          MALLOC_ASSIGNS, errno, realloc_zero_count;
    ensures  ready:  MallocReady;
    ensures  none:   !BlockLive(ADDR(\result));
*/
static void *malloc_theorem_first(size_t m, size_t n)
{
    qed_free(NULL);
    size_t bytes = qed_malloc_usable_size(NULL);
    void *p = qed_realloc(NULL, m);
    void *q = qed_calloc(n, bytes + 1);
    if (p != NULL && q != NULL) {
        /*@ assert apart: ADDR(p) + m <= ADDR(q) || ADDR(q) + n <= ADDR(p); */
    }
    qed_free(q);
    return q;
}

/* malloc, then free: the heap is as before. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0 && modes_xmalloc == 0;
    assigns          MALLOC_ASSIGNS, errno;
    ensures  kept:   LiveKeptBut{Pre,Post}(0);
    ensures  only:   LiveNoneNewBut{Pre,Post}(0);
    ensures  same:   ContentsKeptBut{Pre,Post}(0);
*/
static void malloc_theorem_round_trip(size_t n)
{
    qed_free(qed_malloc(n));
}

/* A block that comes and goes does not touch one that stays. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0 && modes_xmalloc == 0;
    requires live:   BlockLive(ADDR(third));
    assigns          MALLOC_ASSIGNS, errno;
    ensures  live:   BlockLive(ADDR(third));
    ensures  bytes:  BlockBytes(ADDR(third)) == \old(BlockBytes(ADDR(third)));
    ensures  same:   BytesKept{Pre,Post}(ADDR(third));
*/
static void malloc_theorem_third_new(void *third, size_t n)
{
    void *q = qed_calloc(n, 8);
    /*@ assert after: BytesKept{Pre,Here}(ADDR(third)); */
    qed_free(q);
}

/* Nor does one that moves or grows, and goes. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0 && modes_xmalloc == 0 && modes_realloc_zero != MODES_REALLOC_ENDS;
    requires live:   BlockLive(ADDR(third)) && BlockLive(ADDR(p)) && ADDR(third) != ADDR(p);
    assigns          MALLOC_ASSIGNS, errno, realloc_zero_count;
    ensures  live:   BlockLive(ADDR(third));
    ensures  bytes:  BlockBytes(ADDR(third)) == \old(BlockBytes(ADDR(third)));
    ensures  same:   BytesKept{Pre,Post}(ADDR(third));
*/
static void malloc_theorem_third_moved(void *third, void *p, size_t n)
{
    void *r = qed_realloc(p, n);
    /*@ assert after: BytesKept{Pre,Here}(ADDR(third)); */
    /*@ assert stays: BlockLive(ADDR(third)) && block_szind[ADDR(third)] == \at(block_szind[ADDR(third)],Pre); */
    if (r != NULL) {
        /*@ assert other: ADDR(r) != ADDR(third); */
        /*@ ghost Moved: ; */
        qed_free(r);
        /*@ assert freed: BytesKept{Moved,Here}(ADDR(third)); */
    }
}

/* A failed realloc leaves the block byte for byte. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0 && modes_xmalloc == 0;
    requires live:   BlockLive(ADDR(p));
    requires some:   n != 0;
    assigns          MALLOC_ASSIGNS, errno, realloc_zero_count;
    ensures  live:   \result == NULL ==> BlockLive(ADDR(p));
    ensures  bytes:  \result == NULL ==> BlockBytes(ADDR(p)) == \old(BlockBytes(ADDR(p)));
    ensures  same:   \result == NULL ==> BytesKept{Pre,Post}(ADDR(p));
    ensures  errno:  \result == NULL ==> errno == ENOMEM;
*/
static void *malloc_theorem_realloc_fails(void *p, size_t n)
{
    return qed_realloc(p, n);
}

/* What the program wrote survives realloc, as far as both blocks reach. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0 && modes_xmalloc == 0;
    requires live:   BlockLive(ADDR(p));
    requires within: i < BlockBytes(ADDR(p)) && i < n;
    assigns          MALLOC_ASSIGNS, errno, realloc_zero_count;
    ensures  byte:   \result != NULL ==> user_mem[ADDR(\result) + i] == \old(user_mem[ADDR(p) + i]);
*/
static void *malloc_theorem_realloc_prefix(void *p, size_t n, size_t i)
{
    void *q = qed_realloc(p, n);
    /*@ assert at: q != NULL ==> ADDR(q) <= ADDR(q) + i < ADDR(q) + \min(\at(BlockBytes(ADDR(p)),Pre), n); */
    return q;
}

/* calloc: every byte is zero, and there is no block where the product overflows. */
/*@ requires ok:     MallocOk;
    requires calm:   modes_xmalloc == 0;
    requires within: i < count * size;
    assigns          MALLOC_ASSIGNS, errno;
    ensures  zero:   \result != NULL ==> user_mem[ADDR(\result) + i] == 0;
    ensures  large:  count * size > SIZE_MAX ==> \result == NULL && errno == ENOMEM;
*/
static void *malloc_theorem_calloc(size_t count, size_t size, size_t i)
{
    return qed_calloc(count, size);
}

/* Each entry point's result, given back to free as it is: what they promise is what free asks. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0 && modes_xmalloc == 0;
    assigns          MALLOC_ASSIGNS, errno;
    ensures  kept:   LiveKeptBut{Pre,Post}(0);
    ensures  only:   LiveNoneNewBut{Pre,Post}(0);
*/
static void malloc_theorem_free_all(size_t m, size_t n)
{
    void *p = qed_calloc(m, n);
    void *q = qed_aligned_alloc(m, n);
    qed_free(p);
    qed_free(q);
}

/* Sized free accepts what sized allocation gave. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0 && modes_xmalloc == 0;
    assigns          MALLOC_ASSIGNS, errno;
    ensures  kept:   LiveKeptBut{Pre,Post}(0);
    ensures  only:   LiveNoneNewBut{Pre,Post}(0);
*/
static void malloc_theorem_free_sized(size_t n)
{
    void *p = qed_malloc(n);
    qed_free_sized(p, n);
}

/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0 && modes_xmalloc == 0;
    requires power:  IsPowerOfTwo(a);
    assigns          MALLOC_ASSIGNS, errno;
    ensures  kept:   LiveKeptBut{Pre,Post}(0);
    ensures  only:   LiveNoneNewBut{Pre,Post}(0);
*/
static void malloc_theorem_free_aligned_sized(size_t a, size_t n)
{
    void *p = qed_aligned_alloc(a, n);
    qed_free_aligned_sized(p, a, n);
}

/* The usable size is that of the least class that fits, so at least what was asked. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0 && modes_xmalloc == 0;
    assigns          MALLOC_ASSIGNS, errno;
    ensures  least:  \result == 0 || n <= \result;
*/
static size_t malloc_theorem_usable(size_t n)
{
    void  *p = qed_malloc(n);
    size_t usable = qed_malloc_usable_size(p);
    /*@ assert class: p != NULL ==> usable == BlockBytes(ADDR(p)) && BlockOf(ADDR(p), n); */
    return usable;
}

/* posix_memalign leaves the caller's pointer alone when it fails, and errno always. */
/*@ requires ok:     MallocOk;
    requires calm:   modes_xmalloc == 0;
    requires valid:  \valid(p) && ThreadOutside(p);
    assigns          MALLOC_ASSIGNS, errno, *p;
    ensures  alone:  \result != 0 ==> *p == \old(*p);
    ensures  block:  \result == 0 ==> BlockLive(ADDR(*p)) && ADDR(*p) % a == 0 && n <= BlockBytes(ADDR(*p));
    ensures  errno:  errno == \old(errno);
*/
static int malloc_theorem_posix_memalign(void **p, size_t a, size_t n)
{
    return qed_posix_memalign(p, a, n);
}

/* Alignments of the other entry points; a request of more than 8 bytes is aligned to 16 by default. */
/*@ requires ok:     MallocOk;
    requires calm:   modes_xmalloc == 0;
    assigns          MALLOC_ASSIGNS, errno;
*/
static void malloc_theorem_aligned(size_t a, size_t n)
{
    void *p = qed_malloc(n);
    void *q = qed_memalign(a, n);
    void *r = qed_valloc(n);
    void *s = qed_pvalloc(n);
    /*@ assert malloc:   n > SC_QUANTUM / 2 ==> ADDR(p) % SC_QUANTUM == 0; */
    /*@ assert memalign: IsPowerOfTwo(a) ==> ADDR(q) % a == 0; */
    /*@ assert valloc:   ADDR(r) % PAGE == 0; */
    /*@ assert pvalloc:  ADDR(s) % PAGE == 0; */
}

/* malloc returns NULL only where the OS refuses memory during this very call, or where the ids of extents are used up: each call begins
 * with a ghost that says that nothing was refused. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0 && modes_xmalloc == 0;
    requires few:    m < ADDRESS_MAX / 4 && n < ADDRESS_MAX / 4 - 1;
    assigns          MALLOC_ASSIGNS, errno, realloc_zero_count;
    ensures  second: \result == NULL ==> os_refused != 0 || extent_count == TABLE_MAX - 1;
*/
static void *malloc_theorem_refused(size_t m, size_t n)
{
    /*@ ghost os_refused = 0; */
    void *p = qed_malloc(m);
    /*@ assert first: p == NULL ==> os_refused != 0 || extent_count == TABLE_MAX - 1; */
    /*@ ghost os_refused = 0; */
    return qed_realloc(p, n + 1);
}

/* Where the setting xmalloc is on, malloc returns a block or ends the program. */
/*@ requires ok:     MallocOk;
    requires on:     modes_xmalloc != 0;
    exits    out:    MallocOut(n, 1);
    assigns          MALLOC_ASSIGNS, errno;
    ensures  some:   \result != NULL;
*/
static void *malloc_theorem_xmalloc(size_t n)
{
    return qed_malloc(n);
}

/* A child's first call of malloc, right after the handlers of fork, is a call like any other. The blocks of the parent are the child's too,
 * with their bytes. It holds also where the process has one thread, and the handlers take no lock. */
/*@ requires ok:     MallocOk;
    requires calm:   modes_xmalloc == 0;
    requires outer:  fork_quiet == 0 && libc_stdio_held == 0;
    assigns          MALLOC_ASSIGNS, errno, fork_quiet, libc_stdio_held;
    ensures  ok:     MallocOk;
    ENSURES_NEW_BLOCK;
    ensures  class:  \result != NULL ==> BlockOf(ADDR(\result), n);
*/
static void *malloc_theorem_fork_child(size_t n)
{
    thread_fork_prepare();
    thread_fork_child();
    return qed_malloc(n);
}

/* After a fork the parent goes on: it frees a block that it had before. */
/*@ requires ok:     MallocOk;
    requires calm:   live_on == 0 && modes_xmalloc == 0;
    requires outer:  fork_quiet == 0 && libc_stdio_held == 0;
    requires live:   BlockLive(ADDR(p));
    assigns          MALLOC_ASSIGNS, errno, fork_quiet, libc_stdio_held;
    ensures  ok:     MallocOk;
    ensures  gone:   !BlockLive(ADDR(p));
    ENSURES_REST_KEPT(ADDR(p), 0);
*/
static void malloc_theorem_fork_parent(void *p)
{
    thread_fork_prepare();
    thread_fork_parent();
    qed_free(p);
}
