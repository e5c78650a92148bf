/* stats: reading, printing, and the C library's functions that report. */
#include "api/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>

#include "api/export.h"
#include "api/text.h"
#include "api/thread.h"
#include "heap/arena.h"
#include "heap/bin.h"
#include "heap/large.h"
#include "heap/slab.h"
#include "pages/base.h"
#include "pages/pages.h"

static void stats_add_bins(struct stats *s)
{
    for (uint32_t c = 0; c < SC_NBINS; c++) {
        uint64_t live = 0;
        uint64_t slabs = 0;
        for (uint32_t a = 0; a < arena_count(); a++) {
            struct bin_stats b;
            bin_read_stats(a, c, &b);
            live += b.regions_live;
            slabs += b.slabs;
            s->small_filled += b.filled;
        }
        s->allocated += live * size_class_bytes(c);
        s->active += slabs * slab_npages[c] * PAGE;
        s->slabs += (uint32_t)slabs;
    }
}

void stats_read(struct stats *s)
{
    struct pages_stats p;
    struct large_stats l;
    *s = (struct stats){0};
    stats_add_bins(s);
    pages_read_stats(&p);
    large_read_stats(&l);
    uint64_t active = p.npages[EXTENT_ACTIVE] * PAGE;
    s->allocated += active > s->active ? active - s->active : 0;    /* what no slab covers is large blocks */
    s->active = active;
    for (uint32_t b = 1; b < TCACHE_BINS; b++) {
        s->cached += tcache_blocks(b) * size_class_bytes(b - 1);
    }
    s->allocated -= s->cached < s->allocated ? s->cached : s->allocated;
    s->dirty = (p.npages[EXTENT_DIRTY] + p.npages[EXTENT_BUSY]) * PAGE;
    s->muzzy = p.npages[EXTENT_MUZZY] * PAGE;
    s->retained = p.npages[EXTENT_RETAINED] * PAGE;
    s->mapped = s->active + s->dirty + s->muzzy + s->retained;
    s->metadata = base_mapped;
    s->large_allocated = l.allocated;
    s->purges = p.purges;
    s->purged = p.purged_npages * PAGE;
    s->threads = tcache_live();
}

static void stats_line(struct text *t, const char *name, uint64_t n)
{
    text_add(t, name);
    text_add_number(t, n, 16);
    text_add(t, "\n");
    text_write(t);
}

void stats_print(void)
{
    struct stats s;
    struct text  t = {.length = 0};
    (void)thread_get();
    stats_read(&s);
    text_add(&t, "___ Begin qedmalloc statistics ___\n");
    stats_line(&t, "small blocks handed to threads   ", s.small_filled);
    stats_line(&t, "large blocks handed to threads   ", s.large_allocated);
    stats_line(&t, "threads with a cache now         ", s.threads);
    stats_line(&t, "arenas                           ", arena_count());
    stats_line(&t, "slabs                            ", s.slabs);
    stats_line(&t, "allocated (bytes, live blocks)   ", s.allocated);
    stats_line(&t, "cached    (bytes, ready)         ", s.cached);
    stats_line(&t, "active    (bytes, in extents)    ", s.active);
    stats_line(&t, "dirty     (bytes, free)          ", s.dirty);
    stats_line(&t, "muzzy     (bytes, free)          ", s.muzzy);
    stats_line(&t, "retained  (bytes, addresses only)", s.retained);
    stats_line(&t, "mapped    (bytes)                ", s.mapped);
    stats_line(&t, "metadata  (bytes)                ", s.metadata);
    stats_line(&t, "purges    (system calls)         ", s.purges);
    stats_line(&t, "purged    (bytes so far)         ", s.purged);
    text_add(&t, "--- End qedmalloc statistics ---\n");
    text_write(&t);
}

/* ---- glibc's reporting functions (mallinfo(3), malloc_info(3), malloc_stats(3)) ----------------------------------- */

PUBLIC struct mallinfo2 qed_mallinfo2(void)
{
    struct stats s;
    (void)thread_get();
    stats_read(&s);
    return (struct mallinfo2){
        .arena = s.mapped,
        .ordblks = s.slabs,
        .uordblks = s.allocated,
        .fordblks = s.active + s.dirty + s.muzzy - s.allocated,
        .keepcost = s.dirty + s.muzzy,
    };
}

static int stats_to_int(size_t n)           /* mallinfo's fields wrap where they do not fit; that is its known defect */
{
    return (int)(unsigned)(n % 4294967296UL);
}

PUBLIC struct mallinfo qed_mallinfo(void)
{
    struct mallinfo2 m = qed_mallinfo2();
    return (struct mallinfo){
        .arena = stats_to_int(m.arena),
        .ordblks = stats_to_int(m.ordblks),
        .uordblks = stats_to_int(m.uordblks),
        .fordblks = stats_to_int(m.fordblks),
        .keepcost = stats_to_int(m.keepcost),
    };
}

PUBLIC void qed_malloc_stats(void)
{
    stats_print();
}

/* XML in the shape of glibc's version 1: totals only, since arenas share the page cache. */
PUBLIC int qed_malloc_info(int options, FILE *stream)
{
    struct stats s;
    if (options != 0) {
        return EINVAL;
    }
    (void)thread_get();
    stats_read(&s);
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

/* Returns free memory to the OS now, whatever `pad` asks to keep; 1 if any was returned (malloc_trim(3)). */
PUBLIC int qed_malloc_trim(size_t pad)
{
    (void)pad;
    tcache_flush(thread_get());
    return pages_trim() ? 1 : 0;
}

/* glibc's parameters name parts that this allocator does not have: as there, an unknown one is 0, failure. */
PUBLIC int qed_mallopt(int parameter, int value)
{
    (void)parameter;
    (void)value;
    return 0;
}

EXPORT(struct mallinfo2, mallinfo2, (void));
EXPORT(struct mallinfo, mallinfo, (void));
EXPORT(void, malloc_stats, (void));
EXPORT(int, malloc_info, (int options, FILE *stream));
EXPORT(int, malloc_trim, (size_t pad));
EXPORT(int, mallopt, (int parameter, int value));
