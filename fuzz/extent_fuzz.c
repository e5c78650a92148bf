/* extent_fuzz: the world is the extent table and its model, at the borders of the radix tree and of the address space.
 * The step is one call that four bytes of the input choose. The check is the model of tests/extent_model.h. */
#include "extent_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    model_reset();
    for (; size >= 4; data += 4, size -= 4) {
        model_step(data[0], data[1], data[2], data[3]);
        model_compare();
    }
    return 0;
}
