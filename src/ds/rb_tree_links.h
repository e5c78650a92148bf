/* rb_tree_links: links of red-black trees for rb_tree.c, and rotations. What changes the order of nodes is tree_attach
 * (rb_tree_insert.h), tree_detach and tree_change (rb_tree_remove.h). The code for both sides is one, with the side as an
 * argument, apart from the two rotations.
 */
#ifndef QED_DS_RB_TREE_LINKS_H
#define QED_DS_RB_TREE_LINKS_H

#include "ds/rb_tree.h"

#define LEFT 0U
#define RIGHT 1U

/*@ requires node:   RbNode(x) && side <= 1;
    assigns          \nothing;
    ensures  child:  \result == RbChild(x, side);
*/
static inline uint32_t tree_child(uint32_t x, uint32_t side)
{
    return side == LEFT ? AT(rb_left, x) : AT(rb_right, x);
}

/*@ requires node:   RbNode(x) && side <= 1;
    assigns          rb_left[x], rb_right[x];
    ensures  left:   rb_left[x] == (side == 0 ? c : \old(rb_left[x]));
    ensures  right:  rb_right[x] == (side == 0 ? \old(rb_right[x]) : c);
*/
static inline void tree_set_child(uint32_t x, uint32_t side, uint32_t c)
{
    if (side == LEFT) {
        AT(rb_left, x) = c;
    } else {
        AT(rb_right, x) = c;
    }
}

/*@ requires node:   x < TABLE_FEW_MAX;
    assigns          \nothing;
    ensures  red:    \result <==> x != 0 && rb_red[x] != 0;
*/
static inline bool tree_is_red(uint32_t x)
{
    return x != 0 && AT(rb_red, x) != 0;
}

/* Returns the side of its parent on which x is. */
/*@ requires links:  RbLinks;
    requires node:   RbNode(x) && rb_own[x] != 0 && rb_parent[x] != 0;
    assigns          \nothing;
    ensures  side:   \result <= 1 && RbChild(rb_parent[x], \result) == x;
    ensures  other:  RbChild(rb_parent[x], 1 - \result) != x;
*/
static inline uint32_t tree_side(uint32_t x)
{
    return AT(rb_left, AT(rb_parent, x)) == x ? LEFT : RIGHT;
}

/* Lets c stand where x stands, below the parent of x or as the root. */
/*@ requires nodes:  RbNode(x) && c < TABLE_FEW_MAX && RbTree(t);
    requires parent: rb_parent[x] < TABLE_FEW_MAX && rb_parent[x] != x;
    requires below:  rb_parent[x] != 0 ==> (rb_left[rb_parent[x]] == x) != (rb_right[rb_parent[x]] == x);
    assigns          rb_left[rb_parent[x]], rb_right[rb_parent[x]], rb_root[t], rb_parent[c];
    ensures  root:   rb_root[t] == (\old(rb_parent[x]) == 0 ? c : \old(rb_root[t]));
    ensures  left:   rb_left[\old(rb_parent[x])] == (\old(rb_parent[x]) != 0 && \old(rb_left[rb_parent[x]]) == x ? c :
                         \old(rb_left[rb_parent[x]]));
    ensures  right:  rb_right[\old(rb_parent[x])] == (\old(rb_parent[x]) != 0 && \old(rb_right[rb_parent[x]]) == x ? c :
                         \old(rb_right[rb_parent[x]]));
    ensures  parent: rb_parent[c] == (c == 0 ? \old(rb_parent[c]) : \old(rb_parent[x]));
*/
static inline void tree_hang(uint32_t t, uint32_t x, uint32_t c)
{
    uint32_t p = AT(rb_parent, x);
    if (p == 0) {
        AT(rb_root, t) = c;
    } else if (AT(rb_left, p) == x) {
        AT(rb_left, p) = c;
    } else {
        AT(rb_right, p) = c;
    }
    if (c != 0) {
        AT(rb_parent, c) = p;
    }
}

/* The two nodes exchange their colours. */
/*@ requires nodes:   RbNode(p) && RbNode(c);
    assigns           rb_red[p], rb_red[c], rb_bh[p], rb_bh[c];
    ensures  colours: RbTurnedColours{Pre,Post}(p, c);
*/
static inline void tree_exchange(uint32_t p, uint32_t c)
{
    uint8_t red = AT(rb_red, p);
    AT(rb_red, p) = AT(rb_red, c);
    AT(rb_red, c) = red;
    /*@ ghost uint32_t height = rb_bh[p];
              rb_bh[p] = rb_bh[c];
              rb_bh[c] = height; */
}

