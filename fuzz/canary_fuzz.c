/* canary_fuzz: a tiny heap with a planted fault, which every engine must find within seconds: nobody who runs this gets
 * no crash. The world is 16 regions and a count; freeing region 11 while exactly three are taken loses the count. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned taken = 0, count = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned region = data[i] % 16U, bit = 1U << region;
        if (data[i] < 128 && (taken & bit) == 0) {
            taken |= bit;
            count++;
        } else if (data[i] >= 128 && (taken & bit) != 0) {
            taken &= ~bit;
            count -= region == 11 && count == 3 ? 0 : 1;        /* the fault */
        }
        if (count != (unsigned)__builtin_popcount(taken)) {
            fprintf(stderr, "canary: the count is lost\n");
            abort();
        }
    }
    return 0;
}
