/* load: reads a trace. Three passes: count, decode to records, and walk the records by ticket, which turns addresses into
 * numbers of blocks. A realloc has two tickets: at the first its old block is gone, at the second the new one is there.
 */
#include "load.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void die(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "qed-replay: ");
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    exit(2);
}

void *os_array(uint64_t count, size_t size)
{
    void *p = mmap(NULL, (count + 1) * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        die("no memory for %" PRIu64 " times %zu bytes", count, size);
    }
    madvise(p, (count + 1) * size, MADV_HUGEPAGE);
    return p;
}

void os_release(void *array, uint64_t count, size_t size)
{
    munmap(array, (count + 1) * size);
}

/* ---- decoding ---------------------------------------------------------------------------------------------------- */

struct record {
    uint64_t ticket, second;            /* second: of a realloc, else 0 */
    uint64_t old, block;                /* addresses */
    uint64_t bytes, other;
    uint32_t thread;
    uint32_t call;                      /* of a realloc: where it went */
    uint32_t time_ms;                   /* when its segment began */
    uint8_t  kind;
};

struct reader {
    const char    *path;
    const uint8_t *file;
    size_t         size;
    uint64_t       records, blocks, tickets, threads;   /* how many, that hand out a block, highest, how many */
    struct record *record;                      /* NULL: only count */
    uint32_t       duration_ms;
};

static _Noreturn void corrupt(const struct reader *r, const uint8_t *at, const char *what)
{
    die("%s: corrupt at byte %zu: %s", r->path, (size_t)(at - r->file), what);
}

static const uint8_t *number(const struct reader *r, const uint8_t *at, const uint8_t *end, uint64_t *x)
{
    const uint8_t *after = trace_get(at, end, x);
    if (after == NULL) {
        corrupt(r, at, "a number does not end in its segment");
    }
    return after;
}

static const uint8_t *block(const struct reader *r, const uint8_t *at, const uint8_t *end, uint64_t *last, uint64_t *address)
{
    const uint8_t *after = trace_get_block(at, end, last, address);
    if (after == NULL) {
        corrupt(r, at, "a block does not end in its segment");
    }
    return after;
}

static const uint8_t *read_event(struct reader *r, const uint8_t *at, const uint8_t *end, uint64_t *ticket, uint64_t *last,
                                 const struct trace_segment *s)
{
    struct record  e = {.kind = *at & 15, .thread = s->thread, .time_ms = s->time_ms};
    const uint8_t *begin = at;
    uint64_t       skipped = *at >> 4, more = 0;
    at++;
    if (skipped == TRACE_TICKETS_INLINE) {
        at = number(r, at, end, &more);
    }
    e.ticket = *ticket + 1 + skipped + more;
    if (e.ticket <= *ticket) {
        corrupt(r, begin, "tickets do not grow");
    }
    *ticket = e.ticket;
    switch (e.kind) {
    case TRACE_CALLOC:
    case TRACE_ALIGNED_ALLOC:
    case TRACE_POSIX_MEMALIGN:
    case TRACE_MEMALIGN: at = number(r, at, end, &e.other); /* fall through */
    case TRACE_MALLOC:
    case TRACE_VALLOC:
    case TRACE_PVALLOC: at = block(r, number(r, at, end, &e.bytes), end, last, &e.block); break;
    case TRACE_FREE: at = block(r, at, end, last, &e.old); break;
    case TRACE_REALLOC:
        at = block(r, number(r, block(r, at, end, last, &e.old), end, &e.bytes), end, last, &e.block);
        at = number(r, at, end, &e.second);
        e.second += e.ticket;
        if (e.second <= e.ticket) {
            corrupt(r, begin, "tickets do not grow");
        }
        break;
    default: corrupt(r, begin, "no such event");
    }
    uint64_t highest = e.second > e.ticket ? e.second : e.ticket;
    r->tickets = highest > r->tickets ? highest : r->tickets;
    r->record != NULL ? r->record[r->records] = e, 0 : 0;
    r->records++;
    r->blocks += e.block != 0 ? 1 : 0;
    return at;
}

static void read_unit(struct reader *r, const uint8_t *unit)
{
    for (size_t from = 0; from + sizeof(struct trace_segment) <= TRACE_UNIT_BYTES;) {
        struct trace_segment s;
        memcpy(&s, unit + from, sizeof s);
        if (s.mark != TRACE_SEGMENT_MARK) {
            return;
        }
        from += sizeof s;
        if (s.bytes > TRACE_UNIT_BYTES - from) {
            corrupt(r, unit + from - sizeof s, "a segment is longer than its unit");
        }
        if (s.thread >= r->size / sizeof s) {
            corrupt(r, unit + from - sizeof s, "more threads than segments");
        }
        const uint8_t *at = unit + from, *end = at + s.bytes;
        uint64_t       ticket = s.ticket, last = 0;
        while (at < end) {
            at = read_event(r, at, end, &ticket, &last, &s);
        }
        r->threads = s.thread >= r->threads ? s.thread + 1U : r->threads;
        r->duration_ms = s.time_ms > r->duration_ms ? s.time_ms : r->duration_ms;
        from += (s.bytes + TRACE_ALIGN - 1) / TRACE_ALIGN * TRACE_ALIGN;
    }
}

