/* schedule_moments: a part of schedule.c. A run that has stopped can be taken back to that stop, so that runs that begin alike share their
 * beginning.
 *
 * A moment has the stacks of the threads and the variables of this harness. Memory that the library has written goes back by the writes that
 * were noted, and the tables of schedule_races.h by their notes.
 */
#ifndef SCHEDULE_MOMENTS_H
#define SCHEDULE_MOMENTS_H

#define MOMENTS_BYTES (32UL << 20)          /* of all moments that are kept at once */

struct schedule_moment {
    uint32_t run;                           /* that it is of */
    size_t   writes, notes, bytes;          /* bytes: of its parts, which stand behind it */
};

/* Variables or a piece of a stack. What they were stands behind it. */
struct part {
    void  *at;
    size_t bytes;
} __attribute__((aligned(16)));

static char moments[MOMENTS_BYTES] __attribute__((aligned(16)));

static size_t room_for(size_t bytes)
{
    return sizeof(struct part) + (bytes + 15) / 16 * 16;
}

static void add_part(struct schedule_moment *m, void *at, size_t bytes)
{
    struct part *p = (struct part *)((char *)(m + 1) + m->bytes);
    m->bytes += room_for(bytes);
    if ((char *)(m + 1) + m->bytes > moments + MOMENTS_BYTES) {
        fprintf(stderr, "schedule: moments of more than %lu bytes\n", MOMENTS_BYTES);
        abort();
    }
    *p = (struct part){at, bytes};
    memcpy(p + 1, at, bytes);
}

/* What is noted from now on can be undone apart from what was noted before. */
static void begin_era(void)
{
    era++;
    lately_none();
}

struct schedule_moment *schedule_moment(void)
{
    struct schedule_moment   *m = (struct schedule_moment *)(moments + moments_bytes);
    struct schedule_variables own = schedule_variables();
    *m = (struct schedule_moment){.run = run, .writes = marked = write_count, .notes = note_count};
    for (uint32_t t = 0; t < threads; t++) {
        char *top = thread[t].ended && t != stopped ? stacks[t] + STACK_BYTES : fiber_top(&thread[t].fiber, stacks[t]);
        add_part(m, top, (size_t)(stacks[t] + STACK_BYTES - top));
        add_part(m, held[t], thread[t].held * sizeof held[t][0]);
    }
    add_part(m, thread, sizeof thread);
    add_part(m, clock_of, sizeof clock_of);
    add_part(m, lock_known, locks_known * sizeof lock_known[0]);
    add_part(m, &locks_known, sizeof locks_known);
    add_part(m, &off, sizeof off);
    add_part(m, &stopped, sizeof stopped);
    add_part(m, &next_switch, sizeof next_switch);
    add_part(m, &points, sizeof points);
    add_part(m, own.at, own.bytes);
    moments_bytes += sizeof *m + m->bytes;
    begin_era();
    return m;
}

bool schedule_back(const struct schedule_moment *m)
{
    if (m->run != run) {
        return false;
    }
    undo_writes(m->writes);
    undo_notes(m->notes);
    for (size_t done = 0; done < m->bytes;) {
        const struct part *p = (const struct part *)((const char *)(m + 1) + done);
        memcpy(p->at, p + 1, p->bytes);
        done += room_for(p->bytes);
    }
    schedule_ended = schedule_repeats = false;
    begin_era();
    return true;
}

void schedule_forget(struct schedule_moment *m)
{
    moments_bytes = (size_t)((char *)m - moments);
}

#endif
