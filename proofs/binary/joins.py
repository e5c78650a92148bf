"""joins: where two paths of a function come to the same place and differ in registers alone, they go on as one. Nothing is believed for that, as of
what was known the one or the other holds, and a register in which they differ is unknown, or the one value or the other with what was known.
Which registers are used later is only looked up so that no path carries what nobody needs.
"""
from capstone import x86
from z3 import And, Or

from machine import ARGUMENTS, CALLEE_SAVED, FLAGS, PARTS, REGISTERS, Machine
from memory import FS, IMAGE, STACK, TLS, distance, mentions

FLAGS_REGISTER = "rflags"


def uses(insn):
    """(registers that it reads, registers that it overwrites), the flags as one register"""
    read, written = ({insn.reg_name(r) for r in rs} for rs in insn.regs_access())
    whole = {PARTS[r][0] for r in written if r in PARTS and PARTS[r][2] >= 32} | (written & {FLAGS_REGISTER})
    return {PARTS[r][0] if r in PARTS else r for r in read}, whole


class Flow:
    """how a function goes on from an instruction; peek(address) is the instruction there, or None"""
    def __init__(self, peek, entry, size):
        self.peek, self.entry, self.end = peek, entry, entry + size

    def after(self, address):
        """the instructions that may come next, calls aside; none where the function is left"""
        insn = self.peek(address)
        name, op = insn.mnemonic, insn.operands[0] if insn.operands else None
        away = [op.imm] if name[0] == "j" and op.type == x86.X86_OP_IMM else []
        return [a for a in away + ([] if name in ("jmp", "ret") else [address + insn.size]) if self.entry <= a < self.end and self.peek(a)]

    def order(self):
        """address -> place, such that each instruction comes after all that lead to it, loops aside"""
        seen, done, todo = {self.entry}, [], [(self.entry, iter(self.after(self.entry)))]
        while todo:
            at, ways = todo[-1]
            way = next((w for w in ways if w not in seen), None)
            if way is None:
                done.append(at)
                todo.pop()
            else:
                seen.add(way)
                todo.append((way, iter(self.after(way))))
        return {at: n for n, at in enumerate(reversed(done))}

    def branches(self, pc):
        """whether there is a choice from there on"""
        seen, todo = set(), [pc]
        while todo:
            at = todo.pop()
            if at not in seen:
                seen.add(at)
                ways = self.after(at)
                if len(ways) > 1:
                    return True
                todo += ways
        return False

    def used(self, pc, registers):
        """those of the registers that may be read from there on before they are overwritten"""
        found, todo, seen = set(), [(pc, frozenset(registers))], set()
        while todo:
            at, left = todo.pop()
            left -= found
            if (at, left) in seen or not left:
                continue
            seen.add((at, left))
            insn, ways = self.peek(at), self.after(at)
            read, written = uses(insn)
            found |= left & read
            left -= written
            if not ways:
                found |= left & {*CALLEE_SAVED, *(["rax"] if insn.mnemonic == "ret" else ARGUMENTS)}
            elif insn.mnemonic == "call":
                found |= left & set(ARGUMENTS)
                left &= set(CALLEE_SAVED)
            todo += [(way, left) for way in ways]
        return found


def same(a, b):
    return a.keys() == b.keys() and all(a[i][0].eq(b[i][0]) and a[i][1:] == b[i][1:] for i in a)


def join(flow, a, b):
    """the two paths as one, or None"""
    m, n, pc = a.machine, b.machine, a.pc
    if not flow.entry <= pc < flow.end or len(a.events) != len(b.events) or any(e is not f for e, f in zip(a.events, b.events)):
        return None
    if not m.registers["rsp"].eq(n.registers["rsp"]):
        return None
    rsp = distance(m.registers["rsp"], STACK)
    frames = [{i: x for i, x in p.memory.frame.items() if i >= rsp} for p in (m, n)]
    fields = [{i: (x,) for i, x in p.memory.now.items()} for p in (m, n)]
    others = [{i: (x,) for i, x in p.memory.written.items()} for p in (m, n)]
    if not all(same(*both) for both in (frames, fields, others)):
        return None
    registers = {r for r in REGISTERS if not m.registers[r].eq(n.registers[r])}
    flags = {f for f in FLAGS if not m.flags[f].eq(n.flags[f])}
    live = flow.used(pc, registers | ({FLAGS_REGISTER} if flags else set()))
    pointers = STACK, IMAGE, FS, TLS, a.knowledge.cache.t, a.knowledge.cache.leaf
    if FLAGS_REGISTER in live or any(mentions(p.registers[r], v) for p in (m, n) for r in live for v in pointers):
        return None
    if live and not flow.branches(pc):
        return None             # it would only make one hard question of two
    joined = a.fork()
    joined.length = max(a.length, b.length)
    joined.machine.memory.frame = dict(frames[0])
    names = {r: Machine.unknown(64, r) for r in sorted(registers)}
    joined.machine.registers |= names
    joined.machine.flags |= {f: Machine.unknown(0, f) for f in flags}
    k, other = joined.knowledge, b.knowledge
    k.forget_after(next((i for i, (f, g) in enumerate(zip(k.facts, other.facts)) if not f.eq(g)), min(len(k.facts), len(other.facts))))
    own = [p.knowledge.facts[len(k.facts):] for p in (a, b)]
    k.names, defined = [x for x, y in zip(k.names, other.names) if x is y], {}
    for p in (a, b):
        for name, what, count in p.knowledge.names:
            if not name.eq(what) and not any(name.eq(n) for n, *_ in k.names):
                defined[name.get_id()] = name, what, p.knowledge.facts[count - 1]
    for name, what, fact in defined.values():       # what a name stands for may be said of both paths, as one that has not got it does not mention it
        k.facts.append(fact)
        k.names.append((name, what, len(k.facts)))
    stated = {fact.get_id() for *_, fact in defined.values()}
    k.assume(Or(*[And(*[f for f in facts if f.get_id() not in stated], *[names[r] == p.machine.registers[r] for r in sorted(live)])
                  for p, facts in zip((a, b), own)]))
    k.names += [(names[r], names[r], len(k.facts)) for r in sorted(live)]
    return joined
