/* malloc_fuzz: the whole API against the shadow model, over the fake operating system.
 *
 * The world is a few logical threads, each with its own cache, a clock that the input moves, and an OS whose calls fail
 * when the input says so. The step is one call, or a batch of equal ones. The check is tests/blocks_model.h at every
 * block, errno at every call, and the statistics: they must equal the model's, and no page may be lost. Every input
 * begins with an allocator that nobody has used and that has no memory yet (fuzz/reset.h), and ends with all blocks
 * freed, all threads ended and everything purged, which must leave retained pages only. With QED_FUZZ_PRINT set, the calls are printed as C, for
 * fuzz/standalone.h.
 */
#include <errno.h>
#include <inttypes.h>

#include "api/report.h"
#include "api/stats_page.h"
#include "malloc_world.h"

#define BATCH_BYTES (1U << 18)                          /* in all blocks of a batch */
#define TOUCHED_BYTES (1U << 16)                        /* zeroed or copied by a call: more mostly waits for pages */

static const uint8_t *input;
static size_t         input_left;
static bool           failing;                          /* a call of the OS may fail */
static size_t         size_before;

static uint32_t take(uint32_t bytes)                    /* the next bytes of the input, zero at its end */
{
    uint32_t x = 0;
    for (; bytes > 0; bytes--, input_left -= input_left > 0 ? 1 : 0) {
        x = x << 8 | (input_left > 0 ? *input++ : 0);
    }
    return x;
}

/* Sizes around classes, powers of two and page multiples, extremes. */
static size_t take_new_size(uint32_t kind)
{
    switch (kind % 8) {
    case 0: return take(1);
    case 1: return ((size_t)1 << (kind / 8 % 22)) + take(1) - 128;
    case 2: return (size_t)(take(1) % 64) * 4096 + take(1) % 3 - 1;
    case 3: return (size_t)take(1) << (kind < 128 ? 8 : 10);
    case 4: return kind / 8 == 9 ? SIZE_MAX - take(2) : kind / 8 == 10 ? (size_t)take(2) << 32 : take(2);
    case 5: return size_class_bytes(take(1) % 52) + kind / 8 % 3 - 1;
    default: return take(2) % 2048;
    }
}

