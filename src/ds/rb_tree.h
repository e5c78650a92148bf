/* rb_tree: many ordered sets of nodes, as red-black trees. A node is an id with a key, a tree is a number.
 *
 * Every node is in at most one tree, and ghost rb_own[x] says in which. No two nodes of a tree have the same key. A link
 * is the id of another node, in a table, and 0 where there is none. The links of a node in no tree mean nothing.
 *
 * The invariant RbTreeOk (spec/ds/rb_tree.acsl) speaks of all trees at once. It holds in the zero state, where no node is
 * in a tree. An operation on a tree touches only nodes in it and its argument, so trees may be guarded by different
 * locks. All operations take logarithmic time, because a path from the root has at most 2 lg(n + 1) nodes.
 *
 * A walk over all nodes in rising order is: for (x = rb_tree_first(t); x != 0; x = rb_tree_next(x)).
 * R. Sedgewick, L. J. Guibas: A dichromatic framework for balanced trees. FOCS (1978).
 */
#ifndef QED_DS_RB_TREE_H
#define QED_DS_RB_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/table.h"

extern TABLE_FEW(uint64_t, rb_key);
extern TABLE_FEW(uint32_t, rb_left);
extern TABLE_FEW(uint32_t, rb_right);
extern TABLE_FEW(uint32_t, rb_parent);              /* 0 for a root */
extern TABLE_FEW(uint8_t, rb_red);                  /* 1 if the node is red */
extern TABLE_FEW(uint32_t, rb_root);                /* tree -> its root, 0 if the tree is empty */

#include "ds/rb_tree.acsl"
#include "ds/rb_tree_lemmas.acsl"

/* Does nothing: static memory is zero, and in the zero state all trees are empty. */
/*@ requires zero_root: \forall integer t; RbTree(t) ==> rb_root[t] == 0;
    requires zero_own:  \forall integer x; RbNode(x) ==> rb_own[x] == 0;
    assigns             \nothing;
    ensures  ok:        RbTreeOk;
*/
static inline void rb_tree_boot(void)
{
}

/* Makes tree t usable, which is empty then. Returns false if the OS has no memory. */
/*@ requires tree:    RbTree(t);
    assigns           os_refused;
    ensures  refused: !\result ==> os_refused == 1;
*/
bool rb_tree_grow(uint32_t t);

/* Makes node x usable. Returns false if the OS has no memory. */
/*@ requires node:    RbNode(x);
    assigns           os_refused;
    ensures  refused: !\result ==> os_refused == 1;
*/
bool rb_tree_grow_node(uint32_t x);

/* Returns the node with that key, 0 if the tree has none. */
/*@ requires ok:     RbTreeOk;
    requires tree:   RbTree(t);
    assigns          \nothing;
    ensures  found:  \result != 0 ==> RbIn(t, \result) && rb_key[\result] == key;
    ensures  none:   \result == 0 ==> RbAbsent(t, key);
*/
uint32_t rb_tree_search(uint32_t t, uint64_t key);

/* Returns the node with the least key that is at least `key`, 0 if the tree has none. */
/*@ requires ok:     RbTreeOk;
    requires tree:   RbTree(t);
    assigns          \nothing;
    ensures  found:  \result != 0 ==> RbIn(t, \result) && rb_key[\result] >= key;
    ensures  least:  \forall integer y; RbIn(t, y) && rb_key[y] >= key ==> \result != 0 && rb_key[\result] <= rb_key[y];
*/
uint32_t rb_tree_nsearch(uint32_t t, uint64_t key);

/* Returns the node with the greatest key that is at most `key`, 0 if the tree has none. */
/*@ requires ok:       RbTreeOk;
    requires tree:     RbTree(t);
    assigns            \nothing;
    ensures  found:    \result != 0 ==> RbIn(t, \result) && rb_key[\result] <= key;
    ensures  greatest: \forall integer y; RbIn(t, y) && rb_key[y] <= key ==> \result != 0 && rb_key[\result] >= rb_key[y];
*/
uint32_t rb_tree_psearch(uint32_t t, uint64_t key);

/* Returns the node with the least key, 0 if the tree is empty. */
/*@ requires ok:     RbTreeOk;
    requires tree:   RbTree(t);
    assigns          \nothing;
    ensures  in:     \result != 0 ==> RbIn(t, \result);
    ensures  least:  \forall integer y; RbIn(t, y) ==> \result != 0 && rb_key[\result] <= rb_key[y];
*/
uint32_t rb_tree_first(uint32_t t);

/* Returns the node with the greatest key, 0 if the tree is empty. */
/*@ requires ok:       RbTreeOk;
    requires tree:     RbTree(t);
    assigns            \nothing;
    ensures  in:       \result != 0 ==> RbIn(t, \result);
    ensures  greatest: \forall integer y; RbIn(t, y) ==> \result != 0 && rb_key[\result] >= rb_key[y];
*/
uint32_t rb_tree_last(uint32_t t);

/* Returns the node that follows x, which is in a tree, 0 if x is the last one. */
/*@ requires ok:     RbTreeOk;
    requires in:     RbNode(x) && rb_own[x] != 0;
    assigns          \nothing;
    ensures  next:   \result != 0 ==> RbIn(rb_own[x], \result) && rb_key[\result] > rb_key[x];
    ensures  least:  \forall integer y; RbIn(rb_own[x], y) && rb_key[y] > rb_key[x] ==>
                         \result != 0 && rb_key[\result] <= rb_key[y];
*/
uint32_t rb_tree_next(uint32_t x);

/* Returns the node before x, which is in a tree, 0 if x is the first one. */
/*@ requires ok:       RbTreeOk;
    requires in:       RbNode(x) && rb_own[x] != 0;
    assigns            \nothing;
    ensures  previous: \result != 0 ==> RbIn(rb_own[x], \result) && rb_key[\result] < rb_key[x];
    ensures  greatest: \forall integer y; RbIn(rb_own[x], y) && rb_key[y] < rb_key[x] ==>
                           \result != 0 && rb_key[\result] >= rb_key[y];
*/
uint32_t rb_tree_previous(uint32_t x);

/* Puts x, which is in no tree, into tree t. Returns x, or the node of the tree that has this key already. Then nothing
 * changes. */
/*@ requires ok:     RbTreeOk;
    requires tree:   RbTree(t);
    requires out:    RbIn(0, x);
    assigns          rb_own[x], rb_key[x], rb_root[t], RB_ASSIGNS_LINKS, RB_ASSIGNS_COLOURS;
    ensures  ok:     RbTreeOk;
    ensures  in:     \result == x ==> RbIn(t, x) && rb_key[x] == key && RbAbsent{Pre}(t, key);
    ensures  had:    \result != x ==> RbIn{Pre}(t, \result) && rb_key[\result] == key && rb_own[x] == 0;
    ensures  others: RbOthers{Pre,Post}(t, x);
*/
uint32_t rb_tree_insert(uint32_t t, uint32_t x, uint64_t key);

/* Takes x out of tree t, in which it is. */
/*@ requires ok:     RbTreeOk;
    requires tree:   RbTree(t);
    requires in:     RbIn(t, x);
    assigns          rb_own[0 .. TABLE_FEW_MAX - 1], rb_root[t], RB_ASSIGNS_LINKS, RB_ASSIGNS_COLOURS;
    ensures  ok:     RbTreeOk;
    ensures  out:    rb_own[x] == 0;
    ensures  rest:   RbSameBut{Pre,Post}(x);
    ensures  others: RbOthers{Pre,Post}(t, x);
*/
void rb_tree_remove(uint32_t t, uint32_t x);

#endif
