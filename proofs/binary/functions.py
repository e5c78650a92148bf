"""functions: what each exported function does on its fast path, and with which arguments its other paths reach their slow functions."""
from z3 import And, BitVecVal, Extract, Implies, LShR, Or, ULE, ULT

from invariant import ClassFits, ClassLeast
from machine import product
from memory import IMAGE
from sizes import UINT32_MAX, class_of
from trace import Text


# ---- malloc and free ----
def malloc_of(p, size):
    if p.case(ULE(size, p.constants["SC_LOOKUP_MAX"])):
        p.k.learn("stack_of", size)
        stack = p.view.stack_of(size)
        block = p.pop(stack)
        if block is not None:
            p.prove("tcache_stack_of, ensures fits", ClassFits(size, stack - 1))
            p.prove("tcache_stack_of, ensures least", ClassLeast(size, stack - 1))
            return block
    return p.call("malloc_slow", size)


def free_of(p, block):
    if not p.push(block):
        p.call("free_slow", block, Text("free"))


def qed_malloc(p):
    p.returns(malloc_of(p, p.argument(0)))


def qed_free(p):
    free_of(p, p.argument(0))
    p.returns()


# ---- what others share ----
def thread_get(p):
    """The thread's cache, which thread_make gives it where it has none."""
    return p.call("thread_make") if p.case(p.thread == IMAGE + p.image.objects["tcache_unborn"]) else p.thread


def low(e):
    return Extract(31, 0, e)


def number(n):
    return BitVecVal(n, 64)


def fail(p, error):
    p.call("__errno_location")
    p.written["errno"] = BitVecVal(p.constants[error], 32)
    p.returns(0)


def overflows(p, a, b):
    """count * size > SIZE_MAX: the high half of the product is not 0. Where a factor is 0, or both have 32 bits, it is (sizes.py shows it)."""
    high = product(a, b)[1]
    p.k.assume(Implies(Or(a == 0, b == 0, And(ULE(a, UINT32_MAX), ULE(b, UINT32_MAX))), high == 0))
    return p.case(high != 0)


def qed_malloc_usable_size(p):
    block = p.argument(0)
    thread_get(p)
    p.returns(0 if p.case(block == 0) else p.call("overflow_usable", block, Text("malloc_usable_size")))


# ---- realloc ----
def malloc_called(p, size):
    """malloc by its name, or its body"""
    return p.call("qed_malloc", size) if p.next_is("qed_malloc") else malloc_of(p, size)


def qed_realloc(p):
    block, size, k = p.argument(0), p.argument(1), p.constants
    if p.case(block == 0):
        return p.returns(malloc_called(p, size))
    if p.case(size == 0):
        p.call("qed_free", block) if p.next_is("qed_free") else free_of(p, block)
        return p.returns(0)
    thread_get(p)
    now = p.call("overflow_usable", block, Text("realloc"))
    if p.case(And(ULE(size, now), ULT(now - size, LShR(now, 3)))):      # the upper part of the class: 1 / (2 * SC_NGROUP)
        return p.returns(block)
    stays = p.call("request_in_place", block, now, low(class_of(k, size)))
    if p.case(Extract(7, 0, stays) != 0):
        return p.returns(block)
    return p.returns(p.call("realloc_move", block, now, size))


def qed_reallocarray(p):
    count, size = p.argument(1), p.argument(2)
    if overflows(p, count, size):
        return fail(p, "ENOMEM")
    return p.returns(p.call("qed_realloc", p.argument(0), product(count, size)[0]))


# ---- the C++ operators ----
def new(aligned):
    def operator(p):
        size = p.argument(0)
        if aligned and not p.case(p.argument(1) == 0):
            block = p.call("qed_aligned_alloc", p.argument(1), size)
        else:
            block = p.call("qed_malloc", size)
        if p.case(block != 0):
            return p.returns(block)
        return p.slow()             # the handler of the program has the word
    return operator


def delete(*positions):
    """operator delete calls free, free_sized or free_aligned_sized with these of its arguments."""
    def operator(p):
        p.call(("qed_free", "qed_free_sized", "qed_free_aligned_sized")[len(positions) - 1], *[p.argument(n) for n in positions])
        p.returns()
    return operator


FUNCTIONS = {f.__name__: f for f in (qed_malloc, qed_free, qed_malloc_usable_size, qed_realloc, qed_reallocarray)}
for kind in "wa":
    for nothrow in ("", "RKSt9nothrow_t"):
        FUNCTIONS |= {f"_Zn{kind}m{nothrow}": new(False), f"_Zn{kind}mSt11align_val_t{nothrow}": new(True),
                      f"_Zd{'l' if kind == 'w' else 'a'}Pv{nothrow}": delete(0), f"_Zd{'l' if kind == 'w' else 'a'}PvSt11align_val_t{nothrow}": delete(0)}
for kind in "la":
    FUNCTIONS |= {f"_Zd{kind}Pvm": delete(0, 1), f"_Zd{kind}PvmSt11align_val_t": delete(0, 2, 1)}

# Not proven yet: they compute a class from a size before they reach the cache.
NOT_YET = {"calloc", "aligned_alloc", "posix_memalign", "memalign", "valloc", "pvalloc", "free_sized", "free_aligned_sized",
           "mallocx", "rallocx", "xallocx", "sallocx", "dallocx", "sdallocx", "nallocx"}
NOT_YET |= {"qed_" + name for name in NOT_YET}
# Exported functions that never touch a thread's cache.
NO_FAST_PATH = {"mallinfo", "mallinfo2", "malloc_info", "malloc_stats", "malloc_trim", "mallopt", "mallctl", "mallctlbymib", "mallctlnametomib",
                "malloc_stats_print"}
NO_FAST_PATH |= {"qed_" + name for name in NO_FAST_PATH}


def names(image):
    """the exported names of the functions above, each with its other names"""
    return {n for f in FUNCTIONS for n in image.names[image.functions[f]]}
