"""sizes: the class of a request, as the contract of size_class_index (src/math/size_class.h) tells it, for 64 bits.

class_of is a closed form of this page. That it is the least class that fits, is shown for every size against the reference table of the
specification (`wrong`); the paths are then compared with the closed form.
"""
from z3 import BitVec, BitVecVal, Extract, If, LShR, Not, SolverFor, UGT, ULE, ULT, ZeroExt, simplify, unsat

from machine import Known, logarithm, logarithm_facts, product_facts
from texts import ROOT

REFERENCE = ROOT / "spec/reference/size_classes_jemalloc_lgpage12.tsv"


def class_of(k, size):
    """index of the least class with so many bytes, SC_NSIZES where there is none"""
    quanta = LShR(size - 1, 4)                                  # the classes from 16 bytes on are whole quanta of 16
    lg = If(ULT(quanta, k["SC_NGROUP"]), BitVecVal(2, 64), logarithm(quanta)) - 2
    return If(ULE(size, k["SC_TINY"]), BitVecVal(0, 64), If(UGT(size, k["SC_LARGE_MAXCLASS"]), BitVecVal(k["SC_NSIZES"], 64),
              lg * k["SC_NGROUP"] + LShR(quanta, lg) + 1))


def class_bytes(k, szind):
    """bytes of that class"""
    j, step = szind - 1, LShR(szind - 1, 2)
    rung = If(ULT(j, k["SC_NGROUP"]), j + 1, ((j & (k["SC_NGROUP"] - 1)) + k["SC_NGROUP"] + 1) << (step - 1))
    return If(szind == 0, BitVecVal(k["SC_TINY"], 64), rung << 4)


def align_down(a, alignment):
    """the greatest multiple of a power of two that is not above"""
    lg = logarithm(alignment)
    return LShR(a, lg) << lg


def table():
    rows = [line.split("\t") for line in REFERENCE.read_text().splitlines()]
    column = rows[0].index("size")
    return [int(row[column]) for row in rows[1:]]


def wrong(k):
    """lines that say where class_of is not the least class that fits"""
    size, sizes, lines = BitVec("size", 64), table(), []
    if len(sizes) != k["SC_NSIZES"]:
        lines.append(f"{REFERENCE.name} has {len(sizes)} classes")
    for i, bytes_ in enumerate([*sizes, None]):
        above = UGT(size, sizes[i - 1]) if i else BitVecVal(0, 1) == 0
        solver = SolverFor("QF_BV")
        solver.add(above, *([] if bytes_ is None else [ULE(size, bytes_)]), Not(class_of(k, size) == i), *Known.facts([class_of(k, size)]))
        if bytes_ is not None and simplify(class_bytes(k, BitVecVal(i, 64))).as_long() != bytes_:
            lines.append(f"class {i} has other bytes than {bytes_}")
        if solver.check() != unsat:
            lines.append(f"sizes above {sizes[i - 1] if i else 0} have another class than {i}")
    a, b = BitVec("a", 64), BitVec("b", 64)
    whole = ZeroExt(64, a) * ZeroExt(64, b)
    highest = BitVecVal(0, 64)
    for i in range(1, 64):
        highest = If(Extract(i, i, a) == 1, BitVecVal(i, 64), highest)
    for what, fact in (("product", product_facts(a, b, Extract(63, 0, whole), Extract(127, 64, whole))), ("logarithm", logarithm_facts(a, highest))):
        solver = SolverFor("QF_BV")
        solver.add(Not(fact))
        if solver.check() != unsat:
            lines.append(f"{what}_facts are not always true")
    return lines
