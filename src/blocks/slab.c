/* slab: geometry of the classes, new slabs, regions taken one at a time and in batches. */
#include "blocks/slab.h"

#include "platform/bits.h"

TABLE(struct slab_bits, slab_bits);
TABLE(uint32_t, slab_free_count);
TABLE(uint8_t, slab_class);
TABLE(uint16_t, slab_bin);
TABLE(uint16_t, slab_age);

uint32_t slab_bytes[SC_NBINS];
uint32_t slab_regions[SC_NBINS];
uint32_t slab_npages[SC_NBINS];
divide_magic_t slab_magic[SC_NBINS];

/*@ ghost struct slab_sums slab_sum[TABLE_MAX]; */
/*@ ghost uint32_t slab_slot_region[SLAB_REGIONS_MAX]; */
/*@ ghost uint32_t slab_region_slot[SLAB_REGIONS_MAX]; */
/*@ ghost uint32_t slab_cut; */

/* ---- geometry ---------------------------------------------------------------------------------------------------- */

/* Returns how many bytes a slab of such regions is to have. */
/*@ assigns            \nothing;
    ensures  target:   \result == (bytes > SLAB_WIDE ? SLAB_BYTES_WIDE : \max(bytes * SLAB_REGIONS_NARROW, SLAB_BYTES_NARROW));
    ensures  limit:    0 < \result <= SLAB_BYTES_MAX;
*/
static uint32_t slab_target(uint32_t bytes)
{
    if (bytes > SLAB_WIDE) {
        return SLAB_BYTES_WIDE;
    }
    return bytes * SLAB_REGIONS_NARROW < SLAB_BYTES_NARROW ? SLAB_BYTES_NARROW : bytes * SLAB_REGIONS_NARROW;
}

/* Fills in the geometry of a class. Its slabs are as many least page counts long as the two limits allow, at least one. */
/*@ requires class:    c < SC_NBINS;
    assigns            slab_bytes[c], slab_regions[c], slab_npages[c], slab_magic[c];
    ensures  bytes:    slab_bytes[c] == ScBytes(c) && SC_TINY <= slab_bytes[c] <= SC_SMALL_MAXCLASS;
    ensures  regions:  1 <= slab_regions[c] <= SLAB_REGIONS_MAX;
    ensures  length:   slab_regions[c] * slab_bytes[c] == slab_npages[c] * PAGE;
    ensures  limit:    slab_npages[c] * PAGE <= SLAB_BYTES_MAX;
    ensures  magic:    slab_magic[c] <= DIVIDE_ONE / SC_TINY && DivideMagic(slab_magic[c], slab_bytes[c]);
*/
static void slab_boot_class(uint32_t c)
{
    uint32_t bytes = (uint32_t)size_class_bytes(c);
    uint32_t npages = size_class_slab_pages(c);
    uint32_t length = npages * (uint32_t)PAGE;
    uint32_t regions = length / bytes;
    /*@ ghost slab_lemma_regions(bytes, npages); */
    uint32_t most = SLAB_REGIONS_MAX / regions;
    uint32_t long_enough = slab_target(bytes) / length;
    uint32_t times = most < long_enough ? most : long_enough;
    if (times == 0) {
        times = 1;
    }
    slab_bytes[c] = bytes;
    slab_regions[c] = regions * times;
    slab_npages[c] = npages * times;
    slab_magic[c] = divide_magic(bytes);
}

void slab_boot(void)
{
    /*@ loop invariant range:   0 <= c <= SC_NBINS;
        loop invariant bytes:   SlabBytesOk(c);
        loop invariant regions: SlabRegionsOk(c);
        loop invariant length:  SlabLengthOk(c);
        loop invariant limit:   SlabLimitOk(c);
        loop invariant magic:   SlabMagicOk(c);
        loop assigns c, slab_bytes[0 .. SC_NBINS - 1], slab_regions[0 .. SC_NBINS - 1],
                     slab_npages[0 .. SC_NBINS - 1], slab_magic[0 .. SC_NBINS - 1];
        loop variant SC_NBINS - c;
    */
    for (uint32_t c = 0; c < SC_NBINS; c++) {
        slab_boot_class(c);
    }
}

/* ---- slabs ------------------------------------------------------------------------------------------------------- */

bool slab_grow(uint32_t e)
{
    return TABLE_GROW(slab_bits, e) && TABLE_GROW(slab_free_count, e) && TABLE_GROW(slab_class, e) && TABLE_GROW(slab_bin, e) &&
           TABLE_GROW(slab_age, e);
}

