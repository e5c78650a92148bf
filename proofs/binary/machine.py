"""machine: what an instruction does to registers, flags and memory. This file is believed; `processor` compares each instruction that the
proofs meet with the processor.

Values are bit vectors of Z3, so the same text computes with numbers and with unknowns. What the manual leaves undefined becomes a new
unknown. An instruction that is not here is refused.
"""
import itertools

import capstone
from capstone import x86
from z3 import (And, BitVec, BitVecSort, BitVecVal, Bool, BoolVal, Concat, Extract, Function, If, Implies, LShR, Not, Or, SignExt, ULE, ULT, Xor,
                Z3_OP_ITE, Z3_OP_UNINTERPRETED, ZeroExt, is_app, is_app_of, is_bv_value, simplify)

REGISTERS = ["rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"] + [f"r{n}" for n in range(8, 16)]
FLAGS = ["CF", "ZF", "SF", "OF", "PF"]
CALLEE_SAVED = ["rbx", "rbp", "r12", "r13", "r14", "r15"]
UINT32_MAX = (1 << 32) - 1
ARGUMENTS = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"]


def register_parts():
    """name of a register or a part of one -> (register, lowest bit, bits)"""
    parts = {}
    for full in REGISTERS:
        if full[1:].isdigit():
            names = [full, full + "d", full + "w", full + "b"]
        else:
            low = full[1] + "l" if full[2] == "x" else full[1:] + "l"
            names = [full, "e" + full[1:], full[1:], low]
        for name, bits in zip(names, (64, 32, 16, 8)):
            parts[name] = full, 0, bits
    return parts | {h + "h": (f"r{h}x", 8, 8) for h in "abcd"}


PARTS = register_parts()


class Refused(Exception):
    """The machine code does something of which the checker does not know that it is right."""