static size_t take_size(void)                           /* or, as programs do, the size before once more */
{
    uint32_t kind = take(1);
    size_before = kind % 8 == 7 ? size_before : take_new_size(kind);
    return size_before;
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

/* What a call returned, with the errno it left (0: it leaves it alone). */
static void added(void *p, size_t bytes, size_t alignment, int wanted)
{
    fuzz_operations++;
    p == NULL ? SHOW("    /* fails */\n") : (void)0;
    if (p != NULL) {
        uint8_t seed = (uint8_t)take(1);
        errno != 0 ? blocks_model_fail("success changed errno", p) : (void)0;
        wanted != 0 ? blocks_model_fail("success of a call that must fail", p) : (void)0;
        SHOW("    block(%u, %zu, %zu, %u);\n", model.next_id, bytes, alignment, seed);
        blocks_model_add(&model, p, bytes, qed_malloc_usable_size(p), alignment, seed);
    } else if (errno != (wanted == 0 ? ENOMEM : wanted)) {
        blocks_model_fail("failure with another errno", NULL);
    } else if (wanted == 0 && !failing && bytes < MAPPED_BYTES_MAX && alignment < MAPPED_BYTES_MAX
               && os_fake.mapped_npages * PAGE + 2 * (bytes + alignment) + (64UL << 20) < MAPPED_BYTES_MAX) {
        blocks_model_fail("out of memory without a reason", NULL);
    } else if (wanted == 0 && bytes < MAPPED_BYTES_MAX && alignment < MAPPED_BYTES_MAX && !cache_has_none(thread_cache)) {
        blocks_model_fail("out of memory while the thread's cache has blocks", NULL);
    }
}

static void op_calloc(size_t bytes)
{
    size_t count = take(1), total;
    bytes = bytes < MAPPED_BYTES_MAX ? bytes % (count < 192 ? TOUCHED_BYTES : 4 * TOUCHED_BYTES) : bytes;
    count = count == 255 ? SIZE_MAX / 2 : count < 192 ? 1 : 1 + count % 4;
    bool overflow = __builtin_mul_overflow(count, bytes, &total);
    SHOW("p[%u] = qed_calloc(%zu, %zu);", model.next_id, count, bytes);
    unsigned char *p = qed_calloc(count, bytes);
    if (p != NULL) {
        SHOW(" zero(p[%u], %zu);", model.next_id, total);
        blocks_model_check_zero(p, total);
    }
    added(p, overflow ? SIZE_MAX : total, 0, overflow ? ENOMEM : 0);
}

static void op_mallocx(size_t bytes, int flags)
{
    size_t usable = qed_nallocx(bytes, flags);
    SHOW("p[%u] = qed_mallocx(%zu, %d);", model.next_id, bytes, flags);
    unsigned char *p = qed_mallocx(bytes, flags);
    if (p != NULL && (flags & MALLOCX_ZERO) != 0) {
        SHOW(" zero(p[%u], %zu);", model.next_id, usable);
        blocks_model_check_zero(p, usable);
    }
    if (p != NULL && (usable != qed_sallocx(p, flags) || usable < bytes)) {
        blocks_model_fail("nallocx says another size than mallocx gives", p);
    }
    added(p, usable == 0 ? SIZE_MAX : bytes, 1UL << flags % 64, 0);
}

static void op_aligned(uint32_t kind, size_t bytes)
{
    uint32_t lg = take(1);
    size_t   alignment = ((size_t)1 << (lg < 252 ? lg % 24 : lg % 64)) + (lg % 13 == 12 ? 1 : 0);
    bool     power = (alignment & (alignment - 1)) == 0;
    void    *p = NULL;
    switch (kind) {
    case 0:
        SHOW("p[%u] = qed_aligned_alloc(%zu, %zu);", model.next_id, alignment, bytes);
        added(qed_aligned_alloc(alignment, bytes), bytes, alignment, power ? 0 : EINVAL);
        break;
    case 1:
        SHOW("qed_posix_memalign((void **)&p[%u], %zu, %zu);", model.next_id, alignment, bytes);
        int result = qed_posix_memalign(&p, alignment, bytes);
        errno != 0 || (result != 0 && p != NULL) ? blocks_model_fail("posix_memalign changed errno or the block", p) : (void)0;
        errno = result;
        added(p, bytes, alignment, power && alignment >= sizeof(void *) ? 0 : EINVAL);
        break;
    case 2:                                             /* rounds the alignment up */
        SHOW("p[%u] = qed_memalign(%zu, %zu);", model.next_id, alignment, bytes);
        p = qed_memalign(alignment, bytes);
        added(p, bytes, power ? alignment : (alignment - 1) * 2, alignment > 1UL << 63 ? EINVAL : 0);
        break;
    case 3:
        SHOW("p[%u] = qed_valloc(%zu);", model.next_id, bytes);
        added(qed_valloc(bytes), bytes, PAGE, 0);
        break;
    case 5:
        op_mallocx(bytes, (int)(lg % 24) | (lg >= 128 && bytes < TOUCHED_BYTES ? MALLOCX_ZERO : 0)
                              | (lg % 4 == 3 ? MALLOCX_ARENA(lg / 8 % 8) : 0) | (lg % 4 == 1 ? cache_flag(lg / 8 % EXPLICIT_CACHES) : 0));
        break;
    default:
        SHOW("p[%u] = qed_pvalloc(%zu);", model.next_id, bytes);
        added(qed_pvalloc(bytes), bytes > SIZE_MAX - PAGE ? bytes : (bytes + (bytes == 0) + PAGE - 1) / PAGE * PAGE, PAGE, 0);
    }
}

static void op_take(uint32_t op)
{
    size_t   bytes = take_size();
    uint32_t batch = op >= 12 && bytes < BATCH_BYTES ? 1 + take(1) % (BATCH_BYTES / (uint32_t)(bytes + 1)) : 1;
    for (errno = 0; batch > 0 && model.count < BLOCKS_MODEL_COUNT; batch--, errno = 0) {
        if (op == 0 || op == 12) {
            op_calloc(bytes);
        } else if (op == 1 || op == 2) {
            op_aligned(take(1) % 6, bytes);
        } else {
            SHOW(op == 3 ? "p[%u] = qed_realloc(NULL, %zu);" : "p[%u] = qed_malloc(%zu);", model.next_id, bytes);
            added(op == 3 ? qed_realloc(NULL, bytes) : qed_malloc(bytes), bytes, 0, 0);
        }
    }
}

/* ---- giving back and resizing ------------------------------------------------------------------------------------ */

/* In place, so that the block and what it holds stay. */
static void op_xallocx(uint32_t i)
{
    size_t                  bytes = take_size() % (4 * TOUCHED_BYTES), extra = take(1) * 1000, before;
    int                     flags = extra % 3000 == 0 ? MALLOCX_ZERO : 0;
    struct blocks_model_block b = blocks_model_remove(&model, i);
    fuzz_operations++;
    errno = 0;
    SHOW("gone(%u); p[%u] = p[%u]; moved(p[%u], qed_xallocx(p[%u], %zu, %zu, %d));", b.id, model.next_id, b.id, b.id, b.id, bytes, extra, flags);
    before = qed_sallocx(b.address, 0);
    size_t usable = qed_xallocx(b.address, bytes, extra, flags);
    if (usable != qed_sallocx(b.address, 0) || (usable != before && (usable < bytes || usable > qed_nallocx(bytes + extra + 1, 0)))) {
        blocks_model_fail("xallocx gives another size than it says", b.address);
    }
    blocks_model_visit(&b, b.bytes, b.bytes < usable ? b.bytes : usable, false);
    if (flags != 0 && usable > before) {
        blocks_model_check_zero((unsigned char *)b.address + before, usable - before);
    }
    added(b.address, usable, 0, 0);
}

static void op_rallocx(uint32_t i)
{
    size_t                  bytes = take_size() % (2 * TOUCHED_BYTES);
    uint32_t                kind = take(1);
    int                     flags = (int)(kind % 16) | (bytes % 2 == 1 ? MALLOCX_ZERO : 0)
                | (kind >= 192 ? cache_flag(kind / 16 % EXPLICIT_CACHES) : kind >= 176 ? MALLOCX_TCACHE_NONE : 0);
    struct blocks_model_block b = blocks_model_remove(&model, i);
    size_t                  before = qed_sallocx(b.address, 0);
    fuzz_operations++;
    errno = 0;
    SHOW("gone(%u); p[%u] = qed_rallocx(p[%u], %zu, %d);", b.id, model.next_id, b.id, bytes, flags);
    unsigned char *p = qed_rallocx(b.address, bytes, flags);
    if (p == NULL) {
        added(NULL, bytes, 0, 0);
        SHOW("kept();\n");
        blocks_model_check(&b);
        blocks_model_insert(&model, b);
        return;
    }
    SHOW(" moved(p[%u], %zu);", model.next_id, bytes);
    b.address = p;
    blocks_model_visit(&b, b.bytes, b.bytes < bytes ? b.bytes : bytes, false);
    if ((flags & MALLOCX_ZERO) != 0 && qed_sallocx(p, 0) > before) {
        blocks_model_check_zero(p + before, qed_sallocx(p, 0) - before);
    }
    added(p, bytes, 1UL << flags % 64, 0);
}

static void op_realloc(bool array)
{
    uint32_t                i = take(2) % model.count, id = model.next_id;
    size_t                  asked = take_size(), count = array ? take(1) : 1;
    size_t                  bytes = asked < MAPPED_BYTES_MAX ? asked % (2 * TOUCHED_BYTES) : asked;
    struct blocks_model_block b = blocks_model_remove(&model, i);
    count += (bytes + (array ? count : 0)) % 64 == 63 ? SIZE_MAX / 4 : 0;
    bool overflow = __builtin_mul_overflow(count, bytes, &bytes);
    SHOW("gone(%u); p[%u] = ", b.id, id);
    fuzz_operations++;
    errno = 0;
    unsigned char *p;
    if (overflow || array) {
        bytes = overflow ? SIZE_MAX : bytes;
        SHOW("qed_reallocarray(p[%u], %zu, %zu);", b.id, overflow ? SIZE_MAX : (size_t)1, overflow ? 2 : bytes);
        p = qed_reallocarray(b.address, overflow ? SIZE_MAX : 1, overflow ? 2 : bytes);
    } else {
        SHOW("qed_realloc(p[%u], %zu);", b.id, bytes);
        p = qed_realloc(b.address, bytes);
    }
    if (p == NULL && bytes == 0) {
        SHOW("\n");
        errno != 0 ? blocks_model_fail("realloc to 0 changed errno", b.address) : (void)0;
        return;
    }
    if (p == NULL) {
        added(NULL, bytes, 0, overflow ? ENOMEM : 0);
        SHOW("kept();\n");
        blocks_model_check(&b);
        blocks_model_insert(&model, b);
        return;
    }
    SHOW(" moved(p[%u], %zu);", id, bytes);
    b.address = p;
    blocks_model_visit(&b, b.bytes, b.bytes < bytes ? b.bytes : bytes, false);
    added(p, bytes, 0, overflow ? ENOMEM : 0);
}

static void op_free(uint32_t kind, uint32_t i)
{
    struct blocks_model_block b = blocks_model_remove(&model, i);
    fuzz_operations++;
    errno = 99;
    if (kind == 2) {
        int flags = b.id % 4 == 0 ? MALLOCX_TCACHE_NONE : cache_flag(b.id / 4 % EXPLICIT_CACHES);
        errno = 99;
        SHOW("gone(%u); qed_dallocx(p[%u], %d);\n", b.id, b.id, flags);
        qed_dallocx(b.address, flags);
    } else if (kind != 0) {
        SHOW("gone(%u); qed_free(p[%u]);\n", b.id, b.id);
        qed_free(b.address);
    } else if (b.id % 2 == 1) {
        int flags = MALLOCX_ALIGN(b.alignment == 0 ? 1 : b.alignment) | (b.id % 4 == 1 ? cache_flag(b.id / 4 % EXPLICIT_CACHES) : 0);
        errno = 99;
        SHOW("gone(%u); qed_sdallocx(p[%u], %zu, %d);\n", b.id, b.id, b.bytes, flags);
        qed_sdallocx(b.address, b.bytes, flags);
    } else if (b.alignment == 0) {
        SHOW("gone(%u); qed_free_sized(p[%u], %zu);\n", b.id, b.id, b.bytes);
        qed_free_sized(b.address, b.bytes);
    } else {
        SHOW("gone(%u); qed_free_aligned_sized(p[%u], %zu, %zu);\n", b.id, b.id, b.alignment, b.bytes);
        qed_free_aligned_sized(b.address, b.alignment, b.bytes);
    }
    errno != 99 ? blocks_model_fail("free changed errno", b.address) : (void)0;
}

/* ---- the world --------------------------------------------------------------------------------------------------- */

static void check_reports(void)                         /* mallinfo2, malloc_info, malloc_stats agree with the statistics */
{
    char             *text = NULL, wanted[64];
    size_t            bytes = 0;
    FILE             *stream = open_memstream(&text, &bytes);
    struct mallinfo2  m = qed_mallinfo2();
    struct stats      s = prof_read_totals();
    (void)snprintf(wanted, sizeof wanted, "\"allocated\" size=\"%" PRIu64 "\"", s.allocated);
    FILE *keep = stderr;
    stderr = stream;
    qed_malloc_stats();
    stderr = keep;
    int good = stream != NULL && qed_malloc_info(0, stream) == 0 && qed_malloc_info(1, stream) == EINVAL;
    good = stream != NULL && fclose(stream) == 0 && good && strstr(text, wanted) != NULL
           && memcmp(text, "___ Begin", 9) == 0;
    free(text);
    os_fake.text_bytes = 0;
    os_fake.echo = false;
    report_print();
    os_fake.echo = true;
    good = good && memcmp(os_fake.text, "___ Begin", 9) == 0 && m.uordblks == s.allocated && m.arena == s.mapped
           && qed_mallinfo().uordblks == (int)(uint32_t)s.allocated && qed_mallopt(1, 2) == 1;
    if (!good) {
        blocks_model_fail("the reports differ from the statistics", (void *)m.uordblks);
    }
}

static void check_page(void)                            /* the page of qed-top has the same statistics, and its parts add up to them */
{
    const struct stats_page *page = stats_page_start();
    if (page == NULL) {                                 /* a sandbox refuses threads, or files in memory */
        return;
    }
    const struct stats_page_sample *sample = &page->sample[page->samples % STATS_PAGE_SAMPLES];
    struct stats                    s = prof_read_totals();
    uint64_t                        cached = 0, slabs = 0, filled = 0;
    for (uint32_t c = 0; c < STATS_PAGE_CLASSES; c++) {
        cached += sample->cached[c] * page->class[c].bytes;
    }
    for (uint32_t i = 0; i < page->arenas * page->bins; i++) {
        slabs += sample->bin[i].slabs;
        filled += sample->bin[i].filled;
    }
    bool good = memcmp(page->magic, STATS_PAGE_MAGIC, 8) == 0 && sample->totals.allocated == s.allocated && sample->totals.mapped == s.mapped
                && cached == s.cached && slabs == s.slabs && filled == s.small_filled;
    stats_page_stop();
    if (!good) {
        blocks_model_fail("the page differs from the statistics", NULL);
    }
}

static void op_world(uint32_t op)
{
    static const int64_t decay_ms[] = {10000, 0, -1, 100};
    uint32_t             a = take(1);
    switch (op) {
    case 0: thread(a % THREADS); break;
    case 1:
        a *= a < 192 ? 4 : 100;
        SHOW("os_fake.clock_ms += %u;\n", a), os_fake.clock_ms += a;
        break;
    case 2:
        if (a < 64) {
            uint64_t returned_npages = os_fake.purged_npages + os_fake.discarded_npages;
            SHOW("qed_malloc_trim(0);\n");
            if (qed_malloc_trim(0) != (os_fake.purged_npages + os_fake.discarded_npages != returned_npages)) {
                blocks_model_fail("malloc_trim says something else than it did", NULL);
            }
        }
        break;
    case 3: (void)check_stats(), a == 7 ? check_reports(), check_page() : (void)0; break;
    case 4:
        failing = true;
        SHOW("os_fake_fail(%u, %u, %u);\n", a % OS_FAKE_CALLS, 1 + a / 4 % 4, 1 + a / 16);
        os_fake_fail((enum os_fake_call)(a % OS_FAKE_CALLS), 1 + a / 4 % 4, 1 + a / 16);
        break;
    case 5:
        failing = false;
        os_fake_fail_none();
        break;
    case 6:
        if (a < 64) {
            thread_end(a % 4 == 0);
        } else if (a < 96) {
            fork_like(a % 2 == 0);
        } else if (a < 128) {
            SHOW("pages_set_decay(0, %" PRId64 ", %" PRId64 ");\n", decay_ms[a % 4], decay_ms[a / 4 % 4]);
            pages_set_decay(PAGES_SHARED, decay_ms[a % 4], decay_ms[a / 4 % 4]);
        } else if (a < 160) {
            os_fake.gap_npages = a % 3;
            os_fake.upwards = a / 4 % 2 == 1;
            SHOW("os_fake.gap_npages = %u, os_fake.upwards = %d;\n", a % 3, os_fake.upwards);
        } else if (a < 192) {
            churn(a % 32 * 8);
        } else if (a >= 240) {
            cache_empty(a % EXPLICIT_CACHES, a < 248);
        } else if (a >= 208) {
            counts();
        } else if (a == 200) {
            SHOW("qed_free(NULL), qed_free_sized(NULL, 1), qed_free_aligned_sized(NULL, 8, 1);\n");
            qed_free(NULL), qed_free_sized(NULL, 1), qed_free_aligned_sized(NULL, 8, 1);
        } else {
            arena_end(bin_shared + a % 2, a % 3 == 0);
        }
        break;
    default: a < 32 ? check_heap() : blocks_model_check_all(&model);
    }
}

static void step(void)
{
    uint32_t op = take(1) % 32;
    if (op < 14) {
        op_take(op);
    } else if (op < 24 && model.count > 0) {
        uint32_t i = op < 17 ? 0 : take(2), batch = op == 23 ? i / 256 : 1;
        if (op == 16) {
            i = take(2);
            i % 4 == 0 ? op_xallocx(i / 4 % model.count) : op_rallocx(i / 4 % model.count);
        } else if (op < 17) {
            op_realloc(op == 14);
        }
        for (; op >= 17 && batch > 0 && model.count > 0; batch--) {
            op_free(op == 17 ? 0 : op == 21 || op == 22 ? 2 : 1, i % model.count);
        }
    } else {
        op_world(op % 8);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    failing = false;
    size_before = 0;
    print = getenv("QED_FUZZ_PRINT") != NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);                   /* the last line before a crash counts */
    world_begin();
    input = data;
    input_left = size;
    arenas(1 + take(1) % THREADS);
    const char *lg = getenv("QED_FUZZ_PROF");           /* with the heap profiler, which samples a block each 2^lg bytes in the mean */
    lg != NULL ? profile((uint32_t)atoi(lg)) : (void)0;
    while (input_left > 0) {
        step();
        check_counts();
    }
    world_end();
    return 0;
}