static void read_units(struct reader *r)
{
    r->records = r->blocks = 0;
    for (size_t from = TRACE_UNIT_BYTES; from < r->size; from += TRACE_UNIT_BYTES) {
        read_unit(r, r->file + from);
    }
}

static void read_header(const struct reader *r, struct trace_header *h)
{
    r->size >= sizeof *h ? (void)memcpy(h, r->file, sizeof *h) : (void)0;
    if (r->size < sizeof *h || memcmp(h->magic, TRACE_MAGIC, sizeof h->magic) != 0) {
        die("%s: not a trace: it does not begin with " TRACE_MAGIC, r->path);
    }
    if (h->byte_order != TRACE_BYTE_ORDER) {
        die("%s: recorded on a machine of the other byte order", r->path);
    }
    if (h->version != TRACE_VERSION) {
        die("%s: version %" PRIu32 " of the format; this program reads version %u", r->path, h->version, TRACE_VERSION);
    }
    if (h->unit_bytes != TRACE_UNIT_BYTES || r->size % TRACE_UNIT_BYTES != 0) {
        die("%s: truncated: not a whole number of units of %u bytes", r->path, TRACE_UNIT_BYTES);
    }
    h->program[sizeof h->program - 1] = 0;
}

/* ---- addresses to blocks ----------------------------------------------------------------------------------------- */

struct owner {                          /* of an address that was ever handed out; a hash table, at most half full */
    uint64_t address;
    uint32_t block;                     /* 0: none now */
};

struct walk {
    struct trace *t;
    struct owner *owner;
    uint64_t      mask;
    uint32_t     *last;                 /* by thread: its last call */
    uint64_t      live;
};

/* Returns the place of the address, which is empty if it was never handed out. */
static struct owner *owner_of(const struct walk *w, uint64_t address)
{
    uint64_t i = (address >> 3) * 0x9e3779b97f4a7c15U >> 20 & w->mask;
    while (w->owner[i].address != 0 && w->owner[i].address != address) {
        i = (i + 1) & w->mask;
    }
    return &w->owner[i];
}

static uint32_t push(struct walk *w, struct call c)
{
    struct trace *t = w->t;
    uint32_t      here = t->call_count++, before = w->last[c.thread];
    c.next = CALL_NONE;
    t->call[here] = c;
    if (before == CALL_NONE) {
        t->first[c.thread] = here;
        t->start[t->start_count++] = c.thread;
    } else {
        t->call[before].next = here;
    }
    w->last[c.thread] = here;
    return here;
}

/* Takes the block away from the address and returns it, or 0 if there is none. */
static uint32_t release(struct walk *w, uint64_t address)
{
    struct owner *o = owner_of(w, address);
    uint32_t      old = o->block;
    o->block = 0;
    w->live -= w->t->bytes[old];
    return old;
}

static uint32_t hand_out(struct walk *w, uint64_t address, uint64_t bytes, uint32_t thread, uint32_t time_ms)
{
    struct owner *o = owner_of(w, address);
    if (o->block != 0) {
        w->t->unseen++;
        push(w, (struct call){.kind = TRACE_FREE, .old = release(w, address), .thread = thread, .time_ms = time_ms});
    }
    *o = (struct owner){address, ++w->t->block_count};
    w->t->bytes[o->block] = bytes;
    w->live += bytes;
    w->t->live_peak = w->live > w->t->live_peak ? w->live : w->t->live_peak;
    return o->block;
}

static void first_half(struct walk *w, struct record *e)
{
    struct call c = {.kind = e->kind, .bytes = e->bytes, .other = e->other, .thread = e->thread, .time_ms = e->time_ms};
    bool        resizes = e->kind == TRACE_REALLOC;
    c.fails = e->kind != TRACE_FREE && e->block == 0 && !(resizes && e->bytes == 0);
    if (e->old != 0) {
        c.old = release(w, e->old);
        if (c.old == 0) {
            w->t->unknown++;
            if (e->block == 0 && !c.fails) {
                return;
            }
            c.kind = TRACE_MALLOC;
        } else if (c.fails) {
            c.block = hand_out(w, e->old, w->t->bytes[c.old], e->thread, e->time_ms);
        }
    }
    if (e->block != 0 && !resizes) {
        c.block = hand_out(w, e->block, call_bytes(&c), e->thread, e->time_ms);
    }
    e->call = push(w, c);
}

