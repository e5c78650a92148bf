/* tcache_threads_test: caches are made and claimed again, the last one left first; each has the shape that the stacks
 * need; out of memory; the child of a fork counts its own thread only. */
#include "heap_boot.h"

#define THREADS 40U

static struct tcache *cache[THREADS];

static void check_shape(const struct tcache *t, bool room)
{
    for (uint32_t b = 0; b < TCACHE_BINS; b++) {
        CHECK(t->floor[b] <= t->top[b] && t->top[b] <= t->limit[b] && t->limit[b] == t->least[b]);
        CHECK(t->least[b] <= t->room[b] && t->room[b] < TCACHE_SLOTS);
        CHECK(t->slot[t->floor[b]] == 0);
        CHECK(!room || b == 0 || t->room[b - 1] < t->floor[b]);
        CHECK((t->limit[b] > t->floor[b]) == (room && b > 0));
        CHECK((t->magic[b] != 0) == (room && b > 0) && t->negated[b] == word_negate(t->magic[b]));
    }
    for (uint64_t bytes = 0; bytes <= SC_LOOKUP_MAX; bytes++) {
        CHECK(tcache_bin_of(t, bytes) == size_class_index(bytes) + 1U);
    }
}

static void make_all(void)
{
    for (uint32_t i = 0; i < THREADS; i++) {
        cache[i] = tcache_create();
        CHECK(cache[i] != NULL && tcache_live() == i + 1);
        for (uint32_t k = 0; k < i; k++) {
            CHECK(cache[k] != cache[i]);
        }
        check_shape(cache[i], true);
    }
}

int main(void)
{
    heap_boot(4);
    check_shape(&tcache_unborn, false);
    check_shape(&tcache_dead, false);
    make_all();
    for (uint32_t i = 0; i < THREADS; i++) {            /* blocks in a cache that is left are in no cache any more */
        uint64_t block = tcache_refill(cache[i], 1 + i);
        CHECK(block != 0);
        tcache_free_slow(cache[i], block, "test");
        CHECK(tcache_blocks(1 + i) > 0);
        tcache_destroy(cache[i]);
        CHECK(tcache_blocks(1 + i) == 0 && tcache_live() == THREADS - 1 - i);
    }
    for (uint32_t i = THREADS; i > 0; i--) {
        CHECK(tcache_create() == cache[i - 1]);
    }
    os_fake_fail(OS_FAKE_METADATA, 1, 1000000);
    uint32_t more = 0;
    while (tcache_create() != NULL) {                   /* what the OS has given already may make some more */
        CHECK(++more < 1000);
    }
    CHECK(tcache_live() == THREADS + more);
    tcache_prefork();
    tcache_postfork_parent();
    CHECK(tcache_live() == THREADS + more);
    tcache_prefork();
    tcache_postfork_child(cache[0]);
    CHECK(tcache_live() == 1);
    tcache_prefork();
    tcache_postfork_child(&tcache_unborn);
    CHECK(tcache_live() == 0);
    return heap_done("tcache_threads");
}
