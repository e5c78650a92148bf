/* os: every call into the operating system that the allocator makes. os_linux.c makes the real ones. os_fake.c is a
 * deterministic operating system for tests and fuzzing. The linker decides which of them serves.
 *
 * Addresses and lengths are multiples of PAGE. Functions return failures as values and never touch errno.
 */
#ifndef QED_PLATFORM_OS_H
#define QED_PLATFORM_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config.h"

/*@ ghost uint8_t os_mapped[PAGE_COUNT_MAX]; */         /* page number -> mapped by os_map */

/*@ ghost uint32_t os_mapped_for[PAGE_COUNT_MAX]; */    /* page number -> the page cache that os_map has mapped it for */

/* What pages hold: page number -> 1 if the page read as zero when this thread last took the lock of the pages, or if the OS has made it zero
 * since. So it is known of free pages, and of those that this thread has taken since. It is not known of other pages in use, which
 * the program and other threads write to all the time. */
/*@ ghost uint8_t os_zero[PAGE_COUNT_MAX]; */
/*@ ghost uint8_t os_zero_over; */                      /* 0 if this thread has written to no block since */

/* What the page cache says of each page: the state of the extent that owns it, 0 if none does (pages/extent.h). */
/*@ ghost uint8_t ext_page_state[PAGE_COUNT_MAX]; */
#define OS_PAGE_ACTIVE 1U                               /* the first state of pages in use, one for each page cache */
#define OS_PAGE_BUSY (1U + PAGE_CACHES)                 /* the first state of pages that the caller alone may touch, one for each page cache */

/* The pages of the last request that the OS has refused, where one for metadata counts as one page. 0 if it has refused none. What the
 * setting limit_hard does not allow, and addresses that the library cannot use, count as refused. Only the contracts of this folder change
 * the variable, and no code reads it. So what is proven for each value at the beginning of a call holds for 0 too, and then a value above 0
 * says that the OS refused during this very call. */
/*@ ghost uint64_t os_refused; */

/* How purges have ended since a caller has set these variables to 0. os_kept is 1 if the OS has refused to take pages, and os_gone counts the
 * pages that it has taken, up to UINT64_MAX. Where a lazy purge is refused, the caller may ask once more. No code reads them. */
/*@ ghost uint8_t os_kept; */
/*@ ghost uint64_t os_gone; */

/*@ predicate OsZeroPages{L}(integer from, integer to) = \forall integer p; from <= p < to ==> os_zero[p] == 1;

    // No byte has been written since on the pages that have the addresses from .. to - 1, and they were zero.
    predicate OsZeroRun{L}(integer from, integer to) = os_zero_over == 0 &&
        \forall integer p; from - PAGE < p * PAGE < to ==> os_zero[p] == 1;
*/

/* Functions of the program may stand for the OS where pages of a page cache are concerned (hooks.h). */

/* Returns the first page number of fresh zero pages for the page cache, 0 if there are none. */
/*@ requires some:    0 < npages < PAGE_COUNT_MAX;
    requires cache:   cache < PAGE_CACHES;
    assigns           os_mapped[0 .. PAGE_COUNT_MAX - 1], os_mapped_for[0 .. PAGE_COUNT_MAX - 1], os_zero[0 .. PAGE_COUNT_MAX - 1],
                      os_refused;
    ensures  refused: os_refused == (\result == 0 ? npages : \old(os_refused));
    ensures  in:      \result == 0 || (0 < \result && \result + npages <= PAGE_COUNT_MAX);
    ensures  fresh:   \result != 0 ==> \forall integer p; \result <= p < \result + npages ==> \old(os_mapped[p]) == 0;
    ensures  mapped:  \result != 0 ==> \forall integer p; \result <= p < \result + npages ==> os_mapped[p] == 1;
    ensures  whose:   \result != 0 ==> \forall integer p; \result <= p < \result + npages ==> os_mapped_for[p] == cache;
    ensures  zero:    \result != 0 ==> OsZeroPages(\result, \result + npages);
    ensures  rest:    \forall integer p; 0 <= p < PAGE_COUNT_MAX && !(\result != 0 && \result <= p < \result + npages)
                          ==> os_mapped[p] == \old(os_mapped[p]) && os_mapped_for[p] == \old(os_mapped_for[p]) && os_zero[p] == \old(os_zero[p]);
*/
uint64_t os_map(uint32_t cache, uint64_t npages);

/* Gives pages of the page cache back, addresses and all. Returns false, and leaves them as they are, if hooks refuse, as they may unless the
 * pages must go. */
/*@ requires in:      0 < npages && page + npages <= PAGE_COUNT_MAX;
    requires cache:   cache < PAGE_CACHES;
    requires mapped:  \forall integer p; page <= p < page + npages ==> os_mapped[p] == 1;
    requires whose:   \forall integer p; page <= p < page + npages ==> os_mapped_for[p] == cache;
    requires nobodys: \forall integer p; page <= p < page + npages ==> ext_page_state[p] == 0;
    assigns           os_mapped[page .. page + npages - 1];
    ensures  must:    must ==> \result;
    ensures  gone:    \result ==> \forall integer p; page <= p < page + npages ==> os_mapped[p] == 0;
    ensures  kept:    !\result ==> \forall integer p; page <= p < page + npages ==> os_mapped[p] == 1;
*/
bool os_unmap(uint32_t cache, uint64_t page, uint64_t npages, bool must);

