/* replay: a main for a harness without an engine: runs it over files, and over all files of folders. One line at the end.
 * With -r N, all of them N times, then operations per second (of a harness that counts its operations). */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern unsigned long fuzz_operations __attribute__((weak));

static unsigned long inputs;

static void replay_bytes(FILE *f)
{
    static uint8_t data[1 << 20];
    size_t         size = fread(data, 1, sizeof data, f);
    uint8_t       *exact = malloc(size + 1);                /* an engine's buffer ends where the input ends */
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
        replay_bytes(f);
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

int main(int argc, char **argv)
{
    int first = argc > 2 && strcmp(argv[1], "-r") == 0 ? 3 : 1, rounds = first == 3 ? atoi(argv[2]) : 1;
    const char *name = strrchr(argv[0], '/') == NULL ? argv[0] : strrchr(argv[0], '/') + 1;
    if (first >= argc) {
        fprintf(stderr, "usage: %s [-r ROUNDS] FILE_OR_FOLDER...     QED_FUZZ_PRINT=1 prints the operations\n", name);
        return 2;
    }
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    for (int r = 0; r < rounds; r++) {
        for (int i = first; i < argc; i++) {
            replay_path(argv[i]);
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    double seconds = (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) * 1e-9;
    if (getenv("QED_FUZZ_PRINT") == NULL) {
        printf("ok replay %s: %lu inputs", name, inputs);
        first == 3 && &fuzz_operations != NULL ? printf(", %.0f operations/s", (double)fuzz_operations / seconds) : 0;
        printf("\n");
    }
    return 0;
}
