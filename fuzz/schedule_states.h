/* schedule_states: a part of schedule.c. In a search of all schedules, memory that is as it was at an earlier check need not be checked again.
 * An engine that goes by what an input reaches has each run check all.
 *
 * Memory is told by the words that were written since the run began, since each run of a program begins with the same one. Two states
 * have one number of 64 bits with a probability of 2^-64.
 */
#ifndef SCHEDULE_STATES_H
#define SCHEDULE_STATES_H

#define LG_STATES 17                        /* that are remembered. A later one takes the place of an earlier one. */
#define LG_WORDS 14                         /* A run that has written half as many has all its states checked. */

static size_t   began;                      /* with so many writes */
static uint64_t states[1U << LG_STATES];

/* A word that the run has written, and its part of the number. */
static struct word {
    const uint64_t *at;
    uint64_t        was, part;              /* was: at the beginning */
    uint32_t        stamp;
} words[1U << LG_WORDS];
static uint32_t word_stamp, word_count;
static size_t   summed;                     /* so many writes are */
static uint64_t sum;                        /* of all parts */

static uint64_t mixed(uint64_t a, uint64_t b)
{
    uint64_t h = a * 0x9E3779B97F4A7C15UL + (b ^ b >> 29) * 0xBF58476D1CE4E5B9UL;
    h = (h ^ h >> 32) * 0x94D049BB133111EBUL;
    return h ^ h >> 31;
}

static struct word *word_of(const struct write *w)
{
    uint32_t i = (uint32_t)(((uintptr_t)w->at >> 3) * 0x9E3779B97F4A7C15UL >> (64 - LG_WORDS));
    while (words[i].stamp == word_stamp && words[i].at != w->at) {
        i = (i + 1) % (1U << LG_WORDS);
    }
    if (words[i].stamp != word_stamp) {
        words[i] = (struct word){.at = w->at, .was = w->was, .stamp = word_stamp};
        word_count++;
    }
    return &words[i];
}

static void sum_none(void)
{
    summed = began;
    sum = word_count = 0;
    word_stamp++;
}

/* Gives the word of a write its part of the sum by what stands there now. */
static void sum_one(const struct write *write)
{
    struct word   *w = word_of(write);
    const uint64_t part = *w->at == w->was ? 0 : mixed((uintptr_t)w->at, *w->at);
    sum += part - w->part;
    w->part = part;
}

/* Adds the writes since the last sum. */
static bool sum_up(void)
{
    for (; summed < write_count && word_count < 1U << (LG_WORDS - 1); summed++) {
        sum_one(&writes[summed]);
    }
    marked = write_count;
    return summed == write_count;
}

bool schedule_checked(uint32_t place)
{
    if (meetings == NULL || off.unwatched || !sum_up()) {
        return false;
    }
    uint64_t h = sum + mixed(beginning, place * (SCHEDULE_THREADS + 1) + now) + schedule_model();
    for (uint32_t t = 0; t < threads; t++) {
        h += mixed(t, (uintptr_t)(t == now ? thread_cache : thread[t].cache));
    }
    uint64_t *state = &states[h % (1U << LG_STATES)];
    bool      is = *state == h;
    *state = h;
    return is;
}

/* Runs begin with memory as it is. */
static void states_begin(void)
{
    beginning += began != write_count ? 1 : 0;
    began = write_count;
    sum_none();
}

/* Of the writes that have been summed up, those that are no longer among the writes have been undone. */
static void states_undone(void)
{
    if (write_count < began) {
        beginning++;
        began = write_count;
        sum_none();
    }
    for (; summed > write_count; summed--) {
        sum_one(&writes[summed - 1]);
    }
}

#endif
