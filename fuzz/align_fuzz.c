/* align_fuzz: the step takes a number and a power of two from nine bytes of the input. The check is 128-bit
 * arithmetic. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/align.h"
#include "math/prng.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (; size >= 9; data += 9, size -= 9) {
        uint64_t x, a = 1UL << data[8] % 64, state;
        memcpy(&x, data, 8);
        x >>= data[8] / 64 * 20;
        unsigned __int128 up = ((unsigned __int128)x + a - 1) / a * a;
        bool              good = is_power_of_two(x) == (__builtin_popcountl(x) == 1) && align_down(x, a) == x / a * a;
        good = good && ((unsigned __int128)x + a - 1 > UINT64_MAX || align_up(x, a) == up);
        state = x;
        if (!good || (x != 0 && prng_range(&state, x) >= x)) {
            fprintf(stderr, "align: another result for 0x%lx by 0x%lx\n", x, a);
            abort();
        }
    }
    return 0;
}
