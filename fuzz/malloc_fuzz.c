/* The whole API against the shadow model, over the fake operating system: bytes decode to calls by several logical
 * threads, each with its own cache; the clock ticks, threads end, calls of the OS fail. With QED_FUZZ_PRINT set, the
 * calls are printed as C. */
#include <errno.h>

#include "api/stats.h"
#include "api/thread.h"
#include "heap_model.h"
#include "platform/os_fake.h"
#include "qedmalloc/qedmalloc.h"

#define THREADS 3U

static struct heap_model model;
static struct tcache    *caches[THREADS];
static uint32_t          thread;
static const uint8_t    *input;
static size_t            input_left;
static bool              print, failing;

static uint32_t take(uint32_t bytes)                    /* the next bytes of the input, zero at its end */
{
    uint32_t x = 0;
    for (; bytes > 0; bytes--, input_left -= input_left > 0 ? 1 : 0) {
        x = x << 8 | (input_left > 0 ? *input++ : 0);
    }
    return x;
}

/* Sizes around class boundaries, page multiples, extremes. */
static size_t take_size(void)
{
    uint32_t kind = take(1);
    switch (kind % 8) {
    case 0: return take(1);
    case 1: return ((size_t)1 << (kind / 8 % 22)) + take(1) - 128;
    case 2: return (size_t)(take(1) % 64) * 4096 + take(1) % 3 - 1;
    case 3: return (size_t)take(1) << 10;
    case 4: return kind / 8 == 9 ? SIZE_MAX - take(2) : take(2);
    default: return take(2) % 2048;
    }
}

#define SHOW(...) (print ? (void)printf(__VA_ARGS__) : (void)0)

static void added(void *p, size_t bytes, size_t alignment, int expected_errno)
{
    if (p != NULL) {
        heap_model_add(&model, p, bytes, qed_malloc_usable_size(p), alignment, (unsigned char)take(1));
    } else if (expected_errno == 0 ? errno != ENOMEM : errno != expected_errno) {
        heap_model_fail("failure with another errno", NULL);
    } else if (expected_errno == 0 && !failing && bytes < (1U << 24)) {
        heap_model_fail("out of memory without a reason", NULL);
    }
}

static void op_take(uint32_t op)
{
    size_t bytes = take_size();
    if (model.count == HEAP_MODEL_BLOCKS) {
        return;
    }
    errno = 0;
    if (op == 0) {
        size_t count = 1 + take(1) % 4;
        SHOW("p%zu = calloc(%zu, %zu);\n", model.count, count, bytes);
        unsigned char *p = qed_calloc(count, bytes);
        size_t         total = p == NULL ? 0 : count * bytes;
        for (size_t i = 0; i < total; i += heap_model_step(total, i)) {
            p[i] != 0 ? heap_model_fail("calloc is not zero", p) : (void)0;
        }
        added(p, p == NULL && bytes > SIZE_MAX / 8 ? bytes : count * bytes, 0, 0);
    } else if (op == 1) {
        size_t alignment = (size_t)1 << take(1) % 20;
        alignment += take(1) == 77 ? 1 : 0;
        SHOW("p%zu = aligned_alloc(%zu, %zu);\n", model.count, alignment, bytes);
        bool power = (alignment & (alignment - 1)) == 0;
        added(qed_aligned_alloc(alignment, bytes), bytes, alignment, power ? 0 : EINVAL);
    } else {
        SHOW("p%zu = malloc(%zu);\n", model.count, bytes);
        added(qed_malloc(bytes), bytes, 0, 0);
    }
}

static void op_realloc(void)
{
    size_t                  i = take(2) % model.count, bytes = take_size();
    struct heap_model_block b = heap_model_remove(&model, i);
    SHOW("realloc(%p, %zu);\n", (void *)b.address, bytes);
    bytes += bytes == 0;
    errno = 0;
    unsigned char *p = qed_realloc(b.address, bytes);
    if (p == NULL) {
        added(NULL, bytes, 0, 0);
        heap_model_check(&b, b.bytes, b.bytes);
        model.block[model.count++] = b;
        return;
    }
    struct heap_model_block moved = {p, bytes, 0, b.seed};
    heap_model_check(&moved, b.bytes, b.bytes < bytes ? b.bytes : bytes);
    heap_model_add(&model, p, bytes, qed_malloc_usable_size(p), 0, b.seed);
}

static void op_free(bool sized)
{
    struct heap_model_block b = heap_model_remove(&model, take(2) % model.count);
    SHOW("free(%p);\n", (void *)b.address);
    errno = 99;
    if (!sized) {
        qed_free(b.address);
    } else if (b.alignment == 0) {
        qed_free_sized(b.address, b.bytes);
    } else {
        qed_free_aligned_sized(b.address, b.alignment, b.bytes);
    }
    errno != 99 ? heap_model_fail("free changed errno", b.address) : (void)0;
}

static void switch_thread(uint32_t to)
{
    caches[thread] = thread_cache;
    thread = to % THREADS;
    thread_cache = caches[thread];
    SHOW("/* thread %u */\n", thread);
}

/* The pages of all states add up to what is mapped, live blocks fit into what is allocated. */
static void check_stats(void)
{
    struct stats s;
    uint64_t     live = 0;
    stats_read(&s);
    for (size_t i = 0; i < model.count; i++) {
        live += model.block[i].bytes;
    }
    if (s.mapped != os_fake.mapped_npages * PAGE) {
        heap_model_fail("pages are lost: mapped differs from what the OS gave", (void *)s.mapped);
    }
    if (s.allocated < live) {
        heap_model_fail("allocated is below the live bytes", (void *)s.allocated);
    }
}

static void op_world(uint32_t op)
{
    uint32_t argument = take(1);
    switch (op) {
    case 0: switch_thread(argument); break;
    case 1: os_fake.clock_ms += argument * 50; break;
    case 2: SHOW("malloc_trim(0);\n"), qed_malloc_trim(0); break;
    case 3: check_stats(); break;
    case 4:
        failing = true;
        os_fake_fail((enum os_fake_call)(argument % OS_FAKE_CALLS), 1 + argument / 4 % 4, 1 + argument / 16);
        break;
    case 5: os_fake_reset(), failing = false; break;
    case 6:
        if (thread_cache != &tcache_unborn && argument % 8 == 0) {
            tcache_destroy(thread_cache);
            thread_cache = &tcache_unborn;
        }
        break;
    default: heap_model_check_all(&model);
    }
}

static void step(void)
{
    uint32_t op = take(1) % 32;
    if (op < 14) {
        op_take(op);
    } else if (op < 24 && model.count > 0) {
        op < 17 ? op_realloc() : op_free(op == 17);
    } else {
        op_world(op % 8);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t clock_ms = os_fake.clock_ms;
    input = data;
    input_left = size;
    print = getenv("QED_FUZZ_PRINT") != NULL;
    os_fake_reset();
    os_fake.clock_ms = clock_ms;
    os_fake.mapped_npages_max = (1UL << 31) / PAGE;
    for (uint32_t t = 0; t < THREADS; t++) {
        caches[t] = caches[t] == NULL ? &tcache_unborn : caches[t];
    }
    failing = false;
    while (input_left > 0) {
        step();
    }
    os_fake_reset();
    os_fake.clock_ms = clock_ms + 60000;
    check_stats();
    while (model.count > 0) {
        qed_free(heap_model_remove(&model, model.count - 1).address);
    }
    return 0;
}
