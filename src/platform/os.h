/* os: every call into the operating system that the allocator makes. os_linux.c is the real one, os_fake.c a
 * deterministic one for tests and fuzzing; which one serves is decided when linking.
 *
 * Addresses and lengths are multiples of PAGE. Failures are values, errno is never touched.
 */
#ifndef QED_PLATFORM_OS_H
#define QED_PLATFORM_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config.h"

/*@ ghost uint8_t os_mapped[1UL << 35]; */              /* page number -> mapped by os_map */

/*@ requires some:    0 < npages < PAGE_COUNT_MAX;
    terminates        \true;
    exits             \false;
    assigns           os_mapped[0 .. PAGE_COUNT_MAX - 1];
    ensures  in:      \result == 0 || (0 < \result && \result + npages <= PAGE_COUNT_MAX);
    ensures  fresh:   \result != 0 ==> \forall integer p; \result <= p < \result + npages ==> \old(os_mapped[p]) == 0;
    ensures  mapped:  \result != 0 ==> \forall integer p; \result <= p < \result + npages ==> os_mapped[p] == 1;
    ensures  rest:    \forall integer p; 0 <= p < PAGE_COUNT_MAX && !(\result != 0 && \result <= p < \result + npages)
                          ==> os_mapped[p] == \old(os_mapped[p]);
*/
uint64_t os_map(uint64_t npages);                       /* first page number of fresh zero pages, 0 if there are none */

/*@ requires in:      0 < npages && page + npages <= PAGE_COUNT_MAX;
    terminates        \true;
    exits             \false;
    assigns           os_mapped[page .. page + npages - 1];
    ensures  gone:    \forall integer p; page <= p < page + npages ==> os_mapped[p] == 0;
*/
void os_unmap(uint64_t page, uint64_t npages);          /* of pages that nobody has seen: a growth that failed half-way */

/* Their content is lost: lazily (reads may still see it until the OS takes the pages), or at once (reads see zero). */
/*@ terminates \true; exits \false; assigns \nothing; */
bool os_purge(uint64_t page, uint64_t npages, bool lazily);

/* What stood in the npages at from stands at to, and from is zero or as it was. False: nothing has changed. */
bool os_move(uint64_t to, uint64_t from, uint64_t npages);

/* Zero bytes for metadata that is never given back; NULL if there are none. */
void *os_map_metadata(size_t bytes);
extern uint64_t os_metadata_bytes;                      /* given so far */

/*@ terminates \true; exits \false; assigns \nothing; */
uint64_t os_clock_ms(void);                             /* monotonic */
uint32_t os_cpu_count(void);                            /* that this process may run on, at least 1 */
uint64_t os_page_bytes(void);
void     os_write_error(const char *text, size_t bytes); /* to standard error, best effort */
_Noreturn void os_abort(void);

/* Waits while *word == expected; wakes one that waits. */
void os_futex_wait(uint32_t *word, uint32_t expected);
void os_futex_wake(uint32_t *word);

#endif
