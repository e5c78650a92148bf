/* cuckoo_hash_fuzz: the world is two hash tables over ids at the borders of the table; the step is one call that three bytes of the
 * input choose; the check is the model of tests/cuckoo_hash_model.h. */
#include "cuckoo_hash_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    model_reset(0);
    for (; size >= 3; data += 3, size -= 3) {
        uint32_t k = data[0] / IDS % MAPS;
        if (data[1] == UINT8_MAX) {
            model_resize(k, data[2] % (LG_MOST + 1), data[0] % 8 != 0);
        } else {
            model_insert(data[0] % IDS, k, data[1] % 8 + (uint64_t)data[1] * 0x100000000UL, data[2] % 8 + (uint64_t)data[2] * 0x100000000UL);
        }
        model_compare();
    }
    return 0;
}
