/* os_fake: the controls of the deterministic operating system of os_fake.c. Tests and fuzzers link it instead of
 * os_linux.c. Memory is really mapped. Everything else happens only when a control says so.
 */
#ifndef QED_PLATFORM_OS_FAKE_H
#define QED_PLATFORM_OS_FAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/config.h"

#define OS_FAKE_SPAN_NPAGES (1UL << (36 - LG_PAGE))     /* os_map serves from 64 GiB of address space */
#define OS_FAKE_METADATA_BYTES (1UL << 36)              /* os_map_metadata serves from as much again */
#define OS_FAKE_TEXT_BYTES 1024U
#define OS_FAKE_MEMORY_BYTES (1UL << 30)                /* of the machine */

/* The kinds of call that can be counted and made to fail. */
enum os_fake_call { OS_FAKE_MAP, OS_FAKE_METADATA, OS_FAKE_PURGE_LAZY, OS_FAKE_PURGE, OS_FAKE_DISCARD, OS_FAKE_UNMAP, OS_FAKE_CALLS };

struct os_fake {
    uint64_t calls[OS_FAKE_CALLS];          /* so far, failed ones included */
    uint64_t fail_from[OS_FAKE_CALLS];      /* calls with this number (1 is the first) and ... */
    uint64_t fail_count[OS_FAKE_CALLS];     /* ... so many in all fail */
    uint64_t map_npages_max;                /* longer maps fail: an address space limit per call */
    uint64_t mapped_npages_max;             /* as `ulimit -v`: maps that would exceed it in total fail */
    uint64_t mapped_npages;                 /* by os_map, now */
    uint64_t purged_npages;                 /* so far, lazily or not */
    uint64_t discarded_npages;              /* so far, pages of slabs */
    uint64_t gap_npages;                    /* left unmapped between one os_map and the next, or 0 if they touch */
    bool     takes_back;                    /* as if all page caches had hooks to which pages go back */
    bool     upwards;                       /* whether each map lies above the one before, or below it, as on Linux */
    uint64_t clock_ms;
    uint32_t cpus;
    uint64_t text_bytes;                    /* what os_write_error got, the first OS_FAKE_TEXT_BYTES of it */
    char     text[OS_FAKE_TEXT_BYTES];
    bool     echo;                          /* os_write_error also writes to standard error */
};

extern struct os_fake os_fake;

/* Sets the controls to what they are at the start. Nothing fails, and the clock is at 0. What is mapped stays mapped. */
void os_fake_reset(void);

/* Sets the whole machine to what it is at the start. Nothing is mapped, and what is mapped next reads as zero. Whoever uses memory of
 * before forgets it. An access to memory that os_map gave faults. */
void os_fake_rewind(void);

/* First page number of the span, 0 if it could not be reserved. */
uint64_t os_fake_span(void);

/* From now on, the nth call of that kind (1 is the next one) and count - 1 after it fail. */
void os_fake_fail(enum os_fake_call call, uint64_t nth, uint64_t count);

#endif
