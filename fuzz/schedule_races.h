/* schedule_races: a part of schedule.c. Who accessed which address last, and what each thread knows of the others (vector clocks).
 *
 * Two accesses conflict if one of them is a write and not both are atomic. They race unless the first one happens before the second.
 *
 * Most lines of 64 bytes have no race and no atomic access. For each of them there is a summary of what each thread did there: when it was
 * last, and whether it wrote. Where summaries conflict, or an access is atomic, nothing is known of the single addresses. So from then on each
 * address of that line has a cell of its own, and the run is made again.
 */
#ifndef SCHEDULE_RACES_H
#define SCHEDULE_RACES_H

#define LG_CELLS 14                         /* addresses that a run reads or writes, */
#define LG_LINES 13                         /* lines of 64 bytes that they lie in, */
#define LG_FINE (LG_LINES + 1)              /* and those whose addresses have cells */
#define LG_RELEASED 12                      /* those that it releases or acquires */

/* Who accessed an address last, plainly or atomically. One cache line. */
struct cell {
    uintptr_t at;
    uint32_t  era, write_clock, read_clock[SCHEDULE_THREADS];
    uint32_t  write_pc, read_pc[SCHEDULE_THREADS];      /* the program is linked below 4 GiB */
    uint8_t   writer, atomic;                           /* a bit for each thread that read atomically, WRITE_ATOMIC */
    uint8_t   users;                                    /* a bit for each thread that used it atomically, */
    uint64_t  locks;                                    /* and one for each lock that all of them held */
} __attribute__((aligned(64)));

#define WRITE_ATOMIC 128U

/* What threads did in a line, plainly. */
struct line {
    uintptr_t at;                                       /* address / 64 */
    uint32_t  era, clock[SCHEDULE_THREADS];             /* of each thread's last access */
    uint8_t   last;                                     /* the thread that used it last; */
    bool      may_write;                                /* no access of another thread conflicts with a write of its own either */
    uint8_t   wrote;                                    /* a bit for each thread */
    bool      fine;                                     /* addresses have cells */
};

/* What an acquire of an address learns. */
struct released {
    uintptr_t             at;
    uint32_t              era;
    struct schedule_clock clock;
};

static struct cell     cells[1U << LG_CELLS];
static struct line     lines[1U << LG_LINES];
static struct released releases_at[1U << LG_RELEASED];
static uintptr_t       fine_lines[1U << LG_FINE];       /* 0: none */
static uint32_t        fine_count;

/* What entries of the tables were before the first change in an era, as long as moments are kept (schedule_moments.h). */
#define NOTES_MAX (1U << 18)

static struct note {
    void  *at;
    size_t bytes;
    char   was[sizeof(struct cell)];        /* no entry is longer */
}             notes[NOTES_MAX];
static size_t note_count;

static void note_entry(void *at, size_t bytes)
{
    if (moments_bytes == 0) {
        return;
    }
    if (note_count == NOTES_MAX) {
        schedule_fail("no end: %u entries change", NOTES_MAX);
    }
    struct note *n = &notes[note_count++];
    n->at = at;
    n->bytes = bytes;
    memcpy(n->was, at, bytes);
}

/* An entry of this run, or one that becomes so, is about to change. Returns whether it was none of this run. */
static bool enter_era(void *entry, uint32_t *of, size_t bytes)
{
    bool unused = *of < run;
    *of != era ? note_entry(entry, bytes) : (void)0;
    *of = era;
    return unused;
}

static void undo_notes(size_t left)
{
    for (; note_count > left; note_count--) {
        memcpy(notes[note_count - 1].at, notes[note_count - 1].was, notes[note_count - 1].bytes);
    }
}

static void races_none(void)
{
    memset(cells, 0, sizeof cells);
    memset(lines, 0, sizeof lines);
    memset(releases_at, 0, sizeof releases_at);
}

/* Where the entry for an address is, or would be, in a table of 2^lg entries. The eight words of a line lie side by side, and the single bytes
 * of each of them elsewhere, so that the entries in use lie close together. */
static uint32_t place_of(uintptr_t a, uint32_t lg)
{
    return (uint32_t)((a >> 6 << 3 | (a & 7)) * 0x9E3779B97F4A7C15UL >> (67 - lg)) << 3 | (a >> 3 & 7);
}

static struct cell *cell_of(uintptr_t a)
{
    uint32_t i = place_of(a, LG_CELLS);
    for (uint32_t n = 0; n < 1U << LG_CELLS; n++, i++) {
        struct cell *c = &cells[i % (1U << LG_CELLS)];
        if (c->era < run || c->at == a) {
            if (enter_era(c, &c->era, sizeof *c)) {
                *c = (struct cell){.at = a, .era = era};
            }
            return c;
        }
    }
    schedule_fail("no end: %u addresses", 1U << LG_CELLS);
}

static struct schedule_clock *released_of(uintptr_t a)
{
    uint32_t i = place_of(a, LG_RELEASED);
    for (uint32_t n = 0; n < 1U << LG_RELEASED; n++, i++) {
        struct released *r = &releases_at[i % (1U << LG_RELEASED)];
        if (r->era < run || r->at == a) {
            if (enter_era(r, &r->era, sizeof *r)) {
                *r = (struct released){.at = a, .era = era};
            }
            return &r->clock;
        }
    }
    schedule_fail("no end: %u atomic variables", 1U << LG_RELEASED);
}

