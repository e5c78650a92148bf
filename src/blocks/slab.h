/* slab: an extent cut into equal regions of one small size class, with one bit per region (set = free).
 *
 * Invariant of slab e: SlabOk(e), of the geometry that all slabs share: SlabGeometryOk (spec/blocks/slab.acsl).
 * Regions are numbers here. The two functions that turn numbers into addresses and back touch no bitmap.
 * A slab's bitmap and count are guarded by the lock of its bin. Which bin that is, and its lists, are the business of bin.
 */
#ifndef QED_BLOCKS_SLAB_H
#define QED_BLOCKS_SLAB_H

#include <stdbool.h>
#include <stdint.h>

#include "ds/bitmap_word.h"
#include "math/divide.h"
#include "math/size_class.h"
#include "platform/config.h"
#include "platform/table.h"

#if LG_PAGE - SC_LG_TINY_MIN > 9
#define SLAB_LG_REGIONS_MAX (LG_PAGE - SC_LG_TINY_MIN)
#else
#define SLAB_LG_REGIONS_MAX 9
#endif
#define SLAB_REGIONS_MAX (1U << SLAB_LG_REGIONS_MAX)
#define SLAB_WORDS (SLAB_REGIONS_MAX / 64U)
#define SLAB_AGE_FIRST 1U                       /* of a slab whose holes have begun to wait */
#define SLAB_AGE_GONE 256U                      /* of one whose holes are gone, and so many more as it had free regions then */
#define SLAB_WIDE 1024U                         /* a region is wide above this many bytes */
#define SLAB_BYTES_NARROW 32768U                /* slabs of narrow regions are about this long, or longer, */
#define SLAB_REGIONS_NARROW 64U                 /* so that they have about 64 regions, a word of the bitmap */
#define SLAB_BYTES_WIDE 8192U                   /* slabs of wide regions are about this long, so that they become empty soon */

#if SC_SLAB_NPAGES_MAX << LG_PAGE > SLAB_REGIONS_NARROW * SLAB_WIDE
#define SLAB_BYTES_MAX (SC_SLAB_NPAGES_MAX << LG_PAGE)
#else
#define SLAB_BYTES_MAX (SLAB_REGIONS_NARROW * SLAB_WIDE)
#endif

_Static_assert(SLAB_REGIONS_MAX % 64 == 0, "a bitmap is whole words");
_Static_assert(SLAB_REGIONS_MAX >= PAGE >> SC_LG_TINY_MIN, "a page of the smallest class fits the bitmap");
_Static_assert(SLAB_BYTES_MAX <= 1UL << DIVIDE_LG_OFFSET, "offsets in a slab can be divided");
_Static_assert(SLAB_BYTES_MAX * SC_SMALL_MAXCLASS <= DIVIDE_ONE, "the division of an offset by its class is exact");
_Static_assert(SC_NBINS <= UINT8_MAX, "slab_class holds a class in a byte");

struct slab_bits {
    uint64_t w[SLAB_WORDS];                     /* bit r % 64 of word r / 64: region r is free */
};

#define SLAB_NPAGES_MAX (SLAB_BYTES_MAX >> LG_PAGE)

/* One for each extent that is a slab. */
extern TABLE(struct slab_bits, slab_bits);
extern TABLE(uint32_t, slab_free_count);        /* set bits */
extern TABLE(uint8_t, slab_class);              /* szind */
extern TABLE(uint16_t, slab_bin);               /* the bin that it belongs to, which bin_slabs.h writes; 0 for no slab, and for bin 0 */
extern TABLE(uint16_t, slab_age);               /* rounds that its holes wait already, or that they are gone (holes.h) */

/* One for each small class. slab_boot fills them in. */
extern uint32_t slab_bytes[SC_NBINS];           /* length of a region */
extern uint32_t slab_regions[SC_NBINS];         /* regions of a slab: slab_regions * slab_bytes == slab_npages * PAGE */
extern uint32_t slab_npages[SC_NBINS];          /* length of a slab */
extern divide_magic_t slab_magic[SC_NBINS];     /* reciprocal of slab_bytes */

/* Ghosts. slab_sum[e].upto[i] counts the set bits of the first i words. The other three describe the last batch. They are the region of
 * a slot, the slot of a region, and the number below which all regions are taken. */
