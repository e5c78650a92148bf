/* page_cache_fuzz: bytes are operations, done through the slow model (tests/page_cache_model.h), which compares all pages
 * after each. The world begins anew with each input, so that it can grow in each; it ends with everything freed and purged,
 * which must leave only retained pages, joined as far as they touch.
 */
#include "page_cache_model.h"
#include "reset.h"

#define LIVE_MAX 24U
#define MAPPED_NPAGES_MAX 20000U                        /* keeps the model fast */

struct input {
    const uint8_t *data;
    size_t         size;
};

static uint32_t live[LIVE_MAX];
static uint32_t live_count;
static uint32_t taken;                                  /* BUSY extent, 0 = none */
static uint32_t taken_from;

static uint32_t next_byte(struct input *in)
{
    if (in->size == 0) {
        return 0;
    }
    in->size--;
    return *in->data++;
}

static uint64_t next_npages(struct input *in)
{
    uint32_t b = next_byte(in);
    return (1UL << b % 11) + (b / 11U) % (1U << b % 11);
}

static void op_alloc(struct input *in)
{
    uint64_t npages = next_npages(in);
    uint64_t align = 1UL << next_byte(in) % 12;
    if (live_count < LIVE_MAX) {
        uint32_t e = model_alloc(npages, align);
        if (e != 0) {
            live[live_count++] = e;
        }
    }
}

static void op_free(uint32_t i)
{
    model_free(live[i]);
    live[i] = live[--live_count];
}

static void op_give(bool further)
{
    if (taken != 0) {
        model_give(taken, further ? taken_from + PAGE_CACHES : taken_from);
        taken = 0;
    }
}

static void op_take(struct input *in)
{
    uint32_t b = next_byte(in);
    op_give(b % 2 == 0);
    taken_from = b % 4 < 2 ? EXTENT_DIRTY : EXTENT_MUZZY;
    taken = model_take(taken_from, next_npages(in));
}

static void step(struct input *in)
{
    uint32_t op = next_byte(in);
    uint32_t i = live_count == 0 ? 0 : op / 8 % live_count;
    model_cache = op / 64 % PAGE_CACHES;
    switch (op % 8) {
    case 0:
    case 1:
        op_alloc(in);
        break;
    case 2:
        if (live_count > 0) {
            op_free(i);
        }
        break;
    case 3:
        if (live_count > 0) {
            model_expand(live[i], AT(ext_npages, live[i]) + next_npages(in));
        }
        break;
    case 4:
        if (live_count > 0 && AT(ext_npages, live[i]) > 1) {
            model_shrink(live[i], 1 + (next_npages(in) - 1) % (AT(ext_npages, live[i]) - 1));
        }
        break;
    case 5:
        op_take(in);
        break;
    case 6:
        op_give(op >= 128);
        break;
    default:
        os_fake.gap_npages = op / 8 % 2;
        os_fake_fail(op / 16 % 2 == 0 ? OS_FAKE_MAP : OS_FAKE_METADATA, 1 + op / 128, op / 32 % 4);
    }
}

static void finish(void)
{
    os_fake.fail_count[OS_FAKE_MAP] = 0;
    os_fake.fail_count[OS_FAKE_METADATA] = 0;
    op_give(true);
    while (live_count > 0) {
        op_free(0);
    }
    for (model_cache = 0; model_cache < PAGE_CACHES; model_cache++) {
        for (uint32_t kind = EXTENT_DIRTY; kind <= EXTENT_MUZZY; kind += PAGE_CACHES) {
            for (uint32_t e; (e = model_take(kind, PAGE_COUNT_MAX)) != 0;) {
                model_give(e, EXTENT_RETAINED);
            }
        }
        MODEL_CHECK(extent_npages_total[EXTENT_RETAINED + model_cache] == page_cache_mapped_npages[model_cache]);
    }
    for (uint32_t e = 1; e <= extent_count; e++) {
        model_set(AT(ext_page, e), AT(ext_npages, e), AT(ext_state, e), EXTENT_UNUSED);
    }
    model_total[EXTENT_UNUSED] = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    reset();
    page_cache_boot();
    os_fake.mapped_npages_max = MAPPED_NPAGES_MAX;
    struct input in = {data, size < 300 ? size : 300};
    while (in.size > 0) {
        step(&in);
    }
    finish();
    return 0;
}
