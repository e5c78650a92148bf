/* schedule_meetings: a part of schedule.c. The addresses at which two threads meet, in memory that the processes of a search share. */
#ifndef SCHEDULE_MEETINGS_H
#define SCHEDULE_MEETINGS_H

#define LG_MEETINGS 12                      /* addresses */
#define LOCKS_KNOWN 64U                     /* in a run. A lock beyond them does not count as held. */

struct meeting {
    uintptr_t at;                           /* 0: none */
    uint32_t  search;                       /* that found it; 0: this one, which has yet to write so */
};

static struct {
    uint32_t       search, count;
    struct meeting meeting[1U << LG_MEETINGS];
} *meetings;                                /* NULL: every atomic access is a point */

static const void *lock_known[LOCKS_KNOWN];
static uint32_t    locks_known;             /* of this run */

/* Returns the bit that stands for a lock in this run. */
static uint64_t bit_of(const void *lock)
{
    uint32_t k = 0;
    while (k < locks_known && lock_known[k] != lock) {
        k++;
    }
    if (k == locks_known && k < LOCKS_KNOWN) {
        lock_known[locks_known++] = lock;
    }
    return k < LOCKS_KNOWN ? 1UL << k : 0;
}

uint32_t schedule_meetings(bool forget)
{
    if (meetings == NULL) {
        meetings = mmap(NULL, sizeof *meetings, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (meetings == MAP_FAILED) {
            perror("schedule: mmap");
            abort();
        }
    }
    if (forget) {
        memset(meetings, 0, sizeof *meetings);
    }
    meetings->search++;
    return meetings->count;
}

/* Returns the entry for the address, an empty one if it has none. */
static struct meeting *meeting_at(uintptr_t a)
{
    uint32_t i = place_of(a, LG_MEETINGS);
    for (uint32_t n = 0; n < 1U << LG_MEETINGS; n++, i++) {
        struct meeting *m = &meetings->meeting[i % (1U << LG_MEETINGS)];
        uintptr_t       at = __atomic_load_n(&m->at, __ATOMIC_RELAXED);
        if (at == a || at == 0) {
            return m;
        }
    }
    schedule_fail("no end: %u addresses where threads meet", 1U << LG_MEETINGS);
}

static bool threads_meet_at(uintptr_t a)
{
    const struct meeting *m = meetings == NULL ? NULL : meeting_at(a);
    return m == NULL || (m->at == a && m->search != 0 && m->search < meetings->search);
}

static void meeting_found(uintptr_t a)
{
    struct meeting *m = meeting_at(a);
    while (m->at != a) {
        uintptr_t none = 0;
        if (__atomic_compare_exchange_n(&m->at, &none, a, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            m->search = meetings->search;
            __atomic_fetch_add(&meetings->count, 1, __ATOMIC_RELAXED);
        }
        m = meeting_at(a);
    }
}

/* This thread uses the address of the cell atomically. */
static void meet(struct cell *c)
{
    if (meetings != NULL) {
        c->locks = c->users == 0 ? thread[now].locks : c->locks & thread[now].locks;
        c->users |= (uint8_t)(1U << now);
        (c->users & (c->users - 1)) != 0 && c->write_clock != 0 && c->locks == 0 ? meeting_found(c->at) : (void)0;
    }
}

#endif
