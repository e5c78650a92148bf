/* What follows from the contracts of slab.h alone. Proven, never compiled into the library. */
#include "heap/slab.h"

/* Two takes without a give between them return different regions. */
/*@ requires id:        0 < e < TABLE_MAX;
    requires ok:        SlabOk(e);
    requires geometry:  SlabRegionsOk(SC_NBINS);
    requires room:      slab_free_count[e] >= 2;
    terminates          \true;
    exits               \false;
    assigns             slab_bits[e].w[0 .. SLAB_WORDS - 1], slab_free_count[e], slab_sum[e].upto[0 .. SLAB_WORDS];
    ensures  different: \result != 0;
*/
bool slab_theorem_two_takes(uint32_t e)
{
    uint32_t first = slab_take(e);
    uint32_t second = slab_take(e);
    return first != second;
}

/* A region that is out is in no batch, and no address of the batch lies in it. */
/*@ requires id:        0 < e < TABLE_MAX;
    requires ok:        SlabOk(e);
    requires bytes:     SlabBytesOk(SC_NBINS);
    requires regions:   SlabRegionsOk(SC_NBINS);
    requires base:      base < (1UL << LG_VADDR);
    requires room:      slab_free_count[e] > 0;
    requires out:       \valid(out + (0 .. n - 1));
    requires outside:   \separated(out + (0 .. n - 1), slab_bits + (0 .. TABLE_MAX - 1),
                                   slab_free_count + (0 .. TABLE_MAX - 1), slab_class + (0 .. TABLE_MAX - 1),
                                   slab_bytes + (0 .. SC_NBINS - 1), slab_regions + (0 .. SC_NBINS - 1));
    terminates          \true;
    exits               \false;
    assigns             slab_bits[e].w[0 .. SLAB_WORDS - 1], slab_free_count[e], slab_sum[e].upto[0 .. SLAB_WORDS],
                        out[0 .. n - 1], slab_cut, slab_slot_region[0 .. SLAB_REGIONS_MAX - 1],
                        slab_region_slot[0 .. SLAB_REGIONS_MAX - 1];
    ensures  most:      \result <= n;
*/
uint32_t slab_theorem_take_and_batch(uint32_t e, uint64_t base, uint64_t *out, uint32_t n)
{
    uint32_t taken = slab_take(e);
    uint32_t count = slab_take_batch(e, base, out, n);
    /*@ assert outside: \forall integer s; 0 <= s < count ==> slab_slot_region[s] != taken; */
    return count;
}

/* A region that is taken and given back is free again, and no other region has changed. */
/*@ requires id:        0 < e < TABLE_MAX;
    requires ok:        SlabOk(e);
    requires geometry:  SlabRegionsOk(SC_NBINS);
    requires room:      slab_free_count[e] > 0;
    terminates          \true;
    exits               \false;
    assigns             slab_bits[e].w[0 .. SLAB_WORDS - 1], slab_free_count[e], slab_sum[e].upto[0 .. SLAB_WORDS];
    ensures  given:     \result != 0;
    ensures  same:      \forall integer r; 0 <= r < SLAB_REGIONS_MAX ==> (SlabFree(e, r) <==> \old(SlabFree(e, r)));
*/
bool slab_theorem_round_trip(uint32_t e)
{
    return slab_give(e, slab_take(e));
}