/*@ ghost struct slab_sums { uint32_t upto[SLAB_WORDS + 1]; }; */
/*@ ghost extern struct slab_sums slab_sum[TABLE_MAX]; */
/*@ ghost extern uint32_t slab_slot_region[SLAB_REGIONS_MAX]; */
/*@ ghost extern uint32_t slab_region_slot[SLAB_REGIONS_MAX]; */
/*@ ghost extern uint32_t slab_cut; */

#include "platform/locks.acsl"
#include "blocks/slab.acsl"
#include "blocks/slab_lemmas.acsl"

/* ---- geometry ---------------------------------------------------------------------------------------------------- */

/*@ assigns            slab_bytes[0 .. SC_NBINS - 1], slab_regions[0 .. SC_NBINS - 1],
                       slab_npages[0 .. SC_NBINS - 1], slab_magic[0 .. SC_NBINS - 1];
    ensures  bytes:    SlabBytesOk(SC_NBINS);
    ensures  regions:  SlabRegionsOk(SC_NBINS);
    ensures  length:   SlabLengthOk(SC_NBINS);
    ensures  limit:    SlabLimitOk(SC_NBINS);
    ensures  magic:    SlabMagicOk(SC_NBINS);
*/
void slab_boot(void);

/*@ requires base:     base < 2UL << LG_VADDR;
    requires bytes:    bytes <= SC_SMALL_MAXCLASS;
    requires region:   region < SLAB_REGIONS_MAX;
    assigns            \nothing;
    ensures  place:    SlabPlace(\result, base, bytes, region);
    ensures  above:    base <= \result;
*/
static inline uint64_t slab_place(uint64_t base, uint32_t bytes, uint32_t region)
{
    return base + (uint64_t)region * bytes;
}

/* ---- slabs ------------------------------------------------------------------------------------------------------- */

/* Makes the columns of extent e usable. Returns false if the OS has no memory. */
/*@ requires id:       0 < e < TABLE_MAX;
    assigns            os_refused, \result \from e;
    ensures  refused:  !\result ==> os_refused == 1;
*/
bool slab_grow(uint32_t e);

/* Makes e a slab of a class, all of its regions free. */
/*@ requires id:       0 < e < TABLE_MAX;
    requires lock:     LockHeld(LOCK_BIN(slab_bin[e]));
    requires class:    szind < SC_NBINS;
    requires geometry: SlabRegionsOk(SC_NBINS);
    assigns            slab_bits[e].w[0 .. SLAB_WORDS - 1], slab_free_count[e], slab_class[e],
                       slab_sum[e].upto[0 .. SLAB_WORDS];
    ensures  ok:       SlabOk(e);
    ensures  class:    slab_class[e] == szind;
    ensures  count:    slab_free_count[e] == slab_regions[szind];
    ensures  free:     \forall integer r; 0 <= r < slab_regions[szind] ==> SlabFree(e, r);
*/
void slab_init(uint32_t e, uint32_t szind);

/* Takes the lowest free regions, n or all there are, and writes their addresses. The last one is the lowest, so that a stack that ends
 * there hands out low addresses first. Returns how many they are. */
