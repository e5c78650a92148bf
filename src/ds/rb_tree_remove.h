/* rb_tree_remove: a leaf leaves a red-black tree once it does not count as black any more, which is mended from there up. A
 * node with children is replaced by its neighbour in the order, which leaves first.
 */
#ifndef QED_DS_RB_TREE_REMOVE_H
#define QED_DS_RB_TREE_REMOVE_H

#include "ds/rb_tree_links.h"

/* What the steps of a removal rely on: z is a leaf that counts as missing already, and paths through d have one black
 * node too few. */
/*@ predicate TreeOwes{L}(integer t, integer d, integer z) = RbLinks && RbOrder && RbRedBut(0) && RbBalance(d, z) &&
      RbIn(t, z) && rb_left[z] == 0 && rb_right[z] == 0 && rb_red[z] == 0 && rb_bh[z] == (d == z ? 1 : 0) &&
      (d != 0 ==> RbIn(t, d) && rb_red[d] == 0);
*/

/* Pays with a red child of w, the black sibling of d: makes the outer one of them black, and rotates. */
/*@ requires owes:    TreeOwes(t, d, z) && d != 0;
    requires nodes:   RbTree(t) && rb_parent[d] == p && p != 0 && side <= 1;
    requires places:  RbChild(p, side) == d && RbChild(p, 1 - side) == w && w != 0;
    requires black:   rb_red[w] == 0;
    requires red:     RbChild(w, 1 - side) == f && f != 0 && rb_red[f] != 0;
    assigns           rb_root[t], RB_ASSIGNS_LINKS, RB_ASSIGNS_COLOURS;
    ensures  owes:    TreeOwes(t, 0, z);
    ensures  others:  RbOthers{Pre,Post}(t, 0);
*/
static void tree_pay(uint32_t t, uint32_t p, uint32_t side, uint32_t w, uint32_t f) /*@ ghost (uint32_t d, uint32_t z) */
{
    /*@ assert own:  rb_own[p] == t && rb_own[w] == t && rb_own[f] == t && rb_parent[f] == w && rb_parent[w] == p; */
    /*@ assert same: rb_bh[w] == rb_bh[d]; */
    /*@ assert owed: rb_bh[d] == RbHeight(rb_left[d]) + (d == z ? 0 : 1) + 1; */
    /*@ assert z:    w != z && f != z && p != z; */
    /*@ assert d:    w != d && p != d && f != d && f != p; */
    /*@ assert w:    RbHeight(rb_left[w]) == rb_bh[w] - 1 && RbHeight(rb_right[w]) == rb_bh[w] - 1; */
    /*@ assert f:    rb_bh[f] == rb_bh[w] - 1; */
    tree_rotate(t, p, w, side);
    /*@ assert leaf: rb_left[z] == 0 && rb_right[z] == 0 && rb_red[z] == 0; */
    /*@ assert below: RbChild(p, side) == d && RbHeight(RbChild(p, 1 - side)) == rb_bh[p] - 1 && rb_bh[p] == rb_bh[d]; */
    /*@ assert inner: RbChild(p, 1 - side) != d && RbChild(p, 1 - side) != f; */
    /*@ assert of_d: rb_parent[d] == p && \forall integer y; RbNode(y) && rb_own[y] != 0 && y != p ==>
            rb_left[y] != d && rb_right[y] != d; */
    /*@ assert of_f: rb_parent[f] == w && \forall integer y; RbNode(y) && rb_own[y] != 0 && y != w ==>
            rb_left[y] != f && rb_right[y] != f; */
    AT(rb_red, f) = 0;
    /*@ ghost rb_bh[f] = rb_bh[f] + 1;
              rb_bh[d] = rb_bh[d] - 1; */
    /*@ assert red_w: rb_red[w] != 0 ==> rb_parent[w] != 0 && rb_red[rb_parent[w]] == 0; */
    /*@ assert red_t: \forall integer y; RbIn(t, y) && y != p && y != w && y != f && rb_red[y] != 0 ==>
            rb_parent[y] != 0 && rb_red[rb_parent[y]] == 0; */
    /*@ assert redness: RbRedBut(0); */
    /*@ assert sides: RbHeight(RbChild(p, side)) == rb_bh[p] - 1 && RbHeight(RbChild(p, 1 - side)) == rb_bh[p] - 1; */
    /*@ assert p: RbHeight(rb_left[p]) == rb_bh[p] - 1 && RbHeight(rb_right[p]) == rb_bh[p] - 1; */
    /*@ assert t: RbHeight(rb_left[w]) == rb_bh[p] && RbHeight(rb_right[w]) == rb_bh[p]; */
    /*@ assert left: \forall integer y; RbNode(y) && rb_own[y] != 0 && y != p && y != w ==>
            RbHeight(rb_left[y]) == \at(RbHeight(rb_left[y]),Pre); */
    /*@ assert right: \forall integer y; RbNode(y) && rb_own[y] != 0 && y != p && y != w ==>
            RbHeight(rb_right[y]) == \at(RbHeight(rb_right[y]),Pre); */
    /*@ assert count_p: rb_bh[p] == RbHeight(rb_left[p]) + 1 && rb_red[p] == 0; */
    /*@ assert count_w: rb_bh[w] == RbHeight(rb_left[w]) + (rb_red[w] != 0 ? 0 : 1); */
    /*@ assert count_f: rb_bh[f] == RbHeight(rb_left[f]) + 1 && rb_bh[f] == \at(rb_bh[w],Pre); */
    /*@ assert count_d: rb_bh[d] == RbHeight(rb_left[d]) + (d == z ? 0 : 1); */
    /*@ assert same_t: \forall integer y; RbNode(y) && y != p && y != w && y != f && y != d ==>
            rb_bh[y] == \at(rb_bh[y],Pre) && rb_red[y] == \at(rb_red[y],Pre); */
    /*@ assert count_t: \forall integer y; RbNode(y) && rb_own[y] != 0 && y != p && y != w && y != f && y != d ==>
            rb_bh[y] == RbHeight(rb_left[y]) + (rb_red[y] != 0 || y == z ? 0 : 1); */
    /*@ ghost rb_lemma_balance(0, z); */
}

