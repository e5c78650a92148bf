/* slab_test: compares with slab_model.h. It checks the geometry of every class and every offset into every slab. For
 * every class it takes all regions and gives them back in ascending, descending and random order, each of them twice.
 * It takes batches of every length around the borders of words, from slabs with every pattern of holes near them.
 * Random calls on four slabs follow. */
#include "slab_model.h"

static uint64_t seed = 0x51ABUL;

static uint32_t random_below(uint32_t n)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (uint32_t)((seed >> 33) % n);
}

/* The rule that the header states, by trying all multiples. */
static void test_geometry(void)
{
    struct slab_model m = {.id = 0};
    for (uint32_t c = 0; c < SC_NBINS; c++) {
        uint64_t bytes = size_class_bytes(c);
        uint64_t least = 1;
        while (least * PAGE % bytes != 0) {
            least++;
        }
        uint64_t npages = least, target = bytes > 1024 ? 8192 : bytes > 512 ? 64 * bytes : 32768;
        while ((npages + least) * PAGE / bytes <= SLAB_REGIONS_MAX && (npages + least) * PAGE <= target) {
            npages += least;
        }
        m.szind = c;
        slab_model_expect(slab_bytes[c] == bytes, "slab_bytes", &m, slab_bytes[c], bytes);
        slab_model_expect(slab_npages[c] == npages, "slab_npages", &m, slab_npages[c], npages);
        slab_model_expect(slab_regions[c] == npages * PAGE / bytes, "slab_regions", &m, slab_regions[c], npages * PAGE / bytes);
        slab_model_expect(slab_regions[c] <= SLAB_REGIONS_MAX, "regions", &m, slab_regions[c], SLAB_REGIONS_MAX);
        slab_model_expect(npages * PAGE <= SLAB_BYTES_MAX, "length", &m, npages * PAGE, SLAB_BYTES_MAX);
        for (uint64_t off = 0; off < npages * PAGE; off++) {
            slab_model_region_of(&m, off);
        }
    }
}

static void test_class(uint32_t szind)
{
    struct slab_model *m = &slab_model[szind % SLAB_MODEL_COUNT];
    for (uint32_t order = 0; order < 3; order++) {
        slab_model_init(m, szind);
        slab_model_compare();
        for (uint32_t i = 0; i < m->regions; i++) {
            slab_model_take_batch(m, 1);
        }
        slab_model_compare();
        slab_model_take_batch(m, 3);                            /* nothing left */
        for (uint32_t i = 0; i < m->regions; i++) {
            uint32_t r = order == 0 ? i : order == 1 ? m->regions - 1 - i : random_below(m->regions);
            slab_model_give(m, r);
        }
        slab_model_compare();
    }
}

/* Holes: every pattern of 8 regions across a word boundary and at both ends. */
static void test_batches(uint32_t szind)
{
    static const uint32_t lengths[] = {0, 1, 2, 7, 63, 64, 65, 127, 128, 129, SLAB_REGIONS_MAX - 1, SLAB_REGIONS_MAX,
                                       SLAB_REGIONS_MAX + 1};
    struct slab_model *m = &slab_model[szind % SLAB_MODEL_COUNT];
    for (uint32_t holes = 0; holes < 256; holes += szind < 8 ? 1 : 5) {
        for (uint32_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++) {
            slab_model_init(m, szind);
            slab_model_take_batch(m, SLAB_REGIONS_MAX);
            for (uint32_t r = 0; r < m->regions; r++) {
                bool edge = r < 4 || r + 4 >= m->regions || (r + 4) % 64 < 8;
                if (!edge || ((holes >> (r % 8)) & 1)) {
                    slab_model_give(m, r);
                }
            }
            slab_model_take_batch(m, lengths[n]);
            slab_model_compare();
            slab_model_take_batch(m, 1);
            slab_model_take_batch(m, lengths[n]);
        }
    }
    slab_model_compare();
}

static void test_random(void)
{
    for (uint32_t step = 0; step < 100000; step++) {
        struct slab_model *m = &slab_model[random_below(SLAB_MODEL_COUNT)];
        switch (random_below(16)) {
        case 0: slab_model_init(m, random_below(SC_NBINS)); break;
        case 1: slab_model_take_batch(m, random_below(SLAB_REGIONS_MAX + 2)); break;
        case 2:
        case 3:
        case 4: slab_model_take_batch(m, 1); break;
        default: slab_model_give(m, random_below(m->regions)); break;
        }
        if (step % 16 == 0) {
            slab_model_compare();
        }
    }
}

int main(void)
{
    slab_model_boot();
    test_geometry();
    for (uint32_t c = 0; c < SC_NBINS; c++) {
        test_class(c);
        test_batches(c);
    }
    test_random();
    printf("ok slab: %lu checks, seed 0x51AB\n", slab_model_checks);
    return 0;
}
