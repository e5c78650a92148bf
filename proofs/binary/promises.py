"""promises: the instructions of a malloc and a free that hit, as the machine code has them, beside the table in src/README.md that says what
each is for. A table that names other instructions fails, so that it cannot grow old.
"""
import re

from capstone import x86

from explore import Explorer
from texts import ROOT

FUNCTIONS = ("malloc", "free")
PAGE = ROOT / "src/README.md"


def read_as(insn, name):
    """the instruction with the name of what it reads or writes in the place of its address"""
    operands = [name if op.type == x86.X86_OP_MEM else insn.reg_name(op.reg) if op.type == x86.X86_OP_REG else str(op.imm)
                for op in insn.operands]
    return insn.mnemonic if insn.mnemonic[0] == "j" else " ".join([insn.mnemonic, ", ".join(operands)]).strip()


def hit(build, function):
    """the instructions of the shortest path that returns"""
    paths = [p for p in Explorer(build.image, build.layout).paths(build.image.functions["qed_" + function]) if p.end == "return"]
    path = min(paths, key=lambda p: p.length)
    return [read_as(insn, name) for insn, name in zip(path.trace, path.names)]


def documented(function):
    """the instructions in the table of that function"""
    table = re.search(rf"^\| {function} \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE.read_text(), re.M)
    return re.findall(r"^\| `([^`]*)` \| \w.*\|$", table.group(1), re.M) if table else []


def wrong(build):
    """lines that say which instruction is not the one of the table"""
    lines = []
    for function in FUNCTIONS:
        there, said = hit(build, function), documented(function)
        if len(there) != len(said):
            lines.append(f"{PAGE.name}: {function} has {len(there)} instructions, the table {len(said)}: {'; '.join(there)}")
        lines += [f"{PAGE.name}: {function}: `{b}` is `{a}`" for a, b in zip(there, said) if a != b]
    return lines
