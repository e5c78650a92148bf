/* schedule_races: a part of schedule.c. Who accessed which address last, and what each thread knows of the others (vector clocks).
 *
 * Two accesses conflict if one of them is a write and not both are atomic. They race unless the first one happens before the second.
 */
#ifndef SCHEDULE_RACES_H
#define SCHEDULE_RACES_H

#define LG_CELLS 16                         /* addresses that a run reads or writes */
#define LG_RELEASED 12                      /* those that it releases or acquires */

/* Who accessed an address last, plainly or atomically. One cache line. */
struct cell {
    uintptr_t at;
    uint32_t  run, write_clock, read_clock[SCHEDULE_THREADS];
    uint32_t  write_pc, read_pc[SCHEDULE_THREADS];      /* the program is linked below 4 GiB */
    uint8_t   writer, atomic;                           /* a bit for each thread that read atomically, WRITE_ATOMIC */
    uint8_t   users;                                    /* a bit for each thread that used it atomically, */
    uint64_t  locks;                                    /* and one for each lock that all of them held */
} __attribute__((aligned(64)));

#define WRITE_ATOMIC 128U

/* What an acquire of an address learns. */
struct released {
    uintptr_t             at;
    uint32_t              run;
    struct schedule_clock clock;
};

static struct cell  cells[1U << LG_CELLS];
static struct released  releases_at[1U << LG_RELEASED];

/* Where the entry for an address is, or would be, in a table of 2^lg entries. Neighbours lie side by side. */
static uint32_t place_of(uintptr_t a, uint32_t lg)
{
    return (uint32_t)((a >> 6) * 0x9E3779B97F4A7C15UL >> (70 - lg)) << 6 | (a & 63);
}

static struct cell *cell_of(uintptr_t a)
{
    uint32_t i = place_of(a, LG_CELLS);
    for (uint32_t n = 0; n < 1U << LG_CELLS; n++, i++) {
        struct cell *c = &cells[i % (1U << LG_CELLS)];
        if (c->run != run) {
            *c = (struct cell){.at = a, .run = run};
            return c;
        }
        if (c->at == a) {
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
        if (r->run != run) {
            *r = (struct released){.at = a, .run = run};
        }
        if (r->at == a) {
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

static void access_to(uintptr_t a, bool write, bool atomic, const void *pc)
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
}

void schedule_receive(const struct schedule_clock *c)
{
    learn(c);
}

#endif
