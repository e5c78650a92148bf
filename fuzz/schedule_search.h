/* schedule_search: all schedules of a program with few preemptions, and the smallest program and schedule that fail.
 *
 * A preemption is a switch at a point where the thread could go on. Where it cannot, somebody else has to go on, and who that is costs
 * nothing.
 */
#ifndef SCHEDULE_SEARCH_H
#define SCHEDULE_SEARCH_H

#include "schedule_world.h"

#define SEARCH_RUNS 2000U                    /* for one try to make a failing program smaller; */
#define SEARCH_RUNS_ALL 60000U               /* and for all of them */

struct search {
    const struct program *program;
    uint32_t              preemptions_max;
    uint32_t              part, parts;      /* parts searches that run beside each other share the first switches; 0: this one has all */
    uint64_t              runs_max, runs;
    struct schedule       schedule;         /* of the last run, the one that failed if any has */
    char                  failure[512];
};

/* The run as it is at a point, by the schedule from the beginning. */
static void search_again(struct search *s, struct schedule_moment **m, uint32_t point)
{
    schedule_forget(*m);
    begin_program(s->program, &s->schedule, point);
    *m = schedule_moment();
}

/* Goes on from a point with thread `to`, until it may have to be another one. */
static void search_go(struct search *s, struct schedule_moment **m, uint32_t point, uint32_t to, uint32_t preemptions)
{
    schedule_go(to, preemptions == s->preemptions_max);
    while (schedule_repeats) {
        search_again(s, m, point);
        schedule_go(to, preemptions == s->preemptions_max);
    }
}

/* Ends the run, and makes all others that go on from here with as many further preemptions as are left. Returns false at a failure, or when
 * runs_max is reached. Each of several parts makes the run without switches. */
static bool search_from(struct search *s, uint32_t preemptions)
{
    struct schedule_moment *m = NULL;
    bool                    good = true, shared = s->schedule.count == 0 && s->parts != 0;
    uint32_t                branch = 0;
    if (s->schedule.count == SCHEDULE_SWITCHES_MAX) {
        abort();
    }
    while (good && !schedule_ended) {
        const struct schedule_point here = schedule_stop;
        uint32_t                    then = preemptions + (here.forced ? 0 : 1);
        m != NULL ? schedule_forget(m) : (void)0;
        m = schedule_moment();
        for (uint32_t t = 0; good && t < s->program->threads && then <= s->preemptions_max; t++) {
            if (t != here.next && (here.ready >> t & 1) != 0 && (!shared || branch++ % s->parts == s->part)) {
                s->schedule.at[s->schedule.count++] = (struct schedule_switch){here.number, t};
                search_go(s, &m, here.number, t, then);
                good = search_from(s, then);
                s->schedule.count -= good ? 1 : 0;
                good && !schedule_back(m) ? search_again(s, &m, here.number) : (void)0;
            }
        }
        good ? search_go(s, &m, here.number, here.next, preemptions) : (void)0;
    }
    m != NULL ? schedule_forget(m) : (void)0;
    if (good && schedule_failure() != NULL) {
        (void)snprintf(s->failure, sizeof s->failure, "%s", schedule_failure());
    }
    s->runs += good ? 1 : 0;
    schedule_count += good ? 1 : 0;
    return good && s->failure[0] == 0 && s->runs != s->runs_max;
}

/* Makes all runs of the program with few preemptions, those of this part of the search. */
static void search_all(struct search *s)
{
    begin_program(s->program, &s->schedule, 0);
    search_from(s, 0);
}

/* Looks for a failure with few preemptions, as few as there can be. */
static bool search_fails(struct search *s, const struct program *p, uint32_t most, uint64_t runs_max)
{
    for (uint32_t n = 0; n <= most; n++) {
        *s = (struct search){.program = p, .preemptions_max = n, .runs_max = runs_max};
        search_all(s);
        if (s->failure[0] != 0) {
            return true;
        }
    }
    return false;
}

/* Takes calls out of a program that fails, as long as it fails. */
static void search_less(struct program *p, uint32_t most)
{
    struct search s;
    uint64_t      until = schedule_count + SEARCH_RUNS_ALL;
    for (bool again = true; again && schedule_count < until;) {
        again = false;
        for (uint32_t t = 0; t < p->threads; t++) {
            for (uint32_t i = p->count[t]; i-- > 0 && schedule_count < until;) {
                struct program less = *p;
                memmove(&less.step[t][i], &less.step[t][i + 1], (less.count[t] - i - 1) * sizeof(struct step));
                less.count[t]--;
                if (search_fails(&s, &less, most, SEARCH_RUNS)) {
                    *p = less;
                    again = true;
                }
            }
        }
    }
}

/* The addresses in a failure as functions and lines, as far as the tool is there. */
static void search_places(const char *failure)
{
    char command[256];
    for (const char *at = strstr(failure, " at 0x"); at != NULL; at = strstr(at + 1, " at 0x")) {
        unsigned long pc = strtoul(at + 4, NULL, 16);
        (void)snprintf(command, sizeof command, "addr2line -sfipe /proc/%d/exe %#lx >&2 2>/dev/null", getpid(), pc - 1);
        fprintf(stderr, "  %#lx: ", pc);
        fflush(stderr);
        system(command) != 0 ? (void)fprintf(stderr, "\n") : (void)0;
    }
}

/* Runs the program again and prints its calls and switches. Returns what failed. */
static const char *search_print(const struct program *p, const struct schedule *schedule)
{
    static const char *const kinds[] = {"has a cache", "has none yet", "has none any more"};
    printf("%u threads, %u arenas%s\n", p->threads, p->arenas, p->cold ? ", before boot" : p->filled ? ", each p[i] has 14336 bytes" : "");
    for (uint32_t t = 0; !p->cold && t < p->threads; t++) {
        printf("thread %u %s\n", t, kinds[p->kind[t]]);
    }
    schedule_print = true;
    const char *failure = run_program(p, schedule);
    schedule_print = false;
    fflush(stdout);
    return failure;
}

/* Prints the calls and the switches of a program that fails, made as small as it can be, and ends the process. */
static _Noreturn void search_report(const struct program *found, const struct schedule *schedule, const char *failure)
{
    struct program  p = *found;
    struct search   s;
    struct schedule how = *schedule;
    fprintf(stderr, "schedule: %s\n", failure);
    search_print(&p, &how);
    for (uint32_t most = 0; most <= 2; most++) {
        if (search_fails(&s, &p, most, SEARCH_RUNS)) {
            search_less(&p, most);
            if (search_fails(&s, &p, most, SEARCH_RUNS)) {
                how = s.schedule;
            }
            break;
        }
    }
    failure = search_print(&p, &how);
    fprintf(stderr, "schedule: smallest: %s\n", failure == NULL ? "nothing" : failure);
    failure == NULL ? (void)0 : search_places(failure);
    abort();
}

#endif
