"""invariant: what holds of a thread's cache between calls, from spec/tcache/tcache.acsl, for one stack or one slot at a time.

Each predicate stands here twice: as the text of the contract, which has to be found there word by word, and as a formula. A contract that
changes makes the check fail until somebody has looked at the formula. Integers of ACSL are bit vectors of 64 bits here; no sum below
exceeds them.
"""
from dataclasses import dataclass
from typing import Callable

from z3 import And, Array, BitVecSort, BitVecVal, BoolSort, Function, Implies, Not, Or, Select, UGT, ULE, ULT, ZeroExt

TCACHE, RADIX, TAG_LEMMAS = "spec/tcache/tcache.acsl", "spec/ds/radix_tree.acsl", "spec/blocks/tag_lemmas.acsl"

ClassFits = Function("ClassFits", BitVecSort(64), BitVecSort(64), BoolSort())       # (bytes, class), left open here
ClassLeast = Function("ClassLeast", BitVecSort(64), BitVecSort(64), BoolSort())
TagBegins = Function("TagBegins", BitVecSort(32), BitVecSort(64), BitVecSort(64), BoolSort())   # (base, address, class)


@dataclass(frozen=True)
class Predicate:
    name: str
    file: str
    text: str           # ACSL
    holds: Callable


def wide(e):
    return ZeroExt(64 - e.size(), e) if e.size() < 64 else e


class View:
    """The fields and ghosts of a cache at one moment. Fields come as numbers of 64 bits."""
    def __init__(self, layout, arrays, cache, ghosts):
        self.layout, self.k, self.arrays, self.cache, self.ghosts = layout, layout.constants, arrays, cache, ghosts

    def __getattr__(self, name):
        return lambda i: wide(Select((self.ghosts if name in self.ghosts else self.arrays)[name], i))

    def stack(self, b):
        return ULT(b, self.k["TCACHE_STACKS"])

    def has(self, b, i):
        """TCACHE_IN: slot i holds a block of stack b"""
        return And(self.stack(b), ULT(self.floor(b), i), ULE(i, self.top(b)))


def ghosts(tag):
    return {name: Array(f"{name}#{tag}", BitVecSort(64), BitVecSort(bits)) for name, bits in
            (("block_state", 8), ("block_szind", 32), ("block_pos", 32))}


# Of stack b.
STACK = [
    Predicate("TcacheLimits", TCACHE, "t->floor[b] <= t->least[b] <= t->limit[b] <= t->most[b] <= t->room[b] < TCACHE_SLOTS && "
              "(t->least[b] == t->floor[b] ==> t->most[b] == t->floor[b])", lambda c, b: And(
                  ULE(c.floor(b), c.least(b)), ULE(c.least(b), c.limit(b)), ULE(c.limit(b), c.most(b)), ULE(c.most(b), c.room(b)),
                  ULT(c.room(b), c.k["TCACHE_SLOTS"]), Implies(c.least(b) == c.floor(b), c.most(b) == c.floor(b)))),
    Predicate("TcacheTops", TCACHE, "t->floor[b] <= t->top[b] <= t->limit[b]",
              lambda c, b: And(ULE(c.floor(b), c.top(b)), ULE(c.top(b), c.limit(b)))),
    Predicate("TcacheFloors", TCACHE, "t->slot[t->floor[b]] == 0", lambda c, b: c.slot(c.floor(b)) == 0),
    Predicate("TcacheNoStack", TCACHE, "t->magic[0] == 0", lambda c, b: c.magic(BitVecVal(0, 64)) == 0),
]
# Of stacks a and b.
PAIR = [
    Predicate("TcacheApart", TCACHE, "t->room[a] < t->floor[b] || (t->room[a] == t->floor[a] && t->room[b] == t->floor[b])",
              lambda c, a, b: Implies(ULT(a, b), Or(ULT(c.room(a), c.floor(b)), And(c.room(a) == c.floor(a), c.room(b) == c.floor(b))))),
]
# Of slot i, which holds a block of stack b.
SLOT = [
    Predicate("TcacheCached", TCACHE, "t->slot[i] < ADDRESS_MAX && block_state[t->slot[i]] == BLOCK_CACHED", lambda c, b, i: And(
        ULT(c.slot(i), c.k["ADDRESS_MAX"]), c.block_state(c.slot(i)) == c.k["BLOCK_CACHED"])),
    Predicate("TcacheClasses", TCACHE, "block_szind[t->slot[i]] == b - 1", lambda c, b, i: c.block_szind(c.slot(i)) == b - 1),
    Predicate("TcachePlaces", TCACHE, "block_pos[t->slot[i]] == i", lambda c, b, i: c.block_pos(c.slot(i)) == i),
]
# Of a number of bytes.
LOOKUP = Predicate("TcacheLookup", TCACHE, "t->stack_of[n] <= SC_NBINS && ClassFits(n, t->stack_of[n] - 1) && "
                   "ClassLeast(n, t->stack_of[n] - 1)", lambda c, n: Implies(c.stack_of(n) != 0, And(
                       ULE(c.stack_of(n), c.k["SC_NBINS"]), ClassFits(n, c.stack_of(n) - 1), ClassLeast(n, c.stack_of(n) - 1))))
