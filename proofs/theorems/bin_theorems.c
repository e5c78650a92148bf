/* What follows from the contracts of bin_give.h alone. Proven, never compiled into the library. */
#include "blocks/bin_give.h"

/* A block that comes back to its slab a second time ends the program, and nothing changes then. */
/*@ requires class:    szind < SC_NBINS;
    requires slab:     ExtKind(e, KIND_SLAB) && slab_class[e] == szind;
    requires block:    BlockSmall(block) && block_ext[block] == e && block_szind[block] == szind;
    requires region:   block_region[block] < slab_regions[szind] <= SLAB_REGIONS_MAX;
    requires place:    block_region[block] / 64 == i && block_region[block] % 64 == j;
    requires taken:    BinWordTaken(e, i, w);
    requires tail:     BinWordTail(szind, i, w);
    requires s_place:  BlocksSmallPlace;
    requires s_class:  BlocksSmallClass;
    requires s_taken:  BlocksSmallTaken;
    exits    twice:    block_state[block] == BLOCK_NONE;
    assigns            block_state[block];
    ensures  never:    \false;
*/
void bin_theorem_twice(uint64_t w, uint32_t j, uint64_t block) /*@ ghost (uint32_t szind, uint32_t e, uint32_t i) */
{
    /*@ assert out: !tbit(w, j); */
    uint64_t v = bin_give(w, j, block) /*@ ghost (szind, e, i) */;
    (void)bin_give(v, j, block) /*@ ghost (szind, e, i) */;
}

/* Where no region begins, a block that comes back ends the program. */
/*@ requires class:    szind < SC_NBINS;
    requires geometry: SlabGeometryOk;
    requires inside:   d < slab_npages[szind] * PAGE && begin + d < ADDRESS_MAX;
    requires interior: r * slab_bytes[szind] < d < (r + 1) * slab_bytes[szind];
    exits    interior: \true;
    assigns            \nothing;
    ensures  never:    \false;
*/
void bin_theorem_interior(uint32_t szind, uint64_t begin, uint64_t d) /*@ ghost (uint32_t r) */
{
    (void)bin_region(szind, begin, d) /*@ ghost (r) */;
}
