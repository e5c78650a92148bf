/* decay_fuzz: the world is all decays, a clock, and the pages that they govern. The step is one call that the input
 * chooses. The check is the model of tests/decay_model.h. */
#include "decay_model.h"

static const uint8_t *input, *input_end;

static uint64_t take(void)          /* two bytes, a shift and a mantissa, so that every magnitude is near */
{
    if (input_end - input < 2) {
        input = input_end;
        return 0;
    }
    uint64_t value = (uint64_t)input[1] << (input[0] % 57);
    input += 2;
    return value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t now = 0, npages[DECAY_COUNT] = {0};
    input = data;
    input_end = data + size;
    decay_model_boot();
    while (input < input_end) {
        uint8_t  op = *input++;
        uint32_t w = op % 2 * DECAY_MUZZY + op / 12 % PAGE_CACHES;
        switch (op / 2 % 6) {
        case 0: decay_model_set(w, (int64_t)(take() - 1)); break;
        case 1: now += take(); break;                   /* may wrap: a clock that goes backwards */
        case 2: now /= take() % 7 + 1; break;
        case 3: npages[w] += take(); break;
        case 4: npages[w] -= npages[w] / (take() % 7 + 1); break;
        default:
            npages[w] = npages[w] < DECAY_NPAGES_MAX ? npages[w] : DECAY_NPAGES_MAX;
            uint64_t may_stay = decay_model_advance(w, now, npages[w]);
            npages[w] = op < 128 ? may_stay : npages[w];
        }
        decay_model_compare();
    }
    return 0;
}
