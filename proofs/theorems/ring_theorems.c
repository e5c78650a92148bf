/* What follows from the contracts of ring.h alone. Proven, never compiled into the library. */
#include "ds/ring.h"

/*@ requires ok:   RingOk;
    requires made: RingMade(a) && RingMade(b);
    terminates     \true;
    exits          \false;
    assigns        ring_before[0 .. TABLE_MAX - 1], ring_after[0 .. TABLE_MAX - 1];
    ensures  kept: RingKept{Pre,Post};
*/
void ring_theorem_involution(uint32_t a, uint32_t b)
{
    ring_meld(a, b);
    ring_meld(a, b);
}

/*@ requires ok:    RingOk;
    requires made:  RingMade(a) && RingMade(x);
    requires alone: ring_after[x] == x && a != x;
    terminates      \true;
    exits           \false;
    assigns         ring_before[0 .. TABLE_MAX - 1], ring_after[0 .. TABLE_MAX - 1];
    ensures  kept:  RingKept{Pre,Post};
*/
void ring_theorem_insert_remove(uint32_t a, uint32_t x)
{
    ring_before_insert(a, x);
    ring_remove(x);
}

/* Columns begin as zeros: no ring yet. */
/*@ requires zero: \forall integer x; 0 <= x < TABLE_MAX ==> ring_after[x] == 0 && ring_before[x] == 0;
    terminates     \true;
    exits          \false;
    assigns        \nothing;
    ensures  ok:   RingOk;
    ensures  none: \forall integer x; !RingMade(x);
*/
void ring_theorem_begin(void)
{
}
