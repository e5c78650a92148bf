/* dump: see dump.h. */
#include "prof/dump.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ds/rb_tree.h"
#include "prof/context.h"

#define LEAKS_SHOWN 10U
#define LEAK_FRAMES 3U                          /* frames that the report of leaks shows of each context */

#pragma weak dladdr

/* A file and what is not in it yet. One is enough, since it is used under context_lock. */
static struct {
    int    fd;
    bool   failed;
    size_t length;
    char   bytes[8192];
} out;

static uint64_t numbers;                        /* dumps so far */
static uint64_t numbers_of[256];                /* by kind */

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* By system calls of their own, since a function of the C library may be a program's, which allocates. */
static void out_flush(void)
{
    for (size_t done = 0; done < out.length && !out.failed;) {
        long n = syscall(SYS_write, out.fd, out.bytes + done, out.length - done);
        out.failed = n <= 0;
        done += n > 0 ? (size_t)n : 0;
    }
    out.length = 0;
}

static void out_bytes(const char *s, size_t n)
{
    while (n > 0) {
        size_t room = sizeof out.bytes - out.length, some = n < room ? n : room;
        memcpy(out.bytes + out.length, s, some);
        out.length += some;
        s += some;
        n -= some;
        if (out.length == sizeof out.bytes) {
            out_flush();
        }
    }
}

static void out_text(const char *s)
{
    out_bytes(s, strlen(s));
}

/* Writes the number behind the end of the buffer's text, and returns where it begins. */
static char *digits(uint64_t n, unsigned base, char *end)
{
    *--end = '\0';
    do {
        *--end = "0123456789abcdef"[n % base];
        n /= base;
    } while (n != 0);
    return end;
}

static void out_number(uint64_t n, unsigned base)
{
    char buffer[21];
    out_text(digits(n, base, buffer + sizeof buffer));
}

/* ---- a profile --------------------------------------------------------------------------------------------------- */

/* "  tWHO: objects: bytes [objects: bytes]": live ones, and with those that were freed. For a context these are such that jeprof, which
 * scales by the average size, comes to what the samples stand for. Elsewhere they are the samples themselves. */
static void out_counts(uint64_t thread, const struct counts *live, const struct counts *accum, const char *name)
{
    out_text("  t");
    if (thread == 0) {
        out_text("*");
    } else {
        out_number(thread, 10);
    }
    out_text(": ");
    out_number(live->objects, 10);
    out_text(": ");
    out_number(live->bytes, 10);
    out_text(" [");
    out_number(accum->objects, 10);
    out_text(": ");
    out_number(accum->bytes, 10);
    out_text(name[0] == '\0' ? "]" : "] ");
    out_text(name);
    out_text("\n");
}

static void out_shown(uint64_t thread, const struct counts *live, const struct counts *accum)
{
    struct counts l = context_shown(live), a = context_shown(accum);
    out_counts(thread, &l, &a, "");
}

static void counts_join(struct counts *sum, const struct counts *c)
{
    sum->objects += c->objects;
    sum->bytes += c->bytes;
    sum->weight += c->weight;
    sum->estimate += c->estimate;
}

/* What all threads have under a global context. */
static void context_sum(uint32_t g, struct counts *live, struct counts *accum)
{
    *live = *accum = (struct counts){.objects = 0};
    for (uint32_t x = rb_tree_first(g); x != 0; x = rb_tree_next(x)) {
        counts_join(live, &AT(context_of, x).live);
        counts_join(accum, &AT(context_of, x).accum);
    }
}

static void out_context(uint32_t g)
{
    const struct context *c = &AT(context_of, g);
    struct counts         live, accum;
    out_text("@");
    for (uint32_t i = 0; i < c->depth; i++) {
        out_text(" 0x");
        out_number(c->frame[i], 16);
    }
    out_text("\n");
    context_sum(g, &live, &accum);
    out_shown(0, &live, &accum);
    for (uint32_t x = rb_tree_first(g); x != 0; x = rb_tree_next(x)) {
        out_shown(AT(context_of, x).thread->number, &AT(context_of, x).live, &AT(context_of, x).accum);
    }
}

static void out_maps(void)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    out_text("\nMAPPED_LIBRARIES:\n");
    if (fd < 0) {
        return;
    }
    for (long n = 1; n > 0;) {
        out_flush();
        n = syscall(SYS_read, fd, out.bytes, sizeof out.bytes);
        out.length = n > 0 ? (size_t)n : 0;
    }
    syscall(SYS_close, fd);
}

static void out_threads(const struct thread *t)
{
    for (; t != NULL; t = t->next) {
        out_counts(t->number, &t->live, &t->accum, t->name);
    }
}

static void out_profile(void)
{
    uint64_t cursor = 0;
    out_text("heap_v2/");
    out_number(1UL << prof_options.lg_sample, 10);
    out_text("\n");
    out_counts(0, &context_live, &context_accum, "");
    out_threads(context_threads);
    out_threads(context_ended);
    for (uint32_t g = 0; (g = cuckoo_hash_next(&context_by_trace, &cursor)) != 0;) {
        out_context(g);
    }
    out_maps();
    out_flush();
}

