/* config_fuzz: the world is a configuration. The step parses the input as the text of the environment. The check is a
 * slow parser of its own, which has a list of its own of what is complained about. */
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/config.h"
#include "platform/os_fake.h"

#define DECAY_MS_MAX (1LL << 40)
#define OVERSIZE_MAX (1LL << 43)
#define TCACHE_MAX_MAX (1LL << 23)

/* What is the only value of a setting here. */
static const char *const only[][2] = {
    {"cache_oblivious", "false"}, {"metadata_thp", "disabled"}, {"trust_madvise", "true"}, {"retain", "true"}, {"dss", "disabled"},
    {"percpu_arena", "disabled"}, {"utrace", "false"},
    {"thp", "default"}, {"prof_pid_namespace", "false"},
    {"disable_large_size_classes", "false"}, {"stats_interval_opts", ""},
};
static const struct { const char *name; long long number; } only_number[] = {
    {"lg_extent_max_active_fit", 63}, {"stats_interval", -1},
    {"debug_double_free_max_scan", 0},
    {"process_madvise_max_batch", 0},
};

/* What can be set, beside the rest below: where it is, and its range. */
#define FLAG(name) {#name, offsetof(struct config, name)}
#define WORD(name, most) {#name, offsetof(struct config, name), most}
#define CHOICE(name, ...) {#name, offsetof(struct config, name), {__VA_ARGS__}}
static const struct { const char *name; size_t at; } flags[] = {
    FLAG(prof), FLAG(prof_active), FLAG(prof_thread_active_init), FLAG(prof_accum), FLAG(prof_gdump), FLAG(prof_final),
        FLAG(prof_leak), FLAG(prof_leak_error), FLAG(zero), FLAG(check_free), FLAG(tcache), FLAG(xmalloc),
};
static const struct { const char *name; size_t at, most; } words[] = {WORD(stats_print_opts, 63), WORD(prof_prefix, 127)};
static const struct { const char *name; size_t at; const char *word[4]; } choices[] = {
    CHOICE(junk, "false", "true", "alloc", "free"), CHOICE(zero_realloc, "alloc", "free", "abort"),
    CHOICE(prof_backtrace, "libgcc", "libunwind", "fp"),
};

static bool *flag(struct config *c, const char *name)
{
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (strcmp(name, flags[i].name) == 0) {
            return (bool *)((char *)c + flags[i].at);
        }
    }
    return strcmp(name, "stats_print") == 0 ? &c->stats_print : strcmp(name, "stats_page") == 0 ? &c->stats_page
           : strcmp(name, "background_thread") == 0 ? &c->background_thread
           : strcmp(name, "abort") == 0 ? &c->abort : strcmp(name, "abort_conf") == 0 ? &c->abort_conf
           : strcmp(name, "confirm_conf") == 0 ? &c->confirm_conf : NULL;
}

static uint64_t *memory(struct config *c, const char *name)
{
    return strcmp(name, "limit_hard") == 0 ? &c->limit_hard : strcmp(name, "limit_soft") == 0 ? &c->limit_soft
           : strcmp(name, "dirty_max") == 0 ? &c->dirty_max : NULL;
}

