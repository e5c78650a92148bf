/* decay: epochs, backlog and limit. */
#include "pages/decay.h"

#define NSTEPS SMOOTHSTEP_NSTEPS
#define TIME_MS_MAX (UINT64_MAX / NSTEPS)

int64_t  decay_ms[DECAY_COUNT];
uint64_t decay_epoch[DECAY_COUNT];
uint64_t decay_limit[DECAY_COUNT];
uint64_t decay_backlog[DECAY_COUNT][NSTEPS];

void decay_set(uint32_t which, int64_t ms)
{
    decay_ms[which] = ms;
    decay_epoch[which] = 0;
    decay_limit[which] = 0;
    for (uint32_t i = 0; i < NSTEPS; i++) {
        decay_backlog[which][i] = 0;
    }
}

void decay_boot(void)
{
    smoothstep_boot();
    decay_set(DECAY_DIRTY, -1);
    decay_set(DECAY_MUZZY, -1);
}

/* Begins the epoch that now_ms is in; the number of epochs since the last call, at most NSTEPS. */
static uint32_t decay_pass_epochs(uint32_t which, uint64_t now_ms)
{
    uint64_t interval = (uint64_t)decay_ms[which];
    uint64_t now = (now_ms < TIME_MS_MAX ? now_ms : TIME_MS_MAX) * NSTEPS;
    if (now < decay_epoch[which]) {
        decay_epoch[which] = now;
        return 0;
    }
    uint64_t since = now - decay_epoch[which];
    decay_epoch[which] = now - since % interval;
    return since / interval < NSTEPS ? (uint32_t)(since / interval) : NSTEPS;
}

/* Moves the backlog n epochs on; newest pages became unused in the last of them. */
static void decay_shift(uint32_t which, uint32_t n, uint64_t newest)
{
    for (uint32_t i = 0; i < NSTEPS - n; i++) {
        decay_backlog[which][i] = decay_backlog[which][i + n];
    }
    for (uint32_t i = NSTEPS - n; i < NSTEPS - 1; i++) {
        decay_backlog[which][i] = 0;
    }
    decay_backlog[which][NSTEPS - 1] = newest;
}

static uint64_t decay_weigh(uint32_t which)
{
    uint64_t weight = 0;
    for (uint32_t i = 0; i < NSTEPS; i++) {
        weight += decay_backlog[which][i] * smoothstep[i + 1];
    }
    return weight / SMOOTHSTEP_ONE;
}

uint64_t decay_advance(uint32_t which, uint64_t now_ms, uint64_t npages_now)
{
    if (decay_ms[which] <= 0) {
        return decay_ms[which] < 0 ? npages_now : 0;
    }
    uint32_t n = decay_pass_epochs(which, now_ms);
    if (n == 0) {
        return npages_now;
    }
    decay_shift(which, n, npages_now > decay_limit[which] ? npages_now - decay_limit[which] : 0);
    decay_limit[which] = decay_weigh(which);
    return npages_now < decay_limit[which] ? npages_now : decay_limit[which];
}
