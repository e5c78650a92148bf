/* misuse_fuzz: the caller's mistakes between correct calls: each must end in exactly the documented message and, up to
 * there, have changed nothing. The world is one thread's heap; the step is a call, correct or not; the check is the
 * message, the shadow model and the statistics. The linker routes the end of the trap (os_abort) here, so the world goes
 * on after the message; where a trap strikes in the middle of a change, a child process takes the step. In an input that begins with 128 or
 * more, blocks are checked (check_free): any address that was freed at any time before, and is not live again, is found by each call. */
#include <setjmp.h>
#include <unistd.h>

#include "api/thread.h"
#include "child.h"
#include "tcache/stats.h"
#include "blocks_model.h"
#include "pages/pages.h"
#include "platform/live.h"
#include "platform/modes.h"
#include "platform/os.h"
#include "platform/os_fake.h"
#include "qedmalloc/qedmalloc.h"
#include "reset.h"

static struct blocks_model model;
static const uint8_t    *input, *input_end;
static jmp_buf           trap;
static bool              armed, print, forked, checks;
#define STALE 64U
static void             *stale[STALE];             /* addresses of blocks that were freed, a ring */
static uint32_t          stale_count;

int __llvm_profile_write_file(void) __attribute__((weak));     /* in a build that measures coverage */

_Noreturn void __real_os_abort(void);
_Noreturn void __wrap_os_abort(void);

_Noreturn void __wrap_os_abort(void)
{
    if (armed) {
        armed = false;
        longjmp(trap, 1);
    }
    fprintf(stderr, "%.*s", (int)os_fake.text_bytes, os_fake.text);
    __real_os_abort();
}

static void compare(const char *call, const char *what, uintptr_t address)
{
    char wanted[256];
    int  n = snprintf(wanted, sizeof wanted, "qedmalloc: %s(0x%lx): %s\n", call, address, what);
    if (os_fake.text_bytes != (size_t)n || memcmp(os_fake.text, wanted, (size_t)n) != 0) {
        fprintf(stderr, "wanted: %sgot:    %.*s\n", wanted, (int)os_fake.text_bytes, os_fake.text);
        blocks_model_fail("another message", (void *)address);
    }
}

/* The message is one of those about an address where no live block begins. */
static void compare_dead(const char *call, uintptr_t address)
{
    static const char *const text[] = {"double free", "freed block", "not a block", "interior pointer"};
    char                     wanted[256];
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        int n = snprintf(wanted, sizeof wanted, "qedmalloc: %s(0x%lx): %s\n", call, address, text[i]);
        if (os_fake.text_bytes == (size_t)n && memcmp(os_fake.text, wanted, (size_t)n) == 0) {
            return;
        }
    }
    fprintf(stderr, "wanted a message of %s, got: %.*s\n", call, (int)os_fake.text_bytes, os_fake.text);
    blocks_model_fail("another message", (void *)address);
}

#define SHOW(...) (print ? (void)printf(__VA_ARGS__) : (void)0)

