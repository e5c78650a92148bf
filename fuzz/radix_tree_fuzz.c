/* radix_tree_fuzz: the world is the tree and its model around a few borders. The step is one call that four bytes of
 * the input choose. The check is the model of tests/radix_tree_model.h. */
#include "radix_tree_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    model_reset();
    for (; size >= 4; data += 4, size -= 4) {
        uint32_t zone = data[0] / 4 % ZONES, i = data[1], n = data[2];
        uint64_t w = data[3] * 0x0101010101010101UL;        /* a value that shows in every byte */
        switch (data[0] % 4) {
        case 0: model_reserve(zone, i, n, data[3] % 4); break;
        case 1: model_set_tag(zone, i, w); break;
        case 2: model_set_extent(zone, i, (uint32_t)w); break;
        default: model_set_tags(zone, i, n, w); break;
        }
        model_compare();
    }
    return 0;
}
