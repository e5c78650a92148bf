/* config (of a run): what the environment variable QEDMALLOC_CONF sets, `name:value` pairs with commas between them. */
#ifndef QED_API_CONFIG_H
#define QED_API_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

struct config {
    bool     stats_print;       /* prints statistics on standard error at exit; default false */
    bool     stats_page;        /* keeps a page of statistics for qed-top; default false */
    uint32_t narenas;           /* 1 .. ARENAS_MAX; by default as many as CPUs that this process may use */
    int64_t  dirty_decay_ms;    /* -1 means never, 0 at once; default 10,000 */
    int64_t  muzzy_decay_ms;    /* -1 means never, 0 that dirty pages are returned outright; default 0 */
};

extern struct config config;

/* Reads pairs up to the end of the text. An unknown name or a bad value is reported once on standard error and left out. */
void config_parse(struct config *c, const char *text);

/* Sets the defaults, then what the environment says, unless the program runs with raised privileges. Ends the program where the OS's
 * page is larger than the allocator's. */
/*@ exits page: \true; assigns config; */
void config_boot(void);

#endif
