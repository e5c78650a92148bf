/* smoothstep: fills the table of the decay curve. */
#include "math/smoothstep.h"

#include "math/smoothstep_lemmas.acsl"

uint32_t smoothstep[SMOOTHSTEP_NSTEPS + 1];

/*@ requires range: i <= SMOOTHSTEP_NSTEPS;
    assigns         \nothing;
    ensures  row:   SmoothstepRow(i, \result);
*/
static uint32_t smoothstep_row(uint64_t i)
{
    const uint64_t n = SMOOTHSTEP_NSTEPS;
    uint64_t       scaled = i * i * i * (6 * i * i + 10 * n * n - 15 * n * i);
    return (uint32_t)(scaled * SMOOTHSTEP_ONE / (n * n * n * n * n));
}

void smoothstep_boot(void)
{
    /*@ loop invariant range: 0 <= i <= SMOOTHSTEP_NSTEPS + 1;
        loop invariant exact: \forall integer j; 0 <= j < i ==> SmoothstepRow(j, smoothstep[j]);
        loop invariant rising: \forall integer j, k; 0 <= j <= k < i ==> smoothstep[j] <= smoothstep[k];
        loop assigns i, smoothstep[0 .. SMOOTHSTEP_NSTEPS];
        loop variant SMOOTHSTEP_NSTEPS + 1 - i;
    */
    for (uint32_t i = 0; i <= SMOOTHSTEP_NSTEPS; i++) {
        smoothstep[i] = smoothstep_row(i);
        /*@ ghost if (i > 0) { smoothstep_lemma_rising(i - 1); } */
        //@ assert above: i > 0 ==> smoothstep[i - 1] <= smoothstep[i];
    }
}
