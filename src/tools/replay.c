/* qed-replay: a recorded trace on any malloc, as a check, as a measurement, as text, as a seed for the fuzzer. */
#include <dlfcn.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "play.h"
#include "seed.h"
#include "sizes.h"

#define WINDOW 1000U
#define SAMPLES 200U            /* at least so many of a pass that has as many calls, less than twice as many */
#define CHOSEN "QED_REPLAY_MALLOC"

static const char usage[] =
    "usage: qed-replay [--malloc LIBRARY.so] [OPTION]... TRACE     calls again what a program called; then figures, one a line\n"
    "  --malloc LIBRARY.so  on this malloc (by LD_PRELOAD), instead of the one that is there\n"
    "  --check              contents, alignment, overlap, zeroing of every block; the first fault ends it\n"
    "  --single             one thread, in recorded order (default: a thread for each recorded one)\n"
    "  --window N           no thread runs more than N calls ahead of the slowest (default 1000)\n"
    "  --repeat N           N passes in one process; all blocks are freed between two\n"
    "  --csv FILE           also live and resident bytes over the trace; slows the run\n"
    "  --to-text            the calls as text instead; THREAD bBLOCK = CALL\n"
    "  --sizes              the blocks by size instead: how many, and how many at the peak\n"
    "  --to-fuzz FILE       an input of fuzz/malloc_fuzz.c instead\n"
    "  --calls N            only the first N calls\n";

struct options {
    const char *library, *csv, *fuzz, *trace;
    bool        check, single, text, sizes;
    uint32_t    window, repeat, calls;
};

static uint32_t number(const char *text)
{
    char         *end;
    unsigned long x = strtoul(text, &end, 10);
    if (*end != 0 || x == 0 || x > UINT32_MAX) {
        die("not a number from 1 to %u: %s", UINT32_MAX, text);
    }
    return (uint32_t)x;
}

static struct options read_options(int argc, char **argv)
{
    static const struct option known[] = {
        {"malloc", required_argument, NULL, 'm'},  {"check", no_argument, NULL, 'c'},      {"single", no_argument, NULL, 's'},
        {"window", required_argument, NULL, 'w'},  {"repeat", required_argument, NULL, 'r'}, {"csv", required_argument, NULL, 'v'},
        {"to-text", no_argument, NULL, 't'},       {"to-fuzz", required_argument, NULL, 'f'}, {"calls", required_argument, NULL, 'n'},
        {"sizes", no_argument, NULL, 'z'},         {"help", no_argument, NULL, 'h'},      {NULL, 0, NULL, 0}};
    struct options o = {.window = WINDOW, .repeat = 1, .calls = UINT32_MAX};
    for (int k; (k = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (k) {
        case 'm': o.library = optarg; break;
        case 'c': o.check = true; break;
        case 's': o.single = true; break;
        case 'w': o.window = number(optarg); break;
        case 'r': o.repeat = number(optarg); break;
        case 'v': o.csv = optarg; break;
        case 't': o.text = true; break;
        case 'z': o.sizes = true; break;
        case 'f': o.fuzz = optarg; break;
        case 'n': o.calls = number(optarg); break;
        case 'h': fputs(usage, stdout); exit(0);
        default: fputs(usage, stderr); exit(2);
        }
    }
    if (optind + 1 != argc) {
        fputs(usage, stderr);
        exit(2);
    }
    o.trace = argv[optind];
    return o;
}

/* Executes this program again with the library preloaded. The second time it makes sure that the library is there. */
static void choose(const char *library, char **argv)
{
    struct stat wanted, found;
    Dl_info     info;
    if (stat(library, &wanted) != 0) {
        die("%s: no such library", library);
    }
    if (getenv(CHOSEN) == NULL || strcmp(getenv(CHOSEN), library) != 0) {
        setenv(CHOSEN, library, 1);
        setenv("LD_PRELOAD", library, 1);
        execv("/proc/self/exe", argv);
        die("cannot execute itself again");
    }
    unsetenv(CHOSEN);
    void *in_use = dlsym(RTLD_DEFAULT, "malloc");
    if (dladdr(in_use, &info) == 0 || stat(info.dli_fname, &found) != 0 || found.st_ino != wanted.st_ino || found.st_dev != wanted.st_dev) {
        die("%s: not in use: malloc is that of %s", library, info.dli_fname);
    }
}

static void keep_first(struct trace *t, uint32_t calls)
{
    if (calls >= t->call_count) {
        return;
    }
    t->call_count = calls;
    for (uint32_t i = 0; i < calls; i++) {
        t->call[i].next = t->call[i].next >= calls ? CALL_NONE : t->call[i].next;
    }
    while (t->start_count > 0 && t->first[t->start[t->start_count - 1]] >= calls) {
        t->first[t->start[--t->start_count]] = CALL_NONE;
    }
}

/* ---- measuring --------------------------------------------------------------------------------------------------- */

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Makes the kernel forget the peak so far, which was that of loading the trace. */
static void peak_reset(void)
{
    int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, "5", 1) != 1) {
        die("/proc/self/clear_refs: peak memory cannot be measured");
    }
    close(file);
}

