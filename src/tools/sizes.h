/* sizes: the blocks of a trace by size. */
#ifndef TRACE_SIZES_H
#define TRACE_SIZES_H

#include "load.h"

/* Prints a line for each power of two that has blocks up to that size: how many there were, and what of them was live at the peak. */
void sizes_print(const struct trace *t, FILE *to);

#endif
