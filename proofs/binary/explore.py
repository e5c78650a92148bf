"""explore: all paths of a function, from its entry to its returns, tail calls and calls that do not return. This file is believed.

A function that has a contract here (CALLS in calls.py) is not looked into: the path notes the call with its arguments and the memory at that
moment, and goes on with what the contract leaves of registers and memory. Every other call is followed. At each conditional jump the
solver says which ways are possible.
"""
import itertools
from dataclasses import dataclass, field

from z3 import (And, BitVec, BitVecVal, Bool, Extract, Implies, Not, SimpleSolver, Solver, SolverFor, ULT, ZeroExt, is_bv_value,
                is_false, is_true, sat, simplify, unsat)

import invariant
import joins
from calls import CALLS
from machine import ARGUMENTS, CALLEE_SAVED, FLAGS, REGISTERS, Known, Machine, Refused, decoder
from memory import IMAGE, STACK, Cache, Memory, distance

RETURN = BitVec("return_address", 64)
# Each question goes to these, one after the other. Work is bounded in Z3's own steps, so that a busy machine gives the same answers.
SOLVERS = ((SimpleSolver, 400_000), (lambda: SolverFor("QF_AUFBV"), 12_000_000), (Solver, 12_000_000))
MODELS = 4                      # that are kept
INSTRUCTIONS_MAX = 400          # of a path; fast paths have no loop


def normal(e):
    """Products are sums of monomials, so that two ways to compute the same look the same."""
    return simplify(e, som=True)


class Knowledge:
    """What is known on a path: the invariant of the cache for each stack and slot that was met, and which way each jump went."""
    milliseconds = 60_000       # for one solver and one question; there to end, not to decide
    answers = {}                # what was asked before -> None, or a model
    kept = []                   # its terms, which so keep their numbers
    models = []                 # the last ones that were found

    def __init__(self, layout, pointer=None):
        self.layout, self.pointer = layout, pointer
        self.facts, self.epochs, self.names = [], [], []
        self.begin(Cache(layout, BitVec("t", 64)))

    def begin(self, cache):
        """A moment at which nothing is known of a cache but its invariant."""
        self.cache, self.ghosts = cache, invariant.ghosts(Cache.count)
        self.view = invariant.View(self.layout, cache.arrays, cache, self.ghosts)
        self.epochs.append((self.cache, self.ghosts, self.view))
        self.learned, self.stacks, self.slots = set(), [], []
        self.assume(invariant.WINDOW.holds(self.view, BitVecVal(0, 64)))
        self.assume(self.view.block_state(BitVecVal(0, 64)) == self.layout.constants["BLOCK_NONE"])     # blocks_lemma_out

    def back_to(self, epoch):
        """Speaks of an earlier moment again; what was learned since stays known."""
        self.cache, self.ghosts, self.view = self.epochs[epoch]
        self.learned, self.stacks, self.slots = set(), [], []

    def forget_after(self, count):
        """Knows the first of its facts alone."""
        self.facts = self.facts[:count]
        self.learned, self.stacks, self.slots = set(), [], []

    def copy(self):
        k = Knowledge.__new__(Knowledge)
        k.__dict__ |= self.__dict__
        k.facts, k.learned, k.stacks, k.slots = list(self.facts), set(self.learned), list(self.stacks), list(self.slots)
        k.epochs, k.names = list(self.epochs), list(self.names)
        return k

    def assume(self, formula):
        self.facts.append(normal(formula))

    def proves(self, formula):
        return self.refuted(Not(formula)) is None

    def refuted(self, formula, facts=None):
        """None if the formula is impossible by what is known, or by some of it, or else a model of it (or the solver's excuse)"""
        facts = self.facts if facts is None else facts
        formula = normal(formula)
        if is_false(formula):
            return None
        near = Known.near(formula, facts)
        if Knowledge.answers.get(Knowledge.question(formula, near), formula) is None:
            return None
        # Builds that have the same instructions ask the same.
        question = Knowledge.question(formula, facts)
        if question not in Knowledge.answers:
            answer = Knowledge.ask(formula, facts, near)
            if isinstance(answer, str):
                return answer
            Knowledge.answer(question, facts, formula, answer)
        return Knowledge.answers[question]

    @staticmethod
    def question(formula, facts):
        return frozenset(f.get_id() for f in facts), formula.get_id()

    @staticmethod
    def answer(question, facts, formula, answer):
        Knowledge.answers[question] = answer
        Knowledge.kept.append((list(facts), formula))

    @staticmethod
    def ask(formula, known, near):
        believed = Known.facts([*known, formula])
        everything = And(*known, formula, *believed)
        for model in Knowledge.models:          # a state that was found before may do here too
            if is_true(model.eval(everything, model_completion=True)):
                return model
        # What is computed in many steps is seldom needed, so it is left out first. Where the rest is hard, what speaks of other variables is left out.
        light = [f for f in known if not Known.chooses(f)]
        attempts = [(SOLVERS[1], light)] if len(light) < len(known) and not Known.chooses(formula) else []
        attempts += [(SOLVERS[0], known)] + ([(SOLVERS[1], near)] if len(near) < len(known) else []) + [(s, known) for s in SOLVERS[1:]]
        for (make, work), facts in attempts:
            solver = make()
            solver.set("rlimit", work)
            solver.set("timeout", Knowledge.milliseconds)
            solver.add(*facts, formula, *(believed if facts is known else Known.facts([*facts, formula])))
            answer = solver.check()
            if answer == unsat:
                facts is near and Knowledge.answer(Knowledge.question(formula, near), near, formula, None)
                return None
            if answer == sat and facts is known:
                Knowledge.models = [solver.model(), *Knowledge.models[:MODELS - 1]]
                return Knowledge.models[0]
        return f"the solver says {solver.reason_unknown()}"

    def named(self, e):
        """A short name for an index that is computed in many steps, so that what is known of it is short too."""
        return self.name_of(e) if Known.chooses(e) else e

    def name_of(self, e):
        """The name of a value: that of one that is proven to be the same, or a new one."""
        for name, what, count in self.names:
            if what.eq(e) or self.refuted(what != e, self.facts[:count]) is None:       # the same question on each path that has that name
                return name
        name = BitVec(f"index!{next(Machine.fresh)}", 64)
        self.assume(name == e)
        self.names.append((name, e, len(self.facts)))
        return name

    # ---- the invariant, where it is needed ----
    def learn(self, field, index):
        index = normal(index)
        key = field, index.get_id()
        if key in self.learned:
            return
        self.learned.add(key)
        if field in ("top", "limit", "floor", "least", "most", "room", "magic", "negated"):
            self.learn_stack(index)
        elif field == "slot":
            self.slots.append(index)
            for b in self.stacks:
                self.learn_slot(b, index)
        elif field == "stack_of":
            self.assume(Implies(ULT(index, self.layout.constants["SC_LOOKUP_MAX"] + 1), invariant.LOOKUP.holds(self.view, index)))
        elif field in ("lookup_end", "paced_end", "counted_end", "checked_end"):
            self.assume(invariant.ENDS.holds(self.view, BitVecVal(0, 64)))
        elif field in ("high", "low"):      # each tag of the radix tree names a stack
            self.assume(ULT(ZeroExt(48, self.cache.high[index]), self.layout.constants["TCACHE_STACKS"]))

    def learn_stack(self, b):
        if any(b.eq(s) for s in self.stacks):
            return
        for p in invariant.STACK:
            self.assume(Implies(self.view.stack(b), p.holds(self.view, b)))
        for s in self.stacks:
            for p in invariant.PAIR:
                self.assume(Implies(And(self.view.stack(b), self.view.stack(s)), And(p.holds(self.view, b, s), p.holds(self.view, s, b))))
        self.stacks.append(b)
        for i in self.slots:
            self.learn_slot(b, i)

    def learn_slot(self, b, i):
        for p in invariant.SLOT:
            self.assume(Implies(self.view.has(b, i), p.holds(self.view, b, i)))


