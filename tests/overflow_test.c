/* overflow_test: what a push refuses it refuses without a change, and the slow path takes the block back. */
#include "blocks_boot.h"
#include "tcache/counting.h"
#include "tcache/overflow.h"
#include "tcache/refill.h"

/* What no block begins at is refused without a change. */
static void test_refusals(struct tcache *t)
{
    refill_flush(t);
    uint64_t block = refill(t, 5);
    struct tcache before = *t;
    for (uint64_t off = 1; off < size_class_bytes(4); off++) {
        CHECK(!tcache_push(t, block + off));
    }
    for (uint64_t bytes = 0; bytes <= SC_LOOKUP_MAX; bytes++) {
        CHECK(size_class_index(bytes) == 4 || !tcache_push_sized(t, block, bytes));
    }
    CHECK(!tcache_push_sized(t, block + 1, 80) && !tcache_push_sized(t, 0, 80) && !tcache_push_sized(&tcache_unborn, block, 80));
    for (uint64_t stack = 0; stack < TCACHE_STACKS; stack++) {
        CHECK(stack == 5 || !tcache_push_class(t, block, stack));
    }
    CHECK(!tcache_push_class(t, block + 1, 5) && !tcache_push_class(t, 0, 5) && !tcache_push_class(&tcache_unborn, block, 5));
    CHECK(!tcache_push(t, 0) && !tcache_push(t, 4096) && !tcache_push(t, UINT64_MAX) && !tcache_push(t, block | 0xdeadUL << 48));
    CHECK(before.top[5] == t->top[5] && before.slot[t->top[5]] == t->slot[t->top[5]]);
    CHECK(!tcache_push(&tcache_unborn, block) && !tcache_push(&tcache_dead, block) && tcache_pop(&tcache_unborn, 5) == 0);
    overflow_free(&tcache_dead, block, "test");
}

/* Once the slow path has looked at a place, blocks there come back on the fast one. */
static void test_fast(struct tcache *t)
{
    refill_flush(t);
    uint64_t block = refill(t, 5);
    overflow_free(t, block, "test");
    CHECK(tcache_pop(t, 5) == block);
    for (int i = 0; i < 3; i++) {
        CHECK(tcache_push(t, block) && tcache_pop(t, 5) == block);
    }
    for (uint64_t bytes = size_class_bytes(3) + 1; bytes <= size_class_bytes(4); bytes++) {
        CHECK(tcache_push_sized(t, block, bytes) && !tcache_push_sized(t, block, bytes) && tcache_pop(t, 5) == block);
    }
    CHECK(tcache_push_class(t, block, 5) && !tcache_push_class(t, block, 5) && tcache_pop(t, 5) == block);
    overflow_free(t, block, "test");
}

/* After a free the known window is for the frees of a thread that counts bytes alone, or checks alone, and of no other one that counts. */
static void test_counted(struct tcache *t)
{
    refill_flush(t);
    uint64_t block = refill(t, 5);
    counting_begin(t, COUNTER_ALLOCATES);
    CHECK(overflow_push(t, block) == size_class_bytes(4) && t->counted_pages != 0 && t->window_pages == 0);
    CHECK(t->checked_pages == 0);
    counting_begin(t, COUNTER_CHECKS);
    CHECK(t->counted_pages == 0 && tcache_pop(t, 5) == block && overflow_push(t, block) == size_class_bytes(4));
    CHECK(t->counted_pages == 0 && t->checked_pages == 0 && t->known_pages != 0);
    counting_end(t, COUNTER_ALLOCATES);
    CHECK(tcache_pop(t, 5) == block && overflow_push(t, block) == size_class_bytes(4));
    CHECK(t->checked_pages == t->known_pages && t->counted_pages == 0 && t->window_pages == 0);
    counting_end(t, COUNTER_CHECKS);
    CHECK(tcache_pop(t, 5) == block);
    overflow_free(t, block, "test");
    CHECK(t->known_pages != 0 && t->window_pages != 0 && t->checked_pages == 0);
}

/* Two caches fill each other's stacks: each block that comes back over a full stack is in its bin or in a stack again. */
static void test_full(struct tcache *from, struct tcache *to)
{
    enum { BLOCKS = 3000 };
    static uint64_t block[BLOCKS];
    for (uint32_t i = 0; i < BLOCKS; i++) {
        block[i] = tcache_pop(from, 5);
        block[i] = block[i] != 0 ? block[i] : refill(from, 5);
        CHECK(block[i] != 0 && overflow_usable(block[i], "test") == size_class_bytes(4));
    }
    uint32_t refused = 0;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        if (!tcache_push(to, block[i])) {
            overflow_free(to, block[i], "test");
            refused++;
        }
        CHECK(to->top[5] <= to->limit[5]);
    }
    CHECK(refused > 0);
    refill_flush(from);
    refill_flush(to);
    struct bin_stats a, b;
    bin_read_stats(0, 4, &a);
    bin_read_stats(1, 4, &b);
    CHECK(a.regions_live + b.regions_live == 0);
}

int main(void)
{
    blocks_boot(2);
    struct tcache *t[2] = {depot_create(), depot_create()};
    CHECK(t[0] != NULL && t[1] != NULL);
    test_refusals(t[0]);
    test_fast(t[0]);
    test_counted(t[0]);
    test_full(t[0], t[1]);
    return blocks_done("overflow");
}
