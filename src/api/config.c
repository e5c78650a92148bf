/* config: see config.h. */
#include "api/config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api/export.h"
#include "api/text.h"
#include "blocks/bin.h"
#include "platform/limit.h"
#include "platform/live.h"
#include "platform/modes.h"
#include "platform/os.h"
#include "tcache/tcache.h"

#include "qedmalloc/qedmalloc.h"

#define DECAY_MS_MAX (INT64_C(1) << 40)     /* 35 years */
#define OVERSIZE_MAX (INT64_C(1) << 43)     /* 8 TiB */
#define TCACHE_MAX_MAX (INT64_C(1) << 23)   /* jemalloc's */
#define COMPLAINT_MAX 200U                  /* bytes of a pair that are quoted, so that the line and its end fit into a text */
#define PROF_BT_MAX 128
#define JUNK_WORDS "false|true|alloc|free"
#define JUNK_NEW 0xa5       /* jemalloc's bytes */
#define JUNK_FREED 0x5a
#define LINK_BYTES 1024U                    /* of /etc/malloc.conf that are read */

struct config config;

/* Programs may define them. */
PUBLIC const char *qed_malloc_conf __attribute__((weak)) = NULL;
#ifndef QED_PREFIX_ONLY
PUBLIC const char *malloc_conf __attribute__((weak)) = NULL;
#endif

/* ---- the settings ------------------------------------------------------------------------------------------------ */

#define SET(name, type, least, most) {#name, type, NULL, offsetof(struct config, name), least, most, NULL}
#define SET_LG(name, of) {#name, CONFIG_LG, NULL, offsetof(struct config, of), 0, 62, NULL}
#define CHOICE(name, words) {#name, CONFIG_WORD, NULL, offsetof(struct config, name), 0, sizeof config.name - 1, words}
#define WORD(name) CHOICE(name, NULL)
#define FIXED(name, type, number, why) {#name, type, why, 0, number, number, NULL}
#define FIXED_WORD(name, word, why) {#name, CONFIG_WORD, why, 0, 0, 0, word}
#if QED_PROF
#define PROF(name, type, least, most, without) SET(name, type, least, most)
#define PROF_CHOICE(name, words) CHOICE(name, words)
#else
#define NO_PROFILING "there is no heap profiling"
#define PROF(name, type, least, most, without) FIXED(name, type, without, NO_PROFILING)
#define PROF_CHOICE(name, words) FIXED_WORD(name, "", NO_PROFILING)
#endif
#define NO_HUGE "huge pages are left to the system"

