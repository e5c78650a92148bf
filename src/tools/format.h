/* format: what a trace file holds, for its writer (record.c) and its reader (load.c). README.md has it in words.
 *
 * A file is units of equal size. The first begins with the header; each other one holds segments, one behind the other,
 * each a thread's events in its order. Numbers in the two structs have the byte order of the machine that recorded.
 * Every event carries a ticket from one counter of the process: of what gives a block back the ticket is taken before the
 * call, of what hands one out after it. So a block's tickets lie between those of its address's owners before and after.
 */
#ifndef TRACE_FORMAT_H
#define TRACE_FORMAT_H

#include <assert.h>
#include <stdint.h>

#define TRACE_MAGIC "QEDTRACE"
#define TRACE_BYTE_ORDER 0x01020304U
#define TRACE_VERSION 1U
#define TRACE_UNIT_BYTES 65536U             /* a multiple of every page size in use: units are mapped one at a time */
#define TRACE_SEGMENT_MARK 0x51534547U
#define TRACE_ALIGN 8U                      /* of a segment in its unit */
#define TRACE_EVENT_BYTES_MAX 64U

struct trace_header {
    char     magic[8];
    uint32_t byte_order;
    uint32_t version;
    uint32_t unit_bytes;
    uint32_t pid;
    uint64_t start_ns;                      /* since 1970 */
    char     program[32];                   /* ends with 0 */
};

struct trace_segment {
    uint32_t mark;                          /* anything else: no further segment in this unit */
    uint32_t thread;                        /* 0, 1, 2 .. in order of first events */
    uint64_t ticket;                        /* the one before the first event's */
    uint32_t time_ms;                       /* since the start, when the segment began */
    uint32_t bytes;                         /* of events; grows after each */
};

static_assert(sizeof(struct trace_header) == 64 && sizeof(struct trace_segment) == 24, "no padding: both are written as they are");

/* An event is a byte (kind in its low half, n in its high half), then numbers. Its ticket is the one before in the
 * segment, plus 1, plus n. If n is 15, the first number is added too. Behind it stands what the table says. */
enum trace_kind {
    TRACE_MALLOC = 1,                       /* size, block */
    TRACE_CALLOC,                           /* count, size, block */
    TRACE_REALLOC,                          /* old block, size, block, and how much later the second ticket was taken */
    TRACE_FREE,                             /* old block */
    TRACE_ALIGNED_ALLOC,                    /* alignment, size, block */
    TRACE_POSIX_MEMALIGN,
    TRACE_MEMALIGN,
    TRACE_VALLOC,                           /* size, block */
    TRACE_PVALLOC,
    TRACE_KINDS
};

#define TRACE_TICKETS_INLINE 15U

static_assert(TRACE_KINDS <= 16, "a kind fits in half a byte");
static_assert(1 + 5 * 10 <= TRACE_EVENT_BYTES_MAX, "at most five numbers of at most 10 bytes each");

/* Writes a number with 7 bits a byte, lowest first. The top bit is set in all bytes but the last. */
static inline uint8_t *trace_put(uint8_t *at, uint64_t x)
{
    for (; x >= 128; x >>= 7) {
        *at++ = (uint8_t)(x | 128);
    }
    *at++ = (uint8_t)x;
    return at;
}

/* Writes a block. NULL is 0. Others are 1 plus the difference to the last block of the segment, whose sign is in bit 0. */
static inline uint8_t *trace_put_block(uint8_t *at, uint64_t *last, uint64_t address)
{
    if (address == 0) {
        return trace_put(at, 0);
    }
    uint64_t difference = address - *last;
    *last = address;
    return trace_put(at, 1 + (difference << 1 ^ (0 - (difference >> 63))));
}

/* Reads what trace_put wrote. Returns NULL if it does not end before `end`. */
static inline const uint8_t *trace_get(const uint8_t *at, const uint8_t *end, uint64_t *x)
{
    *x = 0;
    for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
        *x |= (uint64_t)(*at & 127) << shift;
        if (*at++ < 128) {
            return at;
        }
    }
    return 0;
}

static inline const uint8_t *trace_get_block(const uint8_t *at, const uint8_t *end, uint64_t *last, uint64_t *address)
{
    uint64_t x;
    at = trace_get(at, end, &x);
    if (at == 0 || x == 0) {
        *address = 0;
        return at;
    }
    x -= 1;
    *address = *last += x >> 1 ^ (0 - (x & 1));
    return at;
}

#endif
