/* rb_tree_insert: a new leaf of a red-black tree is red, and what this breaks is mended from there up. */
#ifndef QED_DS_RB_TREE_INSERT_H
#define QED_DS_RB_TREE_INSERT_H

#include "ds/rb_tree_links.h"

/* Makes x, which is in no tree, a red leaf on that side of p, or the root if p is 0. */
/*@ requires ok:       RbTreeOk;
    requires nodes:    RbTree(t) && RbIn(0, x) && side <= 1;
    requires absent:   RbAbsent(t, key);
    requires root:     p == 0 ==> rb_root[t] == 0;
    requires place:    p != 0 ==> RbIn(t, p) && RbChild(p, side) == 0;
    requires between:  p != 0 ==> (side == 0 ? key < rb_key[p] && RbAbove(p, key) : key > rb_key[p] && RbBelow(p, key));
    assigns            rb_own[x], rb_key[x], rb_root[t], rb_left[x], rb_right[x], rb_parent[x], rb_red[x], rb_lo[x],
                       rb_hi[x], rb_bh[x], rb_left[p], rb_right[p];
    ensures  links:    RbLinks;
    ensures  order:    RbOrder;
    ensures  balance:  RbBalance(0, 0);
    ensures  red:      RbRedBut(x);
    ensures  in:       RbIn(t, x) && rb_key[x] == key && rb_red[x] != 0;
    ensures  others:   RbOthers{Pre,Post}(t, x);
*/
static void tree_attach(uint32_t t, uint32_t p, uint32_t side, uint32_t x, uint64_t key)
{
    /*@ ghost rb_lemma_bounds(0); */
    /*@ assert above: p != 0 ==> side == 0 ==> \forall integer w; RbIn(t, w) && rb_key[w] > key ==>
            rb_key[w] >= rb_key[p]; */
    /*@ assert below: p != 0 ==> side == 1 ==> \forall integer w; RbIn(t, w) && rb_key[w] < key ==>
            rb_key[w] <= rb_key[p]; */
    /*@ assert low: p != 0 ==> side == 0 ==> \forall integer w; RbIn(t, w) && rb_right[w] == 0 && key > rb_key[w] ==>
            rb_hi[w] != 0 && key >= rb_key[rb_hi[w]]; */
    /*@ assert high: p != 0 ==> side == 1 ==> \forall integer w; RbIn(t, w) && rb_left[w] == 0 && key < rb_key[w] ==>
            rb_lo[w] != 0 && key <= rb_key[rb_lo[w]]; */
    /*@ assert left: p != 0 ==> side == 0 ==> \forall integer w; RbIn(t, w) && w != p && rb_left[w] == 0 &&
            key < rb_key[w] ==> rb_lo[w] != 0 && key <= rb_key[rb_lo[w]]; */
    /*@ assert right: p != 0 ==> side == 1 ==> \forall integer w; RbIn(t, w) && w != p && rb_right[w] == 0 &&
            key > rb_key[w] ==> rb_hi[w] != 0 && key >= rb_key[rb_hi[w]]; */
    AT(rb_key, x) = key;
    AT(rb_left, x) = 0;
    AT(rb_right, x) = 0;
    AT(rb_parent, x) = p;
    AT(rb_red, x) = 1;
    if (p == 0) {
        AT(rb_root, t) = x;
    } else {
        tree_set_child(p, side, x);
    }
    /*@ ghost rb_own[x] = t;
              rb_bh[x] = 0;
              rb_lo[x] = p == 0 ? 0 : side == 0 ? rb_lo[p] : p;
              rb_hi[x] = p == 0 ? 0 : side == 0 ? p : rb_hi[p];
              rb_lemma_links(); */
    /*@ assert alone: p == 0 ==> \forall integer y; RbIn(t, y) ==> y == x; */
    /*@ assert keys:  RbKeys; */
    /*@ ghost if (p == 0) {
                  rb_lemma_order();
              } else if (side == 0) {
                  rb_lemma_order();
              } else {
                  rb_lemma_order();
              }
              rb_lemma_balance(0, 0); */
}

