/* What follows from the invariant of the blocks for pages that go back to the OS. Proven, never compiled into the library. */
#include "blocks/blocks.h"

#include "blocks/blocks_lemmas.acsl"

/* Each page that has a byte of a block that is out is in use, and so is its extent. os_purge takes only pages that are BUSY, and os_unmap only
 * pages without an extent. So neither comes to a byte of a block. */
/*@ requires ok:      BlocksOk;
    requires out:     BlockOut(a);
    requires byte:    a <= b < a + ScBytes(block_szind[a]);
    assigns           \nothing;
    ensures  address: b / PAGE < PAGE_COUNT_MAX;
    ensures  held:    PagesHeld(ext_owner[b / PAGE]);
    ensures  active:  CacheActiveState(ext_page_state[b / PAGE]);
    ensures  purge:   !CacheBusyState(ext_page_state[b / PAGE]);
    ensures  unmap:   ext_page_state[b / PAGE] != 0;
*/
void pages_theorem_in_use(uint64_t a, uint64_t b)
{
    /*@ ghost blocks_lemma_out(a); */
    /*@ ghost blocks_lemma_page(b, ext_page[block_ext[a]], ext_npages[block_ext[a]]); */
    /*@ assert in: ExtIn(block_ext[a], b / PAGE); */
    /*@ assert owner: ext_owner[b / PAGE] == block_ext[a]; */
}
