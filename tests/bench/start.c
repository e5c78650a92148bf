/* What it costs to start a program: runs it so many times under each library in turn.
 *
 * usage: start ROUNDS PROGRAM LIBRARY...        a LIBRARY of "-" is none
 *
 * Prints, for each library: median microseconds of wall time, of CPU time, peak KiB, page faults. Linked statically, it is
 * smaller than what it starts: the kernel charges a child with its parent's pages at the moment of exec. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define LIBRARIES_MAX 16
#define ROUNDS_MAX    10000

enum figure { WALL_US, CPU_US, PEAK_KIB, FAULTS, FIGURES };

static double sample[LIBRARIES_MAX][FIGURES][ROUNDS_MAX];

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double us(struct timeval t)
{
    return (double)t.tv_sec * 1e6 + (double)t.tv_usec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run_once(char *program, const char *library, double (*to)[ROUNDS_MAX], int round)
{
    char          preload[4096];
    char         *argv[] = {program, NULL}, *none[] = {NULL}, *one[] = {preload, NULL};
    struct rusage used;
    pid_t         child;
    int           status;
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", library);
    double since = now_us();
    if (posix_spawn(&child, program, NULL, NULL, argv, strcmp(library, "-") == 0 ? none : one) != 0 ||
        wait4(child, &status, 0, &used) != child || status != 0) {
        fprintf(stderr, "start: %s failed under %s\n", program, library);
        exit(1);
    }
    to[WALL_US][round] = now_us() - since;
    to[CPU_US][round] = us(used.ru_utime) + us(used.ru_stime);
    to[PEAK_KIB][round] = (double)used.ru_maxrss;
    to[FAULTS][round] = (double)(used.ru_minflt + used.ru_majflt);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 0, libraries = argc - 3;
    if (rounds < 1 || rounds > ROUNDS_MAX || libraries < 1 || libraries > LIBRARIES_MAX) {
        return 2;
    }
    for (int r = 0; r < rounds; r++) {
        for (int k = 0; k < libraries; k++) {
            int l = (k + r) % libraries;
            run_once(argv[2], argv[3 + l], sample[l], r);
        }
    }
    for (int l = 0; l < libraries; l++) {
        for (int f = 0; f < FIGURES; f++) {
            qsort(sample[l][f], (size_t)rounds, sizeof(double), by_value);
            printf("%.1f%c", sample[l][f][rounds / 2], f + 1 < FIGURES ? '\t' : '\n');
        }
    }
    return 0;
}
