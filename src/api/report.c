/* report: printing, and the C library's functions that report. */
#include "api/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "api/config.h"
#include "api/export.h"
#include "api/text.h"
#include "api/thread.h"
#include "blocks/arena.h"
#include "blocks/holes.h"
#include "platform/modes.h"
#include "tcache/counting.h"
#include "tcache/refill.h"
#include "tcache/stats.h"
#include "prof/prof.h"
#include "pages/pages.h"

#include "qedmalloc/qedmalloc.h"

/* Writes the report to a stream, or to the file descriptor of standard error where the stream is NULL. */
static void report_write(struct text *t, FILE *stream)
{
    if (stream == NULL) {
        text_write(t);
    } else {
        (void)fwrite(t->bytes, 1, t->length, stream);
        t->length = 0;
    }
}

static void report_line(struct text *t, const char *name, uint64_t n, FILE *stream)
{
    text_add(t, name);
    text_add_number(t, n, 16);
    text_add(t, "\n");
    report_write(t, stream);
}

static void report_to(FILE *stream)
{
    struct text t = {.length = 0};
    (void)thread_get();
    struct stats s = prof_read_totals();
    text_add(&t, "___ Begin qedmalloc statistics ___\n");
    report_line(&t, "small blocks handed to threads   ", s.small_filled, stream);
    report_line(&t, "large blocks handed to threads   ", s.large_allocated, stream);
    report_line(&t, "threads with a cache now         ", s.threads, stream);
    report_line(&t, "arenas                           ", arena_count(), stream);
    report_line(&t, "slabs                            ", s.slabs, stream);
    report_line(&t, "allocated (bytes, live blocks)   ", s.allocated, stream);
    report_line(&t, "cached    (bytes, ready)         ", s.cached, stream);
    report_line(&t, "active    (bytes, in extents)    ", s.active, stream);
    report_line(&t, "dirty     (bytes, free)          ", s.dirty, stream);
    report_line(&t, "muzzy     (bytes, free)          ", s.muzzy, stream);
    report_line(&t, "retained  (bytes, addresses only)", s.retained, stream);
    report_line(&t, "mapped    (bytes)                ", s.mapped, stream);
    report_line(&t, "metadata  (bytes)                ", s.metadata, stream);
    report_line(&t, "purges    (system calls)         ", s.purges, stream);
    report_line(&t, "purged    (bytes so far)         ", s.purged, stream);
    text_add(&t, "--- End qedmalloc statistics ---\n");
    report_write(&t, stream);
}

void report_print(void)
{
    report_to(NULL);
}

/* ---- glibc's reporting functions (mallinfo(3), malloc_info(3), malloc_stats(3)) ----------------------------------- */

PUBLIC struct mallinfo2 qed_mallinfo2(void)
{
    (void)thread_get();
    struct stats s = prof_read_totals();
    return (struct mallinfo2){
        .arena = s.mapped,
        .ordblks = s.slabs,
        .uordblks = s.allocated,
        .fordblks = s.active + s.dirty + s.muzzy - s.allocated,
        .keepcost = s.dirty + s.muzzy,
    };
}

static int report_to_int(size_t n)           /* mallinfo's fields wrap where they do not fit, which is its known defect */
{
    return (int)(unsigned)(n % 4294967296UL);
}

PUBLIC struct mallinfo qed_mallinfo(void)
{
    struct mallinfo2 m = qed_mallinfo2();
    return (struct mallinfo){
        .arena = report_to_int(m.arena),
        .ordblks = report_to_int(m.ordblks),
        .uordblks = report_to_int(m.uordblks),
        .fordblks = report_to_int(m.fordblks),
        .keepcost = report_to_int(m.keepcost),
    };
}

PUBLIC void qed_malloc_stats(void)
{
    report_to(stderr);          /* which a program may have opened anew */
}

