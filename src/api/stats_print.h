/* stats_print: the statistics in jemalloc's form. */
#ifndef QED_API_STATS_PRINT_H
#define QED_API_STATS_PRINT_H

void stats_print_at_exit(void);     /* with the letters of stats_print_opts */

#endif
