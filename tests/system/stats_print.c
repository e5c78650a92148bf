/* Has malloc_stats_print write to a callback and to malloc_message, with each letter, and checks that it says what mallctl says. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jemalloc/jemalloc.h>

static char   text[1 << 20];
static size_t bytes;
static int    checks;

#define CHECK(condition)                                                                  \
    do {                                                                                  \
        checks++;                                                                         \
        if (!(condition)) {                                                               \
            fprintf(stderr, "stats_print: line %d: %s\n%s\n", __LINE__, #condition, text); \
            return 1;                                                                     \
        }                                                                                 \
    } while (0)

static void take(void *opaque, const char *s)
{
    size_t n = strlen(s);
    if (opaque != &bytes || bytes + n >= sizeof text) {
        abort();
    }
    memcpy(text + bytes, s, n + 1);
    bytes += n;
}

static void take_message(void *opaque, const char *s)
{
    (void)opaque;
    take(&bytes, s);
}

static const char *print(const char *options)
{
    bytes = 0;
    malloc_stats_print(take, &bytes, options);
    return text;
}

/* The number of the class of 3 MiB, as the table counts: the large classes after the small ones. */
static unsigned arena_class(void)
{
    unsigned bins = 0, i = 0;
    size_t   length = sizeof bins, size = 0;
    char     name[64];
    mallctl("arenas.nbins", &bins, &length, NULL, 0);
    for (; size != 3 << 20; i++) {
        snprintf(name, sizeof name, "arenas.lextent.%u.size", i);
        length = sizeof size;
        mallctl(name, &size, &length, NULL, 0);
    }
    return bins + i - 1;
}

int main(void)
{
    char *block = mallocx(3 << 20, 0);
    size_t allocated = 0, length = sizeof allocated;
    CHECK(strncmp(print(NULL), "___ Begin jemalloc statistics ___\n", 34) == 0
          && strcmp(text + bytes - 33, "\n--- End jemalloc statistics ---\n") == 0);
    CHECK(mallctl("stats.allocated", &allocated, &length, NULL, 0) == 0 && allocated >= 3 << 20);
    char line[64];
    snprintf(line, sizeof line, "\nAllocated: %zu, active: ", allocated);
    CHECK(strstr(text, line) != NULL);
    CHECK(strstr(text, "nbins: ") != NULL);
    CHECK(strstr(text, "Merged arenas stats") != NULL && strstr(text, "arenas[0]") != NULL && strstr(text, "  bins:  ") != NULL);
    CHECK(strstr(print("m"), "Merged arenas stats") == NULL && strstr(text, "arenas[0]") != NULL);
    CHECK(strstr(print("a"), "Merged arenas stats") != NULL && strstr(text, "arenas[0]") == NULL);
    CHECK(strstr(text, "  large:  ") != NULL && strstr(text, "  extents:  ") != NULL);
    CHECK(strstr(print("b"), "  bins:  ") == NULL && strstr(text, "  large:  ") != NULL);
    CHECK(strstr(print("l"), "  large:  ") == NULL && strstr(text, "  bins:  ") != NULL);
    CHECK(strstr(print("e"), "  extents:  ") == NULL && strstr(text, "  bins:  ") != NULL);
    snprintf(line, sizeof line, "\n%22d%5u%15d%15d%15d%15d%15d", 3 << 20, arena_class(), 3 << 20, 1, 0, 1, 1);
    CHECK(strstr(print("ga"), line) != NULL);                  /* the row of the block above: one came, none went */
    CHECK(strstr(print("g"), "nbins: ") == NULL && strstr(text, "Allocated: ") != NULL);
    CHECK(print("J")[0] == '{' && strcmp(text + bytes - 2, "}\n") == 0 && strstr(text, "\"stats.arenas\": {") != NULL);
    bytes = 0;
    malloc_message = take_message;
    malloc_stats_print(NULL, NULL, "gmab");
    CHECK(strncmp(text, "___ Begin", 9) == 0);
    dallocx(block, 0);
    printf("ok stats_print: %d checks\n", checks);
    malloc_message = NULL;
    malloc_stats_print(NULL, NULL, "J");    /* on standard error, for a parser */
    return 0;
}
