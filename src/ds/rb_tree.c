/* rb_tree: searches and walks, and what begins an insertion and a removal. */
#include "ds/rb_tree.h"

#include "ds/rb_tree_insert.h"
#include "ds/rb_tree_remove.h"

TABLE_FEW(uint64_t, rb_key);
TABLE_FEW(uint32_t, rb_left);
TABLE_FEW(uint32_t, rb_right);
TABLE_FEW(uint32_t, rb_parent);
TABLE_FEW(uint8_t, rb_red);
TABLE_FEW(uint32_t, rb_root);

bool rb_tree_grow(uint32_t t)
{
    return TABLE_GROW(rb_root, t);
}

bool rb_tree_grow_node(uint32_t x)
{
    return TABLE_GROW(rb_key, x) && TABLE_GROW(rb_left, x) && TABLE_GROW(rb_right, x) && TABLE_GROW(rb_parent, x) &&
           TABLE_GROW(rb_red, x);
}

/* Returns the last node on that side below x, x itself included. */
/*@ requires ok:     RbTreeOk;
    requires node:   RbNode(x) && rb_own[x] != 0 && side <= 1;
    assigns          \nothing;
    ensures  in:     RbIn(rb_own[x], \result);
    ensures  end:    RbChild(\result, side) == 0;
    ensures  lo:     side == 0 ==> rb_lo[\result] == rb_lo[x];
    ensures  hi:     side == 1 ==> rb_hi[\result] == rb_hi[x];
*/
static uint32_t tree_end(uint32_t x, uint32_t side)
{
    uint32_t c = tree_child(x, side);
    /*@ ghost uint32_t level = 2 * rb_bh[x] + 1; */
    /*@ loop invariant in:    RbIn(rb_own[\at(x,Pre)], x) && c == RbChild(x, side);
        loop invariant level: RbLevel(x) <= level <= 2 * RB_HEIGHT_MAX + 1;
        loop invariant lo:    side == 0 ==> rb_lo[x] == rb_lo[\at(x,Pre)];
        loop invariant hi:    side == 1 ==> rb_hi[x] == rb_hi[\at(x,Pre)];
        loop assigns          x, c, level;
        loop variant          level;
    */
    while (c != 0) {
        /*@ assert down: RbLevel(c) < RbLevel(x); */
        x = c;
        c = tree_child(x, side);
        /*@ ghost level = level - 1; */
    }
    return x;
}

/* Returns the neighbour of x in the order, on that side, 0 if there is none. */
/*@ requires ok:     RbTreeOk;
    requires node:   RbNode(x) && rb_own[x] != 0 && side <= 1;
    assigns          \nothing;
    ensures  in:     \result != 0 ==> RbIn(rb_own[x], \result);
    ensures  next:   side == 1 && \result != 0 ==> rb_key[\result] > rb_key[x];
    ensures  least:  side == 1 ==> \forall integer y; RbIn(rb_own[x], y) && rb_key[y] > rb_key[x] ==>
                         \result != 0 && rb_key[\result] <= rb_key[y];
    ensures  back:   side == 0 && \result != 0 ==> rb_key[\result] < rb_key[x];
    ensures  most:   side == 0 ==> \forall integer y; RbIn(rb_own[x], y) && rb_key[y] < rb_key[x] ==>
                         \result != 0 && rb_key[\result] >= rb_key[y];
*/
static uint32_t tree_neighbour(uint32_t x, uint32_t side)
{
    uint32_t c = tree_child(x, side);
    if (c != 0) {
        return tree_end(c, 1 - side);
    }
    uint32_t p = AT(rb_parent, x);
    /*@ ghost uint32_t level = 2 * RB_HEIGHT_MAX + 1; */
    /*@ loop invariant in:    RbIn(rb_own[\at(x,Pre)], x) && p == rb_parent[x];
        loop invariant level: level <= 2 * RB_HEIGHT_MAX + 1 && 2 * RB_HEIGHT_MAX + 1 - RbLevel(x) <= level;
        loop invariant lo:    side == 0 ==> rb_lo[x] == rb_lo[\at(x,Pre)];
        loop invariant hi:    side == 1 ==> rb_hi[x] == rb_hi[\at(x,Pre)];
        loop assigns          x, p, level;
        loop variant          level;
    */
    while (p != 0 && tree_child(p, side) == x) {
        /*@ assert up: RbLevel(p) > RbLevel(x); */
        x = p;
        p = AT(rb_parent, x);
        /*@ ghost level = level - 1; */
    }
    return p;
}

uint32_t rb_tree_search(uint32_t t, uint64_t key)
{
    uint32_t x = AT(rb_root, t);
    /*@ ghost uint32_t level = 2 * RB_HEIGHT_MAX + 1; */
    /*@ loop invariant in:    x != 0 ==> RbIn(t, x) && RbAbove(x, key) && RbBelow(x, key);
        loop invariant none:  x == 0 ==> RbAbsent(t, key);
        loop invariant level: RbLevel(x) <= level;
        loop assigns          x, level;
        loop variant          level;
    */
    while (x != 0 && AT(rb_key, x) != key) {
        /*@ assert down: RbLevel(rb_left[x]) < RbLevel(x) && RbLevel(rb_right[x]) < RbLevel(x); */
        x = key < AT(rb_key, x) ? AT(rb_left, x) : AT(rb_right, x);
        /*@ ghost level = level - 1; */
    }
    return x;
}