/* Takes one black node off the paths through w, the black sibling of d, whose children are black. Returns the node whose
 * paths have one too few now, 0 if there is none. */
/*@ requires owes:    TreeOwes(t, d, z) && d != 0;
    requires nodes:   RbTree(t) && rb_parent[d] == p && p != 0 && side <= 1;
    requires places:  RbChild(p, side) == d && RbChild(p, 1 - side) == w && w != 0;
    requires black:   rb_red[w] == 0;
    requires left:    rb_left[w] != 0 ==> rb_red[rb_left[w]] == 0;
    requires right:   rb_right[w] != 0 ==> rb_red[rb_right[w]] == 0;
    assigns           RB_ASSIGNS_COLOURS;
    ensures  owes:    TreeOwes(t, \result, z);
    ensures  up:      \result != 0 ==> \result == p && rb_bh[p] > \old(rb_bh[d]);
    ensures  others:  RbOthers{Pre,Post}(t, 0);
*/
static uint32_t tree_pass(uint32_t p, uint32_t w) /*@ ghost (uint32_t t, uint32_t d, uint32_t side, uint32_t z) */
{
    /*@ assert same: rb_bh[w] == rb_bh[d]; */
    /*@ assert owed: rb_bh[d] == RbHeight(rb_left[d]) + (d == z ? 0 : 1) + 1; */
    /*@ assert w_d: w != d; */
    /*@ assert w_z: w != z; */
    /*@ assert p_d: p != d; */
    /*@ assert p_z: p != z; */
    /*@ assert p: rb_bh[p] == rb_bh[d] + (rb_red[p] != 0 ? 0 : 1); */
    /*@ assert parent: rb_own[w] == t && w < TABLE_FEW_MAX && rb_parent[w] == p; */
    /*@ assert black: \forall integer y; RbNode(y) && rb_own[y] != 0 && rb_parent[y] == w ==> rb_red[y] == 0; */
    /*@ assert of_d: \forall integer y; RbNode(y) && rb_own[y] != 0 && y != p ==> rb_left[y] != d && rb_right[y] != d; */
    /*@ assert of_w: \forall integer y; RbNode(y) && rb_own[y] != 0 && y != p ==> rb_left[y] != w && rb_right[y] != w; */
    uint8_t red = AT(rb_red, p);
    AT(rb_red, w) = 1;
    AT(rb_red, p) = 0;
    /*@ ghost rb_bh[w] = rb_bh[w] - 1;
              rb_bh[d] = rb_bh[d] - 1; */
    /*@ assert redness: RbRedBut(0); */
    /*@ assert even: RbHeight(rb_left[p]) == RbHeight(rb_right[p]); */
    /*@ ghost rb_lemma_balance(red != 0 ? 0 : p, z); */
    return red != 0 ? 0 : p;
}