void slab_init(uint32_t e, uint32_t szind)
{
    uint32_t n = slab_regions[szind];
    AT(slab_class, e) = (uint8_t)szind;
    AT(slab_free_count, e) = n;
    /*@ ghost slab_sum[e].upto[0] = 0; */
    /*@ loop invariant range: 0 <= i <= SLAB_WORDS;
        loop invariant mask:  \forall integer t; 0 <= t < i ==> IsMask(slab_bits[e].w[t], n - 64 * t);
        loop invariant zero:  slab_sum[e].upto[0] == 0;
        loop invariant sums:  \forall integer t; 0 <= t < i ==>
                                slab_sum[e].upto[t + 1] == slab_sum[e].upto[t] + pop(slab_bits[e].w[t], 64);
        loop invariant count: \forall integer t; 0 <= t <= i ==> slab_sum[e].upto[t] == \min(64 * t, n);
        loop assigns i, slab_bits[e].w[0 .. SLAB_WORDS - 1], slab_sum[e].upto[1 .. SLAB_WORDS];
        loop variant SLAB_WORDS - i;
    */
    for (uint32_t i = 0; i < SLAB_WORDS; i++) {
        uint32_t left = n > 64 * i ? n - 64 * i : 0;
        uint32_t k = left < 64 ? left : 64;
        uint64_t w = bitmap_word_mask(k);
        /*@ ghost bitmap_word_lemma_mask(w, k); */
        AT(slab_bits, e).w[i] = w;
        /*@ ghost slab_sum[e].upto[i + 1] = slab_sum[e].upto[i] + k; */
    }
}

/* ---- batch ------------------------------------------------------------------------------------------------------- */

/* Writes the address of a region, which lies above all so far, into the slot before theirs. */
/*@ requires slot:     slot < hi <= SLAB_REGIONS_MAX;
    requires region:   slab_cut <= region < SLAB_REGIONS_MAX;
    requires bytes:    bytes <= SC_SMALL_MAXCLASS;
    requires base:     base < (1UL << LG_VADDR);
    requires place:    SlabPlace(address, base, bytes, region);
    requires out:      \valid(out + slot);
    SLOTS_FILLED(requires, slot + 1, hi);
    assigns            out[slot], slab_cut, slab_slot_region[slot], slab_region_slot[region];
    ensures  slot:     slab_slot_region[slot] == region && slab_region_slot[region] == slot;
    ensures  cut:      slab_cut == region + 1;
    SLOTS_FILLED(ensures, slot, hi);
*/
static inline void slab_put(uint64_t *out, uint64_t slot, uint64_t address)
    /*@ ghost (uint32_t hi, uint64_t base, uint32_t bytes, uint32_t region) */
{
    /*@ ghost slab_lemma_scale(slab_cut, region, bytes); */
    out[slot] = address;
    /*@ ghost slab_slot_region[slot] = region; */
    /*@ ghost slab_region_slot[region] = slot; */
    /*@ assert kept:  SlotsAddress(out, slot + 1, hi, base, bytes); */
    /*@ assert below: SlotsWithin(out, slot + 1, hi, base, base + slab_cut * bytes, bytes); */
    /*@ assert above: base + slab_cut * bytes <= out[slot]; */
    /*@ ghost slab_cut = region + 1; */
}

/* Writes the address of the region behind the last one, like slab_put. Returns where the next one begins. */
/*@ requires slot:     slot < hi <= SLAB_REGIONS_MAX;
    requires region:   slab_cut < SLAB_REGIONS_MAX;
    requires bytes:    bytes <= SC_SMALL_MAXCLASS;
    requires base:     base < (1UL << LG_VADDR);
    requires place:    SlabPlace(address, base, bytes, slab_cut);
    requires out:      \valid(out + slot);
    SLOTS_FILLED(requires, slot + 1, hi);
    assigns            out[slot], slab_cut, slab_slot_region[slot], slab_region_slot[slab_cut];
    ensures  next:     SlabPlace(\result, base, bytes, slab_cut);
    ensures  slot:     slab_slot_region[slot] == \old(slab_cut) && slab_region_slot[\old(slab_cut)] == slot;
    ensures  cut:      slab_cut == \old(slab_cut) + 1;
    SLOTS_FILLED(ensures, slot, hi);
*/
static inline uint64_t slab_put_next(uint64_t *out, uint64_t slot, uint64_t address, uint32_t bytes)
    /*@ ghost (uint32_t hi, uint64_t base) */
{
    /*@ ghost slab_lemma_scale(slab_cut, SLAB_REGIONS_MAX, bytes); */
    slab_put(out, slot, address) /*@ ghost (hi, base, bytes, slab_cut) */;
    return address + bytes;
}

