/* schedule_all: all schedules of small programs with at most two to four preemptions. */
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "schedule_search.h"

static const struct {
    const char    *name;
    struct program program;
    uint32_t       preemptions;
} all[] = {
    {"first calls", {3, 1, false, false, {CACHED, UNBORN, UNBORN}, {0, 1, 1}, {{{0}}, {{MALLOC, 0, 1}}, {{MALLOC, 1, 1}}}}, 3},
    {"first calls, two arenas", {3, 2, false, false, {CACHED, UNBORN, UNBORN}, {0, 1, 1}, {{{0}}, {{MALLOC, 0, 1}}, {{MALLOC, 1, 1}}}}, 3},
    {"a bin", {2, 1, false, false, {DEAD, DEAD}, {2, 2}, {{{MALLOC, 0, 0}, {FREE, 0, 0}}, {{MALLOC, 1, 0}, {FREE, 1, 0}}}}, 4},
    {"producer, consumer", {2, 1, false, false, {DEAD, DEAD}, {2, 2}, {{{MALLOC, 0, 3}, {MALLOC, 1, 3}}, {{FREE, 0, 0}, {FREE, 1, 0}}}}, 4},
    {"large blocks", {2, 1, false, false, {DEAD, DEAD}, {2, 2}, {{{MALLOC, 0, 6}, {FREE, 0, 0}}, {{MALLOC, 1, 6}, {FREE, 1, 0}}}}, 4},
    {"decay and trim", {2, 1, false, false, {DEAD, DEAD}, {3, 2}, {{{MALLOC, 0, 6}, {FREE, 0, 0}, {DECAY, 0, 0}},
        {{MALLOC, 1, 6}, {TRIM, 0, 0}}}}, 3},
    {"the end of a thread", {2, 1, false, false, {CACHED, CACHED}, {1, 2}, {{{EXIT, 0, 0}}, {{EXIT, 0, 0}, {MALLOC, 0, 1}}}}, 3},
    {"threads end and begin", {2, 1, false, false, {CACHED, CACHED}, {2, 2}, {{{EXIT, 0, 0}, {MALLOC, 0, 1}},
        {{EXIT, 0, 0}, {MALLOC, 1, 1}}}}, 3},
    {"two arenas", {2, 2, false, false, {UNBORN, CACHED}, {2, 1}, {{{MALLOC, 0, 3}, {EXIT, 0, 1}}, {{FREE, 0, 0}}}}, 3},
    {"a slab comes and goes", {2, 1, false, false, {DEAD, DEAD}, {3, 2}, {{{MALLOC, 0, 3}, {MALLOC, 1, 3}, {FREE, 0, 0}},
        {{MALLOC, 2, 3}, {FREE, 1, 0}}}}, 4},
    {"realloc", {2, 1, false, false, {DEAD, DEAD}, {2, 2}, {{{MALLOC, 0, 5}, {REALLOC, 0, 6}}, {{MALLOC, 1, 6}, {REALLOC, 1, 5}}}}, 4},
    {"two trims", {2, 1, false, false, {DEAD, DEAD}, {3, 3}, {{{MALLOC, 0, 6}, {FREE, 0, 0}, {TRIM, 0, 0}},
        {{MALLOC, 1, 6}, {FREE, 1, 0}, {TRIM, 0, 0}}}}, 2},
    {"two purges", {2, 1, false, false, {DEAD, DEAD}, {3, 3}, {{{MALLOC, 0, 6}, {FREE, 0, 0}, {DECAY, 0, 0}},
        {{MALLOC, 1, 6}, {FREE, 1, 0}, {DECAY, 0, 0}}}}, 4},
    {"settings", {2, 1, false, false, {DEAD, DEAD}, {2, 2}, {{{MALLOC, 0, 6}, {SET_DECAY, 0, 2}}, {{FREE, 0, 0}, {DECAY, 0, 0}}}}, 3},
    {"three at a bin", {3, 1, false, false, {DEAD, DEAD, DEAD}, {1, 1, 1}, {{{MALLOC, 0, 0}}, {{MALLOC, 1, 0}}, {{MALLOC, 2, 0}}}}, 4},
    {"three at the pages", {3, 1, false, false, {DEAD, DEAD, DEAD}, {1, 1, 2}, {{{MALLOC, 0, 6}}, {{MALLOC, 1, 6}},
        {{MALLOC, 2, 6}, {FREE, 2, 0}}}}, 3},
    {"fork at a large block", {2, 1, false, false, {CACHED, DEAD}, {1, 2}, {{{FORK, 0, 0}}, {{MALLOC, 0, 6}, {FREE, 0, 0}}}}, 3},
    {"fork at a purge", {2, 1, false, false, {CACHED, DEAD}, {1, 3}, {{{FORK, 0, 0}}, {{MALLOC, 0, 6}, {FREE, 0, 0}, {TRIM, 0, 0}}}}, 3},
    {"fork at a slab", {2, 1, false, false, {CACHED, DEAD}, {1, 2}, {{{FORK, 0, 0}}, {{MALLOC, 0, 3}, {FREE, 0, 0}}}}, 3},
    {"fork at the end of a thread", {2, 1, false, false, {CACHED, CACHED}, {1, 1}, {{{FORK, 0, 0}}, {{EXIT, 0, 1}}}}, 3},
    {"two forks", {2, 1, false, false, {CACHED, CACHED}, {1, 1}, {{{FORK, 0, 0}}, {{FORK, 0, 0}}}}, 3},
    {"fork at settings", {2, 1, false, false, {CACHED, CACHED}, {1, 1}, {{{FORK, 0, 0}}, {{SET_DECAY, 0, 2}}}}, 3},
    {"fork at an epoch", {2, 1, false, false, {CACHED, CACHED}, {1, 1}, {{{FORK, 0, 0}}, {{EPOCH, 0, 0}}}}, 2},
    {"statistics", {2, 1, false, false, {CACHED, DEAD}, {1, 2}, {{{STATS, 0, 0}}, {{MALLOC, 0, 3}, {FREE, 0, 0}}}}, 3},
    {"statistics of bins", {2, 1, false, false, {CACHED, DEAD}, {1, 2}, {{{EPOCH, 0, 0}}, {{MALLOC, 0, 3}, {FREE, 0, 0}}}}, 3},
    {"two epochs", {2, 1, false, false, {CACHED, CACHED}, {1, 1}, {{{EPOCH, 0, 0}}, {{EPOCH, 0, 0}}}}, 3},
    {"a slab of two", {2, 1, false, true, {DEAD, DEAD}, {2, 2}, {{{FREE, 0, 0}, {MALLOC, 0, 3}}, {{FREE, 1, 0}, {MALLOC, 1, 3}}}}, 4},
    {"the last region", {2, 1, false, true, {DEAD, DEAD}, {3, 1}, {{{FREE, 0, 0}, {FREE, 4, 0}, {MALLOC, 0, 3}}, {{MALLOC, 4, 3}}}}, 4},
    {"a slab empties", {2, 1, false, true, {DEAD, DEAD}, {3, 2}, {{{FREE, 0, 0}, {FREE, 1, 0}, {FREE, 2, 0}},
        {{FREE, 3, 0}, {MALLOC, 0, 3}}}}, 4},
    {"pages become a slab", {2, 1, false, false, {DEAD, DEAD}, {2, 2}, {{{MALLOC, 0, 5}, {FREE, 0, 0}}, {{MALLOC, 1, 3}, {FREE, 1, 0}}}}, 4},
    {"fork at boot", {2, 1, true, false, {0}, {1, 1}, {{{MALLOC, 0, 1}}, {{FORK, 0, 0}}}}, 2},
    {"boot", {2, 1, true, false, {0}, {1, 1}, {{{MALLOC, 0, 1}}, {{MALLOC, 1, 1}}}}, 2},
};