/* One pair, as the manual page says. */
static bool apply(struct config *c, char *pair)
{
    char *value = strchr(pair, ':'), *digit;
    if (value == NULL) {
        return false;
    }
    *value++ = '\0';
    if (flag(c, pair) != NULL && (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)) {
        *flag(c, pair) = value[0] == 't';
        return true;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(pair, words[i].name) == 0) {
            bool good = strlen(value) <= words[i].most;
            good ? (void)strcpy((char *)c + words[i].at, value) : (void)0;
            return good;
        }
    }
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        for (size_t k = 0; k < 4 && choices[i].word[k] != NULL && strcmp(pair, choices[i].name) == 0; k++) {
            if (strcmp(value, choices[i].word[k]) == 0) {
                strcpy((char *)c + choices[i].at, value);
                return true;
            }
        }
    }
    for (size_t i = 0; i < sizeof only / sizeof only[0]; i++) {
        if (strcmp(pair, only[i][0]) == 0) {
            return strcmp(value, only[i][1]) == 0;
        }
    }
    if (memory(c, pair) != NULL && value[0] != '\0' && value[strlen(value) - 1] == '%') {
        size_t    digits = strspn(value, "0123456789");
        long long percent = digits == strlen(value) - 1 ? strtoll(value, NULL, 10) : 0;
        bool      good = percent >= 1 && percent <= 100;
        *memory(c, pair) = good ? OS_FAKE_MEMORY_BYTES / 100 * (uint64_t)percent : *memory(c, pair);
        return good;
    }
    for (digit = value + (value[0] == '-'); isdigit((unsigned char)*digit); digit++) {
    }
    if (*digit != '\0' || digit == value || digit[-1] == '-' || digit - value > 1000) {
        return false;
    }
    long long n = strtoll(value, NULL, 10);                 /* saturates, which is out of range too */
    if (strcmp(pair, "narenas") == 0 && n >= 1 && n <= 96) {
        c->narenas = (uint32_t)n;
    } else if (strcmp(pair, "dirty_decay_ms") == 0 && n >= -1 && n <= DECAY_MS_MAX) {
        c->dirty_decay_ms = n;
    } else if (strcmp(pair, "muzzy_decay_ms") == 0 && n >= -1 && n <= DECAY_MS_MAX) {
        c->muzzy_decay_ms = n;
    } else if (strcmp(pair, "max_background_threads") == 0 && n >= 1 && n <= BACKGROUND_THREADS_MAX) {
        c->max_background_threads = (uint64_t)n;
    } else if (memory(c, pair) != NULL && n >= 0 && n <= LIMIT_MAX) {
        *memory(c, pair) = (uint64_t)n;
    } else if (strcmp(pair, "oversize_threshold") == 0 && n >= 0 && n <= OVERSIZE_MAX) {
        c->oversize_threshold = (uint64_t)n;
    } else if (strcmp(pair, "tcache_max") == 0 && n >= 0 && n <= TCACHE_MAX_MAX) {
        c->tcache_max = (uint64_t)n;
    } else if (strcmp(pair, "lg_tcache_max") == 0 && n >= 0 && n <= 62) {
        c->tcache_max = 1UL << n;
    } else if (strcmp(pair, "prof_bt_max") == 0 && n >= 1 && n <= 128) {
        c->prof_bt_max = (uint32_t)n;
    } else if (strcmp(pair, "lg_prof_sample") == 0 && n >= 0 && n <= LG_PROF_SAMPLE_MAX) {
        c->lg_prof_sample = (uint64_t)n;
    } else if (strcmp(pair, "lg_prof_interval") == 0 && n >= -1 && n <= LG_PROF_SAMPLE_MAX) {
        c->lg_prof_interval = n;
    } else {
        for (size_t i = 0; i < sizeof only_number / sizeof only_number[0]; i++) {
            if (strcmp(pair, only_number[i].name) == 0) {
                return n == only_number[i].number;
            }
        }
        return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config got = {.narenas = 3, .dirty_decay_ms = 10000}, wanted = got;
    size_t        complaints = 0, confirmations = 0, lines = 0;
    char         *text = calloc(1, size + 1), *copy = calloc(1, size + 1);
    if (text == NULL || copy == NULL) {
        abort();
    }
    memcpy(text, data, size);
    memcpy(copy, data, size);
    os_fake.echo = false;
    os_fake.text_bytes = 0;
    uint32_t refused = config_parse(&got, "QEDMALLOC_CONF", text);
    for (char *rest = copy, *pair; (pair = strsep(&rest, ",")) != NULL;) {
        bool some = pair[0] != '\0', applied = some && apply(&wanted, pair);
        complaints += some && !applied ? 1 : 0;
        confirmations += applied && wanted.confirm_conf ? 1 : 0;
    }
    for (size_t i = 0; i < os_fake.text_bytes; i++) {
        lines += os_fake.text[i] == '\n' ? 1 : 0;
    }
    for (size_t i = 0; i < size && text[i] != '\0'; i++) {
        complaints = text[i] == '\n' ? SIZE_MAX : complaints;   /* quoted newlines: lines count nothing */
    }
    bool equal = got.stats_print == wanted.stats_print && got.stats_page == wanted.stats_page
                 && got.background_thread == wanted.background_thread
                 && got.limit_hard == wanted.limit_hard && got.limit_soft == wanted.limit_soft && got.dirty_max == wanted.dirty_max
                 && got.max_background_threads == wanted.max_background_threads && got.abort == wanted.abort
                 && got.abort_conf == wanted.abort_conf && got.confirm_conf == wanted.confirm_conf
                 && strcmp(got.stats_print_opts, wanted.stats_print_opts) == 0 && got.narenas == wanted.narenas
                 && got.dirty_decay_ms == wanted.dirty_decay_ms && got.muzzy_decay_ms == wanted.muzzy_decay_ms
                 && got.oversize_threshold == wanted.oversize_threshold && got.prof_bt_max == wanted.prof_bt_max
                 && got.lg_prof_sample == wanted.lg_prof_sample && got.lg_prof_interval == wanted.lg_prof_interval
                 && strcmp(got.junk, wanted.junk) == 0 && strcmp(got.zero_realloc, wanted.zero_realloc) == 0
                 && strcmp(got.prof_prefix, wanted.prof_prefix) == 0 && strcmp(got.prof_backtrace, wanted.prof_backtrace) == 0;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        equal = equal && *flag(&got, flags[i].name) == *flag(&wanted, flags[i].name);
    }
    if (!equal || (complaints != SIZE_MAX && refused != complaints)
        || (complaints != SIZE_MAX && os_fake.text_bytes < OS_FAKE_TEXT_BYTES && lines != complaints + confirmations)) {
        fprintf(stderr, "config: %zu complaints, wanted %zu; values %s\n", lines, complaints, equal ? "equal" : "differ");
        abort();
    }
    free(text);
    free(copy);
    return 0;
}