/* The expression must trap. */
#define TRAPS(expression, what, address)                                    \
    do {                                                                    \
        os_fake.text_bytes = 0;                                             \
        SHOW("%s; /* block at 0x%lx: %s */\n", #expression, address, what); \
        if (setjmp(trap) == 0) {                                            \
            armed = true;                                                   \
            expression;                                                     \
            blocks_model_fail("misuse went unnoticed", (void *)(address));    \
        }                                                                   \
    } while (0)

/* It must trap with this message. */
#define EXPECT(expression, call, what, address) \
    do {                                        \
        TRAPS(expression, what, address);       \
        compare(call, what, address);           \
    } while (0)

static uint32_t take(void)
{
    return input < input_end ? *input++ : 0;
}

static size_t take_size(void)
{
    uint32_t kind = take(), x = take();
    return kind < 128 ? x * (1U + kind % 16) : kind < 192 ? (size_t)x << 10 : ((size_t)1 << (kind % 22)) + x - 128;
}

/* What the four calls say about an address where no block begins. */
static void wrong_address(uintptr_t address, const char *what)
{
    void *p = (void *)address;
    switch (take() % 5) {
    case 0: EXPECT(qed_free(p), "free", what, address); break;
    case 1: EXPECT(free(qed_realloc(p, 100)), "realloc", what, address); break;
    case 2: EXPECT((void)qed_malloc_usable_size(p), "malloc_usable_size", what, address); break;
    case 3: EXPECT(qed_free_sized(p, 64), "free_sized", what, address); break;
    default: EXPECT(qed_free_aligned_sized(p, 64, 64), "free_aligned_sized", what, address);
    }
}

static void give(void *block)
{
    stale[stale_count++ % STALE] = block;
    qed_free(block);
}

static bool is_live(const void *block)
{
    for (uint32_t i = 0; i < model.count; i++) {
        if (model.block[i].address == block) {
            return true;
        }
    }
    return false;
}

/* A free, or a question, of an address that was a block's long ago, whatever has happened there since. */
static void step_stale(void)
{
    void *p = stale[take() % STALE];
    if (p == NULL || is_live(p)) {
        return;
    }
    uintptr_t address = (uintptr_t)p;
    switch (take() % 5) {
    case 0: TRAPS(qed_free(p), "freed", address); compare_dead("free", address); break;
    case 1: TRAPS(free(qed_realloc(p, take_size() % SC_LARGE_MINCLASS + 1)), "freed", address); compare_dead("realloc", address); break;
    case 2: TRAPS((void)qed_malloc_usable_size(p), "freed", address); compare_dead("malloc_usable_size", address); break;
    case 3: TRAPS(qed_free_aligned_sized(p, 16, 64), "freed", address); compare_dead("free_aligned_sized", address); break;
    default: TRAPS(qed_free_sized(p, take_size() % PAGE), "freed", address); compare_dead("free_sized", address);
    }
}

static bool is_cached(size_t usable)
{
    return usable <= size_class_bytes(TCACHE_STACKS - 2);
}

static void step_interior(const struct blocks_model_block *b)
{
    size_t inside = (take() + 256 * take() + 65536 * (size_t)take()) % b->usable;
    bool   tells = is_cached(b->usable) && (b->usable <= size_class_bytes(SC_NBINS - 1) || inside < PAGE);
    if (inside != 0) {
        wrong_address((uintptr_t)b->address + inside, tells ? "interior pointer" : "not a block");
    }
}

static void step_wild(void)
{
    static long variable[4];
    uint64_t    x = 0, span = os_fake_span() * PAGE;
    uint32_t    kind = take();
    for (int i = 0; i < 8; i++) {
        x = x << 8 | take();
    }
    if (kind % 4 == 0) {
        x = (uintptr_t)&variable[x % 4];
    } else if (kind % 4 == 1) {
        x = (uintptr_t)&x + x % 64;
    } else if (kind % 4 == 2) {
        x = span + x % (OS_FAKE_SPAN_NPAGES * PAGE / 2);        /* the half that is never mapped */
    }
    if (x != 0 && (kind % 4 == 2 || x - span >= OS_FAKE_SPAN_NPAGES * PAGE)) {
        wrong_address(x, "not a block");
    }
}

static void step_twice(uint32_t i)
{
    struct blocks_model_block b = blocks_model_remove(&model, i);
    give(b.address);
    if (is_cached(b.usable)) {
        EXPECT(qed_free(b.address), "free", "double free", (uintptr_t)b.address);
    } else {
        wrong_address((uintptr_t)b.address, "not a block");
    }
}

/* Whether a block given back is still in the cache: a slab's, or long and not given on to make room. */
static bool still_cached(const struct blocks_model_block *b)
{
    uint64_t page = (uintptr_t)b->address / PAGE;
    uint32_t e = extent_at(page);
    return b->usable <= size_class_bytes(SC_NBINS - 1) || (e != 0 && AT(ext_state, e) < EXTENT_BUSY && AT(ext_page, e) == page);
}

/* The second free comes later: the cache takes the block twice, and its slab, or what frees long ones, finds out. */
static void step_twice_late(uint32_t i, uint32_t k)
{
    struct blocks_model_block *b = &model.block[i], *other = &model.block[k];
    if (forked || i == k || b->usable != other->usable || !is_cached(b->usable)) {
        return;
    }
    forked = true;                                      /* once per input: a fork is slow */
    pid_t child = fork();
    if (child == 0) {
        qed_free(b->address);
        qed_free(other->address);
        const char *what = still_cached(b) ? "double free" : "not a block";
        EXPECT((qed_free(b->address), qed_malloc_trim(0)), "free", what, (uintptr_t)b->address);
        &__llvm_profile_write_file != NULL ? (void)__llvm_profile_write_file() : (void)0;
        _exit(0);
    }
    if (child > 0 && !child_ends_well(child)) {
        blocks_model_fail("a late double free", b->address);
    }
}

static void step_size(uint32_t i)
{
    size_t                   bytes = take_size(), alignment = take();
    struct blocks_model_block *b = &model.block[i];
    void                    *same;
    if (alignment < 64) {
        same = qed_malloc(bytes);
        if (same == NULL || qed_malloc_usable_size(same) != b->usable) {
            EXPECT(qed_free_sized(b->address, bytes), "free_sized", "wrong size", (uintptr_t)b->address);
        }
    } else {
        alignment = ((size_t)1 << alignment % 20) + (alignment == 255);
        same = qed_aligned_alloc(alignment, bytes);
        if (same == NULL || qed_malloc_usable_size(same) != b->usable) {
            EXPECT(qed_free_aligned_sized(b->address, alignment, bytes), "free_aligned_sized", "wrong size", (uintptr_t)b->address);
        }
    }
    qed_free(same);
}

static void step_correct(void)
{
    size_t bytes = take_size();
    void  *p = model.count < BLOCKS_MODEL_COUNT / 4 ? qed_malloc(bytes) : NULL;
    if (p != NULL) {
        SHOW("p[%u] = qed_malloc(%zu); /* 0x%lx */\n", model.next_id, bytes, (uintptr_t)p);
        blocks_model_add(&model, p, bytes, qed_malloc_usable_size(p), 0, (uint8_t)take());
    }
}

static void step(void)
{
    uint32_t op = take(), i = model.count == 0 ? 0 : take() % model.count;
    if (op % 8 < 3 || model.count == 0) {
        step_correct();
        return;
    }
    switch (op / 8 % 8) {
    case 0: give(blocks_model_remove(&model, i).address); break;
    case 1: qed_malloc_trim(0); break;
    case 2: step_interior(&model.block[i]); break;
    case 3: step_wild(); break;
    case 4: step_twice(i); break;
    case 5: step_twice_late(i, take() % model.count); break;
    case 6: step_size(i); break;
    default: checks ? step_stale() : blocks_model_check_all(&model);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    reset();
    os_fake.echo = false;
    os_fake.mapped_npages_max = (1UL << 30) / PAGE;
    print = getenv("QED_FUZZ_PRINT") != NULL;
    input = data;
    input_end = data + size;
    forked = false;
    checks = size > 0 && data[0] >= 128;
    stale_count = 0;
    memset((void *)stale, 0, sizeof stale);
    if (checks) {
        live_boot();
        live_begin();
        modes_set_bytes(MODES_NO_BYTE, MODES_NO_BYTE);
    }
    while (input < input_end) {
        step();
    }
    struct stats s = stats_read();
    s.allocated != model.usable ? blocks_model_fail("allocated differs from the live blocks", (void *)s.allocated) : (void)0;
    while (model.count > 0) {
        qed_free(blocks_model_remove(&model, model.count - 1).address);
    }
    model.next_id = 0;
    qed_malloc_trim(0);
    return 0;
}