bool dump_file(const char *path)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) {
        return false;
    }
    mutex_lock(&context_lock);
    out.fd = fd;
    out.failed = false;
    out.length = 0;
    out_profile();
    bool done = !out.failed;
    mutex_unlock(&context_lock);
    syscall(SYS_close, fd);
    return done;
}

static void path_add(char *path, const char *s)
{
    size_t at = strlen(path);
    size_t n = strlen(s) < PROF_PATH_BYTES - 1 - at ? strlen(s) : PROF_PATH_BYTES - 1 - at;
    memcpy(path + at, s, n);
    path[at + n] = '\0';
}

bool dump_numbered(char kind)
{
    char        path[PROF_PATH_BYTES] = "", buffer[21], *end = buffer + sizeof buffer;
    const char  letter[] = {'.', kind, '\0'};
    if (prof_options.prefix[0] == '\0') {
        return false;
    }
    path_add(path, prof_options.prefix);
    path_add(path, ".");
    path_add(path, digits((uint64_t)syscall(SYS_getpid), 10, end));
    path_add(path, ".");
    path_add(path, digits(__atomic_fetch_add(&numbers, 1, __ATOMIC_RELAXED), 10, end));
    path_add(path, letter);
    path_add(path, digits(__atomic_fetch_add(&numbers_of[(unsigned char)kind], 1, __ATOMIC_RELAXED), 10, end));
    path_add(path, ".heap");
    return dump_file(path);
}

/* ---- leaks ------------------------------------------------------------------------------------------------------- */

struct leak {
    struct counts live;
    Dl_info       in[LEAK_FRAMES];
    uintptr_t     frame[LEAK_FRAMES];
    uint32_t      g;
    uint32_t      depth;
};

/* Finds the context with the most live bytes among those that come after `last`, in falling order. Returns false if there is none. */
static bool leak_next(const struct leak *last, struct leak *most)
{
    uint64_t      cursor = 0;
    struct counts sum, accum;
    *most = (struct leak){.g = 0};
    for (uint32_t g = 0; (g = cuckoo_hash_next(&context_by_trace, &cursor)) != 0;) {
        context_sum(g, &sum, &accum);
        bool later = last == NULL || sum.estimate < last->live.estimate || (sum.estimate == last->live.estimate && g > last->g);
        bool more = sum.estimate > most->live.estimate || (sum.estimate == most->live.estimate && g < most->g);
        if (sum.objects > 0 && later && more) {
            most->g = g;
            most->live = sum;
        }
    }
    const struct context *c = &AT(context_of, most->g != 0 ? most->g : 1);
    most->depth = most->g == 0 ? 0 : c->depth < LEAK_FRAMES ? c->depth : LEAK_FRAMES;
    for (uint32_t i = 0; i < most->depth; i++) {
        most->frame[i] = c->frame[i];
    }
    return most->g != 0;
}

static void out_frame(uintptr_t frame, const Dl_info *in)
{
    out_text("      0x");
    out_number(frame, 16);
    if (in->dli_fname != NULL) {
        out_text(" ");
        out_text(in->dli_sname == NULL ? "?" : in->dli_sname);
        out_text(" (");
        out_text(in->dli_fname);
        out_text("+0x");
        out_number(frame - (uintptr_t)in->dli_fbase, 16);
        out_text(")");
    }
    out_text("\n");
}

static void out_leak(const struct leak *l)
{
    out_text("  about ");
    out_number(l->live.estimate, 10);
    out_text(" bytes in ");
    out_number((l->live.weight + 32768) / 65536, 10);
    out_text(" blocks from\n");
    for (uint32_t i = 0; i < l->depth; i++) {
        out_frame(l->frame[i], &l->in[i]);
    }
}

/* The loader is asked for names without the lock, since it has locks of its own, inside which it allocates. */
static void leak_names(struct leak *l)
{
    for (uint32_t i = 0; i < l->depth && dladdr != NULL; i++) {
        if (dladdr((const void *)(l->frame[i] - 1), &l->in[i]) == 0) {
            l->in[i].dli_fname = NULL;
        }
    }
}

bool dump_leaks(void)
{
    static struct leak leaks[LEAKS_SHOWN];
    uint32_t           count = 0;
    mutex_lock(&context_lock);
    while (count < LEAKS_SHOWN && leak_next(count == 0 ? NULL : &leaks[count - 1], &leaks[count])) {
        count++;
    }
    mutex_unlock(&context_lock);
    for (uint32_t i = 0; i < count; i++) {
        leak_names(&leaks[i]);
    }
    mutex_lock(&context_lock);
    out.fd = STDERR_FILENO;
    out.failed = false;
    if (count > 0) {
        out_text("qedmalloc: about ");
        out_number(context_live.estimate, 10);
        out_text(" bytes in ");
        out_number((context_live.weight + 32768) / 65536, 10);
        out_text(" blocks are live at exit, as ");
        out_number(context_live.objects, 10);
        out_text(" samples tell; most of them:\n");
    }
    for (uint32_t i = 0; i < count; i++) {
        out_leak(&leaks[i]);
    }
    out_flush();
    mutex_unlock(&context_lock);
    return count > 0;
}
