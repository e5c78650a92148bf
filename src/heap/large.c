/* large: extents as blocks. */
#include "heap/large.h"

#include "ds/radix_tree.h"
#include "heap/word.h"
#include "math/size_class.h"
#include "pages/pages.h"
#include "platform/config.h"

static uint64_t large_allocated;
static uint64_t large_freed;

uint64_t large_alloc(uint32_t szind, uint64_t align_bytes, bool cached, bool *zeroed)
{
    uint64_t npages = size_class_bytes(szind) / PAGE;
    uint64_t align_npages = align_bytes <= PAGE ? 1 : align_bytes / PAGE;
    if (npages >= PAGE_COUNT_MAX || align_npages >= PAGE_COUNT_MAX) {
        return 0;
    }
    uint32_t e = pages_alloc(npages, align_npages, zeroed);
    if (e == 0) {
        return 0;
    }
    uint64_t page = AT(ext_page, e);
    if (cached) {
        radix_tree_set_word(page, word_make(page * PAGE, szind));
    }
    __atomic_fetch_add(&large_allocated, 1, __ATOMIC_RELAXED);
    return page * PAGE;
}

bool large_free(uint64_t block)
{
    uint64_t page = block / PAGE;
    if (block % PAGE != 0 || page >= PAGE_COUNT_MAX) {
        return false;
    }
    if (radix_tree_word(page) != 0) {
        radix_tree_set_word(page, 0);
    }
    if (!pages_release(page)) {
        return false;
    }
    __atomic_fetch_add(&large_freed, 1, __ATOMIC_RELAXED);
    return true;
}

uint64_t large_bytes(uint64_t block)
{
    uint32_t e = block % PAGE == 0 ? pages_find(block / PAGE) : 0;
    return e == 0 ? 0 : AT(ext_npages, e) * PAGE;
}

bool large_resize(uint64_t block, uint32_t szind)
{
    uint64_t npages = size_class_bytes(szind) / PAGE;
    uint32_t e = npages < PAGE_COUNT_MAX ? pages_find(block / PAGE) : 0;
    return e != 0 && pages_resize(e, npages);
}

void large_read_stats(struct large_stats *stats)
{
    stats->allocated = __atomic_load_n(&large_allocated, __ATOMIC_RELAXED);
    stats->freed = __atomic_load_n(&large_freed, __ATOMIC_RELAXED);
}