/*@ requires id:       0 < e < TABLE_MAX;
    requires lock:     LockHeld(LOCK_BIN(slab_bin[e]));
    requires ok:       SlabOk(e);
    requires geometry: SlabBytesOk(SC_NBINS) && SlabRegionsOk(SC_NBINS);
    requires base:     base < (1UL << LG_VADDR);
    requires out:      \valid(out + (0 .. n - 1));
    assigns            slab_bits[e].w[0 .. SLAB_WORDS - 1], slab_free_count[e], slab_sum[e].upto[0 .. SLAB_WORDS],
                       out[0 .. n - 1], slab_cut, slab_slot_region[0 .. SLAB_REGIONS_MAX - 1],
                       slab_region_slot[0 .. SLAB_REGIONS_MAX - 1];
    ensures  ok:       SlabOk(e);
    ensures  most:     \result == \min(n, \old(slab_free_count[e]));
    ensures  count:    slab_free_count[e] == \old(slab_free_count[e]) - \result;
    ensures  range:    SlotsBelow(0, \result, slab_regions[slab_class[e]]);
    ensures  address:  SlotsAddress(out, 0, \result, base, slab_bytes[slab_class[e]]);
    ensures  distinct: SlotsInverse(0, \result);
    ensures  free:     \forall integer s; 0 <= s < \result ==> SlabFree{Pre}(e, slab_slot_region[s]);
    ensures  taken:    \forall integer s; 0 <= s < \result ==> !SlabFree(e, slab_slot_region[s]);
    ensures  all:      \forall integer r; 0 <= r < SLAB_REGIONS_MAX && \old(SlabFree(e, r)) && !SlabFree(e, r) ==>
                       slab_region_slot[r] < \result && slab_slot_region[slab_region_slot[r]] == r;
    ensures  others:   \forall integer r; 0 <= r < SLAB_REGIONS_MAX ==>
                       (SlabFree(e, r) <==> \old(SlabFree(e, r)) && r >= slab_cut);
    ensures  lowest:   SlotsBelow(0, \result, slab_cut);
    ensures  apart:    SlotsApart(out, 0, \result, slab_bytes[slab_class[e]]);
    ensures  within:   SlotsWithin(out, 0, \result, base, base + slab_regions[slab_class[e]] * slab_bytes[slab_class[e]],
                                   slab_bytes[slab_class[e]]);
*/
uint32_t slab_take_batch(uint32_t e, uint64_t base, uint64_t *out, uint32_t n);

/* Returns whether no region of which a byte lies in page p of slab e is out. */
/*@ requires id:       0 < e < TABLE_MAX;
    requires lock:     LockHeld(LOCK_BIN(slab_bin[e]));
    requires class:    SlabClass(e);
    requires geometry: SlabBytesOk(SC_NBINS) && SlabRegionsOk(SC_NBINS) && SlabLengthOk(SC_NBINS) && SlabLimitOk(SC_NBINS);
    requires page:     p < slab_npages[slab_class[e]];
    assigns            \nothing;
    ensures  free:     \result <==> SlabPageFree(e, p);
*/
bool slab_page_free(uint32_t e, uint32_t p);

/* Writes word i of slab e's bitmap, and nothing else does after slab_init. */
/*@ requires id:       0 < e < TABLE_MAX;
    requires lock:     LockHeld(LOCK_BIN(slab_bin[e]));
    requires word:     i < SLAB_WORDS;
    SLAB_SUMMED(requires, e);
    assigns            slab_bits[e].w[i], slab_sum[e].upto[i + 1 .. SLAB_WORDS];
    ensures  word:     slab_bits[e].w[i] == w;
    SLAB_SUMMED(ensures, e);
    ensures  total:    slab_sum[e].upto[SLAB_WORDS] ==
                       \old(slab_sum[e].upto[SLAB_WORDS]) - pop(\old(slab_bits[e].w[i]), 64) + pop(w, 64);
*/
static inline void slab_set_word(uint32_t e, uint32_t i, uint64_t w)
{
    /*@ ghost uint64_t was = AT(slab_bits, e).w[i]; */
    AT(slab_bits, e).w[i] = w;
    /*@ ghost
      /@ loop invariant range: i <= j <= SLAB_WORDS;
         loop invariant first: slab_sum[e].upto[0] == 0;
         loop invariant sums:  \forall integer t; 0 <= t < j ==>
                                 slab_sum[e].upto[t + 1] == slab_sum[e].upto[t] + pop(slab_bits[e].w[t], 64);
         loop invariant bound: \forall integer t; 0 <= t <= j ==> slab_sum[e].upto[t] <= 64 * t;
         loop invariant later: \forall integer t; j < t <= SLAB_WORDS ==> slab_sum[e].upto[t] == \at(slab_sum[e].upto[t], Pre);
         loop invariant total: j > i ==> slab_sum[e].upto[j] == \at(slab_sum[e].upto[\at(j, Here)], Pre) - pop(was, 64) + pop(w, 64);
         loop invariant same:  j == i ==> slab_sum[e].upto[j] == \at(slab_sum[e].upto[\at(j, Here)], Pre);
         loop assigns j, slab_sum[e].upto[i + 1 .. SLAB_WORDS];
         loop variant SLAB_WORDS - j;
      @/
      for (uint32_t j = i; j < SLAB_WORDS; j++) {
        slab_sum[e].upto[j + 1] = slab_sum[e].upto[j] + slab_lemma_pop(slab_bits[e].w[j]);
      }
    */
}

#endif
