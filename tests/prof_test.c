/* prof_test: samples of a thread over the deterministic OS. A sampled block is an extent of its own with the bytes of its class, and what the
 * OS refuses is dropped; after all frees every count is 0 and every page is back. */
#include <string.h>

#include "blocks_boot.h"
#include "platform/countdown.h"
#include "prof/context.h"
#include "prof/prof.h"

#define HELD 500U

static uint64_t block[HELD];

static uint64_t active(void)
{
    struct pages_stats p;
    pages_read_stats(&p);
    return p.active;
}

static struct prof_stats now(void)
{
    struct prof_stats s;
    prof_read_stats(&s);
    return s;
}

static void test_blocks(struct tcache *t)
{
    uint64_t before = active(), npages = 0, bytes = 0;
    for (uint32_t i = 0; i < HELD; i++) {
        bool     zeroed = false;
        uint32_t szind = (uint32_t)random_below(SC_NSIZES / 3);
        uint64_t align = szind < SC_NBINS ? 1 : 1UL << random_below(16);
        countdown_left = 0;
        block[i] = prof_take(t, szind, align, &zeroed);
        CHECK(block[i] != 0 && block[i] % align == 0 && block[i] % PAGE == 0 && prof_usable(block[i]) == size_class_bytes(szind));
        CHECK(radix_tree_tag(block[i] / PAGE) == 0 && !tcache_push(t, block[i]) && prof_usable(block[i] + 8) == 0);
        npages += (size_class_bytes(szind) + PAGE - 1) / PAGE;
        bytes += size_class_bytes(szind);
    }
    struct prof_stats s = now();
    CHECK(active() == before + npages && s.live == HELD && s.live_bytes == bytes && s.rounding == npages * PAGE - bytes && s.contexts > 0);
    for (uint32_t i = 0; i < HELD; i++) {
        prof_free(t, block[i]);
        CHECK(prof_usable(block[i]) == 0);
    }
    s = now();
    CHECK(active() == before && s.live == 0 && s.live_bytes == 0 && s.estimate == 0 && s.rounding == 0 && s.contexts == 0
        && s.thread_contexts == 0);
}

