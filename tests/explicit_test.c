/* explicit_test: explicit caches keep their blocks apart from those of threads and from each other. Each of the depot's caches is a thread's,
 * idle, or explicit, and never two of these. A flush and a destruction empty the cache that is named, and no other. The test uses all numbers,
 * takes the memory away, asks for caches that are not there or that are lent, and forks. */
#include "blocks_boot.h"
#include "tcache/explicit.h"

#define BLOCKS 300U

static struct tcache *own;

/* Every cache that was made has one place. Returns how many are idle. */
static uint32_t check_places(uint32_t threads)
{
    uint32_t made = 0, idle = 0, explicits = 0;
    for (const struct tcache *t = depot_list; t != NULL; t = t->next) {
        uint32_t places = 0;
        for (const struct tcache *i = depot_idle; i != NULL; i = i->next_idle) {
            places += i == t ? 1 : 0;
        }
        idle += places;
        for (uint32_t n = 0; n < DEPOT_EXPLICIT; n++) {
            places += depot_explicit[n] == t ? 1 : 0;
            explicits += depot_explicit[n] == t ? 1 : 0;
            CHECK(depot_explicit[n] != NULL || !depot_lent[n]);
        }
        CHECK(places <= 1);
        made++;
    }
    CHECK(explicits == depot_explicit_count && made == depot_made && made == threads + idle + explicits && depot_live() == threads);
    return idle;
}

static uint64_t held(const struct tcache *t)
{
    uint64_t n = 0;
    for (uint32_t b = 1; b < TCACHE_STACKS; b++) {
        n += t->top[b] - t->floor[b];
    }
    return n;
}

static uint64_t out(uint32_t arena)
{
    uint64_t n = 0;
    for (uint32_t c = 0; c < SC_NBINS; c++) {
        struct bin_stats s;
        bin_read_stats(arena, c, &s);
        n += s.regions_live;
    }
    return n;
}

/* Takes blocks of one stack from an explicit cache, and gives them back to it. */
static void fill(uint32_t number, uint32_t stack, uint32_t arena)
{
    static uint64_t block[BLOCKS];
    struct tcache  *t = explicit_lend(number, arena);
    CHECK(t == depot_explicit[number] && depot_lent[number] && explicit_lend(number, arena) == NULL);
    CHECK(!explicit_flush(number) && !explicit_destroy(number));           /* it is lent */
    for (uint32_t i = 0; i < BLOCKS; i++) {
        uint64_t b = tcache_pop(t, stack);
        CHECK((block[i] = b != 0 ? b : refill(t, stack)) != 0);
    }
    for (uint32_t i = 0; i < BLOCKS; i++) {
        overflow_free(t, block[i], "test");
    }
    CHECK(held(t) > 0);
    explicit_return(number);
    CHECK(!depot_lent[number]);
}

static void check_one(uint32_t number)
{
    struct tcache *t = depot_explicit[number];
    for (uint32_t stack = 1; stack < TCACHE_STACKS; stack += 7) {
        uint64_t mine = held(own), in_all = depot_blocks(stack);
        fill(number, stack, stack % 2);
        CHECK(held(own) == mine && depot_blocks(stack) > in_all);
    }
    uint64_t mine = held(own), before = out(0) + out(1), had = held(t);
    CHECK(explicit_flush(number) && held(t) == 0 && held(own) == mine && out(0) + out(1) < before && had > 0);
    CHECK(explicit_flush(number));
}

static void check_numbers(void)
{
    uint32_t a = explicit_create(), b = explicit_create(), c = explicit_create();
    CHECK(a == 0 && b == 1 && c == 2 && depot_explicit_count == 3 && depot_explicit[a] != depot_explicit[b]);
    check_places(1);
    fill(a, 3, 0);
    fill(b, 3, 0);
    fill(c, 5, 1);
    uint64_t in_a = held(depot_explicit[a]), in_c = held(depot_explicit[c]);
    struct tcache *t = depot_explicit[b];
    CHECK(explicit_destroy(b) && held(t) == 0 && depot_idle == t && depot_explicit[b] == NULL && check_places(1) == 1);
    CHECK(held(depot_explicit[a]) == in_a && held(depot_explicit[c]) == in_c);
    CHECK(!explicit_destroy(b) && !explicit_flush(b) && explicit_lend(b, 0) == NULL);
    CHECK(!explicit_destroy(DEPOT_EXPLICIT) && !explicit_flush(UINT32_MAX) && explicit_lend(DEPOT_EXPLICIT + 1, 0) == NULL);
    CHECK(explicit_create() == b && depot_explicit[b] == t && check_places(1) == 0);     /* the idle one, by the number that was left */
    check_one(a);
    check_one(b);
    CHECK(explicit_destroy(a) && explicit_destroy(c) && explicit_destroy(b) && check_places(1) == 3);
    CHECK(out(0) + out(1) == held(own));
}

static void check_all(void)
{
    for (uint32_t n = 0; n < DEPOT_EXPLICIT; n++) {
        CHECK(explicit_create() == n);
    }
    for (uint32_t again = 0; again < 3; again++) {                          /* a cache without a number is idle, for the next call or thread */
        CHECK(explicit_create() == DEPOT_EXPLICIT && depot_live() == 1 && depot_explicit_count == DEPOT_EXPLICIT);
        CHECK(depot_idle != NULL && depot_idle->next_idle == NULL);
    }
    for (uint32_t n = 0; n < DEPOT_EXPLICIT; n++) {
        CHECK(explicit_destroy(DEPOT_EXPLICIT - 1 - n));
    }
    CHECK(check_places(1) == DEPOT_EXPLICIT + 1);
    os_fake_fail(OS_FAKE_METADATA, 1, 1000000);
    for (uint32_t n = 0; n < DEPOT_EXPLICIT; n++) {
        CHECK(explicit_create() == n);                                      /* of those that are idle */
    }
    CHECK(depot_idle->next_idle == NULL);
    for (uint32_t n = 5; n < DEPOT_EXPLICIT; n++) {
        CHECK(explicit_destroy(n));
    }
    while (depot_create() != NULL) {                                        /* threads take the idle ones, and there is no memory for more */
    }
    CHECK(explicit_create() == DEPOT_EXPLICIT && depot_explicit_count == 5 && depot_explicit[5] == NULL);
}

int main(void)
{
    blocks_boot(2);
    own = depot_create();
    uint64_t block = refill(own, 9);
    overflow_free(own, block, "test");
    check_numbers();
    check_all();
    struct tcache *t = explicit_lend(3, 0);
    CHECK(t != NULL);
    depot_prefork();
    depot_postfork_child(own);                                              /* 3 was another thread's, which is gone */
    CHECK(depot_live() == 1 && depot_explicit_count == 5 && explicit_lend(3, 0) == NULL && !explicit_destroy(3));
    check_one(4);
    CHECK(explicit_destroy(4));
    depot_prefork();
    depot_postfork_child(&tcache_dead);
    CHECK(depot_live() == 0 && depot_explicit_count == 4);
    return blocks_done("explicit");
}
