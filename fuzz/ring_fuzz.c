/* ring_fuzz: the world is eleven ids, the step one ring operation, the check the permutation of tests/ring_model.h. */
#include "ring_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ring_model_reset();
    for (size_t i = 0; i + 3 <= size; i += 3) {
        ring_model_step(data[i] % 5, 1 + data[i + 1] % (RING_IDS - 1), 1 + data[i + 2] % (RING_IDS - 1));
    }
    return 0;
}
