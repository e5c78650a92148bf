/* sizes: counts by power of two. The counts at the peak are those of the first moment that has as many live bytes as any. */
#include "sizes.h"

#include <inttypes.h>
#include <string.h>

#define ROWS 65U
#define ROW_FIRST 3U                /* smaller blocks belong to the row of 8 bytes */

struct row {
    uint64_t blocks;
    uint64_t live;
    uint64_t live_bytes;
};

static uint32_t row_of(uint64_t bytes)
{
    return bytes <= 1U << ROW_FIRST ? ROW_FIRST : 64U - (uint32_t)__builtin_clzl(bytes - 1);
}

void sizes_print(const struct trace *t, FILE *to)
{
    struct row now[ROWS] = {{0, 0, 0}}, peak[ROWS] = {{0, 0, 0}};
    uint64_t   live = 0, most = 0, handed_out = 0;
    for (uint32_t i = 0; i < t->call_count; i++) {
        const struct call *c = &t->call[i];
        if (c->old != 0) {
            struct row *r = &now[row_of(t->bytes[c->old])];
            r->live--;
            r->live_bytes -= t->bytes[c->old];
            live -= t->bytes[c->old];
        }
        if (c->block != 0) {
            struct row *r = &now[row_of(t->bytes[c->block])];
            r->blocks++;
            r->live++;
            r->live_bytes += t->bytes[c->block];
            live += t->bytes[c->block];
            handed_out++;
        }
        if (live > most) {
            most = live;
            memcpy(peak, now, sizeof peak);
        }
    }
    fprintf(to, "%14s %12s %7s %12s %15s\n", "bytes up to", "blocks", "%", "live at peak", "bytes of these");
    for (uint32_t r = ROW_FIRST; r < ROWS; r++) {
        if (now[r].blocks > 0) {
            fprintf(to, "%14.0f %12" PRIu64 " %7.2f %12" PRIu64 " %15" PRIu64 "\n", __builtin_ldexp(1, (int)r), now[r].blocks,
                    100.0 * (double)now[r].blocks / (double)handed_out, peak[r].live, peak[r].live_bytes);
        }
    }
}
