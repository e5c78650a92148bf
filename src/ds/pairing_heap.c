/* pairing_heap: all links are written by two primitives, heap_cut and heap_attach, which keep the facts about links;
 * the operations are sequences of these. Even in the middle of a merge every node is in its tree: siblings are paired
 * where they stand, among the children of the node that is to go.
 */
#include "ds/pairing_heap.h"

TABLE(uint64_t, ph_key);
TABLE(uint32_t, ph_next);
TABLE(uint32_t, ph_prev);
TABLE(uint32_t, ph_child);
uint32_t ph_root[PAIRING_HEAP_COUNT_MAX];

#include "pairing_heap_lemmas.acsl"

static inline bool heap_less(uint32_t x, uint32_t y)
{
    uint64_t a = AT(ph_key, x);
    uint64_t b = AT(ph_key, y);
    return a < b || (a == b && x < y);
}

/* Takes x, which has a parent, out of the list of its siblings. */
static inline void heap_cut(uint32_t x)
{
    uint32_t prev = AT(ph_prev, x);
    uint32_t next = AT(ph_next, x);
    if (AT(ph_child, prev) == x) {
        AT(ph_child, prev) = next;
    } else {
        AT(ph_next, prev) = next;
    }
    if (next != 0) {
        AT(ph_prev, next) = prev;
    }
    /*@ ghost ph_lemma_set_par(x, 0); */
}

/* Makes x, which has no parent, the first child of p. */
static inline void heap_attach(uint32_t p, uint32_t x)
{
    uint32_t first = AT(ph_child, p);
    AT(ph_next, x) = first;
    AT(ph_prev, x) = p;
    if (first != 0) {
        AT(ph_prev, first) = x;
    }
    AT(ph_child, p) = x;
}

/* Two neighbours in a list of siblings: the greater becomes a child of the other, which stays in the list. */
static inline uint32_t heap_link(uint32_t a, uint32_t b)
{
    if (heap_less(a, b)) {
        heap_cut(b);
        heap_attach(a, b);
        return a;
    }
    heap_cut(a);
    heap_attach(b, a);
    return b;
}

/* First pass: p's children are linked in pairs, from the first on. The last child that remains. */
static uint32_t heap_pair_children(uint32_t p)
{
    uint32_t a = AT(ph_child, p);
    uint32_t b = AT(ph_next, a);
    while (b != 0) {
        a = heap_link(a, b);
        b = AT(ph_next, a);
        if (b != 0) {
            a = b;
            b = AT(ph_next, a);
        }
    }
    return a;
}

/* Second pass: each remaining child of p is linked with what follows it, from the last child on. The one that remains. */
static uint32_t heap_fold_children(uint32_t p, uint32_t last)
{
    uint32_t a = last;
    while (AT(ph_prev, a) != p) {
        a = heap_link(AT(ph_prev, a), a);
    }
    return a;
}

/* Makes all children of x one tree without a parent, and x a node without children: the root of that tree, or 0. */
static uint32_t heap_orphan(uint32_t x)
{
    if (AT(ph_child, x) == 0) {
        return 0;
    }
    uint32_t r = heap_fold_children(x, heap_pair_children(x));
    heap_cut(r);
    return r;
}

bool pairing_heap_grow(uint32_t x)
{
    return TABLE_GROW(ph_key, x) && TABLE_GROW(ph_next, x) && TABLE_GROW(ph_prev, x) && TABLE_GROW(ph_child, x);
}

uint32_t pairing_heap_first(uint32_t heap)
{
    return ph_root[heap];
}

void pairing_heap_insert(uint32_t heap, uint32_t x, uint64_t key)
{
    uint32_t root = ph_root[heap];
    AT(ph_key, x) = key;
    AT(ph_child, x) = 0;
    if (root == 0) {
        ph_root[heap] = x;
    } else if (heap_less(root, x)) {
        heap_attach(root, x);
    } else {
        heap_attach(x, root);
        ph_root[heap] = x;
    }
}

void pairing_heap_remove(uint32_t heap, uint32_t x)
{
    uint32_t root = ph_root[heap];
    if (x == root) {
        ph_root[heap] = heap_orphan(x);
    } else {
        heap_cut(x);
        uint32_t r = heap_orphan(x);
        if (r != 0) {
            /* The root is less than any other node, and so than r. */
            heap_attach(root, r);
        }
    }
}
