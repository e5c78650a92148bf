/* heapmap: makes the calls of a trace on the library, whose parts are linked in, and prints from time to time what each extent holds.
 *
 * One thread makes all calls in recorded order, so that the result is the same each time. The allocator's clock shows the time of
 * the recording: pages go back to the OS when they would have gone then. The extents are those of the page cache's own table;
 * how many of a slab's regions the program has is counted here, and how many have left the slab is the slab's own figure. The
 * difference is in thread caches. Nothing is written to the blocks.
 *
 * usage: heapmap TRACE SAMPLES
 * A line begins with what it is: program, class SZIND BYTES REGIONS NPAGES, sample CALL MS ASKED and the figures of stats.h,
 * extent PAGE NPAGES STATE KIND SZIND LIVE OUT (of the sample before it; KIND: 0 free, 1 slab, 2 large block).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "blocks/slab.h"
#include "blocks/tag.h"
#include "pages/extent.h"
#include "qedmalloc/qedmalloc.h"
#include "tcache/stats.h"
#include "tools/load.h"

enum { KIND_OF_FREE, KIND_OF_SLAB, KIND_OF_LARGE };

#define EXTENTS_MAX (1U << 24)

static struct trace trace;
static void       **address;                    /* by block; NULL: not handed out yet, or taken back */
static uint32_t    *live;                       /* by extent: blocks that the program has */
static uint64_t     asked_bytes, now_ms;

uint64_t __wrap_os_clock_ms(void);
uint64_t __wrap_os_clock_ms(void)
{
    return now_ms;
}

/* The extent that holds the block. Of a page of a slab, the tag says where the slab begins. */
static uint32_t extent_of(const void *block)
{
    uint64_t at = (uint64_t)(uintptr_t)block, tag = radix_tree_tag(at / PAGE);
    uint64_t begin = tag_stack(tag) == 0 ? at : at - tag_offset(tag, at);
    uint32_t e = extent_at(begin / PAGE);
    if (e == 0 || e >= EXTENTS_MAX) {
        die("a block at %p lies in no extent", block);
    }
    return e;
}

static void *ask(const struct call *c, void *old)
{
    void *p = NULL;
    switch (c->kind) {
    case TRACE_MALLOC: return qed_malloc(c->bytes);
    case TRACE_CALLOC: return qed_calloc(c->other, c->bytes);
    case TRACE_REALLOC: return qed_realloc(old, c->bytes == 0 ? 1 : c->bytes);
    case TRACE_ALIGNED_ALLOC: return qed_aligned_alloc(c->other, c->bytes);
    case TRACE_POSIX_MEMALIGN: return qed_posix_memalign(&p, c->other, c->bytes) == 0 ? p : NULL;
    case TRACE_MEMALIGN: return qed_memalign(c->other, c->bytes);
    case TRACE_VALLOC: return qed_valloc(c->bytes);
    default: return qed_pvalloc(c->bytes);
    }
}

static void *take(uint32_t block)
{
    void *p = address[block];
    address[block] = NULL;
    live[extent_of(p)]--;
    asked_bytes -= trace.bytes[block];
    return p;
}

static void give(uint32_t block, void *p)
{
    address[block] = p;
    live[extent_of(p)]++;
    asked_bytes += trace.bytes[block];
}

static void perform(uint32_t i)
{
    const struct call *c = &trace.call[i];
    now_ms = c->time_ms > now_ms ? c->time_ms : now_ms;
    void *old = c->old == 0 ? NULL : take(c->old);
    if (c->block == 0) {                        /* a free, a realloc to 0, or a failure */
        qed_free(old);
        return;
    }
    void *p = c->fails ? old : ask(c, old);     /* where realloc fails, the block goes on */
    if (p == NULL) {
        die("call %" PRIu32 ": no memory for %" PRIu64 " bytes", i, c->bytes);
    }
    give(c->block, p);
}

static void print_extent(uint32_t e)
{
    uint32_t state = AT(ext_state, e), kind = KIND_OF_FREE, szind = 0, out = 0;
    if (state != EXTENT_UNUSED && state < EXTENT_BUSY) {
        uint32_t stack = tag_stack(radix_tree_tag(AT(ext_page, e)));
        bool     slab = stack != 0 && stack - 1 < SC_NBINS;
        kind = slab ? KIND_OF_SLAB : KIND_OF_LARGE;
        szind = slab ? stack - 1 : 0;
        out = slab ? slab_regions[szind] - AT(slab_free_count, e) : 1;
    }
    printf("extent %" PRIu64 " %" PRIu64 " %u %u %u %u %u\n", AT(ext_page, e), AT(ext_npages, e),
        (state - 1) / PAGE_CACHES + 1, kind, szind, live[e], out);
}

static void print_sample(uint32_t calls)
{
    struct stats s = stats_read();
    const uint64_t figures[] = {now_ms, asked_bytes, s.allocated, s.cached, s.active, s.dirty, s.muzzy, s.retained, s.metadata};
    printf("sample %u", calls);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        printf(" %" PRIu64, figures[i]);
    }
    printf("\n");
    for (uint32_t e = 1; e <= extent_count; e++) {
        AT(ext_npages, e) != 0 ? print_extent(e) : (void)0;
    }
}

int main(int argc, char **argv)
{
    uint64_t samples = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    if (samples == 0) {
        fprintf(stderr, "usage: heapmap TRACE SAMPLES\n");
        return 2;
    }
    trace_load(&trace, argv[1]);
    address = os_array(trace.block_count + 1U, sizeof *address);
    live = os_array(EXTENTS_MAX, sizeof *live);
    qed_free(qed_malloc(1));                    /* boots */
    printf("program %s\n", trace.header.program);
    for (uint32_t c = 0; c < SC_NBINS; c++) {
        printf("class %u %u %u %u\n", c, slab_bytes[c], slab_regions[c], slab_npages[c]);
    }
    uint64_t taken = 0;
    for (uint32_t i = 0; i < trace.call_count; i++) {
        perform(i);
        for (; (i + 1) * samples >= (taken + 1) * trace.call_count; taken++) {
            print_sample(i + 1);
        }
    }
    return 0;
}
