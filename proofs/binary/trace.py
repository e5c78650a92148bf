"""trace: a path beside its specification. The specification walks along the path: it says which call comes next, with which arguments, and
what the cache holds at that moment; where it distinguishes cases that the path does not, it is run once for each.
"""
from z3 import And, BitVec, BitVecVal, BoolVal, Extract, Implies, LShR, Not, Select, ULE, ULT, is_bv_value

import invariant
import stacks
from calls import CALLS
from explore import normal
from invariant import wide
from machine import ARGUMENTS, Refused
from memory import IMAGE, STACK

ANY = object()


class Text(str):
    """a pointer to this string"""


class Trace:
    def __init__(self, path, image, choices=(), quick=False):
        self.quick = quick      # leaves the clauses of contracts out, for mutants that fail without
        self.path, self.image, self.choices, self.open = path, image, list(choices), []
        self.made, self.at, self.epoch = 0, 0, 0
        self.k = path.knowledge.copy()
        self.begin(0)
        self.written = {}
        self.proven = 0

    def begin(self, epoch):
        self.k.back_to(epoch)
        self.epoch, self.view, self.expected = epoch, self.k.view, dict(self.k.view.arrays)

    @property
    def constants(self):
        return self.k.layout.constants

    @property
    def thread(self):
        return self.k.cache.t

    def argument(self, n):
        return BitVec(ARGUMENTS[n], 64)

    # ---- logic ----
    def case(self, condition):
        if self.made < len(self.choices):
            choice = self.choices[self.made]
        else:
            choice = self.k.refuted(condition) is not None
            if choice and self.k.refuted(Not(condition)) is not None:
                self.open.append(self.choices + [False])
            self.choices.append(choice)
        self.made += 1
        self.k.assume(condition if choice else Not(condition))
        return choice

    def prove(self, what, formula):
        model = self.k.refuted(Not(formula))
        if model is not None:
            raise Refused(f"{what} does not hold" + (f" ({model})" if isinstance(model, str) else ""))
        self.proven += 1

    def is_possible(self):
        """Some state takes this path. Where none does, what is believed contradicts itself and everything would be proven."""
        if not self.quick and self.k.refuted(BoolVal(True)) is None:
            raise Refused("no state takes this path")

    def clauses(self, clauses, move, given=None):
        """The clauses hold of the move, given what its contract demands."""
        if self.quick:
            return
        for c in clauses:
            formulas = c.holds(move)
            for part, formula in (formulas if isinstance(formulas, dict) else {"": formulas}).items():
                self.prove(f"{c.function}, ensures {c.name}" + (f", {part}" if part else ""),
                           formula if given is None else Implies(given, formula))

    # ---- what happens on the path ----
    def memory_is_expected(self, memory, where):
        for name, array in memory.now.items():
            if not array.eq(self.expected[name]):
                self.prove(f"assigns: {name} as it should be {where}", array == self.expected[name])
        if set(memory.written) != set(self.written):
            raise Refused(f"{where}: writes {sorted(memory.written)}, not {sorted(self.written)}")
        for region, value in memory.written.items():
            self.prove(f"assigns: {region}", value == self.written[region])

    def next_is(self, name):
        return self.at < len(self.path.events) and self.path.events[self.at].name == name

    def call(self, name, *arguments):
        """The next thing that happens is this call, with these arguments and nothing else changed. Returns its result."""
        if not self.next_is(name):
            found = self.path.events[self.at].name if self.at < len(self.path.events) else self.path.end
            raise Refused(f"{name} should be called, not {found}")
        event = self.path.events[self.at]
        for wanted, got in zip(arguments, event.arguments):
            if isinstance(wanted, Text):
                at = normal(got - IMAGE)
                if not is_bv_value(at) or self.image.text(at.as_long()) != wanted:
                    raise Refused(f"{name} should be called with \"{wanted}\"")
            elif wanted is not ANY:
                wanted = BitVecVal(wanted, 64) if isinstance(wanted, int) else wanted
                self.prove(f"{name}: its arguments", (Extract(wanted.size() - 1, 0, got) if wanted.size() < 64 else got) == wanted)
        self.memory_is_expected(event.memory, f"at the call of {name}")
        self.at += 1
        if CALLS[name].heap and not CALLS[name].ends:
            self.begin(self.epoch + 1)
        return event.result

    def ends(self, end, value=None):
        """The path ends so, with that result, and has done nothing else."""
        path = self.path
        if self.at < len(path.events):
            raise Refused(f"calls {path.events[self.at].name}")
        if path.end == "tail" and end == "return":      # what the last call returns is returned
            if value is not None:
                got = path.events[-1].result
                self.prove("result", (Extract(value.size() - 1, 0, got) if value.size() < 64 else got) == value)
            return
        if path.end != end:
            raise Refused(f"ends with {path.end}, not {end}")
        self.memory_is_expected(path.machine.memory, "at the end")
        if value is not None:
            self.prove("result", path.machine.get("rax" if value.size() == 64 else "eax") == value)

    def returns(self, value=None):
        self.ends("return", BitVecVal(value, 64) if isinstance(value, int) else value)

    def slow(self):
        """A C++ operator leaves its fast path."""
        event = self.path.events[self.at] if self.at < len(self.path.events) else None
        if self.path.end != "slow" or event is None or not CALLS[event.name].ends:
            raise Refused(f"ends with {self.path.end}, not with its slow path")
        self.memory_is_expected(event.memory, "before the slow path")

    def zeroed_by(self, name):
        """The block is zero without memset because that call has set the variable in the frame."""
        if self.path.events[self.at - 1].name != name:
            raise Refused("the block is not made zero")
        offset = normal(self.path.events[self.at - 1].arguments[CALLS[name].sets] - STACK).as_signed_long()
        flag = BitVec(f"stack[{offset}]", 8)
        self.prove("zero", flag != 0)

    # ---- the thread's cache ----
    def move(self, m, clauses, given=None):
        """The block moves: the contract's clauses hold, and its assigns are what is expected of memory from now on."""
        for field, index in (("top", stacks.STACK), ("top", stacks.OTHER), ("top", m.stack), ("slot", stacks.SLOT),
                             ("slot", m.before.top(m.stack))):
            self.k.learn(field, index)
        self.clauses(clauses, m, given)
        self.expected |= {name: m.after.arrays[name] for name in ("top", "slot")}
        if any(not m.after.arrays[n].eq(m.before.arrays[n]) for n in m.after.arrays if n not in ("top", "slot")):
            raise AssertionError("a move writes top and slot alone")

    def pop(self, stack):
        """tcache_pop: returns the block on top, or None where the stack is empty."""
        v, stack = self.view, self.k.named(normal(stack))
        self.k.learn("top", stack)
        self.k.learn("slot", v.top(stack))
        block = v.slot(v.top(stack))
        if self.case(block != 0):
            self.move(stacks.popped(v, stack, block), stacks.POP)
            return block
        self.clauses([stacks.EMPTY], stacks.Move(v, v, stack, block))
        return None

    def push(self, block, size=None):
        """tcache_push, or tcache_push_sized: True where the block is put on its stack. The reasons for False are those of its comment."""
        v, zero, k = self.view, BitVecVal(0, 64), self.constants
        distance = block - v.window(zero)
        page = LShR(distance, (k["PAGE"] - 1).bit_length())
        if not self.case(And(ULE(v.window(zero), block), ULT(page, v.window_pages(zero)))):         # outside the window
            return False
        self.k.learn("high", page)
        high, low = Select(self.k.cache.high, page), Select(self.k.cache.low, page)
        stack, magic = wide(high), Select(v.arrays["magic"], wide(high))
        if size is not None:
            self.k.learn("stack_of", size)
            if not self.case(v.stack_of(size) == stack):                        # the block is of another class than its size says
                return False
        self.k.learn("top", stack)
        offset = Extract(31, 0, block) - low                    # TagOffset, which is modulo 2^32
        if not self.case(ULT(offset * magic, magic)):           # no block of a cached class begins there
            return False
        top = v.top(stack)
        self.k.learn("slot", top)
        if not self.case(ULT(top, v.limit(stack))):             # the stack is full
            return False
        if not self.case(v.slot(top) != block):                 # it is the one that was freed last
            return False
        self.k.assume(Implies(ULT(offset * magic, magic), invariant.TagBegins(low, block, stack - 1)))     # tag_lemma_begins
        self.k.assume(invariant.tag_of(v, stack, block))                                                  # tcache_lemma_tag
        move = stacks.pushed(v, stack, block, high, low, size)
        self.move(move, stacks.PUSH if size is None else stacks.PUSH_SIZED, given=invariant.live(v, block))
        return True
