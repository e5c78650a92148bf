/* tcache_fuzz: the world is four thread caches and the stand-ins over two arenas, and large blocks beside them; the step
 * is one call, or a batch of equal ones, that four bytes of the input choose; the check is tests/tcache_model.h. The world
 * lives on from input to input; each ends with all blocks freed and all threads ended. */
#include "tcache_model.h"

static void give_some(uint32_t k, uint32_t n, uint32_t at)
{
    for (; n > 0 && tcache_model.count > 0; n--) {
        tcache_model_give(k, at * tcache_model.count / 256);
    }
}

static void step(const uint8_t *data)
{
    uint32_t k = data[0] % TCACHE_MODEL_CACHES, n = 1 + data[2], i = data[3] * tcache_model.count / 256;
    uint32_t large = SC_NBINS + data[1] % 32;                   /* to 3.5 MiB */
    switch (data[0] / TCACHE_MODEL_CACHES % 12) {
    case 0: case 1: case 2:
        for (; n > 0 && tcache_model.count < BLOCKS_MODEL_COUNT; n--) {
            tcache_model_take(k, 1 + data[1] % (TCACHE_STACKS - 1), data[3]);
        }
        break;
    case 3: case 4: give_some(k, n, data[3]); break;
    case 5:
        if (tcache_model.count < BLOCKS_MODEL_COUNT) {
            tcache_model_take_large(large, 1UL << data[2] % 22, data[3]);
        }
        break;
    case 6: tcache_model.count > 0 ? tcache_model_resize(i, large) : (void)0; break;
    case 7: tcache_model.count > 0 ? tcache_model_refuse(k, i, data[1] + 256U * data[2]) : (void)0; break;
    case 8: data[2] < 128 ? refill_flush(tcache_model_of(k)) : tcache_model_deepen(k, 1 + data[1] % (TCACHE_STACKS - 1), data[3]); break;
    case 9: tcache_model_toggle(k); break;
    case 10:
        os_fake.clock_ms += 8U * data[1];
        for (; n > 0; n--) {
            refill_tick(tcache_model_of(k));
        }
        break;
    default: os_fake_fail((enum os_fake_call)(data[1] % OS_FAKE_CALLS), 1 + data[2] % 4, data[3]);
    }
    tcache_model_compare();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool booted;
    if (!booted) {
        tcache_model_boot();
        booted = true;
    }
    tcache_model_controls();
    for (size = size < 1024 ? size : 1024; size >= 4; data += 4, size -= 4) {
        step(data);
    }
    tcache_model_finish();
    return 0;
}
