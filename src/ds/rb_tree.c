/* rb_tree: four primitives, tree_attach, tree_detach, tree_rotate and tree_replace, write all links and keep the order. What mends
 * the colours is a sequence of these. The code for both sides is one, with the side as an argument.
 */
#include "ds/rb_tree.h"

#define LEFT 0U
#define RIGHT 1U

TABLE(uint64_t, rb_key);
TABLE(uint32_t, rb_left);
TABLE(uint32_t, rb_right);
TABLE(uint32_t, rb_parent);
TABLE(uint8_t, rb_red);
TABLE(uint32_t, rb_root);

bool rb_tree_grow(uint32_t t)
{
    return TABLE_GROW(rb_root, t);
}

bool rb_tree_grow_node(uint32_t x)
{
    return TABLE_GROW(rb_key, x) && TABLE_GROW(rb_left, x) && TABLE_GROW(rb_right, x) && TABLE_GROW(rb_parent, x) && TABLE_GROW(rb_red, x);
}

static inline uint32_t tree_child(uint32_t x, uint32_t side)
{
    return side == LEFT ? AT(rb_left, x) : AT(rb_right, x);
}

static inline void tree_set_child(uint32_t x, uint32_t side, uint32_t c)
{
    if (side == LEFT) {
        AT(rb_left, x) = c;
    } else {
        AT(rb_right, x) = c;
    }
}

static inline bool tree_is_red(uint32_t x)
{
    return x != 0 && AT(rb_red, x) != 0;
}

/* Returns the side of its parent on which x is. */
static inline uint32_t tree_side(uint32_t x)
{
    return AT(rb_left, AT(rb_parent, x)) == x ? LEFT : RIGHT;
}

/* Lets c stand where x stands: below the parent of x, or as the root. */
static inline void tree_hang(uint32_t t, uint32_t x, uint32_t c)
{
    uint32_t p = AT(rb_parent, x);
    if (p == 0) {
        AT(rb_root, t) = c;
    } else {
        tree_set_child(p, tree_side(x), c);
    }
    if (c != 0) {
        AT(rb_parent, c) = p;
    }
}

/* Makes p the child of its child on the other side, on that side. */
static void tree_rotate(uint32_t t, uint32_t p, uint32_t side)
{
    uint32_t c = tree_child(p, 1 - side);
    uint32_t b = tree_child(c, side);
    tree_hang(t, p, c);
    tree_set_child(p, 1 - side, b);
    if (b != 0) {
        AT(rb_parent, b) = p;
    }
    tree_set_child(c, side, p);
    AT(rb_parent, p) = c;
}

/* Returns the last node on that side below x, x itself included. */
static uint32_t tree_end(uint32_t x, uint32_t side)
{
    uint32_t c = tree_child(x, side);
    while (c != 0) {
        x = c;
        c = tree_child(x, side);
    }
    return x;
}

/* Returns the neighbour of x in the order, on that side, 0 if there is none. */
static uint32_t tree_neighbour(uint32_t x, uint32_t side)
{
    uint32_t c = tree_child(x, side);
    if (c != 0) {
        return tree_end(c, 1 - side);
    }
    uint32_t p = AT(rb_parent, x);
    while (p != 0 && tree_child(p, side) == x) {
        x = p;
        p = AT(rb_parent, x);
    }
    return p;
}

uint32_t rb_tree_search(uint32_t t, uint64_t key)
{
    uint32_t x = AT(rb_root, t);
    while (x != 0 && AT(rb_key, x) != key) {
        x = key < AT(rb_key, x) ? AT(rb_left, x) : AT(rb_right, x);
    }
    return x;
}

uint32_t rb_tree_nsearch(uint32_t t, uint64_t key)
{
    uint32_t x = AT(rb_root, t), best = 0;
    while (x != 0) {
        if (key <= AT(rb_key, x)) {
            best = x;
            x = AT(rb_left, x);
        } else {
            x = AT(rb_right, x);
        }
    }
    return best;
}