class Machine:
    """Registers, flags, and a memory with load(parts of the address, bytes) and store(parts, value)."""
    fresh = itertools.count()

    def __init__(self, registers, flags, memory, image):
        self.registers, self.flags, self.memory, self.image = registers, flags, memory, image

    def copy(self):
        return Machine(dict(self.registers), dict(self.flags), self.memory.copy(), self.image)

    @classmethod
    def unknown(cls, bits, why="undefined"):
        return BitVec(f"{why}!{next(cls.fresh)}", bits) if bits else Bool(f"{why}!{next(cls.fresh)}")

    # ---- operands ----
    def get(self, name):
        full, low, bits = PARTS[name]
        return Extract(low + bits - 1, low, self.registers[full]) if bits < 64 else self.registers[full]

    def set(self, name, value):
        """Writes of 32 bits clear the upper half; shorter ones keep the rest."""
        full, low, bits = PARTS[name]
        if bits == 32:
            value = ZeroExt(32, value)
        elif bits < 32:
            old = self.registers[full]
            above = [Extract(63, low + bits, old)]
            value = Concat(*above, value, *([Extract(low - 1, 0, old)] if low else []))
        self.registers[full] = value

    def address(self, insn, mem):
        """(base, index, scale, displacement), the index None where there is none"""
        if mem.segment not in (0, x86.X86_REG_FS):
            raise Refused(f"segment {insn.reg_name(mem.segment)}")
        base = BitVecVal(0, 64)
        if mem.base == x86.X86_REG_RIP:
            base = self.image + (insn.address + insn.size)
        elif mem.base:
            base = self.get(insn.reg_name(mem.base))
        if mem.segment == x86.X86_REG_FS:
            base = self.memory.fs + base
        return base, self.get(insn.reg_name(mem.index)) if mem.index else None, mem.scale, mem.disp

    @staticmethod
    def total(address):
        base, index, scale, displacement = address
        return base + (index * scale if index is not None else 0) + displacement

    def read(self, insn, op):
        if op.type == x86.X86_OP_REG:
            return self.get(insn.reg_name(op.reg))
        if op.type == x86.X86_OP_IMM:
            return BitVecVal(op.imm, op.size * 8)
        return self.memory.load(self.address(insn, op.mem), op.size)

    def write(self, insn, op, value):
        if op.type == x86.X86_OP_REG:
            self.set(insn.reg_name(op.reg), value)
        else:
            self.memory.store(self.address(insn, op.mem), value)

    def target(self, insn):
        op = insn.operands[0]
        return self.image + op.imm if op.type == x86.X86_OP_IMM else self.read(insn, op)

    # ---- flags ----
    def set_result_flags(self, r):
        n = r.size()
        low = Extract(7, 0, r)
        odd = BoolVal(False)
        for i in range(8):
            odd = Xor(odd, Extract(i, i, low) == 1)
        self.flags |= {"ZF": r == 0, "SF": Extract(n - 1, n - 1, r) == 1, "PF": Not(odd)}

    def undefined(self, *names):
        self.flags |= {name: self.unknown(0, name) for name in names}

    def condition(self, code):
        """the condition of jcc, cmovcc, setcc by the last letters of its name"""
        f = self.flags
        for names, c in ((("o",), f["OF"]), (("b", "c", "nae"), f["CF"]), (("e", "z"), f["ZF"]), (("be", "na"), Or(f["CF"], f["ZF"])),
                         (("s",), f["SF"]), (("p", "pe"), f["PF"]), (("l", "nge"), Xor(f["SF"], f["OF"])),
                         (("le", "ng"), Or(f["ZF"], Xor(f["SF"], f["OF"])))):
            if code in names:
                return c
        for name, opposite in (("no", "o"), ("ae", "b"), ("nb", "b"), ("nc", "b"), ("ne", "e"), ("nz", "e"), ("a", "be"), ("nbe", "be"),
                               ("ns", "s"), ("np", "p"), ("po", "p"), ("ge", "l"), ("nl", "l"), ("g", "le"), ("nle", "le")):
            if code == name:
                return Not(self.condition(opposite))
        raise Refused(f"condition {code}")

    # ---- arithmetic ----
    def add(self, a, b):
        r, n = a + b, a.size()
        self.set_result_flags(r)
        self.flags |= {"CF": ULT(r, a), "OF": Extract(n - 1, n - 1, (a ^ r) & (b ^ r)) == 1}
        return r

    def subtract(self, a, b):
        r, n = a - b, a.size()
        self.set_result_flags(r)
        self.flags |= {"ZF": a == b, "CF": ULT(a, b), "OF": Extract(n - 1, n - 1, (a ^ b) & (a ^ r)) == 1}
        return r

    def logic(self, r):
        self.set_result_flags(r)
        self.flags |= {"CF": BoolVal(False), "OF": BoolVal(False)}
        return r

    def carry(self, keep):
        """inc and dec leave the carry flag alone."""
        self.flags["CF"] = keep

    def multiply(self, a, b, extend):
        """low half of the product, and whether the product is more than the low half, extended, says"""
        whole = extend(a.size(), a) * extend(b.size(), b)
        low = Extract(a.size() - 1, 0, whole)
        if a.size() == 64 and not (is_bv_value(a) or is_bv_value(b)):
            return product(a, b)[0], self.unknown(0, "overflow")
        return a * b, extend(a.size(), low) != whole

    def shift(self, kind, a, count):
        """Shifts by a count that is reduced modulo the operand's bits, or modulo 32 where those are fewer. A shift by 0 keeps all flags."""
        n = a.size()
        count = ZeroExt(n - 8, count & (63 if n == 64 else 31)) if n > 8 else count & 31
        r = {"shl": lambda: a << count, "shr": lambda: LShR(a, count), "sar": lambda: a >> count}[kind]()
        one = BitVecVal(1, n)
        last = {"shl": lambda: LShR(a, n - count), "shr": lambda: LShR(a, count - 1), "sar": lambda: a >> (count - 1)}[kind]() & one
        if n < 32:
            last = If(ULT(count, n), last, self.unknown(n, "CF"))
        none, was = count == 0, dict(self.flags)
        self.set_result_flags(r)
        top = Extract(n - 1, n - 1, a) == 1
        overflow = {"shl": lambda: Xor(Extract(n - 1, n - 1, r) == 1, last == 1), "shr": lambda: top, "sar": lambda: BoolVal(False)}[kind]()
        self.flags |= {"CF": last == 1, "OF": If(count == 1, overflow, self.unknown(0, "OF"))}
        self.flags = {f: If(none, was[f], self.flags[f]) for f in FLAGS}
        # What is rounded down to a power of two gets a name, so that what is computed of it does not repeat how it was.
        named = kind == "shl" and n == 64 and not is_bv_value(simplify(count))
        return self.memory.knowledge.name_of(simplify(r)) if named else r

    def highest_bit(self, a):
        """Of 0 it is undefined."""
        return logarithm(a) if self.memory.proves(a != 0) else If(a == 0, self.unknown(a.size(), "bsr"), logarithm(a))

    # ---- one instruction ----
    def step(self, insn):
        """Executes it. Returns None where the next one follows, ("jump", condition, target), ("call", target) or ("return",)."""
        name, ops = insn.mnemonic, insn.operands
        if name in ("nop", "endbr64"):
            return None
        if name in ("lock bts", "lock btr") and insn.addr_size == 8 and ops[0].type == x86.X86_OP_MEM and ops[1].type == x86.X86_OP_REG:
            if ops[0].size != 8:
                raise Refused(f"{name} of {ops[0].size} bytes")
            was = self.memory.exchange_bit(self.address(insn, ops[0].mem), self.read(insn, ops[1]), int(name == "lock bts"))
            self.undefined("SF", "OF", "PF")            # ZF stays
            self.flags["CF"] = was
            return None
        if insn.prefix[0] or (insn.addr_size != 8 and any(op.type == x86.X86_OP_MEM for op in ops)):
            raise Refused(f"does not know the prefix of {name} {insn.op_str}")
        read = lambda i: self.read(insn, ops[i])
        write = lambda i, value: self.write(insn, ops[i], value)
        bits = ops[0].size * 8 if ops else 0
        if name in ("mov", "movabs"):
            if any(op.type == x86.X86_OP_REG and insn.reg_name(op.reg) not in PARTS for op in ops):
                raise Refused(f"{name} {insn.op_str}")
            write(0, read(1))
        elif name in ("movzx", "movsx", "movsxd"):
            value = read(1)
            write(0, (ZeroExt if name == "movzx" else SignExt)(bits - value.size(), value))
        elif name == "lea":
            value = self.total(self.address(insn, ops[1].mem))
            write(0, Extract(bits - 1, 0, value) if bits < 64 else value)
        elif name in ("add", "sub", "and", "or", "xor"):
            a, b = read(0), read(1)
            write(0, {"add": lambda: self.add(a, b), "sub": lambda: self.subtract(a, b), "and": lambda: self.logic(a & b),
                      "or": lambda: self.logic(a | b), "xor": lambda: self.logic(a ^ b)}[name]())
        elif name == "sbb":
            a, b, borrow = read(0), read(1), self.flags["CF"]
            r = a - b - If(borrow, BitVecVal(1, bits), BitVecVal(0, bits))
            self.set_result_flags(r)
            self.flags |= {"CF": Or(ULT(a, b), And(borrow, a == b)), "OF": Extract(bits - 1, bits - 1, (a ^ b) & (a ^ r)) == 1}
            write(0, r)
        elif name == "cmp":
            self.subtract(read(0), read(1))
        elif name == "test":
            self.logic(read(0) & read(1))
        elif name in ("inc", "dec"):
            keep = self.flags["CF"]
            write(0, (self.add if name == "inc" else self.subtract)(read(0), BitVecVal(1, bits)))
            self.carry(keep)
        elif name == "neg":
            write(0, self.subtract(BitVecVal(0, bits), read(0)))
        elif name == "not":
            write(0, ~read(0))
        elif name == "imul" and len(ops) > 1:
            a, b = read(len(ops) - 2), read(len(ops) - 1)
            low, lost = self.multiply(a, b, SignExt)
            write(0, low)
            self.undefined("ZF", "SF", "PF")
            self.flags |= {"CF": lost, "OF": lost}
        elif name == "mul" and bits == 64:
            a, b = self.get("rax"), read(0)
            low, high = product(a, b)
            self.set("rax", low)
            self.set("rdx", high)
            self.undefined("ZF", "SF", "PF")
            self.flags |= {"CF": high != 0, "OF": high != 0}
        elif name in ("shl", "shr", "sar"):
            count = read(1) if len(ops) > 1 else BitVecVal(1, 8)
            write(0, self.shift(name, read(0), Extract(7, 0, count)))
        elif name == "bsr":
            a = read(1)
            write(0, self.highest_bit(a))
            self.undefined("CF", "SF", "OF", "PF")
            self.flags["ZF"] = a == 0
        elif name.startswith("cmov"):
            write(0, If(self.condition(name[4:]), read(1), read(0)))
        elif name.startswith("set"):
            write(0, If(self.condition(name[3:]), BitVecVal(1, 8), BitVecVal(0, 8)))
        elif name == "push":
            value = read(0)
            self.push(SignExt(64 - value.size(), value) if value.size() < 64 else value)
        elif name == "pop" and bits == 64:
            write(0, self.pop())
        elif name in ("jmp", "call"):
            if ops[0].size != 8:
                raise Refused(f"{name} {insn.op_str}")
            return ("jump", BoolVal(True), self.target(insn)) if name == "jmp" else ("call", self.target(insn))
        elif name == "ret" and not ops:
            return ("return",)
        elif name.startswith("j"):
            return "jump", self.condition(name[1:]), self.target(insn)
        else:
            raise Refused(f"does not know the instruction {name} {insn.op_str}")
        return None

    def push(self, value):
        self.registers["rsp"] = self.registers["rsp"] - 8
        self.memory.store((self.registers["rsp"], None, 1, 0), value)

    def pop(self):
        value = self.memory.load((self.registers["rsp"], None, 1, 0), 8)
        self.registers["rsp"] = self.registers["rsp"] + 8
        return value


