/* seed: the calls of a trace as an input of fuzz/malloc_fuzz.c, whose decoder this inverts. */
#ifndef TRACE_SEED_H
#define TRACE_SEED_H

#include "load.h"

/* Writes the first `calls` calls, and returns how many are in the seed. What the harness cannot do is left out: failing calls,
 * free(NULL), blocks beyond its model's room. Sizes from 64 KiB on become near ones that it can say. */
uint32_t seed_write(const struct trace *t, uint32_t calls, const char *path);

#endif