/* Gives d, whose sibling w is red, a black sibling. */
/*@ requires owes:    TreeOwes(t, d, z) && d != 0;
    requires nodes:   RbTree(t) && rb_parent[d] == p && p != 0 && side <= 1;
    requires places:  RbChild(p, side) == d && RbChild(p, 1 - side) == w && w != 0 && w != d;
    requires red:     rb_red[w] != 0;
    assigns           rb_root[t], RB_ASSIGNS_LINKS, rb_red[p], rb_red[w], rb_bh[p], rb_bh[w];
    ensures  owes:    TreeOwes(t, d, z);
    ensures  places:  rb_parent[d] == p && RbChild(p, side) == d;
    ensures  height:  rb_bh[d] == \old(rb_bh[d]);
    ensures  sibling: RbIn(t, RbChild(p, 1 - side)) && rb_red[RbChild(p, 1 - side)] == 0;
    ensures  near:    rb_parent[RbChild(p, 1 - side)] == p && RbChild(p, 1 - side) != d;
    ensures  others:  RbOthers{Pre,Post}(t, 0);
*/
static void tree_turn_sibling(uint32_t t, uint32_t p, uint32_t w, uint32_t side) /*@ ghost (uint32_t d, uint32_t z) */
{
    /*@ assert own:   rb_own[p] == t && rb_own[w] == t && w < TABLE_FEW_MAX && rb_parent[w] == p; */
    /*@ assert apart: p != d && p != z && w != z; */
    /*@ assert black: rb_red[p] == 0 && \forall integer y; RbIn(t, y) && rb_parent[y] == w ==> rb_red[y] == 0; */
    /*@ assert owed:  rb_bh[w] == rb_bh[d] && rb_bh[d] >= 1; */
    tree_rotate_red(t, p, w, side) /*@ ghost (d, z) */;
    /*@ assert red_p: rb_red[p] != 0 && rb_red[w] == 0 && rb_parent[p] == w && rb_parent[d] == p; */
    /*@ assert below: \forall integer y; RbIn(t, y) && rb_parent[y] == p ==> rb_red[y] == 0; */
    /*@ assert redness: RbRedBut(0); */
    /*@ assert sibling: RbHeight(RbChild(p, 1 - side)) == rb_bh[d]; */
}

