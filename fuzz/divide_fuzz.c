/* divide_fuzz: the step is a size and an offset in a run that fits (of sizes above DIVIDE_SIZE_MAX, a short one), from eight
 * bytes of the input; the check is the processor's own division. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/divide.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (; size >= 8; data += 8, size -= 8) {
        uint32_t bytes, offset;
        memcpy(&bytes, data, 4);
        memcpy(&offset, data + 4, 4);
        bool above = bytes > UINT32_MAX / 2;
        bytes = above ? bytes : (uint32_t)(SC_TINY + bytes % (DIVIDE_SIZE_MAX - SC_TINY + 1));
        uint64_t end = above ? DIVIDE_SIZE_MAX : DIVIDE_NREGIONS_MAX(bytes) * bytes;
        end = end < 1UL << DIVIDE_LG_OFFSET ? end : 1UL << DIVIDE_LG_OFFSET;
        offset = (uint32_t)(offset % end);
        divide_magic_t magic = divide_magic(bytes);
        uint32_t high = divide_high(divide_product(offset, magic));
        if (high != offset / bytes || divide_is_multiple(offset, magic) != (offset % bytes == 0)) {
            fprintf(stderr, "divide: %u by %u\n", offset, bytes);
            abort();
        }
    }
    return 0;
}
