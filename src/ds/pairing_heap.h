/* pairing_heap: many sets of nodes, each with its least node at hand. A node is an id, a set is a heap number.
 *
 * Every node is in at most one heap, and ghost ph_own[x] says in which. Nodes are ordered by (key, id), so that the
 * least is unique. A link is the id of another node, in a table: ph_child leads to the first child, ph_next to the next
 * sibling, ph_prev back to the previous sibling or, from a first child, to the parent. The links of a root other than
 * ph_child mean nothing, and so do all links of a node in no heap.
 *
 * The invariant PairingHeapOk (spec/ds/pairing_heap.acsl) speaks of all heaps at once. It holds in the zero state,
 * where no node is in a heap. An operation on heap h touches only nodes in h and its argument, so heaps may be guarded
 * by different locks.
 *
 * insert and first take constant time. remove is a two-pass merge without recursion, O(log n) amortised.
 * M. L. Fredman, R. Sedgewick, D. D. Sleator, R. E. Tarjan: The pairing heap. Algorithmica 1 (1986).
 */
#ifndef QED_DS_PAIRING_HEAP_H
#define QED_DS_PAIRING_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/table.h"

#define PAIRING_HEAP_COUNT_MAX (1U << 15)           /* heaps are 1 .. PAIRING_HEAP_COUNT_MAX - 1 */

extern TABLE(uint64_t, ph_key);
extern TABLE(uint32_t, ph_next);
extern TABLE(uint32_t, ph_prev);
extern TABLE(uint32_t, ph_child);
extern uint32_t ph_root[PAIRING_HEAP_COUNT_MAX];    /* 0 if the heap is empty */

#include "ds/pairing_heap.acsl"
#include "ds/pairing_heap_lemmas.acsl"

/* Does nothing: static memory is zero, and in the zero state all heaps are empty. */
/*@ requires zero_root: \forall integer h; PhHeap(h) ==> ph_root[h] == 0;
    requires zero_own:  \forall integer x; PhNode(x) ==> ph_own[x] == 0 && ph_par[x] == 0;
    assigns             \nothing;
    ensures  ok:        PairingHeapOk;
*/
static inline void pairing_heap_boot(void)
{
}

/* Makes node x usable. Returns false if the OS has no memory. */
/*@ requires node:    PhNode(x);
    assigns           os_refused;
    ensures  refused: !\result ==> os_refused == 1;
*/
bool pairing_heap_grow(uint32_t x);

/* Returns the least node of the heap, 0 if the heap is empty. */
/*@ requires ok:     PairingHeapOk;
    requires heap:   PhHeap(heap);
    assigns          \nothing;
    ensures  empty:  \result == 0 ==> \forall integer y; !PhIn(heap, y);
    ensures  member: \result != 0 ==> PhIn(heap, \result);
    ensures  least:  \forall integer y; PhIn(heap, y) && y != \result ==> PhLess(\result, y);
*/
static inline uint32_t pairing_heap_first(uint32_t heap)
{
    /*@ ghost ph_lemma_least(heap); */
    return ph_root[heap];
}

/*@ requires ok:     PairingHeapOk;
    requires heap:   PhHeap(heap);
    requires node:   PhIn(0, x);
    assigns          ph_own[x], ph_key[x], ph_root[heap], PH_ASSIGNS_LINKS;
    ensures  ok:     PairingHeapOk;
    ensures  member: PhIn(heap, x);
    ensures  key:    ph_key[x] == key;
    ensures  others: PhOthers{Pre,Post}(heap, x);
*/
void pairing_heap_insert(uint32_t heap, uint32_t x, uint64_t key);

/*@ requires ok:     PairingHeapOk;
    requires heap:   PhHeap(heap);
    requires member: PhIn(heap, x);
    assigns          ph_own[x], ph_root[heap], PH_ASSIGNS_LINKS;
    ensures  ok:     PairingHeapOk;
    ensures  gone:   ph_own[x] == 0;
    ensures  others: PhOthers{Pre,Post}(heap, x);
*/
void pairing_heap_remove(uint32_t heap, uint32_t x);

#endif
