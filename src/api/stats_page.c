/* stats_page: see stats_page.h. What is written to the page; stats_thread.c has the thread that does so. */
#include "api/stats_page.h"

#include <stddef.h>
#include <string.h>

#include "blocks/arena.h"
#include "blocks/large.h"
#include "blocks/slab.h"
#include "platform/atomic.h"
#include "platform/os.h"
#include "prof/prof.h"

_Static_assert(sizeof(struct bin_stats) == 72 && sizeof(struct stats) == 112, "qed-top reads these structures by their layout");
_Static_assert(offsetof(struct stats_page, class) == 40 && offsetof(struct stats_page_sample, totals) == 16, "and these");

void stats_page_fill(struct stats_page *page)
{
    page->version = STATS_PAGE_VERSION;
    page->arenas = arena_count();
    page->bins = SC_NBINS;
    page->classes = STATS_PAGE_CLASSES;
    page->first_sample = offsetof(struct stats_page, sample);
    page->sample_bytes = sizeof(struct stats_page_sample);
    for (uint32_t c = 0; c < STATS_PAGE_CLASSES; c++) {
        page->class[c].bytes = size_class_bytes(c);
        page->class[c].slab_bytes = c < SC_NBINS ? slab_npages[c] * PAGE : 0;
    }
    memcpy(page->magic, STATS_PAGE_MAGIC, sizeof page->magic);
}

void stats_page_sample(struct stats_page *page)
{
    uint64_t                  n = page->samples + 1;
    struct stats_page_sample *s = &page->sample[n % STATS_PAGE_SAMPLES];
    struct large_stats        large;
    for (uint32_t c = 0; c < STATS_PAGE_CLASSES; c++) {
        s->cached[c] = depot_blocks(c + 1);
    }
    for (uint32_t i = 0; i < arena_count() * SC_NBINS; i++) {
        bin_read_stats(i / SC_NBINS, i % SC_NBINS, &s->bin[i]);
    }
    s->totals = prof_read_totals();
    large_read_stats(&large);
    s->large_freed = large.freed;
    s->time_ms = os_clock_ms();
    ATOMIC_STORE_RELEASE(page->samples, n);
}
