/* pairing_heap: two primitives, heap_cut and heap_attach, write all links and keep the facts about them. The operations
 * are sequences of these. Even in the middle of a merge every node is in its tree, because siblings are paired where
 * they stand, among the children of the node that leaves.
 */
#include "ds/pairing_heap.h"

#include "platform/hints.h"

TABLE(uint64_t, ph_key);
TABLE(uint32_t, ph_next);
TABLE(uint32_t, ph_prev);
TABLE(uint32_t, ph_child);
LONG_TABLE uint32_t ph_root[PAIRING_HEAP_COUNT_MAX];

/*@ requires nodes:  PhNode(x) && PhNode(y);
    assigns          \nothing;
    ensures  less:   \result <==> PhLess(x, y);
*/
static inline bool heap_less(uint32_t x, uint32_t y)
{
    uint64_t a = AT(ph_key, x);
    uint64_t b = AT(ph_key, y);
    return a < b || (a == b && x < y);
}

/* Takes x, which has a parent, out of the list of its siblings. */
/*@ requires links:  PhLinks;
    requires node:   PhNode(x) && ph_par[x] != 0;
    assigns          ph_par[x], ph_child[ph_prev[x]], ph_next[ph_prev[x]], ph_prev[ph_next[x]];
    ensures  links:  PhLinks;
    ensures  top:    ph_par[x] == 0;
    ensures  head:   \old(ph_prev[x] == ph_par[x]) ==> ph_child[\old(ph_par[x])] == \old(ph_next[x]);
    ensures  keep:   \old(ph_prev[x] == ph_par[x]) ==> ph_next[\old(ph_par[x])] == \old(ph_next[ph_par[x]]);
    ensures  before: \old(ph_prev[x] != ph_par[x]) ==> ph_next[\old(ph_prev[x])] == \old(ph_next[x]);
    ensures  after:  \old(ph_next[x]) != 0 ==> ph_prev[\old(ph_next[x])] == \old(ph_prev[x]);
    ensures  kids:   \forall integer p; 0 < p ==> PhKids(p, TABLE_MAX) == PhKids{Pre}(p, TABLE_MAX) -
                         (p == \old(ph_par[x]) ? 1 : 0);
    ensures  others: PhOthers{Pre,Post}(ph_own[x], 0);
*/
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
    /*@ ghost ph_lemma_links(); */
}

/* Makes x, which has no parent, the first child of p. */
/*@ requires links:  PhLinks;
    requires nodes:  PhNode(p) && PhNode(x);
    requires own:    ph_own[p] != 0 && ph_own[p] == ph_own[x];
    requires top:    ph_par[x] == 0;
    requires less:   PhLess(p, x);
    assigns          ph_par[x], ph_child[p], ph_next[x], ph_prev[x], ph_prev[ph_child[p]],
                     ph_ord[0 .. TABLE_MAX - 1];
    ensures  links:  PhLinks;
    ensures  below:  ph_par[x] == p;
    ensures  place:  ph_next[p] == \old(ph_next[p]) && ph_prev[p] == \old(ph_prev[p]);
    ensures  kids:   \forall integer q; 0 < q ==> PhKids(q, TABLE_MAX) == PhKids{Pre}(q, TABLE_MAX) +
                         (q == p ? 1 : 0);
    ensures  others: PhOthers{Pre,Post}(ph_own[x], 0);
*/
static inline void heap_attach(uint32_t p, uint32_t x)
{
    /*@ ghost ph_lemma_renumber(ph_own[x]); */
    /*@ ghost ph_ord[x] = TABLE_MAX + 1; */
    uint32_t first = AT(ph_child, p);
    AT(ph_next, x) = first;
    AT(ph_prev, x) = p;
    if (first != 0) {
        AT(ph_prev, first) = x;
    }
    AT(ph_child, p) = x;
    /*@ ghost ph_lemma_set_par(x, p); */
    /*@ ghost ph_lemma_links(); */
}

/* Links two neighbours in a list of siblings. The greater becomes a child of the other one, which stays in the list
 * and is returned. */
/*@ requires links:  PhLinks;
    requires nodes:  PhNode(a) && PhNode(b);
    requires next:   ph_par[a] != 0 && ph_next[a] == b;
    assigns          PH_ASSIGNS_LINKS;
    ensures  links:  PhLinks;
    ensures  one:    \result == a || \result == b;
    ensures  par:    ph_par[\result] == \old(ph_par[a]);
    ensures  next:   ph_next[\result] == \old(ph_next[b]);
    ensures  prev:   ph_prev[\result] == \old(ph_prev[a]);
    ensures  kids:   PhKids(\old(ph_par[a]), TABLE_MAX) == \old(PhKids(ph_par[a], TABLE_MAX)) - 1;
    ensures  tops:   PhSameTops{Pre,Post}(0);
    ensures  others: PhOthers{Pre,Post}(ph_own[a], 0);
*/
static inline uint32_t heap_link(uint32_t a, uint32_t b)
{
    /*@ ghost ph_lemma_neighbours(a); */
    bool     in_order = heap_less(a, b);
    uint32_t least = in_order ? a : b;
    uint32_t other = in_order ? b : a;
    heap_cut(other);
    heap_attach(least, other);
    return least;
}

