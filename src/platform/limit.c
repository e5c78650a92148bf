/* limit: see limit.h. */
#include "platform/limit.h"

#include "platform/atomic.h"

uint64_t limit_hard = LIMIT_NONE;
uint64_t limit_soft = LIMIT_NONE;
uint64_t limit_dirty = LIMIT_NONE;
uint64_t limit_mapped;
uint64_t limit_refused;

void limit_set(uint64_t bytes)
{
    uint64_t mapped = ATOMIC_LOAD(limit_mapped);
    limit_hard = bytes < mapped ? mapped : bytes;
}

void limit_set_pages(uint64_t soft_bytes, uint64_t dirty_bytes)
{
    limit_soft = soft_bytes;
    limit_dirty = dirty_bytes;
}

bool limit_take(uint64_t bytes)
{
    uint64_t mapped = ATOMIC_LOAD(limit_mapped);
    /*@ loop invariant now: mapped == limit_mapped == \at(limit_mapped,Pre);
        loop assigns   mapped, limit_mapped;
        loop variant   0;
    */
    while (bytes <= limit_hard - mapped) {
        if (ATOMIC_REPLACE(limit_mapped, mapped, mapped + bytes)) {
            return true;
        }
        mapped = ATOMIC_LOAD(limit_mapped);
    }
    ATOMIC_ADD(limit_refused, 1U);
    return false;
}

void limit_give(uint64_t bytes)
{
    ATOMIC_SUB(limit_mapped, bytes);
}
