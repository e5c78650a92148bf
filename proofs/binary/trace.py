"""trace: a path beside its specification. The specification walks along the path: it says which call comes next, with which arguments, and
what the cache holds at that moment; where it distinguishes cases that the path does not, it is run once for each.
"""
from z3 import BitVec, BitVecVal, BoolVal, Extract, Not, is_bv_value

from calls import CALLS
from explore import normal
from machine import ARGUMENTS, Refused
from memory import IMAGE
from moves import Moves

ANY = object()
COUNTER = ("left", "allocated", "deallocated", "live")      # no part of what a move may change


class Text(str):
    """a pointer to this string"""


class Trace(Moves):
    def __init__(self, path, image, choices=()):
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

    @property
    def countdown(self):
        """the bytes to the thread's next sample"""
        return self.written.get("countdown_left", self.k.cache.countdown)

    @property
    def out(self):
        """what the last call has written to the caller's variable"""
        return self.path.events[self.at - 1].out

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
        if self.k.refuted(BoolVal(True)) is None:
            raise Refused("no state takes this path")

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
            self.written.pop("countdown_left", None)
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

    # ---- the thread's cache ----
    def move(self, m, clauses):
        """What is expected of memory from now on. That the clauses hold is shown for every move (moves.py)."""
        if any(not self.expected[n].eq(a) for n, a in m.before.arrays.items() if n not in COUNTER):
            raise AssertionError("two moves without a call between them")
        if any(not m.after.arrays[n].eq(m.before.arrays[n]) for n in m.after.arrays if n not in ("top", "slot")):
            raise AssertionError("a move writes top and slot alone")
        self.expected |= {name: m.after.arrays[name] for name in ("top", "slot")}
