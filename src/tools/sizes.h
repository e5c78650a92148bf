/* sizes: the blocks of a trace by size. */
#ifndef TRACE_SIZES_H
#define TRACE_SIZES_H

#include "load.h"

/* A line for each power of two with blocks up to that size: how many in all, and what of them was live when most bytes were. */
void sizes_print(const struct trace *t, FILE *to);

#endif