/* Returns whether the page cache has hooks to which pages go back that are free for long. */
/*@ requires cache:   cache < PAGE_CACHES;
    assigns           \nothing;
*/
bool os_takes_back(uint32_t cache);

/* Tells the hooks of the page cache, if there are any, that extents of so many pages are one now, or that one has become two. */
/*@ requires cache:   cache < PAGE_CACHES;
    assigns           \nothing;
*/
void os_tell_seam(uint32_t cache, uint64_t page, uint64_t npages, uint64_t npages_behind, bool joined);

/* Gives the memory of these pages of the page cache back to the OS, so that their content is lost. If lazily, reads see the old content
 * until the OS takes the pages. Otherwise reads see zero at once. Pages that the program has locked in memory stay, with zero bytes. Returns
 * false if the OS refuses. */
/*@ requires in:      0 < npages && page + npages <= PAGE_COUNT_MAX;
    requires cache:   cache < PAGE_CACHES;
    requires busy:    \forall integer p; page <= p < page + npages ==> ext_page_state[p] == OS_PAGE_BUSY + cache;
    assigns           os_zero[page .. page + npages - 1], os_kept, os_gone;
    ensures  zero:    \result && !lazily ==> OsZeroPages(page, page + npages);
    ensures  kept:    os_kept == (\result || lazily ? \old(os_kept) : 1);
    ensures  gone:    os_gone == (\result ? \min(\old(os_gone) + npages, UINT64_MAX) : \old(os_gone));
*/
bool os_purge(uint32_t cache, uint64_t page, uint64_t npages, bool lazily);

/* Gives the memory of pages of metadata back to the OS. Reads see zero, or the old content if the OS refuses. */
void os_purge_metadata(uint64_t page, uint64_t npages);


/* Gives the memory of pages of a slab of the page cache back to the OS, so that reads see zero. The slab goes on owning them, and they come
 * back when they are touched. Nobody has a byte of them: the slab's regions, each of so many bytes, begin at base, and a set bit of `free` says
 * that nobody has the region. Returns false if the OS refuses, or the pages are of hooks. */
/*@ requires in:      0 < npages && page + npages <= PAGE_COUNT_MAX;
    requires cache:   cache < PAGE_CACHES;
    requires active:  \forall integer p; page <= p < page + npages ==> ext_page_state[p] == OS_PAGE_ACTIVE + cache;
    requires inside:  base <= page * PAGE && (page + npages) * PAGE <= base + regions * bytes;
    requires free:    \forall integer p, r; page <= p < page + npages && 0 <= r < regions &&
                          base + r * bytes < (p + 1) * PAGE && p * PAGE < base + (r + 1) * bytes ==>
                          ((free[r / 64] >> (r % 64)) & 1) != 0;
    assigns           \nothing;
*/
bool os_discard(uint32_t cache, uint64_t page, uint64_t npages)
    /*@ ghost (uint64_t base, uint64_t bytes, uint64_t regions, const uint64_t *free) */;

/* Moves the content of the npages at from to the pages at to. What is at from then is zero or as it was. Returns
 * false if nothing has changed. */
bool os_move(uint64_t to, uint64_t from, uint64_t npages);

extern uint64_t os_metadata_bytes;                      /* that os_map_metadata has given so far */

/*@ predicate OsZero{L}(char *at, integer bytes) = \forall integer i; 0 <= i < bytes ==> at[i] == 0; */

/* Returns zero bytes for metadata, which is never given back, or NULL if there are none. */
/*@ requires some:    0 < bytes;
    assigns           os_metadata_bytes, os_refused, \result \from bytes;
    ensures  refused: os_refused == (\result == \null ? 1 : \old(os_refused));
    ensures  zero:    \result != \null ==> OsZero((char *)\result, bytes);
*/
void *os_map_metadata(size_t bytes);

/* Returns bytes as os_map_metadata does, which can only be read until os_open has opened them. So ulimit -d, which counts what can be
 * written, does not count them. */
/*@ requires some:    0 < bytes;
    assigns           os_metadata_bytes, os_refused, \result \from bytes;
    ensures  refused: os_refused == (\result == \null ? 1 : \old(os_refused));
    ensures  zero:    \result != \null ==> OsZero((char *)\result, bytes);
*/
void *os_map_sparse(size_t bytes);

/* Lets whole pages of what os_map_sparse has given be written from now on. Returns false if the OS refuses. */
bool os_open(void *at, size_t bytes);

/* Returns the address of fresh zero pages, or 0 if there are none. They do not count as mapped (limit.h). */
uintptr_t os_map_outside(size_t bytes, size_t align);

void os_unmap_outside(uintptr_t address, size_t bytes);
bool os_purge_outside(uintptr_t address, size_t bytes, bool lazily);

/* Everything that os_map and os_map_metadata have given goes back, and nothing of it is used any more. */
void os_unmap_all(void);

/*@ assigns \nothing; */
uint64_t os_clock_ms(void);                             /* monotonic */
uint64_t os_clock_ns(void);                             /* monotonic, and finer; for what happens seldom */
uint32_t os_cpu_count(void);                            /* that this process may run on, at least 1 */
uint64_t os_memory_bytes(void);                         /* of the machine, or as many as the process's cgroup may have */
uint64_t os_page_bytes(void);
void     os_write_error(const char *text, size_t bytes); /* to standard error, best effort */
_Noreturn void os_abort(void);

void os_futex_wait(uint32_t *word, uint32_t expected);  /* sleeps while *word == expected */
void os_futex_wake(uint32_t *word);                     /* wakes one thread that sleeps on the word */

#endif
