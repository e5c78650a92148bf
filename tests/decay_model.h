/* decay_model: computes decay slowly, as its definition says it. It has cohorts of pages with an age, passes one epoch
 * at a time, and takes the curve from the polynomial over 128-bit integers. Every call is compared with decay.c. A
 * difference prints the call and aborts. */
#ifndef QED_TESTS_DECAY_MODEL_H
#define QED_TESTS_DECAY_MODEL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pages/decay.h"

typedef unsigned __int128 u128;

struct decay_model {
    int64_t  ms;
    u128     epoch;                             /* milliseconds * NSTEPS */
    uint64_t cohort[SMOOTHSTEP_NSTEPS];         /* by age in epochs */
    uint64_t limit;
};

static struct decay_model decay_model[DECAY_COUNT];
static uint64_t           decay_model_checks;

static void decay_model_expect(int ok, const char *what, uint32_t which, uint64_t a, uint64_t b)
{
    decay_model_checks++;
    if (!ok) {
        printf("FAIL decay %u: %s: %lu, expected %lu\n", which, what, a, b);
        fflush(stdout);
        abort();
    }
}

static void decay_model_boot(void)
{
    memset(decay_epoch, 0, sizeof decay_epoch);
    memset(decay_limit, 0, sizeof decay_limit);
    memset(decay_backlog, 0, sizeof decay_backlog);
    decay_boot(-1, -1);
    for (uint32_t w = 0; w < DECAY_COUNT; w++) {
        decay_model[w] = (struct decay_model){.ms = -1};
    }
}

static void decay_model_set(uint32_t which, int64_t ms)
{
    decay_set(which, ms);
    decay_model[which] = (struct decay_model){.ms = ms};
}

static u128 decay_model_curve(uint64_t age)     /* of 2^24 */
{
    const u128 n = SMOOTHSTEP_NSTEPS;
    u128       x = n - age;
    return ((6 * x * x * x * x * x + 10 * n * n * x * x * x - 15 * n * x * x * x * x) << 24) / (n * n * n * n * n);
}

/* The model's answer. */
static uint64_t decay_model_answer(struct decay_model *m, uint64_t now_ms, uint64_t npages)
{
    u128 now = (u128)(now_ms < DECAY_TIME_MS_MAX ? now_ms : DECAY_TIME_MS_MAX) * SMOOTHSTEP_NSTEPS;
    if (m->ms < 0) {
        return npages;
    }
    if (m->ms == 0) {
        return 0;
    }
    if (now < m->epoch) {
        m->epoch = now;
    }
    const uint64_t interval = (uint64_t)m->ms;
    uint64_t       epochs = 0;
    while (m->epoch + interval <= now) {
        epochs++;
        if (epochs > SMOOTHSTEP_NSTEPS) {       /* nothing is left to age: skip to the end */
            m->epoch = now - (now - m->epoch) % interval;
            break;
        }
        m->epoch += interval;
        for (uint32_t age = SMOOTHSTEP_NSTEPS - 1; age > 0; age--) {
            m->cohort[age] = m->cohort[age - 1];
        }
        m->cohort[0] = 0;
    }
    if (epochs == 0) {
        return npages;
    }
    m->cohort[0] = npages > m->limit ? npages - m->limit : 0;
    u128 weight = 0;
    for (uint32_t age = 0; age < SMOOTHSTEP_NSTEPS; age++) {
        weight += m->cohort[age] * decay_model_curve(age);
    }
    m->limit = (uint64_t)(weight >> 24);
    return m->limit < npages ? m->limit : npages;
}

static uint64_t decay_model_advance(uint32_t which, uint64_t now_ms, uint64_t npages)
{
    struct decay_model *m = &decay_model[which];
    uint64_t            before = m->limit;
    uint64_t            expected = decay_model_answer(m, now_ms, npages);
    uint64_t            got = decay_advance(which, now_ms, npages);
    decay_model_expect(got == expected, "answer", which, got, expected);
    decay_model_expect(got <= npages, "more than there are", which, got, npages);
    decay_model_expect(npages > before || m->limit <= before, "limit rose without new pages", which, m->limit, before);
    return got;
}

/* All state that the other calls must not have touched. */
static void decay_model_compare(void)
{
    for (uint32_t w = 0; w < DECAY_COUNT; w++) {
        const struct decay_model *m = &decay_model[w];
        decay_model_expect(decay_ms[w] == m->ms, "ms", w, (uint64_t)decay_ms[w], (uint64_t)m->ms);
        decay_model_expect(decay_epoch[w] == m->epoch, "epoch", w, decay_epoch[w], (uint64_t)m->epoch);
        decay_model_expect(decay_limit[w] == m->limit, "limit", w, decay_limit[w], m->limit);
        for (uint32_t age = 0; age < SMOOTHSTEP_NSTEPS; age++) {
            uint64_t got = decay_backlog[w].npages[SMOOTHSTEP_NSTEPS - 1 - age];
            decay_model_expect(got == m->cohort[age], "backlog", w, got, m->cohort[age]);
        }
    }
}

#endif