const struct config_option config_options[] = {
    SET(abort, CONFIG_BOOL, 0, 1),
    SET(confirm_conf, CONFIG_BOOL, 0, 1),
    SET(abort_conf, CONFIG_BOOL, 0, 1),
    FIXED(cache_oblivious, CONFIG_BOOL, 0, "large blocks begin where their pages do"),
    FIXED_WORD(metadata_thp, "disabled", NO_HUGE),
    FIXED(trust_madvise, CONFIG_BOOL, 1, "the system is known to zero the pages that it takes"),
    FIXED(retain, CONFIG_BOOL, 1, "addresses are kept for later"),
    FIXED_WORD(dss, "disabled", "memory comes from mmap alone"),
    SET(narenas, CONFIG_UNSIGNED, 1, ARENAS_MAX),
    SET(oversize_threshold, CONFIG_SIZE, 0, OVERSIZE_MAX),
    FIXED_WORD(percpu_arena, "disabled", "threads keep the arena that they have joined"),
    SET(background_thread, CONFIG_BOOL, 0, 1),
    SET(max_background_threads, CONFIG_SIZE, 1, BACKGROUND_THREADS_MAX),
    SET(dirty_decay_ms, CONFIG_SSIZE, -1, DECAY_MS_MAX),
    SET(muzzy_decay_ms, CONFIG_SSIZE, -1, DECAY_MS_MAX),
    FIXED(lg_extent_max_active_fit, CONFIG_SIZE, 63, "a free run of any length may be split"),
    SET(limit_hard, CONFIG_MEMORY, 0, LIMIT_MAX),
    SET(limit_soft, CONFIG_MEMORY, 0, LIMIT_MAX),
    SET(dirty_max, CONFIG_MEMORY, 0, LIMIT_MAX),
    SET(stats_print, CONFIG_BOOL, 0, 1),
    SET(stats_page, CONFIG_BOOL, 0, 1),
    WORD(stats_print_opts),
    FIXED(stats_interval, CONFIG_INT64, -1, "calls that hit a cache are not counted"),
    FIXED_WORD(stats_interval_opts, "", "calls that hit a cache are not counted"),
    CHOICE(junk, JUNK_WORDS),
    SET(zero, CONFIG_BOOL, 0, 1),
    SET(check_free, CONFIG_BOOL, 0, 1),
    FIXED(utrace, CONFIG_BOOL, 0, "calls are traced by libqedmalloc-record.so"),
    SET(xmalloc, CONFIG_BOOL, 0, 1),
    SET(tcache, CONFIG_BOOL, 0, 1),
    SET(tcache_max, CONFIG_SIZE, 0, TCACHE_MAX_MAX),
    SET_LG(lg_tcache_max, tcache_max),      /* the older setting, which jemalloc still reads */
    FIXED_WORD(thp, "default", NO_HUGE),
    PROF(prof_bt_max, CONFIG_UNSIGNED, 1, PROF_BT_MAX, 0),
    PROF(prof, CONFIG_BOOL, 0, 1, 0),
    PROF_CHOICE(prof_prefix, NULL),
    PROF_CHOICE(prof_backtrace, "libgcc|libunwind|fp"),
    PROF(prof_active, CONFIG_BOOL, 0, 1, 0),
    PROF(prof_thread_active_init, CONFIG_BOOL, 0, 1, 0),
    PROF(lg_prof_sample, CONFIG_SIZE, 0, LG_PROF_SAMPLE_MAX, 0),
    PROF(prof_accum, CONFIG_BOOL, 0, 1, 0),
    FIXED(prof_pid_namespace, CONFIG_BOOL, 0, "dumps are named after the process's own number"),
    PROF(lg_prof_interval, CONFIG_SSIZE, -1, LG_PROF_SAMPLE_MAX, -1),
    PROF(prof_gdump, CONFIG_BOOL, 0, 1, 0),
    PROF(prof_final, CONFIG_BOOL, 0, 1, 0),
    PROF(prof_leak, CONFIG_BOOL, 0, 1, 0),
    PROF(prof_leak_error, CONFIG_BOOL, 0, 1, 0),
    CHOICE(zero_realloc, "alloc|free|abort"),
    FIXED(debug_double_free_max_scan, CONFIG_UNSIGNED, 0, "double frees are found without a scan"),
    FIXED(disable_large_size_classes, CONFIG_BOOL, 0, "large blocks have the sizes of their classes"),
    FIXED(process_madvise_max_batch, CONFIG_SIZE, 0, "pages go back to the system run by run"),
};
const uint32_t config_option_count = sizeof config_options / sizeof config_options[0];

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

struct pair {
    const char *name;
    size_t      name_bytes;
    const char *value;
    size_t      value_bytes;
};

/* One line: the place, what is said, the pair. */
static void config_say(const char *place, const char *what, const char *pair, size_t bytes, const char *end)
{
    struct text t = {.length = 0};
    text_add(&t, "qedmalloc: ");
    text_add(&t, place);
    text_add(&t, ": ");
    text_add(&t, what);
    text_add_bytes(&t, pair, bytes < COMPLAINT_MAX ? bytes : COMPLAINT_MAX);
    text_add(&t, end);
    text_write(&t);
}

static bool config_number(const char *value, size_t bytes, int64_t least, int64_t most, int64_t *number)
{
    bool    minus = bytes > 0 && value[0] == '-';
    int64_t n = 0;
    size_t  i = minus ? 1 : 0;
    if (i == bytes) {
        return false;
    }
    for (; i < bytes; i++) {
        if (value[i] < '0' || value[i] > '9' || n > DECAY_MS_MAX) {
            return false;
        }
        n = n * 10 + (value[i] - '0');
    }
    *number = minus ? -n : n;
    return *number >= least && *number <= most;
}

static bool config_is(const char *name, size_t bytes, const char *wanted)
{
    return strlen(wanted) == bytes && memcmp(name, wanted, bytes) == 0;
}

static bool config_value(const struct config_option *o, const struct pair *p, int64_t *number)
{
    if (o->type == CONFIG_BOOL) {
        *number = config_is(p->value, p->value_bytes, "true") ? 1 : 0;
        return (*number == 1 || config_is(p->value, p->value_bytes, "false")) && *number >= o->least && *number <= o->most;
    }
    if (o->type == CONFIG_MEMORY && p->value_bytes > 0 && p->value[p->value_bytes - 1] == '%') {
        bool good = config_number(p->value, p->value_bytes - 1, 1, 100, number);
        *number = good ? (int64_t)(os_memory_bytes() / 100 * (uint64_t)*number) : 0;
        return good;
    }
    return config_number(p->value, p->value_bytes, o->least, o->most, number);
}