uint32_t rb_tree_psearch(uint32_t t, uint64_t key)
{
    uint32_t x = AT(rb_root, t), best = 0;
    while (x != 0) {
        if (key >= AT(rb_key, x)) {
            best = x;
            x = AT(rb_right, x);
        } else {
            x = AT(rb_left, x);
        }
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

/* Makes x, which is in no tree, a red leaf on that side of p, or the root if p is 0. */
static void tree_attach(uint32_t t, uint32_t p, uint32_t side, uint32_t x, uint64_t key)
{
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
}

/* The red node x and its red parent p become the two children of a black node, or of a red one further up. Returns the node that may
 * have a red parent now, 0 if there is none. */
static uint32_t tree_mend_step(uint32_t t, uint32_t x, uint32_t p)
{
    uint32_t g = AT(rb_parent, p);
    uint32_t side = tree_side(p);
    uint32_t u = tree_child(g, 1 - side);
    if (tree_is_red(u)) {
        AT(rb_red, p) = 0;
        AT(rb_red, u) = 0;
        AT(rb_red, g) = 1;
        return g;
    }
    if (tree_child(p, side) != x) {
        tree_rotate(t, p, side);
        p = x;
    }
    AT(rb_red, p) = 0;
    AT(rb_red, g) = 1;
    tree_rotate(t, g, 1 - side);
    return 0;
}

/* Mends the colours where x, which is red, may have a red parent. */
static void tree_mend_red(uint32_t t, uint32_t x)
{
    while (x != 0 && tree_is_red(AT(rb_parent, x))) {
        x = tree_mend_step(t, x, AT(rb_parent, x));
    }
    AT(rb_red, AT(rb_root, t)) = 0;
}

uint32_t rb_tree_insert(uint32_t t, uint32_t x, uint64_t key)
{
    uint32_t p = 0, side = LEFT, c = AT(rb_root, t);
    while (c != 0) {
        if (AT(rb_key, c) == key) {
            return c;
        }
        p = c;
        side = key < AT(rb_key, c) ? LEFT : RIGHT;
        c = tree_child(c, side);
    }
    tree_attach(t, p, side, x, key);
    tree_mend_red(t, x);
    return x;
}

/* Takes one black node off the paths through the sibling w of d, where those through d have one too few. Returns the node whose paths
 * have one too few now, 0 if there is none. */
static uint32_t tree_owe_step(uint32_t t, uint32_t d, uint32_t p)
{
    uint32_t side = tree_side(d);
    uint32_t w = tree_child(p, 1 - side);
    if (tree_is_red(w)) {
        AT(rb_red, w) = 0;
        AT(rb_red, p) = 1;
        tree_rotate(t, p, side);
        w = tree_child(p, 1 - side);
    }
    if (!tree_is_red(tree_child(w, LEFT)) && !tree_is_red(tree_child(w, RIGHT))) {
        AT(rb_red, w) = 1;
        if (AT(rb_red, p) != 0) {
            AT(rb_red, p) = 0;
            return 0;
        }
        return p;
    }
    if (!tree_is_red(tree_child(w, 1 - side))) {
        AT(rb_red, tree_child(w, side)) = 0;
        AT(rb_red, w) = 1;
        tree_rotate(t, w, 1 - side);
        w = tree_child(p, 1 - side);
    }
    AT(rb_red, w) = AT(rb_red, p);
    AT(rb_red, p) = 0;
    AT(rb_red, tree_child(w, 1 - side)) = 0;
    tree_rotate(t, p, side);
    return 0;
}

/* Takes the leaf z out. */
static void tree_remove_leaf(uint32_t t, uint32_t z)
{
    uint32_t d = AT(rb_red, z) != 0 ? 0 : z;
    while (d != 0 && AT(rb_parent, d) != 0) {
        d = tree_owe_step(t, d, AT(rb_parent, d));
    }
    tree_hang(t, z, 0);
}

/* Puts s, which is in no tree, at the place of x, whose neighbour in the order it was. */
static void tree_replace(uint32_t t, uint32_t x, uint32_t s)
{
    uint32_t l = AT(rb_left, x), r = AT(rb_right, x);
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

/* Takes x out, which has at most one child. Such a child is a leaf. */
static void tree_remove_simple(uint32_t t, uint32_t x)
{
    uint32_t c = AT(rb_left, x) != 0 ? AT(rb_left, x) : AT(rb_right, x);
    if (c == 0) {
        tree_remove_leaf(t, x);
    } else {
        tree_remove_leaf(t, c);
        tree_replace(t, x, c);
    }
}

void rb_tree_remove(uint32_t t, uint32_t x)
{
    if (AT(rb_left, x) == 0 || AT(rb_right, x) == 0) {
        tree_remove_simple(t, x);
    } else {
        uint32_t s = tree_end(AT(rb_right, x), LEFT);
        tree_remove_simple(t, s);
        tree_replace(t, x, s);
    }
}