/* First pass: links the children of p in pairs, from the first on. Returns the last child that remains. */
/*@ requires links:  PhLinks;
    requires node:   PhNode(p) && ph_own[p] != 0;
    requires some:   ph_child[p] != 0;
    assigns          PH_ASSIGNS_LINKS;
    ensures  links:  PhLinks;
    ensures  child:  PhNode(\result) && ph_par[\result] == p;
    ensures  last:   ph_next[\result] == 0;
    ensures  tops:   PhSameTops{Pre,Post}(0);
    ensures  others: PhOthers{Pre,Post}(ph_own[p], 0);
*/
static uint32_t heap_pair_children(uint32_t p)
{
    uint32_t a = AT(ph_child, p);
    uint32_t b = AT(ph_next, a);
    /*@ ghost uint32_t k = ph_lemma_kids(p); */
    /*@ loop invariant links:  PhLinks;
        loop invariant child:  PhNode(a) && ph_par[a] == p;
        loop invariant next:   b == ph_next[a];
        loop invariant kids:   k == PhKids(p, TABLE_MAX);
        loop invariant tops:   PhSameTops{Pre,Here}(0);
        loop invariant others: PhOthers{Pre,Here}(ph_own[p], 0);
        loop assigns           a, b, k, PH_ASSIGNS_LINKS;
        loop variant           k;
    */
    while (b != 0) {
        a = heap_link(a, b);
        /*@ ghost k = ph_lemma_kids(p); */
        b = AT(ph_next, a);
        if (b != 0) {
            a = b;
            b = AT(ph_next, a);
        }
    }
    return a;
}

/* Second pass: links each remaining child of p with the one that follows it, from the last child on. Returns the one
 * that remains. */
/*@ requires links:  PhLinks;
    requires node:   PhNode(p) && ph_own[p] != 0;
    requires child:  PhNode(last) && ph_par[last] == p;
    requires last:   ph_next[last] == 0;
    assigns          PH_ASSIGNS_LINKS;
    ensures  links:  PhLinks;
    ensures  child:  PhNode(\result) && ph_par[\result] == p;
    ensures  only:   ph_prev[\result] == p && ph_next[\result] == 0;
    ensures  tops:   PhSameTops{Pre,Post}(0);
    ensures  others: PhOthers{Pre,Post}(ph_own[p], 0);
*/
static uint32_t heap_fold_children(uint32_t p, uint32_t last)
{
    uint32_t a = last;
    /*@ ghost uint32_t k = ph_lemma_kids(p); */
    /*@ loop invariant links:  PhLinks;
        loop invariant child:  PhNode(a) && ph_par[a] == p;
        loop invariant last:   ph_next[a] == 0;
        loop invariant kids:   k == PhKids(p, TABLE_MAX);
        loop invariant tops:   PhSameTops{Pre,Here}(0);
        loop invariant others: PhOthers{Pre,Here}(ph_own[p], 0);
        loop assigns           a, k, PH_ASSIGNS_LINKS;
        loop variant           k;
    */
    while (AT(ph_prev, a) != p) {
        a = heap_link(AT(ph_prev, a), a);
        /*@ ghost k = ph_lemma_kids(p); */
    }
    return a;
}

/* Makes one tree without a parent of all children of x, so that x has none. Returns the root of that tree, 0 if
 * there is none. */
/*@ requires links:  PhLinks;
    requires node:   PhNode(x) && ph_own[x] != 0;
    assigns          PH_ASSIGNS_LINKS;
    ensures  links:  PhLinks;
    ensures  alone:  \forall integer y; PhNode(y) ==> ph_par[y] != x;
    ensures  root:   \result != 0 ==> PhNode(\result) && ph_own[\result] == ph_own[x];
    ensures  free:   \result != 0 ==> ph_par[\result] == 0 && \old(ph_par[\at(\result,Post)]) != 0;
    ensures  tops:   PhSameTops{Pre,Post}(\result);
    ensures  others: PhOthers{Pre,Post}(ph_own[x], 0);
*/
static uint32_t heap_orphan(uint32_t x)
{
    if (AT(ph_child, x) == 0) {
        /*@ ghost ph_lemma_no_kids(x); */
        return 0;
    }
    uint32_t r = heap_fold_children(x, heap_pair_children(x));
    heap_cut(r);
    /*@ ghost ph_lemma_no_kids(x); */
    return r;
}