static void race(uintptr_t a, uint32_t other, const char *what, uint32_t pc, const char *is, const void *here)
{
    if (!schedule_expects(a)) {
        schedule_fail("race on %p: thread %u %s at %#x, thread %u %s at %p", (void *)a, other, what, pc, now, is, here);
    }
}

static bool before(uint32_t t, uint32_t when)
{
    return t == now || when <= clock_of[now].of[t];
}

static struct cell *access_to(uintptr_t a, bool write, bool atomic, const void *pc)
{
    struct cell *c = cell_of(a);
    const char  *is = write ? atomic ? "writes (atomic)" : "writes" : atomic ? "reads (atomic)" : "reads";
    if (c->write_clock != 0 && !before(c->writer, c->write_clock) && !(atomic && (c->atomic & WRITE_ATOMIC) != 0)) {
        race(a, c->writer, (c->atomic & WRITE_ATOMIC) != 0 ? "wrote (atomic)" : "wrote", c->write_pc, is, pc);
    }
    for (uint32_t t = 0; write && t < threads; t++) {
        if (!before(t, c->read_clock[t]) && !(atomic && (c->atomic >> t & 1) != 0)) {
            race(a, t, (c->atomic >> t & 1) != 0 ? "read (atomic)" : "read", c->read_pc[t], is, pc);
        }
    }
    uint32_t bit = write ? WRITE_ATOMIC : 1U << now;
    c->atomic = (uint8_t)(atomic ? c->atomic | bit : c->atomic & ~bit);
    if (write) {
        c->writer = (uint8_t)now;
        c->write_clock = clock_of[now].of[now];
        c->write_pc = (uint32_t)(uintptr_t)pc;
    } else {
        c->read_clock[now] = clock_of[now].of[now];
        c->read_pc[now] = (uint32_t)(uintptr_t)pc;
    }
    return c;
}

static uintptr_t *fine_place(uintptr_t at)
{
    uint32_t i = place_of(at << 3, LG_FINE);
    while (fine_lines[i % (1U << LG_FINE)] != 0 && fine_lines[i % (1U << LG_FINE)] != at) {
        i++;
    }
    return &fine_lines[i % (1U << LG_FINE)];
}

/* The addresses of this line have cells from now on. again: it was used before in this run, which therefore has to be made again. */
static void line_refine(struct line *l, bool again)
{
    uintptr_t *place = fine_place(l->at);
    fine_count += *place == 0 ? 1 : 0;
    *place = l->at;
    if (fine_count == 1U << (LG_FINE - 1)) {
        memset(fine_lines, fine_count = 0, sizeof fine_lines);          /* half full: they are found again */
    }
    schedule_repeats = schedule_repeats || again;
    l->fine = l->fine || !again;
}

static struct line *line_of(uintptr_t at)
{
    uint32_t i = place_of(at << 3, LG_LINES);
    for (uint32_t n = 0; n < 1U << LG_LINES; n++, i++) {
        struct line *l = &lines[i % (1U << LG_LINES)];
        if (l->era < run || l->at == at) {
            if (enter_era(l, &l->era, sizeof *l)) {
                *l = (struct line){.at = at, .era = era, .last = NOBODY, .fine = *fine_place(at) != 0};
            }
            return l;
        }
    }
    schedule_fail("no end: %u lines", 1U << LG_LINES);
}

/* Notes an access. Returns whether the line has no cells. */
static bool line_access(struct line *l, bool write)
{
    for (uint32_t t = 0; !l->fine && l->last != NOBODY && t < threads; t++) {
        if ((write || (l->wrote >> t & 1) != 0) && !before(t, l->clock[t])) {
            line_refine(l, true);
        }
    }
    l->may_write = write || (l->may_write && l->last == now);
    l->last = (uint8_t)now;
    l->clock[now] = clock_of[now].of[now];
    l->wrote |= (uint8_t)((uint32_t)write << now);
    return !l->fine;
}

/* The lines that this thread has read and written last, if they have no cells. What was noted of them then still holds. */
static uintptr_t lately[2];

static void lately_none(void)
{
    lately[false] = lately[true] = 0;
}

/* line_access for nearly all accesses: this thread was the last one to use the line, and its entry stands in its first place. Returns false
 * where it has noted nothing. */
static inline bool line_access_again(uintptr_t at, bool write)
{
    struct line *l = &lines[place_of(at << 3, LG_LINES)];
    if (l->era != era || l->at != at || l->last != now || l->fine || (write && !l->may_write)) {
        return false;
    }
    l->clock[now] = clock_of[now].of[now];
    l->wrote |= (uint8_t)((uint32_t)write << now);
    lately[write] = at;
    return true;
}

static void plain_access_to(uintptr_t a, bool write, const void *pc)
{
    line_access(line_of(a >> 6), write) ? (void)0 : (void)access_to(a, write, false, pc);
}

static struct cell *atomic_access_to(uintptr_t a, bool write, const void *pc)
{
    struct line *l = line_of(a >> 6);
    l->fine ? (void)0 : line_refine(l, l->last != NOBODY);
    return access_to(a, write, true, pc);
}

static void learn(const struct schedule_clock *c)
{
    for (uint32_t t = 0; t < threads; t++) {
        clock_of[now].of[t] = c->of[t] > clock_of[now].of[t] ? c->of[t] : clock_of[now].of[t];
    }
}

void schedule_send(struct schedule_clock *c)
{
    *c = clock_of[now];
    clock_of[now].of[now]++;
    lately_none();
}

void schedule_receive(const struct schedule_clock *c)
{
    learn(c);
}

#endif