@dataclass
class Event:
    """A call of a function that has a contract, or the end of the path."""
    name: str
    arguments: list
    memory: Memory          # as it was at the call
    cache: Cache
    result: object          # what it returned, a term of 64 bits
    out: object = None      # what it wrote to the caller's variable, a byte


@dataclass(eq=False)
class Path:
    machine: Machine
    knowledge: Knowledge
    pc: int
    length: int = 0
    place: int = 0          # of the instruction of the function that it has come to (joins.order)
    events: list = field(default_factory=list)
    end: str = ""           # "return", "tail", "never" or "slow"
    trace: list = field(default_factory=list)
    names: list = field(default_factory=list)       # what each instruction of the trace has read or written in memory

    def fork(self):
        m, k = self.machine.copy(), self.knowledge.copy()
        m.memory.knowledge = k
        return Path(m, k, self.pc, self.length, self.place, list(self.events), self.end, list(self.trace), list(self.names))


class Explorer:
    def __init__(self, image, layout):
        self.image, self.layout, self.decoder, self.decoded, self.met = image, layout, decoder(), {}, {}

    def peek(self, address):
        """the instruction there, or None"""
        if address not in self.decoded:
            code = self.image.bytes_at(address, 15) if self.image.is_code(address) else None
            self.decoded[address] = next(self.decoder.disasm(code, address), None) if code else None
        return self.decoded[address]

    def fetch(self, address):
        insn = self.peek(address)
        if insn is None:
            raise Refused(f"no instruction at {address:#x}")
        self.met.setdefault(address, insn)
        return insn

    def paths(self, entry, pointer=None):
        """every path from that address"""
        Machine.fresh, Cache.count = itertools.count(), 0           # the same names in each build
        knowledge = Knowledge(self.layout, pointer)
        memory = Memory(knowledge, self.image)
        machine = Machine({r: BitVec(r, 64) for r in REGISTERS}, {f: Bool(f) for f in FLAGS}, memory, IMAGE)
        knowledge.assume(Extract(3, 0, STACK) == 8)         # a caller's stack is aligned
        for i in range(8):
            memory.frame[i] = RETURN, i
        flow = joins.Flow(self.peek, entry, self.image.sizes[entry])
        todo, places = [Path(machine, knowledge, entry)], flow.order()
        while todo:
            for path in todo:
                path.place = places.get(path.pc, path.place)
            path = min(todo, key=lambda p: (p.place, p.pc))         # the one that is behind, so that it can join others
            todo.remove(path)
            for other in [p for p in todo if p.pc == path.pc]:
                joined = joins.join(flow, path, other)
                if joined:
                    todo.remove(other)
                    path = joined
            other = self.step(path)
            todo += [other] if other else []
            if path.end:
                yield path
            else:
                todo.append(path)

    def step(self, path):
        """One instruction; returns the path of the other way where both are possible."""
        path.length += 1
        if path.length > INSTRUCTIONS_MAX:
            raise Refused(f"more than {INSTRUCTIONS_MAX} instructions: a loop?")
        insn = self.fetch(path.pc)
        path.trace.append(insn)
        path.machine.memory.touched = None
        try:
            path.machine.memory.below = self.red_zone(path.machine)
            effect = path.machine.step(insn)
            path.names.append(path.machine.memory.touched)
            path.pc += insn.size
            return self.control(path, effect) if effect else None
        except Refused as e:
            raise Refused(f"{insn.address:#x} {insn.mnemonic} {insn.op_str}: {e}") from None

    @staticmethod
    def red_zone(machine):
        """Signals may overwrite the stack from 128 bytes below the stack pointer on."""
        return distance(machine.registers["rsp"], STACK) - 128

    def control(self, path, effect):
        kind, *rest = effect
        if kind == "return":
            self.go(path, path.machine.pop(), call=False)
        elif kind == "call":
            path.machine.push(IMAGE + path.pc)
            self.go(path, rest[0], call=True)
        else:
            condition, target = normal(rest[0]), rest[1]
            if is_true(condition):
                self.go(path, target, call=False)
                return None
            taken, straight = path.knowledge.refuted(condition) is not None, path.knowledge.refuted(Not(condition)) is not None
            if not taken and not straight:
                raise Refused("no state comes here")
            other = path.fork() if taken and straight else None
            if other:
                other.knowledge.assume(Not(condition))
            if taken:
                path.knowledge.assume(condition)
                self.go(path, target, call=False)
            return other
        return None

    def go(self, path, target, call):
        target = normal(target)
        if target.eq(RETURN):
            self.leave(path, 8)
            path.end = "return"
            return
        offset = normal(target - IMAGE)
        if is_bv_value(offset):
            path.pc = offset.as_long()
            name = next((n for n in sorted(self.image.names.get(path.pc, ())) if n in CALLS), None)
        elif str(target).startswith("&"):
            name = str(target)[1:]
            if name not in CALLS:
                raise Refused(f"calls {name}, which has no contract here")
        else:
            raise Refused(f"goes to {target}")
        if name:
            self.call(path, name)

    def leave(self, path, popped):
        """The stack pointer and the registers that belong to the caller are as they were."""
        for r, value in [("rsp", STACK + popped)] + [(r, BitVec(r, 64)) for r in CALLEE_SAVED]:
            if not path.knowledge.proves(path.machine.registers[r] == value):
                raise Refused(f"{r} is not restored")

    def call(self, path, name):
        """A call, by call or by jmp, of a function that has a contract. The return address is on top of the stack."""
        m, k, contract = path.machine, path.knowledge, CALLS[name]
        rsp = distance(m.registers["rsp"], STACK)
        if rsp % 16:
            raise Refused(f"the stack is not aligned at the call of {name}")
        back = m.memory.load((m.registers["rsp"], None, 1, 0), 8)
        tail = back.eq(RETURN)
        if tail:
            self.leave(path, 0)
        arguments = [m.registers[r] for r in ARGUMENTS]
        result = BitVec(f"{name}!{len(path.events)}", 64) if contract.returns is None else (
            arguments[contract.returns] if isinstance(contract.returns, int) else contract.returns)
        event = Event(name, arguments, m.memory.copy(), k.cache, result)
        path.events.append(event)
        if contract.ends:
            path.end = contract.ends
            return
        for r in REGISTERS:
            if r not in CALLEE_SAVED + ["rsp"]:
                m.registers[r] = Machine.unknown(64, r)
        m.registers["rax"] = result
        m.undefined(*FLAGS)
        out = None
        if contract.sets is not None:
            out = distance(arguments[contract.sets], STACK)
            if not rsp + 8 <= out < 0:
                raise Refused(f"{name} is to write outside the frame")
            event.out = BitVec(f"{name}!{len(path.events)}!out", 8)
        m.memory.frame = {i: b for i, b in m.memory.frame.items() if i >= rsp + 8}
        if out is not None:
            m.memory.frame[out] = event.out, 0
        if contract.heap:
            k.begin(Cache(self.layout, result if contract.thread == "result" else
                          BitVec(f"t#{len(path.events)}", 64) if contract.thread else k.cache.t))
            m.memory.now = dict(k.cache.arrays)
            m.memory.written.pop("countdown_left", None)
        if tail:
            path.end = "tail"
            return
        m.registers["rsp"] = m.registers["rsp"] + 8
        self.go(path, back, call=False)