bool pairing_heap_grow(uint32_t x)
{
    return TABLE_GROW(ph_key, x) && TABLE_GROW(ph_next, x) && TABLE_GROW(ph_prev, x) && TABLE_GROW(ph_child, x);
}

/* Makes x, which is in no heap, a tree of its own in the heap. */
/*@ requires links:  PhLinks;
    requires heap:   PhHeap(heap);
    requires node:   PhIn(0, x);
    assigns          ph_own[x], ph_key[x], ph_child[x];
    ensures  member: ph_own[x] == heap && ph_par[x] == 0;
    ensures  key:    ph_key[x] == key;
    ensures  links:  PhLinks;
*/
static inline void heap_enter(uint32_t x, uint64_t key) /*@ ghost (uint32_t heap) */
{
    AT(ph_key, x) = key;
    AT(ph_child, x) = 0;
    /*@ ghost ph_own[x] = heap; */
    /*@ ghost ph_lemma_links(); */
}

/* Makes one tree of the tree a, if a is not 0, and the tree b. Returns its root. */
/*@ requires links:  PhLinks;
    requires b:      PhNode(b) && ph_own[b] != 0 && ph_par[b] == 0;
    requires a:      a != 0 ==> PhNode(a) && ph_own[a] == ph_own[b] && ph_par[a] == 0 && a != b;
    assigns          PH_ASSIGNS_LINKS;
    ensures  links:  PhLinks;
    ensures  one:    \result == b || (\result == a && a != 0);
    ensures  root:   ph_par[\result] == 0;
    ensures  a:      a != 0 && a != \result ==> ph_par[a] == \result;
    ensures  b:      b != \result ==> ph_par[b] == \result;
    ensures  same:   \forall integer y; PhNode(y) && y != a && y != b ==> ph_par[y] == \old(ph_par[y]);
    ensures  others: PhOthers{Pre,Post}(ph_own[b], 0);
*/
static inline uint32_t heap_meld(uint32_t a, uint32_t b)
{
    if (a == 0) {
        return b;
    }
    bool     in_order = heap_less(a, b);
    uint32_t least = in_order ? a : b;
    uint32_t other = in_order ? b : a;
    heap_attach(least, other);
    return least;
}

void pairing_heap_insert(uint32_t heap, uint32_t x, uint64_t key)
{
    heap_enter(x, key) /*@ ghost (heap) */;
    ph_root[heap] = heap_meld(ph_root[heap], x);
    /*@ ghost ph_lemma_ok(); */
}

/* Puts the tree r, if r is not 0, below root. */
/*@ requires links:  PhLinks;
    requires root:   PhNode(root) && ph_own[root] != 0;
    requires r:      r != 0 ==> PhNode(r) && ph_own[r] == ph_own[root] && ph_par[r] == 0 && PhLess(root, r);
    assigns          PH_ASSIGNS_LINKS;
    ensures  links:  PhLinks;
    ensures  below:  r != 0 ==> ph_par[r] == root;
    ensures  same:   \forall integer y; PhNode(y) && y != r ==> ph_par[y] == \old(ph_par[y]);
    ensures  others: PhOthers{Pre,Post}(ph_own[root], 0);
*/
static inline void heap_adopt(uint32_t root, uint32_t r)
{
    if (r != 0) {
        heap_attach(root, r);
    }
}

/* Makes x a tree of its own. What was below x goes below root, which is less than all other nodes. */
/*@ requires links:  PhLinks;
    requires nodes:  PhNode(x) && PhNode(root) && ph_own[root] == ph_own[x];
    requires below:  ph_par[x] != 0 && ph_par[root] == 0;
    requires least:  \forall integer y; PhIn(ph_own[x], y) && y != root ==> PhLess(root, y);
    assigns          PH_ASSIGNS_LINKS;
    ensures  links:  PhLinks;
    ensures  alone:  \forall integer y; PhNode(y) ==> ph_par[y] != x;
    ensures  top:    ph_par[x] == 0;
    ensures  tops:   PhSameTops{Pre,Post}(x);
    ensures  others: PhOthers{Pre,Post}(ph_own[x], 0);
*/
static void heap_detach(uint32_t root, uint32_t x)
{
    heap_cut(x);
    uint32_t r = heap_orphan(x);
    /*@ assert child: r != 0 ==> r != x && \at(ph_par[\at(r,Here)],Pre) != 0; */
    heap_adopt(root, r);
}

void pairing_heap_remove(uint32_t heap, uint32_t x)
{
    uint32_t root = ph_root[heap];
    if (x == root) {
        ph_root[heap] = heap_orphan(x);
    } else {
        /*@ ghost ph_lemma_least(heap); */
        heap_detach(root, x);
    }
    /*@ ghost ph_lemma_leave(x); */
    /*@ ghost ph_lemma_ok(); */
}