/* Writes the addresses of n regions that lie side by side, the first of which begins at address, into the slots below left. Returns the number
 * of slots left. */
/*@ requires first:    first == slab_cut && first + n <= SLAB_REGIONS_MAX;
    requires bytes:    bytes <= SC_SMALL_MAXCLASS;
    requires base:     base < (1UL << LG_VADDR);
    requires place:    SlabPlace(address, base, bytes, slab_cut);
    requires slots:    n <= left <= hi <= SLAB_REGIONS_MAX;
    requires out:      \valid(out + (0 .. left - 1));
    SLOTS_FILLED(requires, left, hi);
    assigns            out[0 .. left - 1], slab_cut, slab_slot_region[0 .. left - 1],
                       slab_region_slot[first .. first + n - 1];
    ensures  cut:      slab_cut == first + n;
    ensures  left:     \result == left - n;
    ensures  above:    \forall integer s; \result <= s < left ==> first <= slab_slot_region[s] < first + n;
    ensures  all:      \forall integer r; first <= r < first + n ==>
                       \result <= slab_region_slot[r] < left && slab_slot_region[slab_region_slot[r]] == r;
    ensures  last:     n > 0 ==> slab_slot_region[\result] == slab_cut - 1;
    SLOTS_FILLED(ensures, \result, hi);
*/
static inline uint32_t slab_put_row(uint64_t address, uint32_t bytes, uint64_t *out, uint32_t left, uint32_t n)
    /*@ ghost (uint32_t first, uint32_t hi, uint64_t base) */
{
    uint64_t at = left;
    uint64_t end = left - n;
    /*@ loop invariant range:   end <= at <= left;
        PUT_ROW(loop invariant);
        loop assigns at, address, slab_cut, out[0 .. left - 1], slab_slot_region[0 .. left - 1],
                     slab_region_slot[first .. first + n - 1];
        loop variant at;
    */
    while (at >= end + 4) {
        address = slab_put_next(out, at - 1, address, bytes) /*@ ghost (hi, base) */;
        address = slab_put_next(out, at - 2, address, bytes) /*@ ghost (hi, base) */;
        address = slab_put_next(out, at - 3, address, bytes) /*@ ghost (hi, base) */;
        address = slab_put_next(out, at - 4, address, bytes) /*@ ghost (hi, base) */;
        at -= 4;
    }
    /*@ loop invariant range:   end <= at <= left;
        PUT_ROW(loop invariant);
        loop assigns at, address, slab_cut, out[0 .. left - 1], slab_slot_region[0 .. left - 1],
                     slab_region_slot[first .. first + n - 1];
        loop variant at;
    */
    while (at > end) {
        address = slab_put_next(out, at - 1, address, bytes) /*@ ghost (hi, base) */;
        at -= 1;
    }
    return (uint32_t)at;
}

/* No region of word i below bit b is free. */
/*@ ghost
  /@ requires cut:      slab_cut == 64 * i && i < SLAB_WORDS && b < 64;
     requires bytes:    bytes <= SC_SMALL_MAXCLASS;
     requires below:    SlotsBelow(left, hi, slab_cut);
     requires within:   SlotsWithin(out, left, hi, base, base + slab_cut * bytes, bytes);
     assigns            slab_cut;
     ensures  cut:      slab_cut == 64 * i + b;
     ensures  below:    SlotsBelow(left, hi, slab_cut);
     ensures  within:   SlotsWithin(out, left, hi, base, base + slab_cut * bytes, bytes);
  @/
  static void slab_skip(uint32_t i, uint32_t b, uint32_t left, uint32_t hi, uint64_t *out, uint64_t base, uint32_t bytes)
  {
    slab_lemma_scale(slab_cut, 64 * i + b, bytes);
    slab_cut = 64 * i + b;
  }
*/

/* Takes regions of word i, of which those from bit b on are free and no others, into the slots below left, as many as there are or as fit.
 * Returns the number of slots left. */