/* The red p with a red child x on its inner side becomes the outer child of x. */
/*@ requires links:   RbLinks;
    requires order:   RbOrder;
    requires balance: RbBalance(0, 0);
    requires redness: RbRedBut(x);
    requires nodes:   RbTree(t) && RbIn(t, g) && RbIn(t, p) && side <= 1;
    requires places:  RbChild(g, side) == p && RbChild(p, 1 - side) == x && x != 0;
    requires red:     rb_red[g] == 0 && rb_red[p] != 0 && rb_red[x] != 0;
    requires uncle:   \forall integer y; RbIn(t, y) && rb_parent[y] == g && y != p ==> rb_red[y] == 0;
    assigns           rb_root[t], RB_ASSIGNS_LINKS, rb_red[p], rb_red[x], rb_bh[p], rb_bh[x];
    ensures  links:   RbLinks;
    ensures  order:   RbOrder;
    ensures  balance: RbBalance(0, 0);
    ensures  redness: RbRedBut(p);
    ensures  places:  RbIn(t, x) && RbChild(g, side) == x && RbChild(x, side) == p;
    ensures  red:     rb_red[g] == 0 && rb_red[p] != 0 && rb_red[x] != 0;
    ensures  uncle:   \forall integer y; RbIn(t, y) && rb_parent[y] == g && y != x ==> rb_red[y] == 0;
    ensures  others:  RbOthers{Pre,Post}(t, 0);
*/
static void tree_turn_out(uint32_t t, uint32_t p, uint32_t x, uint32_t side) /*@ ghost (uint32_t g) */
{
    /*@ assert own:   rb_own[x] == t && x < TABLE_FEW_MAX && rb_parent[x] == p && rb_parent[p] == g && g != p && g != x; */
    /*@ assert black: \forall integer y; RbIn(t, y) && y != x && (rb_parent[y] == p || rb_parent[y] == x) ==>
            rb_red[y] == 0; */
    tree_rotate_red(t, p, x, side) /*@ ghost (0, 0) */;
    /*@ assert up:    rb_parent[x] == g && rb_parent[p] == x; */
    /*@ assert below_p: \forall integer y; RbIn(t, y) && y != p && y != x && rb_parent[y] == p ==> rb_red[y] == 0; */
    /*@ assert below_x: \forall integer y; RbIn(t, y) && y != p && y != x && rb_parent[y] == x ==> rb_red[y] == 0; */
    /*@ assert below: \forall integer y; RbIn(t, y) && y != p && (rb_parent[y] == p || rb_parent[y] == x) ==>
            rb_red[y] == 0; */
}

/* The red p, with a red child x on its outer side, takes the place of its black parent g, which becomes red. */
/*@ requires links:   RbLinks;
    requires order:   RbOrder;
    requires balance: RbBalance(0, 0);
    requires redness: RbRedBut(x);
    requires nodes:   RbTree(t) && RbIn(t, g) && RbIn(t, p) && side <= 1;
    requires places:  RbChild(g, side) == p && RbChild(p, side) == x && x != 0;
    requires red:     rb_red[g] == 0 && rb_red[p] != 0 && rb_red[x] != 0;
    requires uncle:   \forall integer y; RbIn(t, y) && rb_parent[y] == g && y != p ==> rb_red[y] == 0;
    assigns           rb_root[t], RB_ASSIGNS_LINKS, rb_red[p], rb_red[g], rb_bh[p], rb_bh[g];
    ensures  links:   RbLinks;
    ensures  order:   RbOrder;
    ensures  balance: RbBalance(0, 0);
    ensures  redness: RbRedBut(0);
    ensures  others:  RbOthers{Pre,Post}(t, 0);
*/
static void tree_turn_up(uint32_t t, uint32_t g, uint32_t p, uint32_t side) /*@ ghost (uint32_t x) */
{
    /*@ assert own:   rb_own[x] == t && x < TABLE_FEW_MAX && rb_parent[x] == p && rb_parent[p] == g && x != g && p != g; */
    /*@ assert inner: \forall integer y; RbIn(t, y) && rb_parent[y] == p && y != x ==> rb_red[y] == 0; */
    tree_rotate_red(t, g, p, 1 - side) /*@ ghost (0, 0) */;
    /*@ assert black: rb_red[p] == 0 && rb_red[g] != 0 && rb_parent[g] == p; */
    /*@ assert below: \forall integer y; RbIn(t, y) && rb_parent[y] == g ==> rb_red[y] == 0; */
}

/* The red node x has the red parent p. If the sibling of p is red too, the blackness of their parent goes down to both.
 * Otherwise one or two rotations end it. Returns the node that may have a red parent now, 0 if there is none. */
