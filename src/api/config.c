/* config: see config.h. */
#include "api/config.h"

#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "api/text.h"
#include "blocks/bin.h"
#include "platform/os.h"

#define DECAY_MS_MAX (INT64_C(1) << 40)     /* 35 years */
#define COMPLAINT_MAX 200U                  /* bytes of a pair that are quoted, so that the line and its end fit into a text */

struct config config;

static void config_complain(const char *pair, size_t bytes)
{
    struct text t = {.length = 0};
    text_add(&t, "qedmalloc: QEDMALLOC_CONF: not understood and left out: ");
    text_add_bytes(&t, pair, bytes < COMPLAINT_MAX ? bytes : COMPLAINT_MAX);
    text_add(&t, "\n");
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

static bool config_bool(const char *value, size_t bytes, bool *yes)
{
    *yes = bytes == 4 && memcmp(value, "true", 4) == 0;
    return *yes || (bytes == 5 && memcmp(value, "false", 5) == 0);
}

static bool config_is(const char *name, size_t bytes, const char *wanted)
{
    return strlen(wanted) == bytes && memcmp(name, wanted, bytes) == 0;
}

static bool config_set(struct config *c, const char *name, size_t name_bytes, const char *value, size_t value_bytes)
{
    int64_t number = 0;
    bool    yes = false;
    if (config_is(name, name_bytes, "stats_print") && config_bool(value, value_bytes, &yes)) {
        c->stats_print = yes;
    } else if (config_is(name, name_bytes, "stats_page") && config_bool(value, value_bytes, &yes)) {
        c->stats_page = yes;
    } else if (config_is(name, name_bytes, "narenas") && config_number(value, value_bytes, 1, ARENAS_MAX, &number)) {
        c->narenas = (uint32_t)number;
    } else if (config_is(name, name_bytes, "dirty_decay_ms") && config_number(value, value_bytes, -1, DECAY_MS_MAX, &number)) {
        c->dirty_decay_ms = number;
    } else if (config_is(name, name_bytes, "muzzy_decay_ms") && config_number(value, value_bytes, -1, DECAY_MS_MAX, &number)) {
        c->muzzy_decay_ms = number;
    } else {
        return false;
    }
    return true;
}

void config_parse(struct config *c, const char *text)
{
    while (*text != '\0') {
        size_t pair = 0;
        size_t colon = 0;
        while (text[pair] != '\0' && text[pair] != ',') {
            colon = colon == 0 && text[pair] == ':' ? pair : colon;
            pair++;
        }
        if (pair > 0 && (colon == 0 || !config_set(c, text, colon, text + colon + 1, pair - colon - 1))) {
            config_complain(text, pair);
        }
        text += text[pair] == ',' ? pair + 1 : pair;
    }
}

void config_boot(void)
{
    const char name[] = "QEDMALLOC_CONF=";
    uint32_t   cpus = os_cpu_count();
    if (os_page_bytes() > PAGE) {
        static const char message[] = "qedmalloc: the system's page is larger than LG_PAGE: build with a larger one\n";
        os_write_error(message, sizeof message - 1);
        os_abort();
    }
    config = (struct config){.narenas = cpus < ARENAS_MAX ? cpus : ARENAS_MAX, .dirty_decay_ms = 10000};
    for (char **e = environ; e != NULL && *e != NULL && getauxval(AT_SECURE) == 0; e++) {
        if (strncmp(*e, name, sizeof name - 1) == 0) {
            config_parse(&config, *e + sizeof name - 1);
        }
    }
}