/*@ REQUIRES_TAKE_WORD;
    requires rest:     b < 64 && \forall integer x; 0 <= x < 64 ==> (tbit(slab_bits[e].w[i], x) <==> b <= x);
    assigns            slab_bits[e].w[i], slab_sum[e].upto[i + 1 .. SLAB_WORDS], out[0 .. left - 1], slab_cut,
                       slab_slot_region[0 .. left - 1], slab_region_slot[64 * i .. 64 * i + 63];
    ENSURES_TAKE_WORD;
*/
static inline uint32_t slab_take_rest(uint32_t e, uint32_t i, uint64_t base, uint32_t bytes, uint64_t *out, uint32_t left,
                                      uint32_t b) /*@ ghost (uint32_t hi) */
{
    uint32_t n = 64 - b < left ? 64 - b : left;
    /*@ ghost slab_lemma_scale(64 * i + b, SLAB_REGIONS_MAX, bytes); */
    uint64_t address = slab_place(base, bytes, 64 * i + b);
    /*@ assert free: \forall integer r; 64 * i <= r < 64 * i + 64 ==> (SlabFree(e, r) <==> 64 * i + b <= r); */
    /*@ ghost slab_skip(i, b, left, hi, out, base, bytes); */
    uint32_t rest = slab_put_row(address, bytes, out, left, n) /*@ ghost (64 * i + b, hi, base) */;
    /*@ assert same: slab_bits[e].w[i] == \at(slab_bits[e].w[i],Pre); */
    /*@ assert row: \forall integer r; 64 * i <= r < slab_cut && SlabFree{Pre}(e, r) ==> 64 * i + b <= r; */
    /*@ ghost uint64_t was = slab_bits[e].w[i]; */
    uint64_t all = UINT64_MAX;
    uint64_t gone = bitmap_word_mask(b + n);
    uint64_t w = all ^ gone;
    /*@ ghost
        bitmap_word_lemma_ones_shifted(0);
        bitmap_word_lemma_two(all, gone);
    */
    /*@ assert left: \forall integer x; 0 <= x < 64 ==> (tbit(w, x) <==> b + n <= x); */
    /*@ ghost bitmap_word_lemma_range(w, was, b, n); */
    /*@ assert count: pop(\at(slab_bits[e].w[i],Pre), 64) == pop(w, 64) + n; */
    slab_set_word(e, i, w);
    /*@ assert rest: \forall integer r; 64 * i <= r < 64 * i + 64 ==> (SlabFree(e, r) <==> 64 * i + b + n <= r); */
    /*@ assert none: rest > 0 ==> b + n == 64; */
    /*@ ghost if (w != 0) { int x = bitmap_word_lemma_nonzero(w); } */
    /*@ assert empty: rest > 0 ==> w == 0; */
    return rest;
}

/* Returns the bit from which on all regions of a word are free, or 64 if they are not those. */
/*@ assigns            \nothing;
    ensures  bit:      \result <= 64;
    ensures  rest:     \result < 64 ==> \forall integer x; 0 <= x < 64 ==> (tbit(w, x) <==> \result <= x);
*/
static inline uint32_t slab_rest_from(uint64_t w)
{
    if (w == 0) {
        return 64;
    }
    uint64_t all = UINT64_MAX;
    uint32_t b = bits_lowest(w);
    uint64_t below = bitmap_word_mask(b);
    /*@ ghost
        bitmap_word_lemma_ones_shifted(0);
        bitmap_word_lemma_two(all, w);
    */
    return (all ^ w) == below ? b : 64;
}