/* XML in the shape of glibc's version 1: totals only, since arenas share the page cache. */
PUBLIC int qed_malloc_info(int options, FILE *stream)
{
    if (options != 0) {
        return EINVAL;
    }
    (void)thread_get();
    struct stats s = prof_read_totals();
    fprintf(stream,
            "<malloc version=\"1\">\n"
            "<total type=\"allocated\" size=\"%" PRIu64 "\"/>\n"
            "<total type=\"cached\" size=\"%" PRIu64 "\"/>\n"
            "<total type=\"rest\" size=\"%" PRIu64 "\"/>\n"
            "<system type=\"current\" size=\"%" PRIu64 "\"/>\n"
            "<system type=\"retained\" size=\"%" PRIu64 "\"/>\n"
            "<system type=\"metadata\" size=\"%" PRIu64 "\"/>\n"
            "</malloc>\n",
            s.allocated, s.cached, s.active + s.dirty + s.muzzy - s.allocated - s.cached, s.active + s.dirty + s.muzzy, s.retained,
            s.metadata);
    return 0;
}

/* Returns free memory to the OS now, whatever `pad` asks to keep. Returns 1 if any was returned, else 0 (malloc_trim(3)). */
PUBLIC int qed_malloc_trim(size_t pad)
{
    (void)pad;
    refill_flush(thread_get());
    bool holes = holes_trim(arena_count());
    return pages_trim() || holes ? 1 : 0;
}

/* ---- mallopt(3) --------------------------------------------------------------------------------------------------- */

/* M_PERTURB: new blocks have the other bits of the byte, freed ones the byte; 0 means neither. */
static void mallopt_fill(int value)
{
    uint8_t byte = (uint8_t)((unsigned)value % 256);
    modes_set_bytes(value == 0 ? MODES_NO_BYTE : UINT8_MAX - byte, value == 0 ? MODES_NO_BYTE : byte);
    counting_modes(thread_get());
}

/* M_TRIM_THRESHOLD: glibc keeps so many bytes at the end of its heap. Here 0 returns free pages at once, a negative one never, and any other one
 * along the curve that was set at the start. */
static void mallopt_decay(int value)
{
    uint64_t dirty = (uint64_t)(value < 0 ? -1 : value == 0 ? 0 : config.dirty_decay_ms);
    uint64_t muzzy = (uint64_t)(value < 0 ? -1 : value == 0 ? 0 : config.muzzy_decay_ms);
    (void)qed_mallctl("arenas.dirty_decay_ms", NULL, NULL, &dirty, sizeof dirty);
    (void)qed_mallctl("arenas.muzzy_decay_ms", NULL, NULL, &muzzy, sizeof muzzy);
}

/* Knows the parameters of mallopt(3), and their ranges. Those that do nothing here tune parts that only glibc's allocator has. M_CHECK_ACTION
 * does nothing, as in glibc since 2.26: a misuse that is found ends the program, whatever it has asked for. */
PUBLIC int qed_mallopt(int parameter, int value)
{
    const int fastest_max = 80 * (int)sizeof(size_t) / 4;
    const int mmap_threshold_max = 4 * 1024 * 1024 * (int)sizeof(long);
    switch (parameter) {
    case M_MXFAST:
        return value >= 0 && value <= fastest_max;
    case M_MMAP_THRESHOLD:
        return value >= 0 && value <= mmap_threshold_max;
    case M_PERTURB:
        mallopt_fill(value);
        return 1;
    case M_TRIM_THRESHOLD:
        mallopt_decay(value);
        return 1;
    case M_ARENA_MAX:
        ATOMIC_STORE(arena_open, value <= 0 || value > (int)ARENAS_MAX ? ARENAS_MAX : (uint32_t)value);
        return 1;
    case M_TOP_PAD:
    case M_MMAP_MAX:
    case M_CHECK_ACTION:
    case M_ARENA_TEST:
        return 1;
    default:
        return 0;
    }
}

EXPORT(struct mallinfo2, mallinfo2, (void));
EXPORT(struct mallinfo, mallinfo, (void));
EXPORT(void, malloc_stats, (void));
EXPORT(int, malloc_info, (int options, FILE *stream));
EXPORT(int, malloc_trim, (size_t pad));
EXPORT(int, mallopt, (int parameter, int value));
