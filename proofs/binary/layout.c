/* layout: prints where the fields of the thread's cache and of a leaf of the radix tree lie, and the constants of the contracts, for the
 * proofs of the machine code. A field is its offset, the bytes from one element to the next, the bytes of an element, and their number. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include "api/thread.h"
#include "blocks/tag.h"
#include "math/size_class.h"
#include "platform/counter.h"
#include "tcache/tcache.h"

#define ONE(type, field) printf("field %s %s %zu %zu %zu 1\n", #type, #field, offsetof(struct type, field), SIZE(type, field), SIZE(type, field))
#define MANY(type, field)                                                                                                   \
    printf("field %s %s %zu %zu %zu %zu\n", #type, #field, offsetof(struct type, field), ELEMENT(type, field), ELEMENT(type, field), \
           SIZE(type, field) / ELEMENT(type, field))
#define ENTRY(part)                                                                                                     \
    printf("field radix_leaf %s %zu %zu %zu %lu\n", #part, offsetof(struct radix_leaf, entry) + offsetof(struct radix_entry, part), \
           sizeof(struct radix_entry), sizeof((struct radix_entry *)0)->part, RADIX_WINDOW_PAGES)
/* The counter stands right behind the cache. */
#define COUNTER(field, count)                                                                                           \
    printf("field tcache %s %zu %zu %zu %u\n", #field, sizeof(struct tcache) + offsetof(struct counter, field), SIZE(counter, field) / (count), \
           SIZE(counter, field) / (count), count)
#define SIZE(type, field) sizeof(((struct type *)0)->field)
#define ELEMENT(type, field) sizeof(((struct type *)0)->field[0])
#define CONSTANT(name) printf("constant %s %llu\n", #name, (unsigned long long)(name))

int main(void)
{
    MANY(tcache, top);
    MANY(tcache, limit);
    MANY(tcache, magic);
    MANY(tcache, negated);
    ONE(tcache, window_pages);
    ONE(tcache, counted_pages);
    ONE(tcache, checked_pages);
    ONE(tcache, known_pages);
    ONE(tcache, window);
    ONE(tcache, leaf);
    ONE(tcache, lookup_end);
    ONE(tcache, paced_end);
    ONE(tcache, counted_end);
    ONE(tcache, checked_end);
    MANY(tcache, stack_of);
    MANY(tcache, floor);
    MANY(tcache, fill);
    MANY(tcache, least);
    MANY(tcache, most);
    MANY(tcache, room);
    MANY(tcache, missed);
    MANY(tcache, height);
    MANY(tcache, full);
    ONE(tcache, arena);
    ONE(tcache, ticks);
    ONE(tcache, turned);
    ONE(tcache, collect);
    ONE(tcache, next);
    ONE(tcache, next_idle);
    MANY(tcache, slot);
    COUNTER(left, COUNTER_STACKS);
    COUNTER(bytes, COUNTER_STACKS);
    COUNTER(allocated, 1U);
    COUNTER(deallocated, 1U);
    ENTRY(low);
    ENTRY(high);
    CONSTANT(TCACHE_STACKS);
    CONSTANT(TCACHE_SLOTS);
    CONSTANT(SC_LOOKUP_MAX);
    CONSTANT(TCACHE_LOOKUP_END);
    CONSTANT(SC_NBINS);
    CONSTANT(SC_NSIZES);
    CONSTANT(SC_TINY);
    CONSTANT(SC_NGROUP);
    CONSTANT(SC_LARGE_MINCLASS);
    CONSTANT(SC_LARGE_MAXCLASS);
    CONSTANT(PAGE);
    CONSTANT(ADDRESS_MAX);
    CONSTANT(RADIX_WINDOW_PAGES);
    CONSTANT(RADIX_HALF);
    CONSTANT(DIVIDE_ONE);
    CONSTANT(BLOCK_NONE);
    CONSTANT(BLOCK_CACHED);
    CONSTANT(BLOCK_LIVE);
    CONSTANT(LIVE_WINDOWS);
    CONSTANT(LIVE_LG_WINDOW);
    CONSTANT(LIVE_SPACING);
    CONSTANT(ENOMEM);
    CONSTANT(EINVAL);
    return 0;
}