/* Takes regions of word i into the slots below left, as many as there are or as fit. Returns the number of slots left. */
/*@ REQUIRES_TAKE_WORD;
    assigns            slab_bits[e].w[i], slab_sum[e].upto[i + 1 .. SLAB_WORDS], out[0 .. left - 1], slab_cut,
                       slab_slot_region[0 .. left - 1], slab_region_slot[64 * i .. 64 * i + 63];
    ENSURES_TAKE_WORD;
*/
static inline uint32_t slab_take_word(uint32_t e, uint32_t i, uint64_t base, uint32_t bytes, uint64_t *out,
                                      uint32_t left) /*@ ghost (uint32_t hi) */
{
    uint64_t w = AT(slab_bits, e).w[i];
    /*@ ghost slab_lemma_scale(64 * i, SLAB_REGIONS_MAX, bytes); */
    uint64_t word_base = slab_place(base, bytes, 64 * i);
    /*@ ghost uint64_t was = w; */
    /*@ loop invariant left:    0 <= left <= \at(left, Pre);
        loop invariant count:   pop(w, 64) == pop(was, 64) - (\at(left, Pre) - left);
        loop invariant cut:     64 * i <= slab_cut <= 64 * i + 64;
        loop invariant rest:    \forall integer b; 0 <= b < 64 ==>
                                  (tbit(w, b) <==> tbit(was, b) && 64 * i + b >= slab_cut);
        loop invariant free:    \forall integer s; left <= s < \at(left, Pre) ==>
                                  64 * i <= slab_slot_region[s] && SlabFree(e, slab_slot_region[s]);
        loop invariant all:     \forall integer r; 64 * i <= r < slab_cut && SlabFree(e, r) ==>
                                  left <= slab_region_slot[r] < \at(left, Pre) &&
                                  slab_slot_region[slab_region_slot[r]] == r;
        loop invariant last:    left < \at(left, Pre) ==> slab_slot_region[left] == slab_cut - 1;
        SLOTS_FILLED(loop invariant, left, hi);
        loop assigns w, left, slab_cut, out[0 .. \at(left, Pre) - 1], slab_slot_region[0 .. \at(left, Pre) - 1],
                     slab_region_slot[64 * i .. 64 * i + 63];
        loop variant left;
    */
    while (w != 0 && left > 0) {
        uint32_t b = bits_lowest(w);
        uint64_t v = bitmap_word_clear(w, b);
        /*@ ghost bitmap_word_lemma_one(v, w, b, 64); */
        /*@ assert free: SlabFree(e, 64 * i + b); */
        /*@ assert skip: \forall integer r; slab_cut <= r < 64 * i + b ==> !tbit(w, r - 64 * i); */
        /*@ assert none: \forall integer r; slab_cut <= r < 64 * i + b ==> !SlabFree(e, r); */
        w = v;
        left -= 1;
        uint64_t address = slab_place(word_base, bytes, b);
        slab_put(out, left, address) /*@ ghost (hi, base, bytes, 64 * i + b) */;
    }
    slab_set_word(e, i, w);
    return left;
}

/* After a word that left slots open, no region below the next word is free. */
/*@ ghost
  /@ requires cut:      slab_cut <= 64 * i + 64 && i < SLAB_WORDS;
     requires bytes:    bytes <= SC_SMALL_MAXCLASS;
     requires below:    SlotsBelow(left, hi, slab_cut);
     requires within:   SlotsWithin(out, left, hi, base, base + slab_cut * bytes, bytes);
     assigns            slab_cut;
     ensures  cut:      slab_cut == (left > 0 ? 64 * i + 64 : \old(slab_cut));
     ensures  below:    SlotsBelow(left, hi, slab_cut);
     ensures  within:   SlotsWithin(out, left, hi, base, base + slab_cut * bytes, bytes);
  @/
  static void slab_close(uint32_t i, uint32_t left, uint32_t hi, uint64_t *out, uint64_t base, uint32_t bytes)
  {
    if (left > 0) {
      slab_lemma_scale(slab_cut, 64 * i + 64, bytes);
      slab_cut = 64 * i + 64;
    }
  }
*/