/* Gives w, the black sibling of d, a red outer child: its inner child n, which is red, takes its place above it. */
/*@ requires owes:    TreeOwes(t, d, z) && d != 0;
    requires nodes:   RbTree(t) && rb_parent[d] == p && p != 0 && side <= 1;
    requires places:  RbChild(p, side) == d && RbChild(p, 1 - side) == w && w != 0 && w != d;
    requires black:   rb_red[w] == 0 && (RbChild(w, 1 - side) != 0 ==> rb_red[RbChild(w, 1 - side)] == 0);
    requires red:     RbChild(w, side) == n && n != 0 && rb_red[n] != 0;
    assigns           rb_root[t], RB_ASSIGNS_LINKS, rb_red[w], rb_red[n], rb_bh[w], rb_bh[n];
    ensures  owes:    TreeOwes(t, d, z);
    ensures  places:  rb_parent[d] == p && RbChild(p, side) == d && RbChild(p, 1 - side) == n && RbChild(n, 1 - side) == w;
    ensures  colours: rb_red[n] == 0 && rb_red[w] != 0;
    ensures  height:  rb_bh[d] == \old(rb_bh[d]);
    ensures  others:  RbOthers{Pre,Post}(t, 0);
*/
static void tree_turn_inner(uint32_t t, uint32_t w, uint32_t n, uint32_t side)
    /*@ ghost (uint32_t d, uint32_t p, uint32_t z) */
{
    /*@ assert own:   rb_own[p] == t && rb_own[w] == t && rb_own[n] == t && rb_parent[w] == p && rb_parent[n] == w; */
    /*@ assert owed:  rb_bh[w] == rb_bh[d] && rb_bh[d] >= 1 && (d == z || rb_bh[z] == 0); */
    /*@ assert apart: w != z && n != d && n != z && p != w && p != n && p != d; */
    /*@ assert black: \forall integer y; RbIn(t, y) && rb_parent[y] == n ==> rb_red[y] == 0; */
    /*@ assert outer: \forall integer y; RbIn(t, y) && rb_parent[y] == w && y != n ==> rb_red[y] == 0; */
    /*@ assert niece: RbChild(n, 1 - side) != 0 ==> rb_red[RbChild(n, 1 - side)] == 0; */
    tree_rotate_red(t, w, n, 1 - side) /*@ ghost (d, z) */;
    /*@ assert up:    rb_parent[w] == n && rb_red[n] == 0 && rb_red[w] != 0 && rb_parent[n] == p; */
    /*@ assert rest:  \forall integer y; RbIn(t, y) && y != w && y != n && rb_parent[y] == w ==> rb_red[y] == 0; */
    /*@ assert near:  RbChild(p, side) == d; */
    /*@ assert far:   RbChild(p, 1 - side) == n; */
    /*@ assert under: RbChild(n, 1 - side) == w; */
    /*@ assert below: \forall integer y; RbIn(t, y) && rb_parent[y] == w ==> rb_red[y] == 0; */
    /*@ assert redness: RbRedBut(0); */
}

/* One step up for what d owes. Returns the node that owes it now, 0 if it is paid. */
/*@ requires owes:    TreeOwes(t, d, z) && d != 0;
    requires nodes:   RbTree(t) && rb_parent[d] == p && p != 0;
    assigns           rb_root[t], RB_ASSIGNS_LINKS, RB_ASSIGNS_COLOURS;
    ensures  owes:    TreeOwes(t, \result, z);
    ensures  up:      \result != 0 ==> rb_bh[\result] > \old(rb_bh[d]);
    ensures  others:  RbOthers{Pre,Post}(t, 0);
*/
static uint32_t tree_owe_step(uint32_t t, uint32_t d, uint32_t p) /*@ ghost (uint32_t z) */
{
    uint32_t side = tree_side(d);
    uint32_t w = tree_child(p, 1 - side);
    /*@ assert even:   RbHeight(rb_left[p]) == RbHeight(rb_right[p]) && p < TABLE_FEW_MAX && rb_own[p] == t; */
    /*@ assert owed:   rb_bh[d] >= 1; */
    /*@ assert height: RbHeight(w) == rb_bh[d]; */
    /*@ assert child:  w != 0 && w < TABLE_FEW_MAX && rb_own[w] == t && rb_parent[w] == p && w != d; */
    if (tree_is_red(w)) {
        tree_turn_sibling(t, p, w, side) /*@ ghost (d, z) */;
        w = tree_child(p, 1 - side);
    }
    /*@ assert sibling: RbNode(w) && rb_own[w] == t && rb_parent[w] == p && w != d && rb_red[w] == 0; */
    /*@ assert others:  RbOthers{Pre,Here}(t, 0); */
    uint32_t n = tree_child(w, side);
    uint32_t f = tree_child(w, 1 - side);
    /*@ assert nieces: n < TABLE_FEW_MAX && f < TABLE_FEW_MAX; */
    if (!tree_is_red(n) && !tree_is_red(f)) {
        return tree_pass(p, w) /*@ ghost (t, d, side, z) */;
    }
    if (!tree_is_red(f)) {
        tree_turn_inner(t, w, n, side) /*@ ghost (d, p, z) */;
        f = w;
        w = n;
    }
    /*@ assert apart: RbOthers{Pre,Here}(t, 0); */
    tree_pay(t, p, side, w, f) /*@ ghost (d, z) */;
    return 0;
}

