/* bin_fuzz: the world is the bins of all classes in three arenas; the step is one fill, flush, trim or refusal of the OS,
 * which four bytes of the input choose; the check is tests/bin_model.h. The world begins anew with each input,
 * and ends with all blocks back in their slabs. */
#include "bin_model.h"
#include "reset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    reset();
    memset(bin_model_stats, 0, sizeof bin_model_stats);
    bin_model_boot();
    bin_model_controls();
    for (size = size < 1024 ? size : 1024; size >= 4; data += 4, size -= 4) {
        uint32_t szind = data[1] % SC_NBINS, n = 1 + (data[2] < 128 ? data[2] : 4U * data[2]) % BIN_MODEL_BATCH;
        switch (data[0] / BIN_MODEL_ARENAS % 8) {
        case 0: case 1: case 2: bin_model_fill(data[0] % BIN_MODEL_ARENAS, szind, n); break;
        case 3: case 4: case 5: bin_model_flush(szind, n, data[3] * bin_model.count / 256); break;
        case 6: os_fake_fail(data[1] % 2 == 0 ? OS_FAKE_MAP : OS_FAKE_METADATA, 1 + data[2] % 4, data[3]); break;
        default: pages_trim();
        }
        bin_model_compare();
    }
    bin_model_finish();
    return 0;
}
