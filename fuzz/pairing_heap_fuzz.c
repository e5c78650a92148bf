/* pairing_heap_fuzz: the world is three heaps over nodes at the borders of the table. The step is one call that two
 * bytes of the input choose. The check is the model of tests/pairing_heap_model.h. */
#include "pairing_heap_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    model_reset();
    for (; size >= 2; data += 2, size -= 2) {
        uint32_t k = data[0] / NODES % HEAPS;
        if (data[1] == UINT8_MAX) {
            model_pop(k);
        } else {
            model_toggle(data[0] % NODES, k, data[1] % 16 * (UINT64_MAX / 15));
        }
        model_compare();
    }
    return 0;
}
