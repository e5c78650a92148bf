/* stats_print: malloc_stats_print, as text or JSON. Both have what mallctl has, in one order; a writer puts the marks between. */
#include "api/stats_print.h"

#include <string.h>

#include "api/config.h"
#include "api/ctl.h"
#include "api/export.h"
#include "api/text.h"
#include "blocks/arena.h"
#include "math/size_class.h"

#include "qedmalloc/qedmalloc.h"

#define FLUSH_BYTES 384U                    /* a text that is longer goes out before more is added */

PUBLIC void (*qed_malloc_message)(void *opaque, const char *text) = NULL;
#ifndef QED_PREFIX_ONLY
PUBLIC void (*malloc_message)(void *opaque, const char *text) = NULL;
#endif

struct writer {
    void (*write)(void *opaque, const char *text);      /* NULL: standard error */
    void       *opaque;
    struct text text;
    uint32_t    depth;                      /* groups that are open */
    bool        json;
    bool        some;                       /* the group has something already */
};

/* ---- the writer -------------------------------------------------------------------------------------------------- */

static void writer_flush(struct writer *w)
{
    if (w->write == NULL) {
        text_write(&w->text);
    } else {
        w->text.bytes[w->text.length] = '\0';
        w->write(w->opaque, w->text.bytes);
        w->text.length = 0;
    }
}

static void writer_add(struct writer *w, const char *s)
{
    for (; *s != '\0'; s++) {
        if (w->text.length >= FLUSH_BYTES) {
            writer_flush(w);
        }
        text_add_bytes(&w->text, s, 1);
    }
}

static void writer_number(struct writer *w, uint64_t n, size_t width)
{
    if (w->text.length >= FLUSH_BYTES) {
        writer_flush(w);
    }
    text_add_number(&w->text, n, width);
}

static void writer_quote(struct writer *w, const char *s)
{
    writer_add(w, "\"");
    for (char one[2] = {*s, '\0'}; *s != '\0'; one[0] = *++s) {
        if (*s == '"' || *s == '\\') {
            writer_add(w, "\\");
        }
        writer_add(w, (unsigned char)*s < ' ' ? " " : one);
    }
    writer_add(w, "\"");
}

/* A new line, after a comma where JSON needs one. */
static void writer_line(struct writer *w)
{
    writer_add(w, w->json && w->some ? ",\n" : "\n");
    for (uint32_t i = 0; i < w->depth; i++) {
        writer_add(w, w->json ? "\t" : "  ");
    }
    w->some = true;
}

static void writer_name(struct writer *w, const char *name)
{
    writer_line(w);
    if (w->json && name[0] != '\0') {
        writer_quote(w, name);
        writer_add(w, ": ");
    } else if (!w->json) {
        writer_add(w, name);
        writer_add(w, ": ");
    }
}

static void writer_begin(struct writer *w, const char *name, const char *mark)
{
    writer_name(w, name);
    writer_add(w, w->json ? mark : "");
    w->depth++;
    w->some = false;
}

static void writer_end(struct writer *w, const char *mark)
{
    w->depth--;
    if (w->json) {
        w->some = false;
        writer_line(w);
        writer_add(w, mark);
    }
    w->some = true;
}

static void writer_value(struct writer *w, const char *name, enum ctl_type type, uint64_t value)
{
    writer_name(w, name);
    if (type == CTL_BOOL) {
        writer_add(w, value != 0 ? "true" : "false");
    } else if (type == CTL_TEXT) {
        writer_quote(w, (const char *)(uintptr_t)value);
    } else if (type == CTL_SSIZE && (int64_t)value < 0) {
        writer_add(w, "-");
        writer_number(w, 0 - value, 0);
    } else {
        writer_number(w, value, 0);
    }
}

/* ---- what is printed --------------------------------------------------------------------------------------------- */

/* All names that begin so and have no further piece, each by its last piece. */
static void print_names(struct writer *w, const char *begin, const size_t *index)
{
    size_t bytes = strlen(begin);
    for (uint32_t i = 0; i < ctl_name_count; i++) {
        const struct ctl_name *n = &ctl_names[i];
        uint64_t               value = 0;
        if (strncmp(n->name, begin, bytes) == 0 && strpbrk(n->name + bytes, ".%") == NULL && n->read != NULL && n->read(n, index, &value) == 0) {
            writer_value(w, n->name + bytes, n->type, value);
        }
    }
}

static void print_group(struct writer *w, const char *name, const char *begin, const size_t *index)
{
    writer_begin(w, name, "{");
    print_names(w, begin, index);
    writer_end(w, "}");
}

static void print_classes(struct writer *w, const char *name, const char *begin, uint32_t count)
{
    writer_begin(w, name, "[");
    for (size_t i = 0; i < count; i++) {
        print_group(w, "", begin, &i);
    }
    writer_end(w, "]");
}

static void print_general(struct writer *w)
{
    writer_value(w, "version", CTL_TEXT, (uint64_t)(uintptr_t)ctl_version);
    print_group(w, "config", "config.", NULL);
    print_group(w, "opt", "opt.", NULL);
    writer_begin(w, "arenas", "{");
    print_names(w, "arenas.", NULL);
    if (w->json) {
        print_classes(w, "bin", "arenas.bin.%b.", SC_NBINS);
        print_classes(w, "lextent", "arenas.lextent.%l.", SC_NSIZES - SC_NBINS);
    }
    writer_end(w, "}");
}

