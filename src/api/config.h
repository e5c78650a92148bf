/* config (of a run): what the environment variable QEDMALLOC_CONF sets, `name:value` pairs with commas between them. */
#ifndef QED_API_CONFIG_H
#define QED_API_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

struct config {
    bool     stats_print;       /* statistics on standard error at exit; default false */
    uint32_t narenas;           /* 1 .. ARENAS_MAX; default: the CPUs this process may use */
    int64_t  dirty_decay_ms;    /* -1 never, 0 at once; default 10,000 */
    int64_t  muzzy_decay_ms;    /* -1 never, 0: dirty pages are returned outright; default 0 */
};

extern struct config config;

/* Reads pairs up to the end of the text; an unknown name or a bad value is reported once on standard error and left. */
void config_parse(struct config *c, const char *text);

/* Defaults, then the environment, unless the program runs with raised privileges. Ends it where the OS's page is larger than
 * the allocator's. */
/*@ terminates \true; exits page: \true; assigns config; */
void config_boot(void);

#endif
