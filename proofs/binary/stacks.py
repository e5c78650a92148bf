"""stacks: what the contracts of tcache_pop and tcache_push (src/tcache/tcache.h) say of a path that takes a block from a stack of the thread's
cache, or puts one there. Each clause has its text in the header beside it.
"""
from dataclasses import dataclass, replace
from typing import Callable

from z3 import And, BitVec, BitVecVal, Extract, Implies, Select, Store, ULT

import invariant
from invariant import View, wide

HEADER = "src/tcache/tcache.h"
STACK, OTHER, SLOT, ADDRESS = (BitVec(name, 64) for name in ("any_stack", "any_other_stack", "any_slot", "any_address"))


@dataclass(frozen=True)
class Clause:
    function: str
    name: str
    text: str
    holds: Callable         # of a Move; None where it speaks of ghosts alone, with why
    why: str = ""


@dataclass
class Move:
    """A block that goes from a stack to the program, or back. before and after are views of the cache."""
    before: View
    after: View
    stack: object
    block: object
    high: object = None     # the halves of the tag of the block's page
    low: object = None
    bytes: object = None    # what the program says of the block's size

    @property
    def k(self):
        return self.before.k


def whole(m):
    """TcacheOk, for any stacks and any slot: what a pop or a push may break. The other parts speak of fields that neither writes."""
    a = m.after
    parts = {p.name: Implies(a.stack(STACK), p.holds(a, STACK)) for p in invariant.STACK}
    parts |= {p.name: Implies(And(a.stack(STACK), a.stack(OTHER)), p.holds(a, STACK, OTHER)) for p in invariant.PAIR}
    parts |= {p.name: Implies(a.has(STACK, SLOT), p.holds(a, STACK, SLOT)) for p in invariant.SLOT}
    return parts


def stands(view):
    """TcacheAll for any address, whatever its class and its place: if it is cached, it stands there"""
    cached = And(view.block_state(ADDRESS) == view.k["BLOCK_CACHED"], view.block_szind(ADDRESS) + 1 == STACK, view.block_pos(ADDRESS) == SLOT)
    return Implies(cached, And(view.has(STACK, SLOT), view.slot(SLOT) == ADDRESS))


ALL = invariant.Predicate("TcacheAll", "spec/tcache/tcache.acsl", r"\forall integer a; 0 <= a < ADDRESS_MAX && block_state[a] == BLOCK_CACHED ==> "
                          "TCACHE_IN(t, block_szind[a] + 1, block_pos[a]) && t->slot[block_pos[a]] == a", stands)
STILL_WHOLE = "BlocksOk{Pre} ==> BlocksOk"
NONE_LOST = ("all", "TcacheAll{Pre}(t) ==> TcacheAll(t)", lambda m: Implies(stands(m.before), stands(m.after)))

POP = [
    Clause("tcache_pop", "blocks", STILL_WHOLE, lambda m: And(ULT(m.block, m.k["ADDRESS_MAX"]), m.before.block_state(m.block) != m.k["BLOCK_NONE"]),
           "the ghost block_set_state keeps it, which demands that the block is out"),
    Clause("tcache_pop", "ok", "TcacheOk(t)", whole),
    Clause("tcache_pop", "cached", r"\result != 0 ==> \result < ADDRESS_MAX && \at(block_state[\result],Pre) == BLOCK_CACHED",
           lambda m: And(ULT(m.block, m.k["ADDRESS_MAX"]), m.before.block_state(m.block) == m.k["BLOCK_CACHED"])),
    Clause("tcache_pop", "live", r"\result != 0 ==> block_state[\result] == BLOCK_LIVE",
           lambda m: m.after.block_state(m.block) == m.k["BLOCK_LIVE"]),
    Clause("tcache_pop", "class", r"\result != 0 ==> stack != 0 && block_szind[\result] == stack - 1",
           lambda m: And(m.stack != 0, m.before.block_szind(m.block) == m.stack - 1)),
    Clause("tcache_pop", "top", r"\result != 0 ==> \result == \old(t->slot[t->top[stack]])",
           lambda m: m.block == m.before.slot(m.before.top(m.stack))),
    Clause("tcache_pop", "others", "TcacheBlocksSame{Pre,Post}(\\result)",
           lambda m: Implies(ADDRESS != m.block, m.after.block_state(ADDRESS) == m.before.block_state(ADDRESS))),
    Clause("tcache_pop", "hollow", r"TcacheHollow{Pre}(t) ==> \result == 0", lambda m: m.before.room(m.stack) != 0),
    Clause("tcache_pop", *NONE_LOST),
]
EMPTY = Clause("tcache_pop", "empty", r"\result == 0 ==> t->top[stack] == t->floor[stack]", lambda m: m.before.top(m.stack) == m.before.floor(m.stack))
STILL = Clause("tcache_pop", "same", r"\result == 0 ==> TcacheSame{Pre,Post}(t) && block_state[0] == \old(block_state[0])", None,
               "where the stack is empty nothing is written, which every path shows")

