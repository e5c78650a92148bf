/* depot_test: caches are made, left and claimed again, and the one left last is claimed first. Each cache has the
 * shape that the stacks need. The test takes the memory away, and has the child of a fork count its own thread only. */
#include "blocks_boot.h"

#define THREADS 40U

static struct tcache *cache[THREADS];

static void check_shape(const struct tcache *t, bool room)
{
    for (uint32_t b = 0; b < TCACHE_STACKS; b++) {
        CHECK(t->floor[b] <= t->top[b] && t->top[b] <= t->limit[b] && t->limit[b] == t->least[b]);
        CHECK(t->least[b] <= t->room[b] && t->room[b] < TCACHE_SLOTS);
        CHECK(t->slot[t->floor[b]] == 0);
        CHECK(!room || b == 0 || t->room[b - 1] < t->floor[b]);
        CHECK((t->limit[b] > t->floor[b]) == (room && b > 0));
        CHECK((t->magic[b] != 0) == (room && b > 0) && t->negated[b] == tag_negate(t->magic[b]));
    }
    for (uint64_t bytes = 0; bytes <= SC_LOOKUP_MAX; bytes++) {
        CHECK(tcache_stack_of(t, bytes) == (room ? size_class_index(bytes) + 1U : 0));
    }
}

static void make_all(void)
{
    for (uint32_t i = 0; i < THREADS; i++) {
        cache[i] = depot_create();
        CHECK(cache[i] != NULL && depot_live() == i + 1);
        for (uint32_t k = 0; k < i; k++) {
            CHECK(cache[k] != cache[i]);
        }
        check_shape(cache[i], true);
    }
}

int main(void)
{
    blocks_boot(4);
    check_shape(&tcache_unborn, false);
    check_shape(&tcache_dead, false);
    make_all();
    for (uint32_t i = 0; i < THREADS; i++) {            /* blocks in a cache that is left are in no cache any more */
        uint64_t block = refill(cache[i], 1 + i);
        CHECK(block != 0);
        overflow_free(cache[i], block, "test");
        CHECK(depot_blocks(1 + i) > 0);
        depot_destroy(cache[i]);
        CHECK(depot_blocks(1 + i) == 0 && depot_live() == THREADS - 1 - i);
    }
    CHECK(os_fake.purged_npages >= (THREADS - DEPOT_READY) * (sizeof cache[0]->slot / PAGE - 1));
    for (uint32_t i = THREADS; i > 0; i--) {
        CHECK(depot_create() == cache[i - 1]);
        check_shape(cache[i - 1], true);
    }
    os_fake_fail(OS_FAKE_METADATA, 1, 1000000);
    uint32_t more = 0;
    while (depot_create() != NULL) {                   /* what the OS has given already may make some more */
        CHECK(++more < 1000);
    }
    CHECK(depot_live() == THREADS + more);
    depot_prefork();
    depot_postfork_parent();
    CHECK(depot_live() == THREADS + more);
    depot_prefork();
    depot_postfork_child(cache[0]);
    CHECK(depot_live() == 1);
    depot_prefork();
    depot_postfork_child(&tcache_unborn);
    CHECK(depot_live() == 0);
    return blocks_done("depot");
}