/* What the processes of a search have found, in memory that they share. */
static struct {
    uint64_t runs;
    double   seconds;                       /* of processor time */
} *found;

/* All schedules of the program that are this process's part. A failure is reported and ends the process. */
static void search_part(const struct program *program, uint32_t preemptions, uint32_t part, uint32_t parts)
{
    clock_t       from = clock();
    struct search s = {.program = program, .preemptions_max = preemptions, .part = part, .parts = parts, .runs_max = UINT64_MAX};
    search_all(&s);
    if (s.failure[0] != 0) {
        search_report(s.program, &s.schedule, s.failure);
    }
    found[part].runs = s.runs - (part > 0 ? 1 : 0);
    found[part].seconds = (double)(clock() - from) / CLOCKS_PER_SEC;
}

/* Returns how many schedules there are, and adds up the processor time. A process for each part. */
static uint64_t search_parts(const struct program *program, uint32_t preemptions, uint32_t parts, double *seconds)
{
    uint64_t runs = 0;
    bool     good = true;
    for (uint32_t part = 0; part < parts; part++) {
        pid_t child = fork();
        if (child < 0) {
            perror("schedule_all: fork");
            exit(2);
        }
        if (child == 0) {
            search_part(program, preemptions, part, parts);
            _exit(0);
        }
    }
    for (uint32_t part = 0; part < parts; part++) {
        int status = 0;
        good = wait(&status) > 0 && status == 0 && good;
    }
    if (!good) {
        exit(1);
    }
    for (uint32_t part = 0; part < parts; part++) {
        runs += found[part].runs;
        *seconds += found[part].seconds;
    }
    return runs;
}

int main(int argc, char **argv)
{
    uint64_t  runs = 0;
    double    seconds = 0;
    cpu_set_t mine;                         /* `taskset` chooses them */
    uint32_t  parts = sched_getaffinity(0, sizeof mine, &mine) == 0 ? (uint32_t)CPU_COUNT(&mine) : 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    found = mmap(NULL, parts * sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED) {
        perror("schedule_all: mmap");
        return 2;
    }
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (argc > 1 && strcmp(argv[1], all[i].name) != 0) {
            continue;
        }
        uint32_t meetings = schedule_meetings(true), more;
        for (uint32_t n = 0; n <= all[i].preemptions; n++) {
            double   took = 0;
            uint64_t one = 0;
            for (bool again = true; again; meetings = more) {
                one = search_parts(&all[i].program, n, parts, &took);
                more = schedule_meetings(false);
                again = more != meetings;
            }
            runs += one;
            seconds += took;
            if (n >= 2) {
                printf("ok schedules %s: %lu with at most %u preemptions, threads meet at %u addresses, %.1f s\n", all[i].name,
                       (unsigned long)one, n, meetings, took);
            }
        }
    }
    if (runs == 0) {
        fprintf(stderr, "schedule_all: no program %s\n", argv[1]);
        return 2;
    }
    printf("ok schedules: %lu in %.1f s of processor time, %.0f a second\n", (unsigned long)runs, seconds, (double)runs / seconds);
    return 0;
}
