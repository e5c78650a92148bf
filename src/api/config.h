/* config (of a run): `name:value` pairs with commas between them. A later place overrides an earlier one: what the library was built with,
 * the program's variable malloc_conf, the text of the symbolic link /etc/malloc.conf, the environment variable MALLOC_CONF, and
 * QEDMALLOC_CONF. The library for embedding reads the program's variable qed_malloc_conf and QEDMALLOC_CONF only. */
#ifndef QED_API_CONFIG_H
#define QED_API_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIMIT_MAX (INT64_C(1) << 43)    /* 8 TiB */
#define CONFIG_WORD_BYTES 64U       /* a word and its end */
#define CONFIG_PREFIX_BYTES 128U    /* the prefix of the names of dumps and its end */
#define BACKGROUND_THREADS_MAX 4096
#define LG_PROF_SAMPLE_MAX 40       /* one byte of 2^40 is a sample then */

/* What the library was built with. */
#ifndef QEDMALLOC_BUILD_CONF
#define QEDMALLOC_BUILD_CONF ""
#endif

struct config {
    bool     stats_print;       /* prints statistics on standard error at exit; default false */
    bool     stats_page;        /* keeps a page of statistics for qed-top; default false */
    bool     background_thread; /* a thread returns pages while the program makes no call; default false */
    bool     stats_jemalloc;    /* in the form of malloc_stats_print, where a place that jemalloc has asks for them */
    bool     abort;             /* misuse ends the program whatever this says; default false */
    bool     abort_conf;        /* ends the program where a pair is refused; default false */
    bool     confirm_conf;      /* writes to standard error what was read where, and each pair that is set; default false */
    uint32_t narenas;           /* 1 .. ARENAS_MAX; by default as many as CPUs that this process may use */
    uint64_t max_background_threads;        /* 1 .. BACKGROUND_THREADS_MAX; there is never more than one; default 1 */
    uint64_t limit_hard;        /* bytes that may be mapped, metadata included; 0, the default, means that there is no limit */
    uint64_t limit_soft;        /* bytes in memory above which free pages go back at once; 0, the default, means that there is no limit */
    uint64_t dirty_max;         /* bytes of free pages that may stay in memory; 0, the default, means that there is no limit */
    int64_t  dirty_decay_ms;    /* -1 means never, 0 at once; default 10,000 */
    uint64_t oversize_threshold;    /* blocks of so many bytes and more have a page cache of their own; 0, the default, means none do */
    int64_t  muzzy_decay_ms;    /* -1 means never, 0 that dirty pages are returned outright; default 0 */
    bool     prof;              /* there is heap profiling (src/prof); default false */
    bool     prof_active;       /* from the start; default true */
    bool     prof_thread_active_init;   /* in each new thread; default true */
    bool     prof_accum;        /* counts what was freed, too; default false */
    bool     prof_gdump;        /* a dump at each new maximum of memory; default false */
    bool     prof_final;        /* a dump at exit; default false */
    bool     prof_leak;         /* a report of what is live at exit; default false */
    bool     prof_leak_error;   /* the status of the program is 1 then; default false */
    uint32_t prof_bt_max;       /* frames of a backtrace; default 128 */
    uint64_t lg_prof_sample;    /* lg of the mean bytes between samples; default 19 */
    int64_t  lg_prof_interval;  /* lg of the bytes between dumps, -1 means none; default -1 */
    char     prof_prefix[CONFIG_PREFIX_BYTES];      /* of the names of dumps; default jeprof; empty: no numbered dumps */
    char     prof_backtrace[CONFIG_WORD_BYTES];     /* libgcc, libunwind or fp; default libgcc */
    bool     tcache;            /* threads keep blocks that they free; default true */
    uint64_t tcache_max;        /* bytes of the largest of them; default TCACHE_MAX, which is also the most */
    bool     zero;              /* new blocks are zero; default false */
    bool     check_free;        /* each call that frees or asks finds out whether the block is live; default false */
    bool     xmalloc;           /* a call that gets no memory ends the program; default false */
    char     junk[CONFIG_WORD_BYTES];       /* blocks filled with 0xa5 when new and 0x5a when freed: false, true, alloc, free; default false */
    char     zero_realloc[CONFIG_WORD_BYTES];   /* what realloc does with size 0: free, alloc (keeps the block) or abort; default free */
    char     stats_print_opts[CONFIG_WORD_BYTES];   /* letters of malloc_stats_print */
};

extern struct config config;

/* The settings. Some can be set. The others have the only value that means something here, and say why they take no other one.
 * CONFIG_LG is a size that is set by the exponent of a power of two. */
enum config_type { CONFIG_BOOL, CONFIG_UNSIGNED, CONFIG_SIZE, CONFIG_SSIZE, CONFIG_INT64, CONFIG_MEMORY, CONFIG_LG, CONFIG_WORD };

struct config_option {
    const char      *name;
    enum config_type type;
    const char      *why;       /* it cannot be set, or NULL */
    size_t           at;        /* where in struct config its value is, if it can be set */
    int64_t          least;     /* a number is that at least, or the only value */
    int64_t          most;      /* or so many bytes of a word */
    const char      *word;      /* the only value of a word, or those that may be set with a bar between them, NULL for any */
};

extern const struct config_option config_options[];
extern const uint32_t             config_option_count;

/* Reads pairs up to the end of the text. A pair that is not understood, or refused, is reported once on standard error and left out.
 * Returns how many were. */
uint32_t config_parse(struct config *c, const char *place, const char *text);

/* Sets the defaults, then what all places say. The environment counts unless the program runs with raised privileges. Ends the
 * program where the OS's page is larger than the allocator's, and where abort_conf asks for that. */
/*@ exits page: \true; assigns config; */
void config_boot(void);

#endif