PUSH = [
    Clause("tcache_push", "blocks", "BlocksOk", lambda m: And(ULT(m.block, m.k["ADDRESS_MAX"]), m.before.block_state(m.block) != m.k["BLOCK_NONE"]),
           "the ghost block_set_cached keeps it, which demands that the block is live"),
    Clause("tcache_push", "ok", "TcacheOk(t)", whole),
    Clause("tcache_push", "cached", r"\result ==> block < ADDRESS_MAX && block_state[block] == BLOCK_CACHED",
           lambda m: And(ULT(m.block, m.k["ADDRESS_MAX"]), m.after.block_state(m.block) == m.k["BLOCK_CACHED"])),
    Clause("tcache_push", "null", r"block == 0 ==> !\result", lambda m: m.block != 0),
    Clause("tcache_push", "up", r"\result ==> t->top[block_szind[block] + 1] == \old(t->top[block_szind[block] + 1]) + 1",
           lambda m: m.after.top(m.before.block_szind(m.block) + 1) == m.before.top(m.before.block_szind(m.block) + 1) + 1),
    Clause("tcache_push", "stands", r"\result ==> t->slot[t->top[block_szind[block] + 1]] == block",
           lambda m: m.after.slot(m.after.top(m.before.block_szind(m.block) + 1)) == m.block),
    Clause("tcache_push", "begins", r"\result ==> radix_tag_of[block / PAGE] / TAG_HALF != 0 && TagBegins(radix_tag_of[block / PAGE], block, "
           "ScBytes(radix_tag_of[block / PAGE] / TAG_HALF - 1))",
           lambda m: And(m.high != 0, invariant.TagBegins(m.low, m.block, wide(m.high) - 1))),
    Clause("tcache_push", *NONE_LOST),
]
# Where the push is refused nothing is written, which every path shows; then these hold.
REFUSED = [
    Clause("tcache_push", "none", r"!\result && 0 < block < ADDRESS_MAX ==> block_state[block] == BLOCK_LIVE", None, "no ghost has changed"),
    Clause("tcache_push", "same", r"!\result ==> TcacheSame{Pre,Post}(t) && block_state[block] == \old(block_state[block])", None,
           "nothing is written"),
]


# Nothing is written where a block's class is only looked up.
FOUND = [
    Clause("tcache_stack_at", "class",
           r"\result != 0 ==> 0 < block < ADDRESS_MAX && \result < TCACHE_STACKS && block_szind[block] == \result - 1",
           lambda m: And(m.block != 0, ULT(m.block, m.k["ADDRESS_MAX"]), m.before.stack(m.stack), m.before.block_szind(m.block) == m.stack - 1)),
]


# tcache_push_sized promises the same, and that the size is right.
PUSH_SIZED = [replace(c, function="tcache_push_sized", text=STILL_WHOLE if c.name == "blocks" else c.text) for c in PUSH] + [
    Clause("tcache_push_sized", "fits", r"\result ==> ClassFits(bytes, block_szind[block])",
           lambda m: invariant.ClassFits(m.bytes, m.before.block_szind(m.block))),
    Clause("tcache_push_sized", "least", r"\result ==> ClassLeast(bytes, block_szind[block])",
           lambda m: invariant.ClassLeast(m.bytes, m.before.block_szind(m.block))),
]
REFUSED_SIZED = [replace(c, function="tcache_push_sized") for c in REFUSED]
# tcache_push_class promises the same, and the class.
PUSH_CLASS = [replace(c, function="tcache_push_class", text=STILL_WHOLE if c.name == "blocks" else c.text) for c in PUSH] + [
    Clause("tcache_push_class", "class", r"\result ==> stack != 0 && block_szind[block] == stack - 1",
           lambda m: And(m.stack != 0, m.before.block_szind(m.block) == m.stack - 1)),
]
REFUSED_CLASS = [replace(c, function="tcache_push_class") for c in REFUSED]


def replaced(view, **changes):
    arrays = {n: changes.get(n, a) for n, a in view.arrays.items()}
    ghosts = {n: changes.get(n, a) for n, a in view.ghosts.items()}
    return View(view.layout, arrays, view.cache, ghosts)


def popped(view, stack, block):
    """tcache_drop, and the ghost block_set_state"""
    state = Store(view.ghosts["block_state"], block, BitVecVal(view.k["BLOCK_LIVE"], 8))
    top = view.arrays["top"]
    return Move(view, replaced(view, top=Store(top, stack, Select(top, stack) - 1), block_state=state), stack, block)


def pushed(view, stack, block, high, low, size=None):
    """tcache_put, tcache_raise, and the ghost block_set_cached"""
    up = view.top(stack) + 1
    after = replaced(view, top=Store(view.arrays["top"], stack, up), slot=Store(view.arrays["slot"], up, block),
                     block_state=Store(view.ghosts["block_state"], block, BitVecVal(view.k["BLOCK_CACHED"], 8)),
                     block_pos=Store(view.ghosts["block_pos"], block, Extract(31, 0, up)))
    return Move(view, after, stack, block, high=high, low=low, bytes=size)
