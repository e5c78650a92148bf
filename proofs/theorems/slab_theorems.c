/* What follows from the contracts of slab.h alone. Proven, never compiled into the library. */
#include "blocks/slab.h"

/* Two batches without a region given back between them have no region in common. */
/*@ requires id:        0 < e < TABLE_MAX;
    requires lock:      LockHeld(LOCK_BIN(slab_bin[e]));
    requires ok:        SlabOk(e);
    requires bytes:     SlabBytesOk(SC_NBINS);
    requires regions:   SlabRegionsOk(SC_NBINS);
    requires base:      base < (1UL << LG_VADDR);
    requires out:       \valid(out + (0 .. n - 1));
    requires outside:   \separated(out + (0 .. n - 1), slab_bits + (0 .. TABLE_MAX - 1),
                                   slab_free_count + (0 .. TABLE_MAX - 1), slab_class + (0 .. TABLE_MAX - 1),
                                   slab_bytes + (0 .. SC_NBINS - 1), slab_regions + (0 .. SC_NBINS - 1));
    assigns             slab_bits[e].w[0 .. SLAB_WORDS - 1], slab_free_count[e], slab_sum[e].upto[0 .. SLAB_WORDS],
                        out[0 .. n - 1], slab_cut, slab_slot_region[0 .. SLAB_REGIONS_MAX - 1],
                        slab_region_slot[0 .. SLAB_REGIONS_MAX - 1];
    ensures  most:      \result <= 2 * n;
*/
uint64_t slab_theorem_two_batches(uint32_t e, uint64_t base, uint64_t *out, uint32_t n) /*@ ghost (uint32_t slot) */
{
    uint64_t first = slab_take_batch(e, base, out, n);
    /*@ ghost uint32_t region = slot < first ? slab_slot_region[slot] : SLAB_REGIONS_MAX; */
    uint64_t second = slab_take_batch(e, base, out, n);
    /*@ assert different: \forall integer s; slot < first && 0 <= s < second ==> slab_slot_region[s] != region; */
    return first + second;
}

/* A region that is out is in no batch. */
/*@ requires id:        0 < e < TABLE_MAX;
    requires lock:      LockHeld(LOCK_BIN(slab_bin[e]));
    requires ok:        SlabOk(e);
    requires bytes:     SlabBytesOk(SC_NBINS);
    requires regions:   SlabRegionsOk(SC_NBINS);
    requires base:      base < (1UL << LG_VADDR);
    requires taken:     !SlabFree(e, region);
    requires out:       \valid(out + (0 .. n - 1));
    requires outside:   \separated(out + (0 .. n - 1), slab_bits + (0 .. TABLE_MAX - 1),
                                   slab_free_count + (0 .. TABLE_MAX - 1), slab_class + (0 .. TABLE_MAX - 1),
                                   slab_bytes + (0 .. SC_NBINS - 1), slab_regions + (0 .. SC_NBINS - 1));
    assigns             slab_bits[e].w[0 .. SLAB_WORDS - 1], slab_free_count[e], slab_sum[e].upto[0 .. SLAB_WORDS],
                        out[0 .. n - 1], slab_cut, slab_slot_region[0 .. SLAB_REGIONS_MAX - 1],
                        slab_region_slot[0 .. SLAB_REGIONS_MAX - 1];
    ensures  most:      \result <= n;
*/
uint32_t slab_theorem_batch_of_free(uint32_t e, uint64_t base, uint64_t *out, uint32_t n) /*@ ghost (uint32_t region) */
{
    uint32_t count = slab_take_batch(e, base, out, n);
    /*@ assert outside: \forall integer s; 0 <= s < count ==> slab_slot_region[s] != region; */
    return count;
}
