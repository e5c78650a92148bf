"""moves: a block goes from a stack of the thread's cache to the program (pop), or back (push): under which conditions, and what is written.

Trace takes these steps beside a path, and compares what the path has written. That the steps fulfil the clauses of tcache_pop, tcache_push,
tcache_push_sized, tcache_push_class and tcache_stack_at does not depend on a path: `proven` shows it once, for any cache that keeps the
invariant, and for any stack, block and size.
"""
from z3 import And, BitVec, BitVecVal, Extract, Implies, LShR, Not, Select, ULE, ULT

import invariant
import stacks
from explore import Knowledge, normal
from invariant import wide
from machine import Refused

STACK, BLOCK, SIZE = (BitVec(name, 64) for name in ("stack", "block", "size"))


class Moves:
    """Who inherits has k, what is known, view, the cache as it was when the last call returned, case(condition), and move(move, clauses)."""
    def pop(self, stack):
        """tcache_pop: returns the block on top, or None where the stack is empty."""
        v, stack = self.view, self.k.named(normal(stack))
        self.prove("tcache_pop, requires stack", v.stack(stack))
        self.k.learn("top", stack)
        self.k.learn("slot", v.top(stack))
        block = v.slot(v.top(stack))
        if self.case(block != 0):
            self.move(stacks.popped(v, stack, block), stacks.POP)
            return block
        self.move(stacks.Move(v, v, stack, block), [stacks.EMPTY])
        return None

    def page_of(self, block):
        """tcache_window_page"""
        return LShR(block - self.view.window(BitVecVal(0, 64)), (self.k.layout.constants["PAGE"] - 1).bit_length())

    def is_seen(self, block, pages="window_pages"):
        """Whether the address is in the window, which has so many pages."""
        v, zero = self.view, BitVecVal(0, 64)
        return self.case(And(ULE(v.window(zero), block), ULT(self.page_of(block), getattr(v, pages)(zero))))

    def tag_at(self, block, pages="window_pages"):
        """The halves of the tag of the address's page, high and low, or None where it is outside the window."""
        if not self.is_seen(block, pages):
            return None
        page = self.page_of(block)
        self.k.learn("high", page)
        return Select(self.k.cache.high, page), Select(self.k.cache.low, page)

    def begins(self, block, low, stack):
        """tcache_begins: a block of that stack's class begins there."""
        self.k.learn("top", stack)
        magic = Select(self.view.arrays["magic"], stack)
        return self.case(ULT((Extract(31, 0, block) - low) * magic, magic))     # TagOffset, which is modulo 2^32

    def stack_at(self, block):
        """tcache_stack_at: the stack of the class of the block that begins there, or None where the slow path has to look."""
        tag = self.tag_at(block)
        if tag is None or not self.begins(block, tag[1], wide(tag[0])):
            return None
        self.move(stacks.Move(self.view, self.view, wide(tag[0]), block, high=tag[0], low=tag[1]), stacks.FOUND)
        return wide(tag[0])

    def bit_of(self, block):
        """the number of the block's bit (live_bit, in the window of the block)"""
        return LShR(block, (self.k.layout.constants["LIVE_SPACING"] - 1).bit_length())

    def push(self, block, size=None, stack=None, pages="window_pages", checks=False):
        """tcache_push, tcache_push_sized for a size, tcache_push_class for a stack, or counting_check: the stack on which the block is put. The
        reasons for None are those of the comments."""
        v, tag = self.view, self.tag_at(block, pages)
        if tag is None:
            return None
        high, low = tag
        tagged = wide(high)
        if size is not None:
            self.prove("tcache_push_sized, requires bytes", ULE(size, self.k.layout.constants["SC_LOOKUP_MAX"]))
            self.k.learn("stack_of", size)
        said = v.stack_of(size) if size is not None else stack
        if said is not None and not self.case(said == tagged):                  # the block is of another class than the program says
            return None
        tagged = tagged if stack is None else stack
        if not self.begins(block, low, tagged):
            return None
        top = v.top(tagged)
        self.k.learn("slot", top)
        if not self.case(ULT(top, v.limit(tagged))):            # the stack is full
            return None
        if not self.case(Select(v.arrays["live"], self.bit_of(block)) == 1 if checks else       # it is not live
                         v.slot(top) != block):                 # it is the one that was freed last
            return None
        self.move(stacks.pushed(v, tagged, block, high, low, size),
                  stacks.PUSH_SIZED if size is not None else stacks.PUSH if stack is None else stacks.PUSH_CLASS)
        return tagged


class General(Moves):
    """Any cache. Each condition has the given truth."""
    def __init__(self, layout, truth=True):
        self.k, self.truth, self.count = Knowledge(layout), truth, 0
        self.view = self.k.view

    def case(self, condition):
        self.k.assume(condition if self.truth else Not(condition))
        return self.truth

    def prove(self, what, formula):
        model = self.k.refuted(Not(formula))
        if model is not None:
            raise Refused(f"{what} does not hold" + (f" ({model})" if isinstance(model, str) else ""))
        self.count += 1

    def move(self, m, clauses):
        """The clauses hold of the move, given what its contract demands."""
        given = []
        if m.high is not None:
            self.k.assume(invariant.TagBegins(m.low, m.block, m.stack - 1))             # tag_lemma_begins, as the case of the fraction was asked
            self.k.assume(invariant.tag_of(m.before, m.stack, m.block))                 # tcache_lemma_tag
            given = [invariant.live(m.before, m.block)]
        for field, index in (("top", stacks.STACK), ("top", stacks.OTHER), ("top", m.stack), ("slot", stacks.SLOT),
                             ("slot", m.before.top(m.stack))):
            self.k.learn(field, index)
        for c in clauses:
            formulas = c.holds(m)
            for part, formula in (formulas if isinstance(formulas, dict) else {"": formulas}).items():
                self.prove(f"{c.function}, ensures {c.name}" + (f", {part}" if part else ""), Implies(And(*given), formula))
        if self.k.refuted(BitVecVal(0, 1) == 0) is None:
            raise Refused(f"{clauses[0].function}: no state moves so")


def proven(layout):
    """the number of formulas that hold of each move; raises Refused"""
    count, k = 0, layout.constants
    for truth in (True, False):
        g = General(layout, truth)
        g.k.assume(ULT(STACK, k["TCACHE_STACKS"]))
        g.pop(STACK)
        count += g.count
    for size, stack, pages in ((None, None, "window_pages"), (None, None, "counted_pages"), (None, None, "checked_pages"), (SIZE, None, "window_pages"),
                               (None, STACK, "window_pages")):
        g = General(layout)
        if size is not None:
            g.k.assume(ULE(size, k["SC_LOOKUP_MAX"]))
        g.push(BLOCK, size, stack, pages, checks=pages == "checked_pages")
        count += g.count
    g = General(layout)
    g.stack_at(BLOCK)
    return count + g.count