/* Makes p, whose right child is c, the left child of c. The two exchange their colours. */
/*@ requires links:    RbLinks;
    requires order:    RbOrder;
    requires nodes:    RbTree(t) && RbIn(t, p);
    requires child:    c != 0 && rb_right[p] == c;
    assigns            rb_root[t], RB_ASSIGNS_LINKS, rb_red[p], rb_red[c], rb_bh[p], rb_bh[c];
    ensures  links:    RbLinks;
    ensures  order:    RbOrder;
    ensures  two:      RbTurnedTwo{Pre,Post}(p, c, 0);
    ensures  apart:    RbApart(p, c, 0);
    ensures  heights:  RbTurnedHeights{Pre,Post}(p, c, 0);
    ensures  left:     RbTurnedLeft{Pre,Post}(p, c);
    ensures  right:    RbTurnedRight{Pre,Post}(p, c);
    ensures  colours:  RbTurnedColours{Pre,Post}(p, c);
    ensures  children: RbTurnedChildren{Pre,Post}(t, p, c);
    ensures  parents:  RbTurnedParents{Pre,Post}(t, p, c, \old(rb_left[c]));
    ensures  others:   RbOthers{Pre,Post}(t, 0);
*/
static void tree_rotate_left(uint32_t t, uint32_t p, uint32_t c)
{
    uint32_t b = AT(rb_left, c);
    /*@ assert keys: rb_lo[c] == p && rb_key[p] < rb_key[c]; */
    /*@ assert gap: b == 0 ==> \forall integer y; RbIn(t, y) && rb_key[y] > rb_key[p] ==> rb_key[y] >= rb_key[c]; */
    tree_hang(t, p, c);
    AT(rb_right, p) = b;
    if (b != 0) {
        AT(rb_parent, b) = p;
    }
    AT(rb_left, c) = p;
    AT(rb_parent, p) = c;
    /*@ ghost rb_lo[c] = rb_lo[p];
              rb_hi[p] = c;
              rb_lemma_links();
              rb_lemma_order(); */
    /*@ assert apart: RbApart(p, c, 0); */
    /*@ assert lefts: \forall integer y; RbNode(y) && rb_own[y] != 0 && y != p && y != c ==> rb_left[y] != p &&
            (rb_left[y] == c <==> \at(rb_left[y],Pre) == p) && \at(rb_left[y],Pre) != c; */
    /*@ assert rights: \forall integer y; RbNode(y) && rb_own[y] != 0 && y != p && y != c ==> rb_right[y] != p &&
            (rb_right[y] == c <==> \at(rb_right[y],Pre) == p) && \at(rb_right[y],Pre) != c; */
    tree_exchange(p, c);
}

/* Makes p, whose left child is c, the right child of c. The two exchange their colours. */
/*@ requires links:    RbLinks;
    requires order:    RbOrder;
    requires nodes:    RbTree(t) && RbIn(t, p);
    requires child:    c != 0 && rb_left[p] == c;
    assigns            rb_root[t], RB_ASSIGNS_LINKS, rb_red[p], rb_red[c], rb_bh[p], rb_bh[c];
    ensures  links:    RbLinks;
    ensures  order:    RbOrder;
    ensures  two:      RbTurnedTwo{Pre,Post}(p, c, 1);
    ensures  apart:    RbApart(p, c, 1);
    ensures  heights:  RbTurnedHeights{Pre,Post}(p, c, 1);
    ensures  left:     RbTurnedLeft{Pre,Post}(p, c);
    ensures  right:    RbTurnedRight{Pre,Post}(p, c);
    ensures  colours:  RbTurnedColours{Pre,Post}(p, c);
    ensures  children: RbTurnedChildren{Pre,Post}(t, p, c);
    ensures  parents:  RbTurnedParents{Pre,Post}(t, p, c, \old(rb_right[c]));
    ensures  others:   RbOthers{Pre,Post}(t, 0);
*/
static void tree_rotate_right(uint32_t t, uint32_t p, uint32_t c)
{
    uint32_t b = AT(rb_right, c);
    /*@ assert keys: rb_hi[c] == p && rb_key[p] > rb_key[c]; */
    /*@ assert gap: b == 0 ==> \forall integer y; RbIn(t, y) && rb_key[y] < rb_key[p] ==> rb_key[y] <= rb_key[c]; */
    tree_hang(t, p, c);
    AT(rb_left, p) = b;
    if (b != 0) {
        AT(rb_parent, b) = p;
    }
    AT(rb_right, c) = p;
    AT(rb_parent, p) = c;
    /*@ ghost rb_hi[c] = rb_hi[p];
              rb_lo[p] = c;
              rb_lemma_links();
              rb_lemma_order(); */
    /*@ assert apart: RbApart(p, c, 1); */
    /*@ assert lefts: \forall integer y; RbNode(y) && rb_own[y] != 0 && y != p && y != c ==> rb_left[y] != p &&
            (rb_left[y] == c <==> \at(rb_left[y],Pre) == p) && \at(rb_left[y],Pre) != c; */
    /*@ assert rights: \forall integer y; RbNode(y) && rb_own[y] != 0 && y != p && y != c ==> rb_right[y] != p &&
            (rb_right[y] == c <==> \at(rb_right[y],Pre) == p) && \at(rb_right[y],Pre) != c; */
    tree_exchange(p, c);
}

