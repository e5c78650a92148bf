/* limit_test: random requests against a plain sum, around the limit and around 2^64; then threads that take and give at the same time and
 * never have more than the limit allows, nor lose a byte. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "platform/limit.h"

static unsigned long checks;
static uint64_t      seed = 0x9E3779B97F4A7C15UL;

#define CHECK(condition)                                                        \
    do {                                                                        \
        checks++;                                                               \
        if (!(condition)) {                                                     \
            fprintf(stderr, "limit_test: line %d: %s\n", __LINE__, #condition); \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

static uint64_t random_below(uint64_t n)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (seed >> 32) % n;
}

static void test_sum(void)
{
    uint64_t sum = 0, refused = 0;
    CHECK(limit_hard == LIMIT_NONE && limit_take(UINT64_MAX) && !limit_take(1));
    limit_give(UINT64_MAX);
    limit_set(1000);
    refused = limit_refused;
    for (int i = 0; i < 1000000; i++) {
        uint64_t bytes = random_below(100) == 0 ? UINT64_MAX - random_below(2000) : random_below(300);
        if (random_below(2) == 0) {
            bool fits = bytes <= 1000 && sum + bytes <= 1000;
            CHECK(limit_take(bytes) == fits);
            sum += fits ? bytes : 0;
            refused += fits ? 0 : 1;
        } else if (bytes <= sum) {
            limit_give(bytes);
            sum -= bytes;
        }
        CHECK(limit_mapped == sum && limit_refused == refused);
    }
    limit_set(sum / 2);
    CHECK(limit_hard == sum && limit_take(0) && !limit_take(1));
    limit_give(sum);
}

static uint64_t held;               /* by all threads */

static void *take_and_give(void *unused)
{
    for (int i = 0; i < 300000; i++) {
        if (limit_take(10)) {
            if (__atomic_add_fetch(&held, 10, __ATOMIC_SEQ_CST) > 25) {
                fprintf(stderr, "limit_test: more than the limit\n");
                exit(1);
            }
            __atomic_sub_fetch(&held, 10, __ATOMIC_SEQ_CST);
            limit_give(10);
        }
    }
    return unused;
}

static void test_threads(void)
{
    pthread_t thread[4];
    limit_set(25);
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&thread[i], NULL, take_and_give, NULL) == 0);
    }
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(thread[i], NULL) == 0);
    }
    CHECK(limit_mapped == 0 && limit_take(25) && !limit_take(1));
}

int main(void)
{
    test_sum();
    test_threads();
    printf("ok limit: %lu checks, seed 0x9E3779B97F4A7C15\n", checks);
    return 0;
}
