/* rb_tree: many ordered sets of nodes, as red-black trees. A node is an id with a key, a tree is a number.
 *
 * Every node is in at most one tree, and ghost rb_own[x] says in which. No two nodes of a tree have the same key. A link
 * is the id of another node, in a table, and 0 where there is none. The links of a node in no tree mean nothing.
 *
 * The invariant RbTreeOk (spec/ds/rb_tree.acsl) speaks of all trees at once. It holds in the zero state, where no node is
 * in a tree. An operation on a tree touches only nodes in it and its argument, so trees may be guarded by different
 * locks. All operations take logarithmic time: a path from the root has at most 2 lg(n + 1) nodes.
 *
 * A walk over all nodes in rising order: for (x = rb_tree_first(t); x != 0; x = rb_tree_next(x)).
 * R. Sedgewick, L. J. Guibas: A dichromatic framework for balanced trees. FOCS (1978).
 */
#ifndef QED_DS_RB_TREE_H
#define QED_DS_RB_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/table.h"

extern TABLE(uint64_t, rb_key);
extern TABLE(uint32_t, rb_left);
extern TABLE(uint32_t, rb_right);
extern TABLE(uint32_t, rb_parent);              /* 0 for a root */
extern TABLE(uint8_t, rb_red);                  /* 1 if the node is red */
extern TABLE(uint32_t, rb_root);                /* tree -> its root, 0 if the tree is empty */

/* Does nothing: static memory is zero, and in the zero state all trees are empty. */
static inline void rb_tree_boot(void)
{
}

/* Makes tree t usable, which is empty then. Returns false if the OS has no memory. */
bool rb_tree_grow(uint32_t t);

/* Makes node x usable. Returns false if the OS has no memory. */
bool rb_tree_grow_node(uint32_t x);

/* Returns the node with that key, 0 if the tree has none. */
uint32_t rb_tree_search(uint32_t t, uint64_t key);

/* Returns the node with the least key that is at least `key`, 0 if the tree has none. */
uint32_t rb_tree_nsearch(uint32_t t, uint64_t key);

/* Returns the node with the greatest key that is at most `key`, 0 if the tree has none. */
uint32_t rb_tree_psearch(uint32_t t, uint64_t key);

/* Returns the node with the least key, 0 if the tree is empty. */
uint32_t rb_tree_first(uint32_t t);

/* Returns the node with the greatest key, 0 if the tree is empty. */
uint32_t rb_tree_last(uint32_t t);

/* Returns the node that follows x, which is in a tree, 0 if x is the last one. */
uint32_t rb_tree_next(uint32_t x);

/* Returns the node before x, which is in a tree, 0 if x is the first one. */
uint32_t rb_tree_previous(uint32_t x);

/* Puts x, which is in no tree, into tree t. Returns x, or the node of the tree that has this key already. Nothing changes then. */
uint32_t rb_tree_insert(uint32_t t, uint32_t x, uint64_t key);

/* Takes x out of tree t, in which it is. */
void rb_tree_remove(uint32_t t, uint32_t x);

#endif
