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

/* What the caller's letters leave. */
struct parts {
    bool general, merged, each, bins, large, extents;
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

#define COLUMNS_MAX 9U

/* A table: a row for each class in which one of the names is not 0. The classes of large blocks are numbered after the small ones. */
struct table {
    const char *title;                      /* and what its columns are */
    const char *begin;                      /* of the names */
    const char *column[COLUMNS_MAX + 1];    /* their last pieces, then NULL */
    uint32_t    live;                       /* the column that, times the size, is shown before all others, or COLUMNS_MAX */
    uint32_t    classes;
    uint32_t    first;                      /* number of its first class */
    bool        pages;                      /* its classes are numbers of pages */
};

static const struct table tables[] = {
    {"bins:           size  ind      allocated        nmalloc        ndalloc        curregs       curslabs  nonfull_slabs      nrequests"
     "       nflushes         nslabs       nreslabs", "stats.arenas.%a.bins.%b.",
     {"nmalloc", "ndalloc", "curregs", "curslabs", "nonfull_slabs", "nrequests", "nflushes", "nslabs", "nreslabs", NULL}, 2, SC_NBINS, 0, false},
    {"large:          size  ind      allocated        nmalloc        ndalloc    curlextents      nrequests", "stats.arenas.%a.lextents.%l.",
     {"nmalloc", "ndalloc", "curlextents", "nrequests", NULL}, 2, SC_NSIZES - SC_NBINS, SC_NBINS, false},
    {"extents:        size  ind         ndirty    dirty_bytes         nmuzzy    muzzy_bytes      nretained retained_bytes",
     "stats.arenas.%a.extents.%e.", {"ndirty", "dirty_bytes", "nmuzzy", "muzzy_bytes", "nretained", "retained_bytes", NULL},
     COLUMNS_MAX, SC_NPSIZES, 0, true},
};

static const struct ctl_name *table_name(const struct table *t, uint32_t column)
{
    size_t                 bytes = strlen(t->begin);
    const struct ctl_name *n = ctl_names;
    while (strncmp(n->name, t->begin, bytes) != 0 || strcmp(n->name + bytes, t->column[column]) != 0) {
        n++;
    }
    return n;
}

static void print_table_text(struct writer *w, const struct table *t, size_t *index)
{
    const struct ctl_name *name[COLUMNS_MAX];
    uint32_t               columns = 0;
    for (; t->column[columns] != NULL; columns++) {
        name[columns] = table_name(t, columns);
    }
    writer_line(w);
    writer_add(w, t->title);
    for (index[1] = 0; index[1] < t->classes; index[1]++) {
        uint32_t c = t->first + (uint32_t)index[1];
        uint64_t size = t->pages ? ladder_rung(c) * PAGE : size_class_bytes(c), cell[COLUMNS_MAX], any = 0;
        for (uint32_t k = 0; k < columns; k++) {
            (void)name[k]->read(name[k], index, &cell[k]);
            any |= cell[k];
        }
        if (any != 0) {
            writer_line(w);
            writer_number(w, size, 20);
            writer_number(w, c, 5);
            if (t->live < columns) {
                writer_number(w, size * cell[t->live], 15);
            }
            for (uint32_t k = 0; k < columns; k++) {
                writer_number(w, cell[k], 15);
            }
        }
    }
}

static void print_table(struct writer *w, const char *name, const struct table *t, size_t arena)
{
    size_t index[2] = {arena, 0};
    if (!w->json) {
        print_table_text(w, t, index);
        return;
    }
    writer_begin(w, name, "[");
    for (; index[1] < t->classes; index[1]++) {
        print_group(w, "", t->begin, index);
    }
    writer_end(w, "]");
}

static void print_arena(struct writer *w, const char *name, size_t arena, const struct parts *parts)
{
    size_t index[2] = {arena, 0};
    writer_begin(w, name, "{");
    print_names(w, "stats.arenas.%a.", index);
    print_group(w, "small", "stats.arenas.%a.small.", index);
    print_group(w, "large", "stats.arenas.%a.large.", index);
    if (parts->bins) {
        print_table(w, "bins", &tables[0], arena);
    }
    if (parts->large) {
        print_table(w, "lextents", &tables[1], arena);
    }
    if (parts->extents) {
        print_table(w, "extents", &tables[2], arena);
    }
    writer_end(w, "}");
}

static void print_arenas(struct writer *w, const struct parts *parts)
{
    if (parts->merged) {
        print_arena(w, w->json ? "merged" : "Merged arenas stats", CTL_ALL, parts);
    }
    for (uint32_t a = 0; parts->each && a < ctl_arenas(); a++) {
        struct text number = {.length = 0};
        text_add(&number, w->json ? "" : "arenas[");
        text_add_number(&number, a, 0);
        text_add(&number, w->json ? "" : "]");
        number.bytes[number.length] = '\0';
        print_arena(w, number.bytes, a, parts);
    }
}

static void print_all(struct writer *w, const struct parts *parts)
{
    if (parts->general) {
        print_general(w);
    }
    if (!w->json) {
        print_totals(w);
        print_arenas(w, parts);
        return;
    }
    print_group(w, "stats", "stats.", NULL);
    writer_begin(w, "stats.arenas", "{");
    print_arenas(w, parts);
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
    if (!ctl_ready()) {
        return;
    }
    ctl_lock();
    ctl_refresh();
    ctl_unlock();
    writer_add(&w, w.json ? "{" : "___ Begin jemalloc statistics ___");
    if (w.json) {
        w.depth = 1;
        writer_begin(&w, "jemalloc", "{");
    }
    struct parts parts = {.general = !has(options, 'g'), .merged = !has(options, 'm'), .each = !has(options, 'a'), .bins = !has(options, 'b'),
                          .large = !has(options, 'l'), .extents = !has(options, 'e')};
    print_all(&w, &parts);
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