/* Takes the leaf z, which counts as missing, out of its tree. */
/*@ requires links:   RbLinks;
    requires order:   RbOrder;
    requires redness: RbRedBut(0);
    requires balance: RbBalance(0, z);
    requires nodes:   RbTree(t) && RbIn(t, z);
    requires leaf:    rb_left[z] == 0 && rb_right[z] == 0 && rb_bh[z] == 0;
    assigns           rb_own[z], rb_root[t], rb_left[rb_parent[z]], rb_right[rb_parent[z]], rb_parent[0];
    ensures  ok:      RbTreeOk;
    ensures  out:     rb_own[z] == 0;
    ensures  others:  RbOthers{Pre,Post}(t, 0);
*/
static void tree_detach(uint32_t t, uint32_t z)
{
    /*@ ghost rb_lemma_bounds(z); */
    tree_hang(t, z, 0);
    /*@ ghost rb_own[z] = 0;
              rb_lemma_links();
              rb_lemma_order();
              rb_lemma_balance(0, 0); */
}

/* Makes the black leaf z one that does not count. */
/*@ requires ok:      RbTreeOk;
    requires nodes:   RbTree(t) && RbIn(t, z);
    requires leaf:    rb_left[z] == 0 && rb_right[z] == 0 && rb_red[z] == 0;
    assigns           rb_root[t], RB_ASSIGNS_LINKS, RB_ASSIGNS_COLOURS;
    ensures  links:   RbLinks;
    ensures  order:   RbOrder;
    ensures  redness: RbRedBut(0);
    ensures  balance: RbBalance(0, z);
    ensures  leaf:    rb_left[z] == 0 && rb_right[z] == 0 && rb_bh[z] == 0;
    ensures  others:  RbOthers{Pre,Post}(t, 0);
*/
static void tree_settle(uint32_t t, uint32_t z)
{
    uint32_t d = z;
    /*@ ghost uint32_t room = RB_HEIGHT_MAX + 1; */
    /*@ assert one: rb_bh[z] == 1; */
    /*@ assert counts: RbCounts(z, z); */
    /*@ loop invariant owes:   TreeOwes(t, d, z);
        loop invariant room:   room <= RB_HEIGHT_MAX + 1 && (d != 0 ==> RB_HEIGHT_MAX + 1 - rb_bh[d] <= room);
        loop invariant others: RbOthers{Pre,Here}(t, 0);
        loop assigns           d, room, rb_root[t], RB_ASSIGNS_LINKS, RB_ASSIGNS_COLOURS;
        loop variant           room;
    */
    while (d != 0 && AT(rb_parent, d) != 0) {
        /*@ assert low: rb_bh[d] <= RB_HEIGHT_MAX; */
        d = tree_owe_step(t, d, AT(rb_parent, d)) /*@ ghost (z) */;
        /*@ ghost room = room - 1; */
    }
    /*@ assert root: d != 0 ==> \forall integer y; RbNode(y) && rb_own[y] != 0 ==> rb_left[y] != d && rb_right[y] != d; */
    /*@ ghost if (d != 0) {
                  rb_bh[d] = rb_bh[d] - 1;
                  rb_lemma_balance(0, z);
              } */
}