# ---- functions of which a term only names the value; what is known of it goes with every question that mentions it ----
ProductLow, ProductHigh = (Function(name, *[BitVecSort(64)] * 3) for name in ("product_low", "product_high"))
Logarithm = Function("logarithm", BitVecSort(64), BitVecSort(64))


def product(a, b):
    """The low and the high half of a product. Of unknown factors it is left open what they are: any function of the two, in any order."""
    a, b = simplify(a), simplify(b)
    if is_bv_value(a) and is_bv_value(b):
        whole = simplify(ZeroExt(64, a) * ZeroExt(64, b))
        return simplify(Extract(63, 0, whole)), simplify(Extract(127, 64, whole))
    a, b = sorted((a, b), key=lambda e: e.get_id())
    return ProductLow(a, b), ProductHigh(a, b)


def logarithm(a):
    """the index of the highest bit that is set; anything if none is"""
    n, a = a.size(), simplify(a)
    if is_bv_value(a):
        return BitVecVal(max(a.as_long().bit_length() - 1, 0), n)
    return Logarithm(a) if n == 64 else Extract(n - 1, 0, Logarithm(simplify(ZeroExt(64 - n, a))))


def product_facts(a, b, low, high):
    """A product is 0 where a factor is, and its high half is 0 where both factors have 32 bits (sizes.py shows it)."""
    zero = Or(a == 0, b == 0)
    return And(Implies(zero, low == 0), Implies(Or(zero, And(ULE(a, UINT32_MAX), ULE(b, UINT32_MAX))), high == 0))


