/* pieces: see pieces.h. */
#include "prof/pieces.h"

#include <stdint.h>
#include <string.h>

#include "platform/bits.h"
#include "platform/os.h"

#define PIECES_LG_LEAST 6U                      /* a piece is a power of two, of a cache line at least */
#define PIECES_LG_CHUNK 16U                     /* smaller ones are cut from chunks of that size */
#define PIECES_SIZES 48U

struct piece {
    struct piece *next;
};

static struct piece *pieces_free[PIECES_SIZES];
static char         *chunk_cursor;
static size_t        chunk_left;

static uint32_t piece_lg(size_t bytes)
{
    uint32_t lg = bytes > 1 ? (uint32_t)bits_lg_floor(bytes - 1) + 1 : 0;
    return lg < PIECES_LG_LEAST ? PIECES_LG_LEAST : lg;
}

/* What is left of a chunk where the next piece does not fit stays unused. */
static void *piece_cut(size_t bytes)
{
    if (chunk_left < bytes) {
        char *chunk = os_map_metadata(1UL << PIECES_LG_CHUNK);
        if (chunk == NULL) {
            return NULL;
        }
        chunk_cursor = chunk;
        chunk_left = 1UL << PIECES_LG_CHUNK;
    }
    void *piece = chunk_cursor;
    chunk_cursor += bytes;
    chunk_left -= bytes;
    return piece;
}

void *pieces_take(size_t bytes)
{
    uint32_t lg = piece_lg(bytes);
    if (lg >= PIECES_SIZES) {
        return NULL;
    }
    struct piece *piece = pieces_free[lg];
    if (piece != NULL) {
        pieces_free[lg] = piece->next;
        return memset(piece, 0, 1UL << lg);
    }
    return lg < PIECES_LG_CHUNK ? piece_cut(1UL << lg) : os_map_metadata(1UL << lg);
}

void pieces_give(void *piece, size_t bytes)
{
    struct piece *p = piece;
    uint32_t      lg = piece_lg(bytes);
    p->next = pieces_free[lg];
    pieces_free[lg] = p;
}
