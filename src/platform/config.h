/* config: the build-time parameters. Every one can be given on the command line (make LG_PAGE=14).
 *
 * LG_PAGE        log2 of the allocator's page, in bytes; at least the page size of the OS that runs it
 * LG_QUANTUM     log2 of the spacing of the first group of size classes, and the alignment of every block that large
 * SC_LG_TINY_MIN log2 of the smallest size class
 * SC_LG_NGROUP   log2 of the number of size classes per doubling
 * LG_VADDR       log2 of the number of addresses that a program may have; memory above is refused
 * QED_PROF       1 with the heap profiler, 0 without it
 */
#ifndef QED_PLATFORM_CONFIG_H
#define QED_PLATFORM_CONFIG_H

#ifndef __LP64__
#error "qedmalloc needs 64-bit addresses: build it for x86-64 or arm64"
#endif

#ifndef LG_PAGE
#define LG_PAGE 12
#endif
#ifndef LG_QUANTUM
#define LG_QUANTUM 4
#endif
#ifndef SC_LG_TINY_MIN
#define SC_LG_TINY_MIN 3
#endif
#ifndef SC_LG_NGROUP
#define SC_LG_NGROUP 2
#endif

#ifndef QED_PROF
#define QED_PROF 1
#endif

/* Linux gives addresses below 2^47 on x86-64, and below 2^48 on arm64. It gives higher ones only to a program that names them. */
#ifndef LG_VADDR
#ifdef __x86_64__
#define LG_VADDR 47
#else
#define LG_VADDR 48
#endif
#endif
#define PAGE (1UL << LG_PAGE)
#define PAGE_COUNT_MAX (1UL << (LG_VADDR - LG_PAGE)) /* page numbers are below this */

#define PAGE_CACHES (SC_LG_NGROUP < 3 ? 32U : 16U) /* sets of free pages, each with heaps for all page size classes */

_Static_assert(LG_PAGE >= 12 && LG_PAGE <= 16, "pages of 4 KiB to 64 KiB");
_Static_assert(LG_VADDR >= 38 && LG_VADDR <= 48, "addresses of 38 to 48 bits");
_Static_assert(LG_QUANTUM >= 3 && LG_QUANTUM <= 5, "a quantum of 8, 16 or 32 bytes");
_Static_assert(SC_LG_TINY_MIN >= 2 && SC_LG_TINY_MIN <= LG_QUANTUM, "the smallest class is 4 bytes to a quantum");
_Static_assert(SC_LG_NGROUP >= 1 && SC_LG_NGROUP <= 3, "2, 4 or 8 classes per doubling");

#endif
