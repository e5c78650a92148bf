/* rb_tree_fuzz: the world is three trees over nodes at the borders of the table; the step is one call that two bytes of the input
 * choose; the check is the model of tests/rb_tree_model.h. */
#include "rb_tree_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    model_reset();
    for (; size >= 2; data += 2, size -= 2) {
        model_toggle(data[0] % NODES, data[0] / NODES % TREES, data[1] * (UINT64_MAX / 255));
        model_compare();
    }
    return 0;
}