static void second_half(struct walk *w, struct record *e)
{
    if (e->block != 0) {
        uint32_t b = hand_out(w, e->block, e->bytes, e->thread, e->time_ms);
        w->t->call[e->call].block = b;
    }
}

static void walk(struct trace *t, struct reader *r)
{
    uint64_t     hash = 64, n = r->records;
    struct walk  w = {.t = t};
    uint32_t    *by_ticket = os_array(r->tickets + 1, sizeof *by_ticket);
    while (hash < 2 * r->blocks) {
        hash *= 2;
    }
    w.mask = hash - 1;
    w.owner = os_array(hash, sizeof *w.owner);
    t->bytes = os_array(n + 1, sizeof *t->bytes);
    w.last = os_array(r->threads, sizeof *w.last);
    t->call = os_array(2 * n, sizeof *t->call);     /* hand_out may put in a free before each */
    t->first = os_array(r->threads, sizeof *t->first);
    t->start = os_array(r->threads, sizeof *t->start);
    t->thread_count = (uint32_t)r->threads;
    memset(w.last, 0xff, r->threads * sizeof *w.last);
    memset(t->first, 0xff, r->threads * sizeof *t->first);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t at[2] = {r->record[i].ticket, r->record[i].second};
        for (int half = 0; half < 2 && at[half] != 0; half++) {
            if (by_ticket[at[half]] != 0) {
                die("%s: corrupt: two events with ticket %" PRIu64, r->path, at[half]);
            }
            by_ticket[at[half]] = i + 1;
        }
    }
    for (uint64_t ticket = 1; ticket <= r->tickets; ticket++) {
        struct record *e = by_ticket[ticket] == 0 ? NULL : &r->record[by_ticket[ticket] - 1];
        e == NULL ? (void)0 : e->ticket == ticket ? first_half(&w, e) : second_half(&w, e);
    }
    os_release(by_ticket, r->tickets + 1, sizeof *by_ticket);
    os_release(w.owner, hash, sizeof *w.owner);
    os_release(w.last, r->threads, sizeof *w.last);
}

void trace_load(struct trace *t, const char *path)
{
    struct reader r = {.path = path};
    struct stat   s;
    int           file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &s) != 0) {
        die("%s: cannot be read", path);
    }
    r.size = (size_t)s.st_size;
    r.file = r.size == 0 ? NULL : mmap(NULL, r.size, PROT_READ, MAP_PRIVATE, file, 0);
    if (r.file == MAP_FAILED) {
        die("%s: cannot be read", path);
    }
    close(file);
    *t = (struct trace){0};
    read_header(&r, &t->header);
    read_units(&r);
    /* A ticket without an event belongs to a thread that ended in the middle of a call. */
    if (r.tickets > 2 * (r.records + r.threads) || r.records >= UINT32_MAX / 2) {
        die("%s: corrupt: %" PRIu64 " tickets for %" PRIu64 " events", path, r.tickets, r.records);
    }
    uint64_t room = r.records;
    r.record = os_array(room, sizeof *r.record);
    read_units(&r);
    t->duration_ms = r.duration_ms;
    walk(t, &r);
    os_release(r.record, room, sizeof *r.record);
    munmap((void *)(uintptr_t)r.file, r.size);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

void trace_print(const struct trace *t, FILE *to)
{
    static const char *const name[TRACE_KINDS] = {[TRACE_MALLOC] = "malloc", [TRACE_CALLOC] = "calloc", [TRACE_REALLOC] = "realloc",
        [TRACE_FREE] = "free", [TRACE_ALIGNED_ALLOC] = "aligned_alloc", [TRACE_POSIX_MEMALIGN] = "posix_memalign",
        [TRACE_MEMALIGN] = "memalign", [TRACE_VALLOC] = "valloc", [TRACE_PVALLOC] = "pvalloc"};
    for (uint32_t i = 0; i < t->call_count; i++) {
        const struct call *c = &t->call[i];
        fprintf(to, "%" PRIu32 " ", c->thread);
        c->block != 0 ? fprintf(to, "b%" PRIu32 " = ", c->block) : 0;
        fprintf(to, "%s(", name[c->kind]);
        if (c->kind == TRACE_FREE || c->kind == TRACE_REALLOC) {
            c->old == 0 ? fprintf(to, "NULL") : fprintf(to, "b%" PRIu32, c->old);
            c->kind == TRACE_REALLOC ? fprintf(to, ", %" PRIu64, c->bytes) : 0;
        } else if (c->kind == TRACE_MALLOC || c->kind == TRACE_VALLOC || c->kind == TRACE_PVALLOC) {
            fprintf(to, "%" PRIu64, c->bytes);
        } else {
            fprintf(to, "%" PRIu64 ", %" PRIu64, c->other, c->bytes);
        }
        fprintf(to, c->fails ? ") fails\n" : ")\n");
    }
}
