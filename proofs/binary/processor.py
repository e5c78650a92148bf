"""processor: compares each instruction that the proofs met, as machine.py has it, with the processor: registers, flags, memory, and where it goes.

The instruction's own bytes run between code that loads all registers and flags and code that saves them. Memory operands get registers
such that they lie in a buffer; displacements from the instruction pointer, and targets of jumps, are replaced by ones that exist here.
"""
import ctypes
import mmap
import random
import struct

from capstone import x86
from z3 import BitVecVal, BoolVal, is_bv_value, is_false, is_true, simplify

from machine import FLAGS, PARTS, REGISTERS, Machine, decoder

FLAG_BIT = {"CF": 0, "PF": 2, "ZF": 6, "SF": 7, "OF": 11}
STATES, STATES_OF_FORM = 3, 40          # at least so many states for an instruction, and for all of one form together
MASK = (1 << 64) - 1
CODE, CONTEXT, DATA, SIZE = 0, 4096, 8192, 8192 + 65536
IN, OUT, WENT, SAVED = 0, 256, 512, 520     # in the context: 16 registers and flags; the same afterwards; which way; our stack
MIDDLE = DATA + 32768
WINDOW = 256                             # bytes around the middle that are compared


class Bench:
    def __init__(self):
        self.map = mmap.mmap(-1, SIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self.at = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        self.function = ctypes.CFUNCTYPE(None)(self.at + CODE)
        fs = ctypes.c_uint64()
        ctypes.CDLL(None).syscall(158, 0x1003, ctypes.byref(fs))         # arch_prctl(ARCH_GET_FS)
        self.fs = fs.value
        self.random = random.Random(26)
        self.decoder = decoder()

    # ---- code around the instruction ----
    def load(self):
        code = b"\x53\x55\x41\x54\x41\x55\x41\x56\x41\x57"                         # push rbx, rbp, r12 .. r15
        code += b"\x49\xbf" + struct.pack("<Q", self.at + CONTEXT)                   # mov r15, context
        code += b"\x49\x89\xa7" + struct.pack("<i", SAVED)                           # mov [r15 + SAVED], rsp
        code += b"\x41\xff\xb7" + struct.pack("<i", IN + 128) + b"\x9d"              # push the flags; popfq
        for r in [*range(15), 15]:
            code += bytes([0x49 | (r >> 3) << 2, 0x8b, 0x87 | (r & 7) << 3]) + struct.pack("<i", IN + 8 * r)
        return code

    def save(self, went):
        out = self.at + CONTEXT
        code = b"\x48\xa3" + struct.pack("<Q", out + OUT)                            # mov [out], rax
        code += b"\x48\xb8" + struct.pack("<Q", out)                                 # mov rax, context
        for r in range(1, 16):
            code += bytes([0x48 | (r >> 3) << 2, 0x89, 0x80 | (r & 7) << 3]) + struct.pack("<i", OUT + 8 * r)
        code += b"\x48\x8b\xa0" + struct.pack("<i", SAVED)                           # mov rsp, [rax + SAVED]
        code += b"\x9c\x8f\x80" + struct.pack("<i", OUT + 128)                       # pushfq; pop [rax + ..]
        code += b"\xc7\x80" + struct.pack("<i", WENT) + struct.pack("<i", went)
        return code + b"\x41\x5f\x41\x5e\x41\x5d\x41\x5c\x5d\x5b\xfc\xc3"            # pop r15 .. r12, rbp, rbx; cld; ret

    def place(self, insn):
        """Writes the code, and returns the instruction as it stands there and the address of the other way out."""
        before, straight, other = self.load(), self.save(0), self.save(1)
        address = self.at + CODE + len(before)
        code = bytearray(insn.bytes)
        away = address + len(code) + len(straight)
        op = insn.operands[0] if insn.operands else None
        if insn.mnemonic[0] == "j" or insn.mnemonic == "call":
            if op.type == x86.X86_OP_IMM:
                if insn.mnemonic != "call" and len(code) == 2:      # the same jump with a displacement of 32 bits
                    code = bytearray(b"\xe9" if code[0] == 0xeb else bytes([0x0f, code[0] + 0x10])) + bytearray(4)
                away = address + len(code) + len(straight)
                code[-4:] = struct.pack("<i", len(straight))
        for o in insn.operands:
            if o.type == x86.X86_OP_MEM and o.mem.base == x86.X86_REG_RIP:
                n = insn.disp_offset
                code[n:n + 4] = struct.pack("<i", self.at + MIDDLE - (address + len(code)))
        self.map[CODE:CODE + len(before) + len(code) + len(straight) + len(other)] = before + bytes(code) + straight + other
        return next(self.decoder.disasm(bytes(code), address)), away

    # ---- one state ----
    def value(self):
        r = self.random
        return r.choice([r.getrandbits(64), r.getrandbits(64), r.getrandbits(32), r.getrandbits(8), 1 << r.randrange(64), (1 << r.randrange(64)) - 1,
                         0, MASK, 1 << 63, 1 << 31, 0x7fffffff])

    def state(self, insn, away):
        registers = {r: self.value() for r in REGISTERS}
        registers["rsp"] = self.at + MIDDLE
        data = bytearray(self.random.randbytes(WINDOW))
        for op in insn.operands:
            if op.type == x86.X86_OP_MEM and insn.mnemonic not in ("lea", "nop"):
                mem, target = op.mem, self.at + MIDDLE + self.random.randrange(-64, 64)
                if mem.index:
                    registers[PARTS[insn.reg_name(mem.index)][0]] = self.random.randrange(64)
                index = registers[PARTS[insn.reg_name(mem.index)][0]] * mem.scale if mem.index else 0
                base = PARTS[insn.reg_name(mem.base)][0] if mem.base and mem.base != x86.X86_REG_RIP else None
                start = self.fs if mem.segment == x86.X86_REG_FS else 0
                if base and base != "rsp":
                    registers[base] = (target - index - mem.disp - start) & MASK
                elif not base:
                    target = self.at + MIDDLE
                else:
                    registers["rsp"] = (target - index - mem.disp) & MASK
                    if abs(mem.disp) > 512:
                        return None
                if insn.mnemonic in ("jmp", "call"):
                    at = (target if base else self.at + MIDDLE) - (self.at + MIDDLE - WINDOW // 2)
                    data[at:at + 8] = struct.pack("<Q", away)
            elif op.type == x86.X86_OP_REG and insn.mnemonic in ("jmp", "call"):
                registers[insn.reg_name(op.reg)] = away
        if insn.mnemonic.startswith("lock bt"):             # the register is the number of a bit, which lies in the window
            registers[PARTS[insn.reg_name(insn.operands[1].reg)][0]] = self.random.randrange(-64 * 8, 56 * 8) & MASK
        if insn.mnemonic == "ret":
            at = WINDOW // 2
            data[at:at + 8] = struct.pack("<Q", away)
        return registers, {f: self.random.random() < 0.5 for f in FLAGS}, data

    def run(self, registers, flags, data):
        word = 2 | sum(flags[f] << FLAG_BIT[f] for f in FLAGS)
        self.map[CONTEXT:CONTEXT + 136] = struct.pack("<17Q", *[registers[r] for r in REGISTERS], word)
        self.map[MIDDLE - WINDOW // 2:MIDDLE + WINDOW // 2] = bytes(data)
        self.function()
        *after, word = struct.unpack("<17Q", self.map[CONTEXT + OUT:CONTEXT + OUT + 136])
        went, = struct.unpack("<I", self.map[CONTEXT + WENT:CONTEXT + WENT + 4])
        return (dict(zip(REGISTERS, after)), {f: bool(word >> b & 1) for f, b in FLAG_BIT.items()},
                self.map[MIDDLE - WINDOW // 2:MIDDLE + WINDOW // 2], went)

    def differs(self, insn, away):
        """what differs in one random state, or None"""
        state = self.state(insn, away)
        if state is None:
            return None
        registers, flags, data = state
        memory = Bytes(self, bytearray(data))
        m = Machine({r: BitVecVal(v, 64) for r, v in registers.items()}, {f: BoolVal(v) for f, v in flags.items()}, memory, BitVecVal(0, 64))
        effect = m.step(insn)
        jumps = None
        if effect:
            if effect[0] == "return":
                jumps, target = True, m.pop()
            elif effect[0] == "call":
                m.push(BitVecVal(insn.address + insn.size, 64))
                jumps, target = True, effect[1]
            else:
                jumps, target = is_true(simplify(effect[1])), effect[2]
            if simplify(target).as_long() != away:
                return "the target"
        real, real_flags, real_data, went = self.run(registers, flags, data)
        for r in REGISTERS:
            v = simplify(m.registers[r])
            if is_bv_value(v) and v.as_long() != real[r]:
                return f"{r}: {v.as_long():#x}, the processor has {real[r]:#x}"
        for f in FLAGS:
            v = simplify(m.flags[f])
            if (is_true(v) or is_false(v)) and is_true(v) != real_flags[f]:
                return f"{f}: {v}, the processor has {real_flags[f]}"
        if bytes(memory.data) != bytes(real_data):
            return "memory"
        return "the way" if bool(jumps) != bool(went) else None


class Bytes:
    """memory that is numbers"""
    def __init__(self, bench, data):
        self.bench, self.data, self.fs = bench, data, BitVecVal(bench.fs, 64)

    def at(self, address):
        return simplify(Machine.total(address)).as_long() - (self.bench.at + MIDDLE - WINDOW // 2)

    def load(self, address, size):
        n = self.at(address)
        return BitVecVal(int.from_bytes(self.data[n:n + size], "little"), 8 * size)

    def store(self, address, value):
        n, value = self.at(address), simplify(value)
        self.data[n:n + value.size() // 8] = value.as_long().to_bytes(value.size() // 8, "little")

    def exchange_bit(self, address, bit, value):
        bit = simplify(bit).as_signed_long()
        n, mask = self.at(address) + bit // 8, 1 << bit % 8
        was = self.data[n] & mask
        self.data[n] = self.data[n] & ~mask | (mask if value else 0)
        return BoolVal(was != 0)

    def proves(self, formula):
        return is_true(simplify(formula))


def form(insn):
    return insn.mnemonic, tuple((o.type, o.size) for o in insn.operands), any(o.type == x86.X86_OP_MEM and o.mem.segment for o in insn.operands)


def compare(met):
    """lines that say where machine.py and the processor differ; met: bytes -> instruction"""
    bench, forms, lines = Bench(), {}, []
    for insn in met.values():
        forms.setdefault(form(insn), []).append(insn)
    for key, insns in sorted(forms.items(), key=lambda f: f[0][0]):
        if key[0] in ("nop", "endbr64"):
            continue
        for insn in insns:
            placed, away = bench.place(insn)
            for _ in range(max(STATES, -(-STATES_OF_FORM // len(insns)))):
                difference = bench.differs(placed, away)
                if difference:
                    lines.append(f"processor: {insn.mnemonic} {insn.op_str}: {difference}")
                    break
    return lines