uint32_t slab_take_batch(uint32_t e, uint64_t base, uint64_t *out, uint32_t n)
{
    uint32_t bytes = slab_bytes[AT(slab_class, e)];
    uint32_t count = AT(slab_free_count, e);
    uint32_t k = n < count ? n : count;
    uint32_t left = k;
    /*@ ghost slab_cut = 0; */
    /*@ ghost bitmap_word_lemma_none(0, 64); */
    /*@ loop invariant left:    0 <= left <= k;
        loop invariant range:   0 <= i <= SLAB_WORDS;
        SLAB_SUMMED(loop invariant, e);
        loop invariant total:   slab_sum[e].upto[SLAB_WORDS] == count - (k - left);
        loop invariant cut:     slab_cut <= 64 * i;
        loop invariant empty:   k == 0 ==> slab_cut == 0;
        loop invariant full:    left > 0 ==> slab_cut == 64 * i && slab_sum[e].upto[i] == 0;
        loop invariant later:   \forall integer j; i <= j < SLAB_WORDS ==> slab_bits[e].w[j] == \at(slab_bits[e].w[j], Pre);
        loop invariant rest:    \forall integer r; 0 <= r < SLAB_REGIONS_MAX ==>
                                  (SlabFree(e, r) <==> SlabFree{Pre}(e, r) && r >= slab_cut);
        loop invariant free:    \forall integer s; left <= s < k ==> SlabFree{Pre}(e, slab_slot_region[s]);
        loop invariant all:     \forall integer r; 0 <= r < slab_cut && SlabFree{Pre}(e, r) ==>
                                  left <= slab_region_slot[r] < k && slab_slot_region[slab_region_slot[r]] == r;
        loop invariant last:    left == 0 && k > 0 ==> slab_slot_region[0] == slab_cut - 1;
        SLOTS_FILLED(loop invariant, left, k);
        loop assigns i, left, slab_cut, out[0 .. k - 1], slab_bits[e].w[0 .. SLAB_WORDS - 1],
                     slab_sum[e].upto[1 .. SLAB_WORDS], slab_slot_region[0 .. SLAB_REGIONS_MAX - 1],
                     slab_region_slot[0 .. SLAB_REGIONS_MAX - 1];
        loop variant SLAB_WORDS - i;
    */
    for (uint32_t i = 0; left > 0; i++) {
        uint32_t b = slab_rest_from(AT(slab_bits, e).w[i]);
        left = b < 64 ? slab_take_rest(e, i, base, bytes, out, left, b) /*@ ghost (k) */
                      : slab_take_word(e, i, base, bytes, out, left) /*@ ghost (k) */;
        /*@ assert these: \forall integer s; left <= s < \at(left, LoopCurrent) ==> SlabFree{LoopCurrent}(e, slab_slot_region[s]); */
        /*@ assert those: \forall integer s; \at(left, LoopCurrent) <= s < k ==>
                           slab_slot_region[s] == \at(slab_slot_region[s], LoopCurrent); */
        /*@ assert free: \forall integer s; left <= s < k ==> SlabFree{Pre}(e, slab_slot_region[s]); */
        /*@ assert word: \forall integer r; 64 * i <= r < slab_cut && SlabFree{Pre}(e, r) ==>
                           left <= slab_region_slot[r] < k && slab_slot_region[slab_region_slot[r]] == r; */
        /*@ assert kept: \forall integer r; 0 <= r < 64 * i && SlabFree{Pre}(e, r) ==>
                           left <= slab_region_slot[r] < k && slab_slot_region[slab_region_slot[r]] == r; */
        /*@ assert none: \forall integer r; slab_cut <= r < 64 * i + 64 && left > 0 ==> !SlabFree{Pre}(e, r); */
        /*@ ghost slab_close(i, left, k, out, base, bytes); */
    }
    /*@ assert range: SlotsBelow(0, k, slab_regions[slab_class[e]]); */
    /*@ assert cut: slab_cut <= slab_regions[slab_class[e]]; */
    /*@ ghost slab_lemma_scale(slab_cut, slab_regions[slab_class[e]], bytes); */
    AT(slab_free_count, e) = count - k;
    return k;
}

/* ---- pages ------------------------------------------------------------------------------------------------------- */

bool slab_page_free(uint32_t e, uint32_t p)
{
    uint32_t bytes = slab_bytes[AT(slab_class, e)];
    uint64_t end = (p + 1UL) * PAGE;
    uint32_t first = (uint32_t)(p * PAGE / bytes);
    uint32_t r = first;
    /*@ ghost slab_lemma_page(p, slab_npages[slab_class[e]], bytes, slab_regions[slab_class[e]], first); */
    /*@ loop invariant first:  first <= r <= slab_regions[slab_class[e]];
        loop invariant free:   \forall integer q; first <= q < r ==> SlabFree(e, q);
        loop assigns   r;
        loop variant   slab_regions[slab_class[e]] - r;
    */
    while ((uint64_t)r * bytes < end) {
        /*@ ghost slab_lemma_before(r, slab_regions[slab_class[e]], bytes); */
        if (!bitmap_word_get(AT(slab_bits, e).w[r / 64], r % 64)) {
            /*@ ghost slab_lemma_scale(first + 1UL, r + 1UL, bytes); */
            /*@ assert taken: SlabOverlaps(bytes, r, p) && !SlabFree(e, r); */
            return false;
        }
        r++;
    }
    /*@ assert behind: \forall integer q; r <= q ==> end <= q * bytes; */
    return true;
}