# Of its ends.
ENDS = Predicate("TcacheLookup", TCACHE, "0 <= t->lookup_end <= TCACHE_LOOKUP_END && 0 <= t->paced_end <= TCACHE_LOOKUP_END && "
                 "0 <= t->counted_end <= TCACHE_LOOKUP_END && 0 <= t->checked_end <= TCACHE_LOOKUP_END", lambda c, z: And(*(
                     ULE(end(z), c.k["TCACHE_LOOKUP_END"]) for end in (c.lookup_end, c.paced_end, c.counted_end, c.checked_end))))
# Of the window.
WINDOW = Predicate("TcacheWindow", TCACHE, "t->window_pages <= t->known_pages && t->counted_pages <= t->known_pages && "
                   "t->checked_pages <= t->known_pages && (t->known_pages == 0 || (t->known_pages == RADIX_WINDOW_PAGES && "
                   "t->window % RADIX_HALF == 0 && 0 < t->window < ADDRESS_MAX && RadixLeafOf(t->leaf, t->window / RADIX_HALF)))",
                   lambda c, z: And(*(ULE(pages(z), c.known_pages(z)) for pages in (c.window_pages, c.counted_pages, c.checked_pages)), Or(
                       c.known_pages(z) == 0, And(
                       c.known_pages(z) == c.k["RADIX_WINDOW_PAGES"], c.window(z) & (c.k["RADIX_HALF"] - 1) == 0,
                       UGT(c.window(z), 0), ULT(c.window(z), c.k["ADDRESS_MAX"])))))
# Taken as a definition where the code reads `negated` (memory.py).
NEGATED = Predicate("TcacheNegated", TCACHE, "t->negated[b] == TAG_NEGATED(t->magic[b])", None)


def live(c, block):
    """What free and tcache_push demand of the program, for a block in the window."""
    return Implies(And(UGT(block, 0), ULT(block, c.k["ADDRESS_MAX"])), c.block_state(block) == c.k["BLOCK_LIVE"])


def tag_of(c, high, block):
    """tcache_lemma_tag: what the radix tree says of the page of a block that is out. SC_NBINS + LARGE_CACHED is TCACHE_STACKS - 1."""
    szind, cached = c.block_szind(block), c.k["TCACHE_STACKS"] - 1
    out = And(ULT(block, c.k["ADDRESS_MAX"]), c.block_state(block) != c.k["BLOCK_NONE"])
    return Implies(out, And(Implies(ULT(szind, cached), high == szind + 1), Implies(Not(ULT(szind, cached)), high == 0)))