/*@ requires ok:      RbTreeOk;
    requires nodes:   RbTree(t) && RbIn(t, z);
    requires leaf:    rb_left[z] == 0 && rb_right[z] == 0;
    assigns           rb_own[z], rb_root[t], RB_ASSIGNS_LINKS, RB_ASSIGNS_COLOURS;
    ensures  ok:      RbTreeOk;
    ensures  out:     rb_own[z] == 0;
    ensures  others:  RbOthers{Pre,Post}(t, z);
*/
static void tree_remove_leaf(uint32_t t, uint32_t z)
{
    if (AT(rb_red, z) == 0) {
        tree_settle(t, z);
    }
    tree_detach(t, z);
}

/* Gives s, which is in no tree, the links and the colour of x. What led to x leads to s. */
/*@ requires links:    RbLinks;
    requires nodes:    RbTree(t) && RbIn(t, x) && RbIn(0, s);
    assigns            rb_root[t], RB_ASSIGNS_LINKS, rb_red[s], rb_bh[s];
    ensures  children: RbMovedChildren{Pre,Post}(t, x, s);
    ensures  parents:  RbMovedParents{Pre,Post}(t, x, s);
    ensures  bounds:   RbMovedBounds{Pre,Post}(t, x, s);
    ensures  node:     RbMovedNode{Pre,Post}(x, s);
    ensures  root:     rb_root[t] == (\old(rb_root[t]) == x ? s : \old(rb_root[t]));
    ensures  others:   RbOthers{Pre,Post}(t, s);
*/
static void tree_take_place(uint32_t t, uint32_t x, uint32_t s)
{
    uint32_t l = AT(rb_left, x), r = AT(rb_right, x);
    /*@ assert apart: l != x && r != x && rb_parent[x] != x && (l != 0 ==> l != r) && l != s && r != s &&
            rb_parent[x] != s; */
    /*@ ghost rb_lemma_rename(t, x, s);
              rb_lo[s] = rb_lo[x];
              rb_hi[s] = rb_hi[x];
              rb_bh[s] = rb_bh[x]; */
    tree_hang(t, x, s);
    AT(rb_red, s) = AT(rb_red, x);
    AT(rb_left, s) = l;
    AT(rb_right, s) = r;
    if (l != 0) {
        AT(rb_parent, l) = s;
    }
    if (r != 0) {
        AT(rb_parent, r) = s;
    }
}