static uint64_t peak_bytes(void)
{
    char     line[256];
    uint64_t peak = 0;
    FILE    *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        strncmp(line, "VmHWM:", 6) == 0 ? (void)(peak = strtoull(line + 6, NULL, 10) * 1024) : (void)0;
    }
    status != NULL ? fclose(status) : 0;
    return peak;
}

static uint64_t page_faults(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (uint64_t)r.ru_minflt + (uint64_t)r.ru_majflt;
}

static uint64_t above(uint64_t bytes, uint64_t base)
{
    return bytes > base ? bytes - base : 0;
}

static void write_csv(const char *path, const struct play *p, const struct play_sample *samples, uint32_t passes, uint64_t base)
{
    FILE    *csv = fopen(path, "w");
    uint32_t each = play_samples(p);
    if (csv == NULL) {
        die("%s: cannot be written", path);
    }
    fprintf(csv, "call,live_bytes,resident_bytes\n");
    for (uint64_t i = 0; i < (uint64_t)each * passes; i++) {
        uint64_t call = i / each * p->trace->call_count + (i % each << p->sample_lg);
        fprintf(csv, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", call, samples[i].live, above(samples[i].resident, base));
    }
    if (fclose(csv) != 0) {
        die("%s: cannot be written", path);
    }
}

static void measure(const struct trace *t, const struct options *o)
{
    struct play p = {.trace = t, .check = o->check, .single = o->single, .window = o->window};
    while (t->call_count >> p.sample_lg > 2 * SAMPLES) {
        p.sample_lg++;
    }
    uint64_t            room = (uint64_t)o->repeat * play_samples(&p) + 1;
    struct play_sample *samples = o->csv == NULL ? NULL : os_array(room, sizeof *samples);
    samples != NULL ? (void)memset(samples, 0, room * sizeof *samples) : (void)0;
    p.sample = samples;
    play_begin(&p);
    peak_reset();
    uint64_t base = resident_bytes(), faults = page_faults(), end_bytes = 0;
    double   wall = 0, cpu = 0;
    for (uint32_t pass = 0; pass < o->repeat; pass++) {
        double wall0 = seconds(CLOCK_MONOTONIC), cpu0 = seconds(CLOCK_PROCESS_CPUTIME_ID);
        play_pass();
        wall += seconds(CLOCK_MONOTONIC) - wall0;
        cpu += seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu0;
        end_bytes = resident_bytes();
        faults = pass + 1 < o->repeat ? faults : page_faults() - faults;
        play_free_rest();
    }
    uint64_t peak = peak_bytes();
    samples != NULL ? write_csv(o->csv, &p, samples, o->repeat, base) : (void)0;
    printf("program              %s\n", t->header.program);
    printf("calls                %" PRIu32 "\n", t->call_count);
    printf("blocks               %" PRIu32 "\n", t->block_count);
    printf("threads              %" PRIu32 "\n", t->start_count);
    printf("recorded_seconds     %.3f\n", t->duration_ms * 1e-3);
    printf("frees_unknown        %" PRIu32 "\n", t->unknown);
    printf("frees_unseen         %" PRIu32 "\n", t->unseen);
    printf("passes               %" PRIu32 "\n", o->repeat);
    printf("seconds              %.6f\n", wall);
    printf("cpu_seconds          %.6f\n", cpu);
    printf("ns_per_call          %.1f\n", wall * 1e9 / ((double)t->call_count * o->repeat));
    printf("live_peak_bytes      %" PRIu64 "\n", t->live_peak);
    printf("resident_peak_bytes  %" PRIu64 "\n", above(peak, base));
    printf("resident_end_bytes   %" PRIu64 "\n", above(end_bytes, base));
    printf("page_faults          %" PRIu64 "\n", faults);
    o->check ? printf("check                passed\n") : 0;
}

int main(int argc, char **argv)
{
    static struct trace t;
    struct options      o = read_options(argc, argv);
    o.library != NULL ? choose(o.library, argv) : (void)0;
    trace_load(&t, o.trace);
    keep_first(&t, o.calls);
    if (t.call_count == 0) {
        die("%s: no calls", o.trace);
    }
    if (o.text) {
        trace_print(&t, stdout);
    } else if (o.sizes) {
        sizes_print(&t, stdout);
    } else if (o.fuzz != NULL) {
        printf("%" PRIu32 " of %" PRIu32 " calls\n", seed_write(&t, o.calls, o.fuzz), t.call_count);
    } else {
        measure(&t, &o);
    }
    return 0;
}
