/* As one looks for the lock that threads wait for: counters of locks, before and after threads take and free blocks for which they meet, and
 * after a reset. */
#include "client.h"

#include <pthread.h>
#include <stdlib.h>

#define THREADS 8
#define ROUNDS 2000

static const char *const counter[] = {"num_ops", "num_wait", "num_spin_acq", "num_owner_switch", "total_wait_time",
                                      "max_wait_time", "max_num_thds"};
enum { OPS, WAITS, SPINS, SWITCHES, TOTAL, LONGEST, MOST, COUNTERS };

static int read_all(const char *lock, uint64_t *value)
{
    uint64_t epoch = 1;
    CHECK(mallctl("epoch", NULL, NULL, &epoch, sizeof epoch) == 0);
    for (int i = 0; i < COUNTERS; i++) {
        char   name[128];
        size_t size = i == MOST ? sizeof(uint32_t) : sizeof(uint64_t);
        snprintf(name, sizeof name, "%s.%s", lock, counter[i]);
        value[i] = 0;
        CHECK(mallctl(name, &value[i], &size, NULL, 0) == 0);
    }
    return 0;
}

static pthread_barrier_t gate;

/* All threads have one arena. */
static void *work(void *unused)
{
    pthread_barrier_wait(&gate);
    for (int i = 0; i < ROUNDS; i++) {
        free(malloc(5 << 20));
        free(malloc(100));
        (void)mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    }
    return unused;
}

static int compete(void)
{
    pthread_t thread[THREADS];
    pthread_barrier_init(&gate, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&thread[i], NULL, work, NULL) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    return 0;
}

const char *malloc_conf = "narenas:1,dirty_decay_ms:-1";

int main(void)
{
    static const char *const locks[] = {"stats.arenas.4096.mutexes.extents_dirty", "stats.arenas.4096.bins.7.mutex"};
    uint64_t before[COUNTERS], after[COUNTERS], ctl[COUNTERS];
    for (int i = 0; i < 2; i++) {
        bool met = false;                       /* a clock that ticks every 4 ms sees some waits as none */
        for (int tries = 0; tries < 50 && !met; tries++) {
            CHECK(read_all(locks[i], before) == 0 && compete() == 0 && read_all(locks[i], after) == 0);
            CHECK(after[OPS] >= before[OPS] + THREADS * ROUNDS && after[SWITCHES] > before[SWITCHES]);
            CHECK(after[WAITS] >= before[WAITS] && after[SPINS] >= before[SPINS] && after[TOTAL] >= before[TOTAL]);
            met = after[WAITS] + after[SPINS] > before[WAITS] + before[SPINS] && (after[WAITS] == 0 || after[LONGEST] > 0);
        }
        CHECK(met && after[LONGEST] <= after[TOTAL] && after[MOST] <= THREADS);
        CHECK(after[WAITS] == 0 || (after[LONGEST] > 0 && after[MOST] > 0));
    }
    CHECK(read_all("stats.mutexes.ctl", ctl) == 0 && ctl[OPS] > 0);
    CHECK(read_all("stats.mutexes.background_thread", ctl) == 0);
    CHECK(mallctl("stats.mutexes.reset", NULL, NULL, NULL, 0) == 0);
    for (int i = 0; i < 2; i++) {
        CHECK(read_all(locks[i], before) == 0 && before[OPS] < THREADS * ROUNDS);
        CHECK(before[WAITS] == 0 && before[TOTAL] == 0 && before[MOST] == 0);
    }
    printf("ok mutexes\n");
    return 0;
}