/* Tells whether the value is one of the words, which have a bar between them. */
static bool config_is_one_of(const struct pair *p, const char *words)
{
    size_t bytes;
    while (bytes = strcspn(words, "|"), bytes != p->value_bytes || memcmp(words, p->value, bytes) != 0) {
        if (words[bytes] == '\0') {
            return false;
        }
        words += bytes + 1;
    }
    return true;
}

static bool config_set_word(struct config *c, const struct config_option *o, const struct pair *p)
{
    if (o->why != NULL) {
        return config_is(p->value, p->value_bytes, o->word);
    }
    char *word = (char *)c + o->at;
    if (p->value_bytes > (size_t)o->most || (o->word != NULL && !config_is_one_of(p, o->word))) {
        return false;
    }
    memcpy(word, p->value, p->value_bytes);
    word[p->value_bytes] = '\0';
    return true;
}

static bool config_set(struct config *c, const struct config_option *o, const struct pair *p)
{
    int64_t number = 0;
    if (o->type == CONFIG_WORD) {
        return config_set_word(c, o, p);
    }
    if (!config_value(o, p, &number)) {
        return false;
    }
    char *at = (char *)c + o->at;
    if (o->why != NULL) {
        return true;
    }
    if (o->type == CONFIG_BOOL) {
        *(bool *)at = number == 1;
    } else if (o->type == CONFIG_UNSIGNED) {
        *(uint32_t *)at = (uint32_t)number;
    } else {
        *(int64_t *)at = o->type == CONFIG_LG ? INT64_C(1) << number : number;
    }
    return true;
}

static const struct config_option *config_find(const char *name, size_t bytes)
{
    for (uint32_t i = 0; i < config_option_count; i++) {
        if (config_is(name, bytes, config_options[i].name)) {
            return &config_options[i];
        }
    }
    return NULL;
}

/* Takes one pair. Returns 1 if it is left out. */
static uint32_t config_take(struct config *c, const char *place, const struct pair *p, size_t bytes)
{
    const struct config_option *o = config_find(p->name, p->name_bytes);
    if (o != NULL && p->value != NULL && config_set(c, o, p)) {
        if (c->confirm_conf) {
            config_say(place, "set: ", p->name, bytes, "\n");
        }
        return 0;
    }
    if (o == NULL || o->why == NULL || p->value == NULL) {
        config_say(place, "not understood and left out: ", p->name, bytes, "\n");
        return 1;
    }
    config_say(place, "refused: ", p->name, bytes, ": ");
    struct text t = {.length = 0};
    text_add(&t, o->why);
    text_add(&t, "\n");
    text_write(&t);
    return 1;
}

/* Finds the pair at the beginning of the text, and returns its bytes. */
static size_t config_pair(const char *text, struct pair *p)
{
    size_t n = 0;
    *p = (struct pair){.name = text};
    for (; text[n] != '\0' && text[n] != ','; n++) {
        if (text[n] == ':' && p->value == NULL) {
            p->name_bytes = n;
            p->value = text + n + 1;
        }
    }
    p->value_bytes = p->value == NULL ? 0 : (size_t)(text + n - p->value);
    return n;
}