/* The same for either side: makes p, whose child on the other side is c, the child of c on that side. */
/*@ requires links:    RbLinks;
    requires order:    RbOrder;
    requires nodes:    RbTree(t) && RbIn(t, p) && side <= 1;
    requires child:    c != 0 && RbChild(p, 1 - side) == c;
    assigns            rb_root[t], RB_ASSIGNS_LINKS, rb_red[p], rb_red[c], rb_bh[p], rb_bh[c];
    ensures  links:    RbLinks;
    ensures  order:    RbOrder;
    ensures  two:      RbTurnedTwo{Pre,Post}(p, c, side);
    ensures  apart:    RbApart(p, c, side);
    ensures  heights:  RbTurnedHeights{Pre,Post}(p, c, side);
    ensures  left:     RbTurnedLeft{Pre,Post}(p, c);
    ensures  right:    RbTurnedRight{Pre,Post}(p, c);
    ensures  colours:  RbTurnedColours{Pre,Post}(p, c);
    ensures  children: RbTurnedChildren{Pre,Post}(t, p, c);
    ensures  parents:  RbTurnedParents{Pre,Post}(t, p, c, \old(RbChild(c, side)));
    ensures  others:   RbOthers{Pre,Post}(t, 0);
*/
static void tree_rotate(uint32_t t, uint32_t p, uint32_t c, uint32_t side)
{
    if (side == LEFT) {
        tree_rotate_left(t, p, c);
    } else {
        tree_rotate_right(t, p, c);
    }
}

/* The same where c is red, so that each path has as many black nodes as before. */
/*@ requires links:    RbLinks;
    requires order:    RbOrder;
    requires balance:  RbBalance(d, z);
    requires nodes:    RbTree(t) && RbIn(t, p) && side <= 1;
    requires child:    c != 0 && RbChild(p, 1 - side) == c;
    requires red:      rb_red[c] != 0;
    requires apart:    p != d && p != z && c != d && c != z;
    assigns            rb_root[t], RB_ASSIGNS_LINKS, rb_red[p], rb_red[c], rb_bh[p], rb_bh[c];
    ensures  links:    RbLinks;
    ensures  order:    RbOrder;
    ensures  balance:  RbBalance(d, z);
    ensures  two:      RbTurnedTwo{Pre,Post}(p, c, side);
    ensures  colours:  RbTurnedColours{Pre,Post}(p, c);
    ensures  children: RbTurnedChildren{Pre,Post}(t, p, c);
    ensures  parents:  RbTurnedParents{Pre,Post}(t, p, c, \old(RbChild(c, side)));
    ensures  others:   RbOthers{Pre,Post}(t, 0);
*/
static void tree_rotate_red(uint32_t t, uint32_t p, uint32_t c, uint32_t side) /*@ ghost (uint32_t d, uint32_t z) */
{
    /*@ assert heights: RbHeight(rb_left[c]) == rb_bh[c] && RbHeight(rb_right[c]) == rb_bh[c] &&
            RbHeight(rb_left[p]) == rb_bh[c] && RbHeight(rb_right[p]) == rb_bh[c]; */
    tree_rotate(t, p, c, side);
    /*@ assert p: RbHeight(rb_left[p]) == rb_bh[p] && RbHeight(rb_right[p]) == rb_bh[p]; */
    /*@ assert sides: RbHeight(RbChild(c, side)) == rb_bh[p] && RbHeight(RbChild(c, 1 - side)) == rb_bh[p]; */
    /*@ assert c: RbHeight(rb_left[c]) == rb_bh[p] && RbHeight(rb_right[c]) == rb_bh[p]; */
    /*@ ghost rb_lemma_balance(d, z); */
}

#endif
