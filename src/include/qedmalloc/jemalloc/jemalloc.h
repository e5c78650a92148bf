/* jemalloc.h: what a program that was written for jemalloc includes. It has the functions of qedmalloc.h under the names that they have in
 * the drop-in library. */
#ifndef QEDMALLOC_JEMALLOC_H
#define QEDMALLOC_JEMALLOC_H

#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

#include "../qedmalloc.h"

/* The version of jemalloc whose interface this is. */
#define JEMALLOC_VERSION "5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c"
#define JEMALLOC_VERSION_MAJOR 5
#define JEMALLOC_VERSION_MINOR 3
#define JEMALLOC_VERSION_BUGFIX 0
#define JEMALLOC_VERSION_NREV 0
#define JEMALLOC_VERSION_GID "54eaed1d8b56b1aa528be3bdd1877e59c56fa90c"
#define JEMALLOC_VERSION_GID_IDENT 54eaed1d8b56b1aa528be3bdd1877e59c56fa90c

#define MALLCTL_ARENAS_ALL 4096         /* in the place of an arena's number: all of them; a literal, to be pasted into names */
#define MALLCTL_ARENAS_DESTROYED 4097

#ifdef __cplusplus
extern "C" {
#endif

void  *mallocx(size_t size, int flags);
void  *rallocx(void *block, size_t size, int flags);
size_t xallocx(void *block, size_t size, size_t extra, int flags);
size_t sallocx(const void *block, int flags);
void   dallocx(void *block, int flags);
void   sdallocx(void *block, size_t size, int flags);
size_t nallocx(size_t size, int flags);

int mallctl(const char *name, void *old, size_t *old_bytes, void *new_value, size_t new_bytes);
int mallctlnametomib(const char *name, size_t *mib, size_t *mib_count);
int mallctlbymib(const size_t *mib, size_t mib_count, void *old, size_t *old_bytes, void *new_value, size_t new_bytes);

void malloc_stats_print(void (*write)(void *opaque, const char *text), void *opaque, const char *options);
extern void (*malloc_message)(void *opaque, const char *text);

/* A program may define it: settings that are read at the start. */
extern const char *malloc_conf;

#ifdef __cplusplus
}
#endif

#endif