def logarithm_facts(a, r):
    """sizes.py shows it."""
    return Implies(a != 0, And(ULT(r, 64), LShR(a, r) == 1))


class Known:
    """What is known of a term: whether it chooses (If), the facts about the values that it names, and its variables."""
    terms = {}          # number of a term -> the term, whether it chooses, its facts by their numbers, its variables by theirs

    @classmethod
    def of(cls, e):
        found = cls.terms.get(e.get_id())
        if found is None:
            chooses, facts, variables = is_app_of(e, Z3_OP_ITE), {}, frozenset()
            for c in e.children():
                _, also, more, names = cls.of(c)
                chooses |= also
                facts |= more
                variables |= names
            if is_app_of(e, Z3_OP_UNINTERPRETED) and not e.num_args():
                variables = frozenset((e.get_id(),))
            elif is_app(e) and e.num_args() and e.decl().eq(Logarithm):
                fact = simplify(logarithm_facts(e.arg(0), e))
                facts[fact.get_id()] = fact
            elif is_app(e) and e.num_args() and (e.decl().eq(ProductLow) or e.decl().eq(ProductHigh)):
                a, b = e.arg(0), e.arg(1)
                fact = simplify(product_facts(a, b, ProductLow(a, b), ProductHigh(a, b)))
                facts[fact.get_id()] = fact
            found = cls.terms[e.get_id()] = e, chooses, facts, variables
        return found

    @classmethod
    def chooses(cls, e):
        return cls.of(e)[1]

    @classmethod
    def facts(cls, formulas):
        facts = {}
        for f in formulas:
            facts |= cls.of(f)[2]
        return list(facts.values())

    @classmethod
    def near(cls, formula, facts):
        """the facts that speak of variables of the formula alone"""
        return [f for f in facts if cls.of(f)[3] <= cls.of(formula)[3]]


def decoder():
    d = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    d.detail = True
    return d
