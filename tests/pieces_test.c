/* pieces_test: random takes and gives. Pieces are zero, do not overlap, and are taken again; without memory there is none. */
#include <string.h>

#include "blocks_boot.h"
#include "prof/pieces.h"

#define HELD 300U

static unsigned char *piece[HELD];
static size_t         bytes[HELD];

/* A piece is filled with its number while it is held, so that two which overlap would differ. */
static void check_held(uint32_t i)
{
    CHECK(piece[i][0] == (unsigned char)i && piece[i][bytes[i] - 1] == (unsigned char)i && piece[i][bytes[i] / 2] == (unsigned char)i);
}

int main(void)
{
    os_fake_reset();
    for (uint32_t n = 0; n < 200000; n++) {
        uint32_t i = (uint32_t)random_below(HELD);
        if (piece[i] != NULL) {
            check_held(i);
            pieces_give(piece[i], bytes[i]);
            piece[i] = NULL;
            continue;
        }
        bytes[i] = 1 + random_below(random_below(50) == 0 ? 200000 : 3000);
        piece[i] = pieces_take(bytes[i]);
        CHECK(piece[i] != NULL);
        for (size_t k = 0; k < bytes[i]; k += 1 + k / 16) {
            CHECK(piece[i][k] == 0);
        }
        memset(piece[i], (int)i, bytes[i]);
    }
    uint64_t calls = os_fake.calls[OS_FAKE_METADATA];
    for (uint32_t n = 0; n < 1000; n++) {
        void *p = pieces_take(1000);
        CHECK(p != NULL);
        pieces_give(p, 1000);
    }
    CHECK(os_fake.calls[OS_FAKE_METADATA] <= calls + 1);
    os_fake_fail(OS_FAKE_METADATA, 1, 1);
    CHECK(pieces_take(1UL << 20) == NULL && pieces_take(1UL << 60) == NULL);
    CHECK(pieces_take(1UL << 20) != NULL);
    return blocks_done("pieces");
}
