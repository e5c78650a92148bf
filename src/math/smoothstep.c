/* smoothstep: fills the table of the decay curve. */
#include "math/smoothstep.h"

uint32_t smoothstep[SMOOTHSTEP_NSTEPS + 1];

#define N ((uint64_t)SMOOTHSTEP_NSTEPS)

static uint32_t smoothstep_row(uint64_t i)
{
    uint64_t scaled = i * i * i * (6 * i * i + 10 * N * N - 15 * N * i);
    return (uint32_t)(scaled * SMOOTHSTEP_ONE / (N * N * N * N * N));
}

void smoothstep_boot(void)
{
    for (uint32_t i = 0; i <= SMOOTHSTEP_NSTEPS; i++) {
        smoothstep[i] = smoothstep_row(i);
    }
}