/* One line, in the order that programs know. */
static void print_totals(struct writer *w)
{
    static const char *const names[] = {"allocated", "active", "metadata", "resident", "mapped", "retained"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint64_t value = 0;
        size_t   bytes = sizeof value;
        char     name[32] = "stats.";
        (void)qed_mallctl(strcat(name, names[i]), &value, &bytes, NULL, 0);
        writer_add(w, i == 0 ? "\nAllocated: " : ", ");
        writer_add(w, i == 0 ? "" : names[i]);
        writer_add(w, i == 0 ? "" : ": ");
        writer_number(w, value, 0);
        writer_add(w, i == 2 ? " (n_thp 0)" : "");
    }
}

/* The classes that have been used: a row each. */
static void print_bins_text(struct writer *w, uint32_t from, uint32_t to)
{
    writer_line(w);
    writer_add(w, "bins:           size  ind      allocated        nmalloc        ndalloc        curregs       curslabs");
    ctl_lock();
    struct bin_stats sums[SC_NBINS] = {{0}};
    for (uint32_t i = from * SC_NBINS; i < to * SC_NBINS; i++) {
        sums[i % SC_NBINS].regions_live += ctl_stats.bins[i].regions_live;
        sums[i % SC_NBINS].slabs += ctl_stats.bins[i].slabs;
        sums[i % SC_NBINS].filled += ctl_stats.bins[i].filled;
        sums[i % SC_NBINS].flushed += ctl_stats.bins[i].flushed;
    }
    ctl_unlock();
    for (uint32_t c = 0; c < SC_NBINS; c++) {
        const struct bin_stats *b = &sums[c];
        if (b->filled > 0) {
            const uint64_t cells[] = {size_class_bytes(c) * b->regions_live, b->filled, b->flushed, b->regions_live, b->slabs};
            writer_line(w);
            writer_number(w, size_class_bytes(c), 20);
            writer_number(w, c, 5);
            for (uint32_t i = 0; i < sizeof cells / sizeof *cells; i++) {
                writer_number(w, cells[i], 15);
            }
        }
    }
}

static void print_arena(struct writer *w, const char *name, size_t arena, bool bins)
{
    size_t index[2] = {arena, 0};
    writer_begin(w, name, "{");
    print_names(w, "stats.arenas.%a.", index);
    print_group(w, "small", "stats.arenas.%a.small.", index);
    print_group(w, "large", "stats.arenas.%a.large.", index);
    if (bins && w->json) {
        writer_begin(w, "bins", "[");
        for (; index[1] < SC_NBINS; index[1]++) {
            print_group(w, "", "stats.arenas.%a.bins.%b.", index);
        }
        writer_end(w, "]");
    } else if (bins) {
        uint32_t count = arena_count();
        print_bins_text(w, arena < count ? (uint32_t)arena : 0, arena < count ? (uint32_t)arena + 1 : count);
    }
    writer_end(w, "}");
}

static void print_arenas(struct writer *w, bool merged, bool each, bool bins)
{
    if (merged) {
        print_arena(w, w->json ? "merged" : "Merged arenas stats", CTL_ALL, bins);
    }
    for (uint32_t a = 0; each && a < ctl_arenas(); a++) {
        struct text number = {.length = 0};
        text_add(&number, w->json ? "" : "arenas[");
        text_add_number(&number, a, 0);
        text_add(&number, w->json ? "" : "]");
        number.bytes[number.length] = '\0';
        print_arena(w, number.bytes, a, bins);
    }
}

static void print_all(struct writer *w, bool general, bool merged, bool each, bool bins)
{
    if (general) {
        print_general(w);
    }
    if (!w->json) {
        print_totals(w);
        print_arenas(w, merged, each, bins);
        return;
    }
    print_group(w, "stats", "stats.", NULL);
    writer_begin(w, "stats.arenas", "{");
    print_arenas(w, merged, each, bins);
    writer_end(w, "}");
}

/* ---- the function ------------------------------------------------------------------------------------------------ */

static bool has(const char *options, char letter)
{
    return options != NULL && strchr(options, letter) != NULL;
}

static void (*message(void))(void *opaque, const char *text)
{
#ifndef QED_PREFIX_ONLY
    if (malloc_message != NULL) {
        return malloc_message;
    }
#endif
    return qed_malloc_message;
}

PUBLIC void qed_malloc_stats_print(void (*write)(void *opaque, const char *text), void *opaque, const char *options)
{
    struct writer w = {.write = write != NULL ? write : message(), .opaque = opaque, .json = has(options, 'J'), .some = false};
    ctl_lock();
    ctl_refresh();
    ctl_unlock();
    writer_add(&w, w.json ? "{" : "___ Begin jemalloc statistics ___");
    if (w.json) {
        w.depth = 1;
        writer_begin(&w, "jemalloc", "{");
    }
    print_all(&w, !has(options, 'g'), !has(options, 'm'), !has(options, 'a'), !has(options, 'b'));
    if (w.json) {
        writer_end(&w, "}");
        writer_add(&w, "\n}\n");
    } else {
        writer_add(&w, "\n--- End jemalloc statistics ---\n");
    }
    writer_flush(&w);
}

void stats_print_at_exit(void)
{
    qed_malloc_stats_print(NULL, NULL, config.stats_print_opts);
}

EXPORT(void, malloc_stats_print, (void (*write)(void *opaque, const char *text), void *opaque, const char *options));