uint32_t rb_tree_nsearch(uint32_t t, uint64_t key)
{
    uint32_t x = AT(rb_root, t), best = 0;
    /*@ ghost uint32_t level = 2 * RB_HEIGHT_MAX + 1; */
    /*@ loop invariant in:    x != 0 ==> RbIn(t, x) && RbAbove(x, key) && rb_hi[x] == best;
        loop invariant best:  best != 0 ==> RbIn(t, best) && rb_key[best] >= key;
        loop invariant least: x == 0 ==> \forall integer y; RbIn(t, y) && rb_key[y] >= key ==>
                                  best != 0 && rb_key[best] <= rb_key[y];
        loop invariant level: RbLevel(x) <= level;
        loop assigns          x, best, level;
        loop variant          level;
    */
    while (x != 0) {
        /*@ assert down: RbLevel(rb_left[x]) < RbLevel(x) && RbLevel(rb_right[x]) < RbLevel(x); */
        if (key <= AT(rb_key, x)) {
            best = x;
            x = AT(rb_left, x);
        } else {
            x = AT(rb_right, x);
        }
        /*@ ghost level = level - 1; */
    }
    return best;
}

uint32_t rb_tree_psearch(uint32_t t, uint64_t key)
{
    uint32_t x = AT(rb_root, t), best = 0;
    /*@ ghost uint32_t level = 2 * RB_HEIGHT_MAX + 1; */
    /*@ loop invariant in:       x != 0 ==> RbIn(t, x) && RbBelow(x, key) && rb_lo[x] == best;
        loop invariant best:     best != 0 ==> RbIn(t, best) && rb_key[best] <= key;
        loop invariant greatest: x == 0 ==> \forall integer y; RbIn(t, y) && rb_key[y] <= key ==>
                                     best != 0 && rb_key[best] >= rb_key[y];
        loop invariant level:    RbLevel(x) <= level;
        loop assigns             x, best, level;
        loop variant             level;
    */
    while (x != 0) {
        /*@ assert down: RbLevel(rb_left[x]) < RbLevel(x) && RbLevel(rb_right[x]) < RbLevel(x); */
        if (key >= AT(rb_key, x)) {
            best = x;
            x = AT(rb_right, x);
        } else {
            x = AT(rb_left, x);
        }
        /*@ ghost level = level - 1; */
    }
    return best;
}

uint32_t rb_tree_first(uint32_t t)
{
    uint32_t x = AT(rb_root, t);
    return x == 0 ? 0 : tree_end(x, LEFT);
}

uint32_t rb_tree_last(uint32_t t)
{
    uint32_t x = AT(rb_root, t);
    return x == 0 ? 0 : tree_end(x, RIGHT);
}

uint32_t rb_tree_next(uint32_t x)
{
    return tree_neighbour(x, RIGHT);
}

uint32_t rb_tree_previous(uint32_t x)
{
    return tree_neighbour(x, LEFT);
}

uint32_t rb_tree_insert(uint32_t t, uint32_t x, uint64_t key)
{
    uint32_t p = 0, side = LEFT, c = AT(rb_root, t);
    /*@ ghost uint32_t level = 2 * RB_HEIGHT_MAX + 1; */
    /*@ loop invariant side:    side <= 1 && (p == 0 ==> c == rb_root[t]);
        loop invariant child:   p != 0 ==> RbIn(t, p) && c == RbChild(p, side);
        loop invariant in:      c != 0 ==> RbIn(t, c) && RbAbove(c, key) && RbBelow(c, key);
        loop invariant between: p != 0 ==> (side == 0 ? key < rb_key[p] && RbAbove(p, key) :
                                            key > rb_key[p] && RbBelow(p, key));
        loop invariant level:   RbLevel(c) <= level;
        loop assigns            p, side, c, level;
        loop variant            level;
    */
    while (c != 0) {
        if (AT(rb_key, c) == key) {
            return c;
        }
        /*@ assert down: RbLevel(rb_left[c]) < RbLevel(c) && RbLevel(rb_right[c]) < RbLevel(c); */
        p = c;
        side = key < AT(rb_key, c) ? LEFT : RIGHT;
        c = tree_child(c, side);
        /*@ ghost level = level - 1; */
    }
    tree_attach(t, p, side, x, key);
    tree_mend_red(t, x);
    return x;
}

void rb_tree_remove(uint32_t t, uint32_t x)
{
    if (AT(rb_left, x) == 0 || AT(rb_right, x) == 0) {
        tree_remove_simple(t, x);
    } else {
        uint32_t s = tree_end(AT(rb_right, x), LEFT);
        /*@ assert neighbours: RbNeighbours(t, x, s); */
        tree_remove_simple(t, s);
        tree_replace(t, x, s);
    }
}
