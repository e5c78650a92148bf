/* ctl_arenas: names of mallctl that make arenas, find them, and set what each has. */
#ifndef QED_API_CTL_ARENAS_H
#define QED_API_CTL_ARENAS_H

#include "api/ctl.h"

#define ARENA_NAME_BYTES 32U        /* room for an arena's name, with the zero at its end, as in jemalloc */

void ctl_arenas_boot(void);         /* at the library's start: arenas that are made have the settings' times */

int read_initialized(const struct ctl_name *n, const size_t *index, uint64_t *value);

/* at: DECAY_DIRTY or DECAY_MUZZY. arenas.NAME, without a number, is the time of arenas that will be made. Setting it sets that of the arenas
 * from boot on too. */
int read_decay(const struct ctl_name *n, const size_t *index, uint64_t *value);
int write_decay(const struct ctl_name *n, const size_t *index, uint64_t value);
int read_decays(const struct ctl_name *n, const size_t *index, uint64_t *value);
int write_decays(const struct ctl_name *n, const size_t *index, uint64_t value);

/* Bytes that a page cache asks the system for at most when it grows, as the size of a class. SC_LARGE_MAXCLASS stands for no limit. A value
 * below a page is EFAULT, as in jemalloc. */
int read_growth(const struct ctl_name *n, const size_t *index, uint64_t *value);
int write_growth(const struct ctl_name *n, const size_t *index, uint64_t value);

/* The pointer that is read is one to the caller's room for the name. */
int call_arena_name(const size_t *index, void *old, size_t *old_bytes, const void *new_value, size_t new_bytes);
/* What is written is a pointer to hooks, or NULL for the default ones, and what is read is the new arena's number. Hooks from which no pages can
 * come are EINVAL (platform/hooks.h). */
int call_arenas_create(const size_t *index, void *old, size_t *old_bytes, const void *new_value, size_t new_bytes);
/* A pointer to the hooks of the arena's page cache, which the automatic arenas share. */
int call_arena_hooks(const size_t *index, void *old, size_t *old_bytes, const void *new_value, size_t new_bytes);
/* All blocks of an arena that a call has made end. EFAULT: the number is that of no such arena, or, for destroy, a thread has joined it. EAGAIN:
 * the cache of another thread has a block of it. Destroy gives the arena's pages back to the system, and its number to the next one. */
int act_arena_reset(const size_t *index);
int act_arena_destroy(const size_t *index);
/* What is written is a pointer to a block, and what is read is the number of its arena. */
int call_arenas_lookup(const size_t *index, void *old, size_t *old_bytes, const void *new_value, size_t new_bytes);

#endif