uint32_t config_parse(struct config *c, const char *place, const char *text)
{
    uint32_t    refused = 0;
    struct pair p;
    while (*text != '\0') {
        size_t bytes = config_pair(text, &p);
        refused += bytes > 0 ? config_take(c, place, &p, bytes) : 0;
        text += text[bytes] == ',' ? bytes + 1 : bytes;
    }
    return refused;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

struct place {
    const char *name;
    const char *text;       /* NULL where there is none */
};

/* Where glibc's loader has found the number of arguments, with these and the environment behind it. */
extern uintptr_t *__libc_stack_end __attribute__((weak));

/* Returns the program's environment. Before the C library's constructor has run it is where the kernel has put it. */
static char **config_strings(void)
{
    if (environ == NULL && &__libc_stack_end != NULL) {
        return (char **)(__libc_stack_end + 1 + *__libc_stack_end + 1);
    }
    return environ;
}

static const char *config_environment(const char *name)
{
    size_t bytes = strlen(name);
    for (char **e = config_strings(); e != NULL && *e != NULL && getauxval(AT_SECURE) == 0; e++) {
        if (strncmp(*e, name, bytes) == 0 && (*e)[bytes] == '=') {
            return *e + bytes + 1;
        }
    }
    return NULL;
}

#ifndef QED_PREFIX_ONLY
/* What the link says, by a system call of its own: a function of the C library may be a program's, which allocates. */
static const char *config_link(char *buffer, size_t bytes)
{
    int  keep = errno;
    long n = syscall(SYS_readlinkat, AT_FDCWD, "/etc/malloc.conf", buffer, bytes - 1);
    errno = keep;
    buffer[n < 0 ? 0 : n] = '\0';
    return n < 0 ? NULL : buffer;
}
#endif

/* Whether a place asks for each pair to be confirmed: this counts from the first pair on. */
static bool config_confirms(const struct place *places, uint32_t count)
{
    bool        yes = false;
    struct pair p;
    for (uint32_t i = 0; i < count; i++) {
        for (const char *text = places[i].text; text != NULL && *text != '\0';) {
            size_t bytes = config_pair(text, &p);
            if (config_is(p.name, p.name_bytes, "confirm_conf")) {
                yes = config_is(p.value, p.value_bytes, "true") || (yes && !config_is(p.value, p.value_bytes, "false"));
            }
            text += text[bytes] == ',' ? bytes + 1 : bytes;
        }
    }
    return yes;
}

static void config_read(const struct place *places, uint32_t count)
{
    uint32_t refused = 0;
    config.confirm_conf = config_confirms(places, count);
    for (uint32_t i = 0; i < count; i++) {
        if (places[i].text != NULL) {
            bool before = config.stats_print;
            if (config.confirm_conf) {
                config_say(places[i].name, "\"", places[i].text, strlen(places[i].text), "\"\n");
            }
            refused += config_parse(&config, places[i].name, places[i].text);
            config.stats_jemalloc = config.stats_print && (before ? config.stats_jemalloc : i + 1 < count);
        }
    }
    if (config.abort_conf && refused > 0) {
        static const char message[] = "qedmalloc: abort_conf: a setting was left out\n";
        os_write_error(message, sizeof message - 1);
        os_abort();
    }
}

/* Which classes threads keep. What junk and zero ask of the bytes of blocks, check_free of their bits, and zero_realloc of realloc. Zeroes win
 * where both are asked for. */
static void config_modes(const struct config *c)
{
    bool junk = strcmp(c->junk, "true") == 0;
    bool new = junk || strcmp(c->junk, "alloc") == 0, freed = junk || strcmp(c->junk, "free") == 0;
    modes_stacks = c->tcache ? size_class_index(c->tcache_max) + 2 : 0;     /* the stack of a class is its index + 1 */
    modes_realloc_zero = strcmp(c->zero_realloc, "abort") == 0 ? MODES_REALLOC_ENDS
                         : strcmp(c->zero_realloc, "alloc") == 0 ? MODES_REALLOC_KEEPS : MODES_REALLOC_FREES;
    modes_xmalloc = c->xmalloc ? 1 : 0;
    if (c->check_free) {
        live_boot();
    }
    modes_set_bytes(c->zero ? 0 : new ? JUNK_NEW : MODES_NO_BYTE, freed ? JUNK_FREED : MODES_NO_BYTE);
}

void config_boot(void)
{
    uint32_t cpus = os_cpu_count();
    if (os_page_bytes() > PAGE) {
        static const char message[] = "qedmalloc: the system's page is larger than LG_PAGE: build with a larger one\n";
        os_write_error(message, sizeof message - 1);
        os_abort();
    }
    config = (struct config){.narenas = cpus < ARENAS_DEFAULT_MAX ? cpus : ARENAS_DEFAULT_MAX, .dirty_decay_ms = 10000,
                             .max_background_threads = 1, .tcache = true, .tcache_max = TCACHE_MAX,
                             .prof_active = true, .prof_thread_active_init = true, .prof_bt_max = PROF_BT_MAX, .lg_prof_sample = 19,
                             .lg_prof_interval = -1, .prof_prefix = "jeprof", .prof_backtrace = "libgcc", .junk = "false",
                             .zero_realloc = "free"};
#ifndef QED_PREFIX_ONLY
    char link[LINK_BYTES];
#endif
    const struct place places[] = {
        {"build", QEDMALLOC_BUILD_CONF[0] == '\0' ? NULL : QEDMALLOC_BUILD_CONF},
        {"qed_malloc_conf", qed_malloc_conf},
#ifndef QED_PREFIX_ONLY
        {"malloc_conf", malloc_conf},
        {"/etc/malloc.conf", config_link(link, sizeof link)},
        {"MALLOC_CONF", config_environment("MALLOC_CONF")},
#endif
        {"QEDMALLOC_CONF", config_environment("QEDMALLOC_CONF")},
    };
    config_read(places, sizeof places / sizeof places[0]);
    config.tcache_max = config.tcache_max < TCACHE_MAX ? config.tcache_max : TCACHE_MAX;
    config_modes(&config);
    limit_set(config.limit_hard == 0 ? LIMIT_NONE : config.limit_hard);
    limit_set_pages(config.limit_soft == 0 ? LIMIT_NONE : config.limit_soft, config.dirty_max == 0 ? LIMIT_NONE : config.dirty_max);
}
