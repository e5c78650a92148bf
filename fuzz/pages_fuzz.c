/* pages_fuzz: the world is the page cache with its decay, a clock, and an OS that may refuse; the step is one call that
 * four bytes of the input choose; the check is tests/pages_model.h. The world begins anew with each input, and ends with
 * all pages free and purged. */
#include "pages_model.h"
#include "reset.h"

static bool os_works;

static void step(const uint8_t *data)
{
    static const int64_t ms[] = {1000, 0, -1, 60};
    uint32_t             i = data[3] * pages_model.count / 256;
    uint64_t             npages = 1 + ((data[1] % 64UL) << data[1] / 64 * 2);
    bool                 some = pages_model.count > 0;
    switch (data[0] % 12) {
    case 0: case 1: case 2: pages_model_alloc(npages, 1UL << data[2] % 16 % 10, data[3]); break;
    case 3: case 4: some ? pages_model_free(i, data[2] % 2 == 0) : (void)0; break;
    case 5: some ? pages_model_resize(i, npages) : (void)0; break;
    case 6: some ? pages_model_find(i, data[1]) : (void)0; break;
    case 7:
        os_fake.clock_ms += data[1] * 4U;
        pages_decay();
        break;
    case 8: pages_model_decay(os_works); break;
    case 9: pages_model_trim(os_works); break;
    case 10:
        pages_model_set_decay(ms[data[1] % 4], ms[data[2] % 4]);
        pages_model_set_limit(data[3] < 128 ? LIMIT_NONE : (data[3] % 128UL) * 4 * PAGE);
        break;
    default:
        os_works = data[1] % OS_FAKE_CALLS < OS_FAKE_PURGE_LAZY && os_works;
        os_fake_fail((enum os_fake_call)(data[1] % OS_FAKE_CALLS), 1 + data[2] % 4, data[3]);
        os_fake.gap_npages = data[2] / 64 == 3 ? 1 : 0;
        pages_decay();                  /* what stayed because the OS refused goes, if it works again */
    }
    pages_model_compare(EXTENT_DIRTY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    reset();
    pages_model_boot();
    pages_model_set_decay(1000, 0);
    os_works = true;
    pages_model_controls();
    for (size = size < 1024 ? size : 1024; size >= 4; data += 4, size -= 4) {
        step(data);
    }
    pages_model_finish();
    return 0;
}
