/* report: what the allocator holds, printed. */
#ifndef QED_API_REPORT_H
#define QED_API_REPORT_H

void report_print(void);        /* a table on standard error */

#endif
