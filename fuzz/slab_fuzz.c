/* slab_fuzz: the world is four slabs. The step is one call that the input chooses. The check is tests/slab_model.h. */
#include "slab_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slab_model_boot();
    for (size_t i = 0; i + 3 <= size; i += 3) {
        struct slab_model *m = &slab_model[data[i] % SLAB_MODEL_COUNT];
        uint32_t           n = data[i + 1] + 256U * data[i + 2];
        switch (data[i] / SLAB_MODEL_COUNT % 6) {
        case 0: slab_model_init(m, n % SC_NBINS); break;
        case 1: slab_model_take_batch(m, 1); break;
        case 2: slab_model_take_batch(m, n % (SLAB_REGIONS_MAX + 2)); break;
        case 3: slab_model_region_of(m, n % (slab_npages[m->szind] * PAGE)); break;
        default: slab_model_give(m, n % (m->regions + 1)); break;
        }
        slab_model_compare();
    }
    return 0;
}
