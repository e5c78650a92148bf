/* config_fuzz: the world is a configuration; the step parses the input as the environment's text; the check is a slow
 * parser of its own, with its own list of what it must complain about. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/config.h"
#include "platform/os_fake.h"

#define DECAY_MS_MAX (1LL << 40)

/* One pair, as the README's table says. */
static bool apply(struct config *c, char *pair)
{
    char *value = strchr(pair, ':'), *digit;
    if (value == NULL) {
        return false;
    }
    *value++ = '\0';
    if (strcmp(pair, "stats_print") == 0 && (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)) {
        c->stats_print = value[0] == 't';
        return true;
    }
    if (strcmp(pair, "stats_page") == 0 && (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)) {
        c->stats_page = value[0] == 't';
        return true;
    }
    for (digit = value + (value[0] == '-'); isdigit((unsigned char)*digit); digit++) {
    }
    if (*digit != '\0' || digit == value || digit[-1] == '-' || digit - value > 1000) {
        return false;
    }
    long long n = strtoll(value, NULL, 10);                 /* saturates, which is out of range too */
    if (strcmp(pair, "narenas") == 0 && n >= 1 && n <= 64) {
        c->narenas = (uint32_t)n;
    } else if (strcmp(pair, "dirty_decay_ms") == 0 && n >= -1 && n <= DECAY_MS_MAX) {
        c->dirty_decay_ms = n;
    } else if (strcmp(pair, "muzzy_decay_ms") == 0 && n >= -1 && n <= DECAY_MS_MAX) {
        c->muzzy_decay_ms = n;
    } else {
        return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config got = {.narenas = 3, .dirty_decay_ms = 10000}, wanted = got;
    size_t        complaints = 0, lines = 0;
    char         *text = calloc(1, size + 1), *copy = calloc(1, size + 1);
    if (text == NULL || copy == NULL) {
        abort();
    }
    memcpy(text, data, size);
    memcpy(copy, data, size);
    os_fake.echo = false;
    os_fake.text_bytes = 0;
    config_parse(&got, text);
    for (char *rest = copy, *pair; (pair = strsep(&rest, ",")) != NULL;) {
        complaints += pair[0] != '\0' && !apply(&wanted, pair) ? 1 : 0;
    }
    for (size_t i = 0; i < os_fake.text_bytes; i++) {
        lines += os_fake.text[i] == '\n' ? 1 : 0;
    }
    for (size_t i = 0; i < size && text[i] != '\0'; i++) {
        complaints = text[i] == '\n' ? SIZE_MAX : complaints;   /* quoted newlines: lines count nothing */
    }
    bool equal = got.stats_print == wanted.stats_print && got.stats_page == wanted.stats_page && got.narenas == wanted.narenas
                 && got.dirty_decay_ms == wanted.dirty_decay_ms && got.muzzy_decay_ms == wanted.muzzy_decay_ms;
    if (!equal || (complaints != SIZE_MAX && os_fake.text_bytes < OS_FAKE_TEXT_BYTES && lines != complaints)) {
        fprintf(stderr, "config: %zu complaints, wanted %zu; values %s\n", lines, complaints, equal ? "equal" : "differ");
        abort();
    }
    free(text);
    free(copy);
    return 0;
}