/* The same. Then s is in the tree, and x is in none. */
/*@ requires links:    RbLinks;
    requires nodes:    RbTree(t) && RbIn(t, x) && RbIn(0, s);
    requires place:    RbSamePlace(t, x, s);
    assigns            rb_own[x], rb_own[s], rb_root[t], RB_ASSIGNS_LINKS, rb_red[s], rb_bh[s];
    ensures  links:    RbLinks;
    ensures  children: RbMovedChildren{Pre,Post}(t, x, s);
    ensures  parents:  RbMovedParents{Pre,Post}(t, x, s);
    ensures  bounds:   RbMovedBounds{Pre,Post}(t, x, s);
    ensures  node:     RbMovedNode{Pre,Post}(x, s);
    ensures  own:      rb_own[x] == 0 && rb_own[s] == t;
    ensures  others:   RbOthers{Pre,Post}(t, s);
*/
static void tree_change(uint32_t t, uint32_t x, uint32_t s)
{
    /*@ assert apart: rb_left[x] != x && rb_right[x] != x && rb_parent[x] != x && rb_lo[x] != x && rb_hi[x] != x; */
    tree_take_place(t, x, s);
    /*@ ghost rb_own[x] = 0;
              rb_own[s] = t; */
    /*@ assert left: \forall integer y; RbIn(t, y) && y != s && rb_left[y] != 0 && rb_left[y] != s ==>
            rb_left[y] < TABLE_FEW_MAX && rb_own[rb_left[y]] == t && rb_parent[rb_left[y]] == y &&
            rb_lo[rb_left[y]] == rb_lo[y] && rb_hi[rb_left[y]] == y; */
    /*@ assert left_s: rb_left[s] != 0 ==> rb_left[s] < TABLE_FEW_MAX && rb_own[rb_left[s]] == t &&
            rb_parent[rb_left[s]] == s && rb_lo[rb_left[s]] == rb_lo[s] && rb_hi[rb_left[s]] == s; */
    /*@ assert left_of: \forall integer y; RbIn(t, y) && rb_left[y] == s ==>
            rb_parent[s] == y && rb_lo[s] == rb_lo[y] && rb_hi[s] == y; */
    /*@ assert right: \forall integer y; RbIn(t, y) && y != s && rb_right[y] != 0 && rb_right[y] != s ==>
            rb_right[y] < TABLE_FEW_MAX && rb_own[rb_right[y]] == t && rb_parent[rb_right[y]] == y &&
            rb_lo[rb_right[y]] == y && rb_hi[rb_right[y]] == rb_hi[y]; */
    /*@ assert right_s: rb_right[s] != 0 ==> rb_right[s] < TABLE_FEW_MAX && rb_own[rb_right[s]] == t &&
            rb_parent[rb_right[s]] == s && rb_lo[rb_right[s]] == s && rb_hi[rb_right[s]] == rb_hi[s]; */
    /*@ assert right_of: \forall integer y; RbIn(t, y) && rb_right[y] == s ==>
            rb_parent[s] == y && rb_lo[s] == y && rb_hi[s] == rb_hi[y]; */
    /*@ assert parent: \forall integer y; RbIn(t, y) && y != s && rb_parent[y] != 0 && rb_parent[y] != s ==>
            rb_parent[y] < TABLE_FEW_MAX && rb_own[rb_parent[y]] == t && (rb_left[rb_parent[y]] == y || rb_right[rb_parent[y]] == y); */
    /*@ assert parent_of: \forall integer y; RbIn(t, y) && rb_parent[y] == s ==> rb_left[s] == y || rb_right[s] == y; */
    /*@ ghost rb_lemma_links(); */
}

