/* base_fuzz: the world is base as it is at its start. The step asks for a piece, while the OS has memory or has none.
 * The check is a list of all pieces of this input. */
#include <stdio.h>
#include <stdlib.h>

#include "pages/base.h"
#include "platform/os_fake.h"

#define PIECES 64U

static void fail(const char *what)
{
    fprintf(stderr, "base: %s\n", what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uintptr_t from[PIECES], to[PIECES];
    uint32_t  n = 0;
    os_fake_rewind();
    base_block_next = BASE_BLOCK_FIRST;
    base_allocated = base_mapped = base_cursor = base_end = 0;
    base_boot();
    for (; size >= 4 && n < PIECES; data += 4, size -= 4) {
        size_t bytes = 1 + (((size_t)data[1] << 8 | data[2]) << data[0] % 6), align = 1UL << data[3] % 13;
        if (data[0] == 255) {
            bytes = BASE_MAPPED_MAX - data[1] + 128;
        } else if (data[0] >= 240) {
            os_fake_fail(OS_FAKE_METADATA, 1, data[1] % 4);
        }
        uint64_t  allocated = base_allocated, mapped = base_mapped, calls = os_fake.calls[OS_FAKE_METADATA];
        uintptr_t p = base_alloc(bytes, align), end = p + (bytes + BASE_LINE - 1) / BASE_LINE * BASE_LINE;
        if (p == 0) {
            base_allocated != allocated || base_mapped != mapped ? fail("a failure counted") : (void)0;
            calls == os_fake.calls[OS_FAKE_METADATA] && bytes + BASE_BLOCK_LAST < BASE_MAPPED_MAX - mapped
                ? fail("no memory without asking the OS") : (void)0;
            continue;
        }
        base_allocated != allocated + (end - p) ? fail("bytes handed out") : (void)0;
        p % align != 0 || p % BASE_LINE != 0 ? fail("not aligned") : (void)0;
        for (uint32_t i = 0; i < n; i++) {
            p < to[i] && from[i] < end ? fail("two pieces overlap") : (void)0;
        }
        from[n] = p;
        to[n++] = end;
    }
    return 0;
}
