/* replay: a main for a harness without an engine: runs it over files, and over all files of folders. One line at the end.
 * With -r N, all of them N times, then operations per second of processor time (of a harness that counts them). With -g N,
 * N seconds of pseudo-random inputs after them, always the same ones in the same order. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern unsigned long fuzz_operations __attribute__((weak));

static unsigned long inputs;

static void replay_bytes(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size + 1);                      /* an engine's buffer ends where the input ends */
    if (exact != NULL) {
        memcpy(exact, data, size);
        LLVMFuzzerTestOneInput(exact, size);
        free(exact);
        inputs++;
    }
}

static void replay_path(const char *path)
{
    struct dirent **names;
    int             n = scandir(path, &names, NULL, alphasort);
    if (n < 0) {
        FILE *f = fopen(path, "rb");
        if (f == NULL) {
            perror(path);
            exit(2);
        }
        static uint8_t data[1 << 20];
        replay_bytes(data, fread(data, 1, sizeof data, f));
        fclose(f);
    }
    for (int i = 0; i < n; i++) {
        char inner[4096];
        if (names[i]->d_name[0] != '.' && snprintf(inner, sizeof inner, "%s/%s", path, names[i]->d_name) < (int)sizeof inner) {
            replay_path(inner);
        }
        free(names[i]);
    }
    n < 0 ? (void)0 : free(names);
}

static double replay_now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void replay_random(double seconds)                   /* splitmix64; short inputs more often than long ones */
{
    static uint64_t data[64];
    uint64_t        state = 0;
    for (double end = replay_now(CLOCK_MONOTONIC) + seconds; replay_now(CLOCK_MONOTONIC) < end;) {
        for (size_t i = 0; i < sizeof data / sizeof data[0]; i++) {
            uint64_t z = state += 0x9E3779B97F4A7C15U;
            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
            z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
            data[i] = z ^ (z >> 31);
        }
        replay_bytes((const uint8_t *)data, (sizeof data >> (data[0] % 4)) - data[0] / 4 % 32);
    }
}

int main(int argc, char **argv)
{
    bool random = argc > 2 && strcmp(argv[1], "-g") == 0;
    int  first = random || (argc > 2 && strcmp(argv[1], "-r") == 0) ? 3 : 1, rounds = first == 3 && !random ? atoi(argv[2]) : 1;
    const char *name = strrchr(argv[0], '/') == NULL ? argv[0] : strrchr(argv[0], '/') + 1;
    if (first >= argc && !random) {
        fprintf(stderr, "usage: %s [-r ROUNDS | -g SECONDS] FILE_OR_FOLDER...     QED_FUZZ_PRINT=1 prints the operations\n", name);
        return 2;
    }
    double begin = replay_now(CLOCK_PROCESS_CPUTIME_ID);
    for (int r = 0; r < rounds; r++) {
        for (int i = first; i < argc; i++) {
            replay_path(argv[i]);
        }
    }
    random ? replay_random(atof(argv[2])) : (void)0;
    double seconds = replay_now(CLOCK_PROCESS_CPUTIME_ID) - begin;
    if (getenv("QED_FUZZ_PRINT") == NULL) {
        printf("ok replay %s: %lu inputs", name, inputs);
        first == 3 && !random && &fuzz_operations != NULL ? printf(", %.0f operations/s", (double)fuzz_operations / seconds) : 0;
        printf("\n");
    }
    return 0;
}
