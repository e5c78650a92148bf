/* large_free: a large block goes back. Apart from large.c because its proof is open: pages_release demands that the extent is
 * in no bin's heap (ph_own), which the heap's invariant says of no large block yet. */
#include "heap/large.h"

#include "pages/pages.h"
#include "platform/atomic.h"

#include "size_class_align_lemmas.acsl"
#include "large_lemmas.acsl"

bool large_free(uint64_t block)
{
    uint64_t page = block / PAGE;
    if (block % PAGE != 0 || page >= PAGE_COUNT_MAX) {
        return false;
    }
    /*@ ghost large_lemma_pages(); */
    /*@ ghost uint32_t mine = block_state[block] != BLOCK_NONE && block_szind[block] >= SC_NBINS ? block_ext[block] : 0; */
    if (radix_tree_word(page) != 0) {
        radix_tree_set_word(page, 0);
    }
    bool freed = pages_release(page) /*@ ghost (mine) */;
    /*@ assert owners: LargeOwners{Pre,Here}(0); */
    /*@ ghost if (freed) { block_state[block] = BLOCK_NONE; } */
    /*@ ghost large_lemma_ok(); */
    if (!freed) {
        return false;
    }
    ATOMIC_ADD(large_freed, 1);
    return true;
}