/* Puts s, which is in no tree, at the place of x, whose neighbour in the order it was. */
/*@ requires ok:         RbTreeOk;
    requires nodes:      RbTree(t) && RbIn(t, x) && RbIn(0, s);
    requires neighbours: RbNeighbours(t, x, s);
    requires absent:     RbAbsent(t, rb_key[s]);
    assigns              rb_own[x], rb_own[s], rb_root[t], RB_ASSIGNS_LINKS, rb_red[s], rb_bh[s];
    ensures  ok:         RbTreeOk;
    ensures  out:        rb_own[x] == 0 && rb_own[s] == t;
    ensures  others:     RbOthers{Pre,Post}(t, s);
*/
static void tree_replace(uint32_t t, uint32_t x, uint32_t s)
{
    /*@ assert place: RbSamePlace(t, x, s); */
    tree_change(t, x, s);
    /*@ assert was_left: \forall integer y, w; RbIn(t, y) && RbIn(t, w) && y != s && w != s && rb_left[y] == 0 &&
            rb_key[w] < rb_key[y] ==> \at(rb_lo[y],Pre) != 0 && rb_key[w] <= rb_key[\at(rb_lo[y],Pre)]; */
    /*@ assert was_right: \forall integer y, w; RbIn(t, y) && RbIn(t, w) && y != s && w != s && rb_right[y] == 0 &&
            rb_key[w] > rb_key[y] ==> \at(rb_hi[y],Pre) != 0 && rb_key[w] >= rb_key[\at(rb_hi[y],Pre)]; */
    /*@ assert was_left_s: \forall integer y; RbIn(t, y) && y != s && rb_left[y] == 0 && rb_key[s] < rb_key[y] ==>
            \at(rb_lo[y],Pre) != 0 && rb_key[x] <= rb_key[\at(rb_lo[y],Pre)]; */
    /*@ assert was_right_s: \forall integer y; RbIn(t, y) && y != s && rb_right[y] == 0 && rb_key[s] > rb_key[y] ==>
            \at(rb_hi[y],Pre) != 0 && rb_key[x] >= rb_key[\at(rb_hi[y],Pre)]; */
    /*@ assert left: \forall integer y, w; RbIn(t, y) && RbIn(t, w) && y != s && w != s && rb_left[y] == 0 &&
            rb_key[w] < rb_key[y] ==> rb_lo[y] != 0 && rb_key[w] <= rb_key[rb_lo[y]]; */
    /*@ assert left_of: \forall integer w; RbIn(t, w) && rb_left[s] == 0 && rb_key[w] < rb_key[s] ==>
            rb_lo[s] != 0 && rb_key[w] <= rb_key[rb_lo[s]]; */
    /*@ assert left_s: \forall integer y; RbIn(t, y) && rb_left[y] == 0 && rb_key[s] < rb_key[y] ==>
            rb_lo[y] != 0 && rb_key[s] <= rb_key[rb_lo[y]]; */
    /*@ assert right: \forall integer y, w; RbIn(t, y) && RbIn(t, w) && y != s && w != s && rb_right[y] == 0 &&
            rb_key[w] > rb_key[y] ==> rb_hi[y] != 0 && rb_key[w] >= rb_key[rb_hi[y]]; */
    /*@ assert right_of: \forall integer w; RbIn(t, w) && rb_right[s] == 0 && rb_key[w] > rb_key[s] ==>
            rb_hi[s] != 0 && rb_key[w] >= rb_key[rb_hi[s]]; */
    /*@ assert right_s: \forall integer y; RbIn(t, y) && rb_right[y] == 0 && rb_key[s] > rb_key[y] ==>
            rb_hi[y] != 0 && rb_key[s] >= rb_key[rb_hi[y]]; */
    /*@ assert bh: \forall integer y; RbNode(y) && y != s ==>
            rb_bh[y] == \at(rb_bh[y],Pre) && rb_red[y] == \at(rb_red[y],Pre); */
    /*@ assert kids: \forall integer y; RbNode(y) && \at(rb_own[y],Pre) != 0 ==>
            \at(rb_left[y],Pre) != s && \at(rb_right[y],Pre) != s; */
    /*@ assert lefts: \forall integer y; RbNode(y) && rb_own[y] != 0 && y != s ==>
            RbHeight(rb_left[y]) == \at(RbHeight(rb_left[y]),Pre); */
    /*@ assert rights: \forall integer y; RbNode(y) && rb_own[y] != 0 && y != s ==>
            RbHeight(rb_right[y]) == \at(RbHeight(rb_right[y]),Pre); */
    /*@ assert height: RbHeight(rb_left[s]) == \at(RbHeight(rb_left[x]),Pre) &&
            RbHeight(rb_right[s]) == \at(RbHeight(rb_right[x]),Pre); */
    /*@ ghost rb_lemma_order();
              rb_lemma_balance(0, 0); */
}

/* Takes x out, which has at most one child. Such a child is a red leaf. */
/*@ requires ok:     RbTreeOk;
    requires nodes:  RbTree(t) && RbIn(t, x);
    requires simple: rb_left[x] == 0 || rb_right[x] == 0;
    assigns          rb_own[0 .. TABLE_FEW_MAX - 1], rb_root[t], RB_ASSIGNS_LINKS, RB_ASSIGNS_COLOURS;
    ensures  ok:     RbTreeOk;
    ensures  out:    rb_own[x] == 0;
    ensures  rest:   RbSameBut{Pre,Post}(x);
    ensures  others: RbOthers{Pre,Post}(t, x);
*/
static void tree_remove_simple(uint32_t t, uint32_t x)
{
    uint32_t c = AT(rb_left, x) != 0 ? AT(rb_left, x) : AT(rb_right, x);
    if (c == 0) {
        tree_remove_leaf(t, x);
    } else {
        /*@ assert red:        rb_red[c] != 0 && rb_bh[c] == 0; */
        /*@ assert leaf:       rb_left[c] == 0 && rb_right[c] == 0; */
        /*@ assert neighbours: RbNeighbours(t, x, c); */
        tree_remove_leaf(t, c);
        tree_replace(t, x, c);
    }
}

#endif
