/* dump: profiles as files, in the text that jeprof reads (heap_v2), and the report of leaks.
 *
 * Nothing here allocates from the heap. A dump is one moment: threads that sample meanwhile wait. */
#ifndef QED_PROF_DUMP_H
#define QED_PROF_DUMP_H

#include <stdbool.h>

bool dump_file(const char *path);               /* false if it cannot be written */
bool dump_numbered(char kind);                  /* PREFIX.PID.NUMBER.KINDNUMBER.heap: f final, i interval, m by mallctl, u a new maximum.
                                                 * False if it cannot be written, or if the prefix is empty. */
bool dump_leaks(void);                          /* to standard error. Returns true if there are any. */

#endif
