/* smoothstep: the decay curve h(x) = 6x^5 - 15x^4 + 10x^3, from 0 at x = 0 to 1 at x = 1, flat at both ends.
 *
 * Row i of the table is h(i / SMOOTHSTEP_NSTEPS) in fixed point, rounded down. smoothstep_boot computes the rows in
 * exact integer arithmetic, so that no row is typed in. They are jemalloc's rows. After it SmoothstepExact holds, which
 * says that every row is the formula, and SmoothstepRising, which is all that decay needs to know.
 */
#ifndef QED_MATH_SMOOTHSTEP_H
#define QED_MATH_SMOOTHSTEP_H

#include <stdint.h>

#define SMOOTHSTEP_NSTEPS 200U
#define SMOOTHSTEP_ONE (1U << 24)                       /* fixed point: 24 bits after the point */

_Static_assert(SMOOTHSTEP_NSTEPS <= 256, "2^24 * NSTEPS^5 fits 64 bits");

extern uint32_t smoothstep[SMOOTHSTEP_NSTEPS + 1];      /* read-only after boot */

#include "math/smoothstep.acsl"

/*@ assigns          smoothstep[0 .. SMOOTHSTEP_NSTEPS];
    ensures  exact:  SmoothstepExact;
    ensures  rising: SmoothstepRising;
*/
void smoothstep_boot(void);

#endif
