/* size_class_fuzz: the world is the list of classes. The step takes a size from eight bytes of the input, as it is and
 * rounded to a class. The check is a search through the list. */
#include <string.h>

#include "size_class_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (model_nsizes == 0) {
        model_boot();
    }
    for (; size >= 9; data += 9, size -= 9) {
        uint64_t x;
        memcpy(&x, data, 8);
        x >>= data[8] % 64;
        uint32_t i = (uint32_t)(x % SC_NSIZES);
        model_compare_size(x);
        model_compare_pages(x + (x == 0));
        model_compare_size(model_bytes[i] + data[8] % 3 - 1);
        MODEL_CHECK(size_class_bytes(i) == model_bytes[i]);
        MODEL_CHECK(size_class_page_index(model_npages[i % SC_NPSIZES]) == i % SC_NPSIZES);
    }
    return 0;
}