static uint64_t take(struct tcache *t, uint32_t szind)
{
    bool zeroed = false;
    countdown_left = 0;
    uint64_t b = prof_take(t, szind, 1, &zeroed);
    CHECK(prof_usable(b) == size_class_bytes(szind));
    return b;
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

#define SITES 3U

static __attribute__((noinline)) uint64_t take_from(uint32_t site, struct tcache *t)
{
    uint64_t b = site == 0 ? take(t, 5) : take_from(site - 1, t);
    __asm__ volatile("" : "+r"(b));             /* the call is no jump */
    return b;
}

/* Two threads sample at the same sites, in any order. A context goes with its last block, and its number may be another thread's next. A walk by
 * frame pointers ends before it sees the site. */
static void test_contexts(struct tcache *const threads[2])
{
    const uint64_t sites = strcmp(prof_options.backtrace, "fp") == 0 ? 1 : SITES;
    static uint8_t of[HELD];                    /* the thread and the site of each block, plus 1, or 0 */
    uint32_t       held[2][SITES] = {{0}};
    for (uint32_t turn = 0; turn < 20000; turn++) {
        uint32_t i = (uint32_t)random_below(turn % 1000 < 500 ? 3 : HELD), me = (uint32_t)random_below(2), site = (uint32_t)random_below(sites);
        if (of[i] != 0) {
            prof_free(threads[me], block[i]);
            held[(of[i] - 1U) % 2][(of[i] - 1U) / 2] -= 1;
            of[i] = 0;
        } else {
            block[i] = take_from(site, threads[me]);
            held[me][site] += 1;
            of[i] = (uint8_t)(1 + me + 2 * site);
        }
        uint32_t contexts = 0, thread_contexts = 0;
        for (uint32_t k = 0; k < SITES; k++) {
            contexts += held[0][k] + held[1][k] > 0 ? 1U : 0U;
            thread_contexts += (held[0][k] > 0 ? 1U : 0U) + (held[1][k] > 0 ? 1U : 0U);
        }
        struct prof_stats s = now();
        CHECK(s.contexts == contexts && s.thread_contexts == thread_contexts);
        for (uint32_t k = 0; k < 2; k++) {
            const struct thread *thread = context_find(threads[k]);
            CHECK((thread == NULL ? 0 : thread->live.objects) == held[k][0] + held[k][1] + held[k][2]);
        }
    }
    for (uint32_t i = 0; i < HELD; i++) {
        of[i] != 0 ? prof_free(threads[0], block[i]) : (void)0;
    }
    CHECK(now().contexts == 0 && now().live == 0);
    prof_thread_end(threads[1]);
}

/* ---- blocks that change their size ------------------------------------------------------------------------------- */

/* A sampled block grows and shrinks where it is, as another sample, as long as the pages behind it are free. */
static void test_resize(struct tcache *t)
{
    uint32_t          mid = SC_NBINS + 8, more = mid + 4;
    uint64_t          before = active(), pages = size_class_bytes(mid) / PAGE, all = size_class_bytes(more) / PAGE;
    struct prof_stats was = now();
    (void)pages_trim();
    uint64_t b = take(t, mid);
    countdown_left = 0;
    CHECK(prof_resize(t, b, more) == PROF_RESIZED && prof_usable(b) == size_class_bytes(more) && active() == before + all);
    struct prof_stats s = now();
    CHECK(s.live == 1 && s.live_bytes == size_class_bytes(more) && s.sampled == was.sampled + 2 && s.contexts == 1);
    countdown_left = 0;
    CHECK(prof_resize(t, b, mid) == PROF_RESIZED && prof_usable(b) == size_class_bytes(mid) && active() == before + pages);
    uint64_t behind = take(t, mid);
    CHECK(behind == b + pages * PAGE);
    countdown_left = 0;
    CHECK(prof_resize(t, b, more) == PROF_MOVES && countdown_left == 0 && prof_usable(b) == size_class_bytes(mid));
    prof_free(t, behind);
    countdown_left = COUNTDOWN_MAX;
    CHECK(prof_resize(t, b, more) == PROF_MOVES && countdown_left == COUNTDOWN_MAX);     /* no sample is due: malloc gives an ordinary block */
    CHECK(prof_resize(&tcache_unborn, b, more) == PROF_MOVES);
    prof_free(t, b);
    s = now();
    CHECK(active() == before && s.live == 0 && s.live_bytes == 0 && s.estimate == 0 && s.contexts == 0 && s.thread_contexts == 0);
    countdown_left = COUNTDOWN_MAX;
    CHECK(prof_resize(t, b, more) == PROF_ORDINARY && countdown_left == COUNTDOWN_MAX - size_class_bytes(more));
    countdown_left = 0;
    CHECK(prof_resize(t, b, more) == PROF_MOVES);
}

static __attribute__((noinline)) enum prof_resized resize_from(uint32_t bits, uint32_t depth, struct tcache *t, uint64_t b, uint32_t szind);
static __attribute__((noinline)) enum prof_resized left(uint32_t bits, uint32_t depth, struct tcache *t, uint64_t b, uint32_t szind)
{
    enum prof_resized r = resize_from(bits, depth, t, b, szind);
    __asm__ volatile("" ::: "memory");
    return r;
}

/* From another stack for other bits. */
static enum prof_resized resize_from(uint32_t bits, uint32_t depth, struct tcache *t, uint64_t b, uint32_t szind)
{
    enum prof_resized r = depth == 0 ? prof_resize(t, b, szind) : bits % 2 == 0 ? left(bits / 2, depth - 1, t, b, szind)
                          : resize_from(bits / 2, depth - 1, t, b, szind);
    __asm__ volatile("" ::: "memory");
    return r;
}

/* Without memory for its new context the block has its new class, and counts no more. Where nothing can walk these stacks (musl without libgcc's
 * unwinder), samples have one context, and new ones want no memory. */
static void test_resize_no_memory(struct tcache *t)
{
    uint64_t before = active(), dropped = now().dropped;
    uint32_t n = 0;
    for (uint32_t i = 0; i < HELD; i++) {
        block[i] = take(t, SC_NBINS + 8);
    }
    os_fake_fail(OS_FAKE_METADATA, 1, 100000);
    for (; n < HELD && now().dropped == dropped; n++) {
        countdown_left = 0;
        CHECK(resize_from(n, 10, t, block[n], SC_NBINS + 4) == PROF_RESIZED && prof_usable(block[n]) == size_class_bytes(SC_NBINS + 4));
    }
    os_fake_reset();
    bool walked = now().contexts > 2;
#ifdef __GLIBC__
    CHECK(walked);
#endif
    CHECK(walked ? n < HELD && now().dropped == dropped + 1 && now().live == HELD - 1 : n == HELD && now().live == HELD);
    for (uint32_t i = 0; i < HELD; i++) {
        prof_free(t, block[i]);
    }
    CHECK(active() == before && now().live == 0 && now().live_bytes == 0 && now().contexts == 0);
}

/* A sample takes the lock to find the thread and to enter the block, and once more where it may be time for a dump. */
static void test_lock(struct tcache *t)
{
    uint64_t before = context_lock.locked;
    block[0] = take(t, 5);
    CHECK(context_lock.locked == before + 2);
    prof_options.lg_interval = 40;
    block[1] = take(t, 5);
    CHECK(context_lock.locked == before + 5);
    prof_options.lg_interval = -1;
    prof_free(t, block[0]);
    prof_free(t, block[1]);
}

static void test_no_memory(struct tcache *t)
{
    bool zeroed = false;
    (void)pages_trim();
    for (uint64_t nth = 1; nth < 8; nth++) {
        uint64_t dropped = now().dropped, out = active();
        os_fake.mapped_npages_max = os_fake.mapped_npages;
        os_fake_fail(OS_FAKE_METADATA, nth, 100);
        countdown_left = 0;
        uint64_t b = prof_take(t, SC_NSIZES / 2, 1, &zeroed);
        CHECK(b == 0 && now().dropped == dropped + 1 && active() == out);
        os_fake_reset();
    }
}

static void test_states(struct tcache *t)
{
    bool zeroed = false;
    prof_set_active(t, false);
    countdown_left = 0;
    CHECK(prof_take(t, 5, 1, &zeroed) == 0 && t->lookup_end != 0 && countdown_left == 0);
    prof_set_active(t, true);
    CHECK(t->lookup_end == 0 && t->paced_end != 0);
    CHECK(prof_take(&tcache_unborn, 5, 1, &zeroed) == 0);
    prof_thread_end(t);
    CHECK(t->lookup_end != 0 && t->paced_end == 0 && countdown_left == COUNTDOWN_MAX);
    CHECK(context_threads == NULL && context_ended == NULL);
}

int main(void)
{
    const struct prof_options o = {.prof = true, .active = true, .thread_active = true, .lg_sample = 0, .lg_interval = -1, .depth = 32,
                                   .prefix = "prof_test", .backtrace = "libgcc"};
    blocks_boot(1);
    struct tcache *t = depot_create(), *other = depot_create();
    CHECK(t != NULL && other != NULL && prof_usable(4096) == 0);
    prof_start(t, &o);
    test_blocks(t);
    test_blocks(t);
    test_contexts((struct tcache *const[]){t, other});
    test_resize(t);
    test_resize_no_memory(t);
    test_no_memory(t);
    test_lock(t);
    test_states(t);
    return blocks_done("prof");
}
