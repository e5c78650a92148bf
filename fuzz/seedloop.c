/* seedloop: a main for a harness without an engine: inputs from seeds, one after the other, or one seed many times. A
 * failure, a sanitizer's too, ends with the seed. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define INPUT_MAX 64U
#define RUN_SECONDS_MAX 60U                             /* of one input, without an end */

int  LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static const char *name;
static uint64_t    seed, seed_runs;
static char        told[256];
static size_t      told_bytes;

/* Written down before each run: what formats text may not be called while a signal is handled. */
static void note_seed(void)
{
    told_bytes = (size_t)snprintf(told, sizeof told, "seed %lu; again, 100 times: %s -s %lu 100\n", seed, name, seed);
}

static void say_seed(void)
{
    (void)!write(STDERR_FILENO, told, told_bytes < sizeof told ? told_bytes : sizeof told - 1);
}

static void on_signal(int number)
{
    say_seed();
    signal(number, SIG_DFL);
    raise(number);
}

/* A thread, since a sanitizer holds signals back while the others wait. */
static void *watch(void *nothing)
{
    for (uint64_t seen = 0, since = 0; since < RUN_SECONDS_MAX; since++) {
        sleep(1);
        uint64_t now = __atomic_load_n(&seed_runs, __ATOMIC_RELAXED);
        since = now == seen ? since : 0;
        seen = now;
    }
    fprintf(stderr, "seedloop: no end in sight: a deadlock?\n");
    say_seed();
    _exit(1);
    return nothing;
}

static uint64_t next(uint64_t *state)                   /* splitmix64 */
{
    *state += 0x9E3779B97F4A7C15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void run(void)
{
    note_seed();
    uint8_t  data[INPUT_MAX];
    uint64_t state = seed;
    size_t   size = 8 + next(&state) % (INPUT_MAX - 8);
    for (size_t i = 0; i < size; i++) {
        data[i] = (uint8_t)next(&state);
    }
    LLVMFuzzerTestOneInput(data, size);
    __atomic_fetch_add(&seed_runs, 1, __ATOMIC_RELAXED);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    const char *stem = strrchr(argv[0], '/') == NULL ? argv[0] : strrchr(argv[0], '/') + 1;
    bool        one = argc > 2 && strcmp(argv[1], "-s") == 0;
    name = argv[0];
    if (argc < 2) {
        fprintf(stderr, "usage: %s SECONDS [FIRST_SEED]\n       %s -s SEED [TIMES]\n", stem, stem);
        return 2;
    }
    signal(SIGABRT, on_signal);
    signal(SIGSEGV, on_signal);
    pthread_t watcher;
    pthread_create(&watcher, NULL, watch, NULL);
    &__sanitizer_set_death_callback != NULL ? __sanitizer_set_death_callback(say_seed) : (void)0;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, times = one && argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    double   end = seconds() + (one ? 1e9 : atof(argv[1]));
    for (seed = first; one ? seed_runs < times : seconds() < end; seed += one ? 0 : 1) {
        run();
    }
    printf("ok seeds %s: %lu runs from seed %lu\n", stem, seed_runs, first);
    return 0;
}