/*@ requires links:   RbLinks;
    requires order:   RbOrder;
    requires balance: RbBalance(0, 0);
    requires redness: RbRedBut(x);
    requires nodes:   RbTree(t) && RbIn(t, x) && rb_parent[x] == p && p != 0;
    requires red:     rb_red[x] != 0 && rb_red[p] != 0;
    assigns           rb_root[t], RB_ASSIGNS_LINKS, RB_ASSIGNS_COLOURS;
    ensures  links:   RbLinks;
    ensures  order:   RbOrder;
    ensures  balance: RbBalance(0, 0);
    ensures  redness: RbRedBut(\result);
    ensures  next:    \result != 0 ==> RbIn(t, \result) && rb_red[\result] != 0 && rb_bh[\result] > \old(rb_bh[x]);
    ensures  others:  RbOthers{Pre,Post}(t, 0);
*/
static uint32_t tree_mend_step(uint32_t t, uint32_t x, uint32_t p)
{
    uint32_t g = AT(rb_parent, p);
    uint32_t side = tree_side(p);
    uint32_t u = tree_child(g, 1 - side);
    /*@ assert g: g != 0 && g < TABLE_FEW_MAX && rb_own[g] == t && rb_red[g] == 0 && rb_bh[g] == rb_bh[p] + 1; */
    /*@ assert p: rb_own[p] == t && p != u && rb_bh[p] == rb_bh[x] && p != g && u != g; */
    /*@ assert two: \forall integer y; RbIn(t, y) && rb_parent[y] == g ==> y == p || y == u; */
    if (tree_is_red(u)) {
        /*@ assert u: u < TABLE_FEW_MAX && rb_own[u] == t && rb_parent[u] == g && rb_bh[u] == rb_bh[p]; */
        AT(rb_red, p) = 0;
        AT(rb_red, u) = 0;
        AT(rb_red, g) = 1;
        /*@ ghost rb_bh[p] = rb_bh[p] + 1;
                  rb_bh[u] = rb_bh[u] + 1;
                  rb_lemma_balance(0, 0); */
        /*@ assert redness: RbRedBut(g); */
        return g;
    }
    /*@ assert uncle: \forall integer y; RbIn(t, y) && rb_parent[y] == g && y != p ==> rb_red[y] == 0; */
    if (tree_child(p, side) != x) {
        tree_turn_out(t, p, x, side) /*@ ghost (g) */;
        tree_turn_up(t, g, x, side) /*@ ghost (p) */;
    } else {
        tree_turn_up(t, g, p, side) /*@ ghost (x) */;
    }
    return 0;
}

/* Mends the colours where x, which is red, may have a red parent. */
/*@ requires links:   RbLinks;
    requires order:   RbOrder;
    requires balance: RbBalance(0, 0);
    requires redness: RbRedBut(x);
    requires nodes:   RbTree(t) && RbIn(t, x) && rb_red[x] != 0;
    assigns           rb_root[t], RB_ASSIGNS_LINKS, RB_ASSIGNS_COLOURS;
    ensures  ok:      RbTreeOk;
    ensures  others:  RbOthers{Pre,Post}(t, 0);
*/
static void tree_mend_red(uint32_t t, uint32_t x)
{
    /*@ ghost uint32_t room = RB_HEIGHT_MAX + 1; */
    /*@ loop invariant links:   RbLinks;
        loop invariant order:   RbOrder;
        loop invariant balance: RbBalance(0, 0);
        loop invariant redness: RbRedBut(x);
        loop invariant node:    x != 0 ==> RbIn(t, x) && rb_red[x] != 0 && RB_HEIGHT_MAX + 1 - rb_bh[x] <= room;
        loop invariant others:  RbOthers{Pre,Here}(t, 0);
        loop assigns            x, room, rb_root[t], RB_ASSIGNS_LINKS, RB_ASSIGNS_COLOURS;
        loop variant            room;
    */
    while (x != 0 && tree_is_red(AT(rb_parent, x))) {
        x = tree_mend_step(t, x, AT(rb_parent, x));
        /*@ ghost room = room - 1; */
    }
    if (x != 0 && AT(rb_parent, x) == 0) {
        /*@ ghost rb_lemma_height(x, x); */
        /*@ assert root: \forall integer y; RbNode(y) && rb_own[y] != 0 ==> rb_left[y] != x && rb_right[y] != x; */
        AT(rb_red, x) = 0;
        /*@ ghost rb_bh[x] = rb_bh[x] + 1;
                  rb_lemma_balance(0, 0); */
    }
}

#endif
